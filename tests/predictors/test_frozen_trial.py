"""Networks beside what is frozen: they are judged against contexts that have read on, and stay if they surely help."""

from __future__ import annotations

from typing import Any

import numpy as np

from glnn.predictors.frozen_trial import WAYS, FrozenTrial, contexts_say
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
    even, steady = np.full(late, 0.5), np.full(late, 0.6)
    # All that it saves is in the first sequence.
    lucky = np.where(np.arange(late) < trial._held.starts[1], 0.99, 0.49)
    for tree, stays in ((lucky, False), (steady, True)):
        beside, bits = trial._shares([even, tree, even, even], late)
        assert (beside.tree > 0.1) == stays
        assert (bits.sum() < late - 1.0) == stays
        # Without networks its share is what is best.
        beside, bits = trial._shares([even, tree, even], late)
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
