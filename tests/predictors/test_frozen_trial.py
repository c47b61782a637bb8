"""Networks beside what is frozen: they are judged against contexts that have read on, and stay if they surely help."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from glnn.predictors import frozen_trial
from glnn.predictors.frozen_trial import WAYS, FrozenTrial, Heard, contexts_say
from glnn.sequences import Encoded, TrainingData, encode
from glnn.training.validation import split


class Says:
    """Says of each symbol of a sequence what it is told to."""

    def __init__(self, data: Encoded, chances: Any) -> None:
        self.alphabet, self._chances = data.alphabet, chances

    def log_likelihoods(self, data: Encoded) -> np.ndarray:
        found: np.ndarray = np.log(self._chances(data))
        return found


def trial_of(data: Encoded) -> FrozenTrial:
    return FrozenTrial(data, split(TrainingData(data), 0.2))


def test_contexts_that_have_read_on_leave_no_share_to_who_stood_still() -> None:
    """After a change of the world a network that foresaw some of it is ahead, until contexts have seen a few cases."""
    data = encode([list("abcd")] * 200 + [list("dcba")] * 50)
    trial = trial_of(data)
    foresaw: Any = Says(data, lambda held: np.full(held.codes.size, 0.6))
    way = trial.recipe(()).beside
    assert way.own > 0.5
    # Of the first stretch contexts know nothing, of all others everything.
    late = contexts_say(trial._before, trial._stretches, False, [False])[False]
    cut = trial._stretches[0].codes.size
    assert -np.log2(late[:cut]).mean() > 2.0 > 10.0 * -np.log2(late[cut:]).mean()
    assert trial.recipe((foresaw,)).beside.networks[0] < 0.3


def coins(seed: int) -> Encoded:
    generator = np.random.default_rng(seed)
    return encode([list(map(str, generator.integers(0, 2, 20))) for _ in range(150)])


def test_a_network_stays_if_what_it_saves_is_no_chance() -> None:
    data = coins(0)
    trial = trial_of(data)
    lucky: Any = Says(data, lambda held: np.where(np.arange(held.codes.size) < 20, 0.99, 0.49))
    steady: Any = Says(data, lambda held: np.full(held.codes.size, 0.6))
    for member, stays in ((lucky, False), (steady, True)):
        bits, without = trial.bits((member,)), trial.bits(())
        assert bits < without
        assert trial.worth(bits, without, member) == stays


def test_beside_networks_a_tree_stays_if_it_saves_more_than_a_standard_error() -> None:
    trial = trial_of(coins(2))
    late = trial._held.codes.size
    sequence = np.repeat(np.arange(len(trial._held)), np.diff(trial._held.starts))
    even, steady = np.full(late, 0.5), np.full(late, 0.6)
    # All that it saves is in the first sequence.
    lucky = np.where(np.arange(late) < trial._held.starts[1], 0.99, 0.49)
    for tree, stays in ((lucky, False), (steady, True)):
        beside, bits = trial._shares(Heard([even, tree, even, even], trial._held.codes, sequence))
        assert (beside.tree > 0.1) == stays
        assert (bits.sum() < late - 1.0) == stays
        # Without networks its share is what is best.
        beside, bits = trial._shares(Heard([even, tree, even], trial._held.codes, sequence))
        assert beside.tree > 0.1 and bits.sum() < late - 1.0


def test_shuffled_and_averaged_unless_something_else_is_surely_better() -> None:
    assert WAYS[0] == (True, True)
    recipe = trial_of(coins(1)).recipe(())
    assert recipe.stationary and recipe.averaged
    recipe = trial_of(encode([list("abcd")] * 150 + [list("dcba")] * 100)).recipe(())
    assert not recipe.stationary


def test_shares_follow_the_symbols_of_a_sequence_beside_a_network_alone() -> None:
    data = coins(4)
    trial = trial_of(data)
    steady: Any = Says(data, lambda held: np.full(held.codes.size, 0.6))
    assert trial.recipe((steady,)).beside.inside == 0.3
    assert trial.recipe(()).beside.inside == 0.0


def test_without_an_order_of_time_all_parts_held_out_tell_whether_a_network_stays() -> None:
    data = coins(0)
    lucky: Any = Says(data, lambda held: np.where(np.arange(held.codes.size) < 20, 0.99, 0.49))
    steady: Any = Says(data, lambda held: np.full(held.codes.size, 0.6))
    wrong: Any = Says(data, lambda held: np.full(held.codes.size, 0.4))
    trial = trial_of(data)
    assert trial.recipe(()).stationary
    # What was surely saved at the end is not taken back.
    for end, elsewhere, stays in ((lucky, wrong, False), (lucky, steady, True), (steady, wrong, True)):
        assert trial.worth(0.0, 0.0, end, dict.fromkeys((0, 30, 60, 90), elsewhere)) == stays
    # In the order of time the end alone counts.
    ordered = trial_of(encode([list("abcd")] * 150 + [list("dcba")] * 100))
    assert not ordered.recipe(()).stationary
    knows: Any = Says(ordered._data, lambda held: np.full(held.codes.size, 1.0))
    inside = dict.fromkeys((0, 50, 100), knows)
    assert ordered._heard((knows,), (inside,)).codes.size == ordered._held.codes.size
    assert trial._heard((steady,), (inside,)).codes.size > trial._held.codes.size


def test_without_an_order_of_time_all_parts_tell_whether_a_tree_stands_beside_a_network() -> None:
    data = coins(3)
    trial = trial_of(data)
    held = slice(30, 30 + len(trial._held))
    part = data.select(range(len(data))[held])
    good: Any = Says(data, lambda held: np.full(held.codes.size, 0.6))
    useless: Any = Says(data, lambda held: np.full(held.codes.size, 0.1))
    # Inside, contexts have said what is worth nothing, and the tree what is worth a lot.
    trial._read_inside[30] = [np.full(part.codes.size, chance) for chance in (0.5, 0.9, 0.5)]
    alone, all_parts = (trial.recipe((good,), inside=inside).beside for inside in ((), ({30: useless},)))
    assert alone.tree == 0.0 and all_parts.tree > 100.0 * all_parts.own
    assert abs(sum(all_parts.weights) + all_parts.ends - 1.0) < 1e-9
    # What the network has follows from the end, however bad a member was inside.
    assert all_parts.networks[0] > 0.9 < alone.networks[0]


def test_parts_inside_are_predicted_by_who_has_read_all_the_rest() -> None:
    """What occurs nowhere else is a surprise to contexts, tree and n-grams; so it is where it comes at the end."""
    cases = [list("abcabc")] * 100 + [list("cbacba")] * 20 + [list("abcabc")] * 80
    data = encode(cases)
    trial = trial_of(data)
    trial._held = data.select(range(180, 200))
    even: Any = Says(data, lambda held: np.full(held.codes.size, 0.5))
    for first, dear in ((100, True), (20, False)):
        heard = trial._of_inside(first, [even])
        np.testing.assert_array_equal(heard.codes, data.select(range(first, first + 20)).codes)
        assert all((-np.log2(said).mean() > 1.0) == dear for said in heard.chances[:3])
        np.testing.assert_allclose(heard.chances[3], 0.5)


def test_long_data_are_not_read_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    data = coins(0)
    even: Any = Says(data, lambda held: np.full(held.codes.size, 0.5))
    trial = trial_of(data)
    for times, parts in ((0.9, 1), (2.1, 3), (99.0, 5)):
        monkeypatch.setattr(frozen_trial, "_MOST_READ", int(times * data.codes.size))
        heard = trial._heard((even,), (dict.fromkeys((0, 30, 60, 90), even),))
        assert heard.codes.size == parts * trial._held.codes.size
