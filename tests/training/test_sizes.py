"""Sizes chosen from data and budget, and how much is held out."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
import pytest

from glnn.estimators import GLNN, LSTM, RNN
from glnn.sequences import encode
from glnn.sources import get
from glnn.training.budget import Budget, parse_budget
from glnn.training.plan import for_long_data
from glnn.training.sizes import (
    Size,
    choose_size,
    held_out_fraction,
    members_for,
    rival_size,
    sizes_for_chunks,
    step_seconds,
)

pytestmark = pytest.mark.small

MINUTE = parse_budget("60s")


@pytest.mark.parametrize("symbols", [1_000, 60_000, 3_000_000])
@pytest.mark.parametrize("alphabet_size", [2, 14, 67, 256, 20_000])
@pytest.mark.parametrize("budget", [Budget(seconds=0.1), MINUTE, Budget(seconds=1e5), Budget(steps=10)])
def test_sizes_stay_within_reason(symbols: int, alphabet_size: int, budget: Budget) -> None:
    size = choose_size("auto", "auto", "auto", symbols, alphabet_size, budget)
    assert 24 <= size.units <= 64 and 1 <= size.degree <= size.units and 1 <= size.restarts <= 6
    affordable = budget.seconds is None or 120 * step_seconds(size.units, alphabet_size, symbols) <= budget.seconds
    assert affordable or size.units == 24


@pytest.mark.parametrize(
    ("symbols", "seconds", "given", "units"),
    [
        (720_000, 300.0, {}, 256),
        (720_000, 60.0, {}, "auto"),
        (90_000, 300.0, {}, "auto"),
        (720_000, 300.0, {"members": 2}, "auto"),
        (720_000, 300.0, {"training": "batch"}, "auto"),
    ],
)
def test_long_data_get_one_larger_network_where_there_is_time(
    symbols: int, seconds: float, given: dict[str, Any], units: Any
) -> None:
    plan = for_long_data(LSTM(budget=seconds, **given)._plan(), symbols)
    assert plan.units == units
    if units == 256:
        assert (plan.members, plan.restarts) == (1, 1)
    assert for_long_data(GLNN(budget=seconds, **given)._plan(), symbols).units == "auto"


def test_what_is_given_is_taken() -> None:
    assert choose_size(7, 3, 2, 1000, 5, MINUTE) == (7, 3, 2)
    assert choose_size(7, 30, 2, 1000, 5, MINUTE).degree == 7


def test_larger_budgets_make_larger_networks_then_more_starts() -> None:
    sizes = [choose_size("auto", "auto", "auto", 100_000, 67, Budget(seconds=s)) for s in (5, 60, 600, 6000)]
    units, restarts = [size.units for size in sizes], [size.restarts for size in sizes]
    assert units == sorted(units) and units[0] == 24 < units[-1] == 64
    assert restarts == sorted(restarts) and restarts[0] == 1 and restarts[-1] == 6


def test_the_degree_is_the_papers_where_there_are_data_for_it() -> None:
    for alphabet_size, degree in ((3, 3), (14, 6), (67, 12)):
        assert choose_size("auto", "auto", "auto", 500_000, alphabet_size, Budget(seconds=1e5)).degree == degree


def test_parameters_are_few_beside_the_data() -> None:
    # The paper's insertions: 12 edges would be one parameter for each symbol.
    assert choose_size("auto", "auto", "auto", 54_000, 67, MINUTE).degree == 3
    for symbols in (100_000, 200_000, 400_000):
        size = choose_size("auto", "auto", "auto", symbols, 67, Budget(seconds=1e5))
        parameters = 67 * size.units * (size.degree + 1)
        assert size.degree == 3 or parameters <= 0.3 * symbols < parameters + 67 * size.units or size.degree == 12


def test_large_alphabets_get_fewer_edges() -> None:
    # 20,000 words in 100,000: parameters must not outnumber them by far, nor their metric fill the memory.
    assert choose_size("auto", "auto", "auto", 100_000, 20_000, MINUTE).degree == 3
    size = choose_size("auto", "auto", "auto", 10**8, 2_000, Budget(seconds=1e6))
    entries = 2_000 * size.units * (size.degree + 1) ** 2
    assert 3 < size.degree < math.sqrt(4_000) and entries <= 2**25 < 2_000 * size.units * (size.degree + 2) ** 2


def test_costly_steps_leave_less() -> None:
    cheap = choose_size("auto", "auto", "auto", 60_000, 67, MINUTE)
    costly = choose_size("auto", "auto", "auto", 60_000, 67, MINUTE, cost=2.5)
    assert costly.units < cheap.units
    assert costly == choose_size("auto", "auto", "auto", 60_000, 67, Budget(seconds=24.0))


def test_a_tenth_is_held_out_of_data_that_tell_enough() -> None:
    data = encode(get("music").sample(None, 0).text)
    assert held_out_fraction(data) == 0.1


def test_more_is_held_out_of_data_that_tell_little() -> None:
    data = encode(get("anbn").sample(None, 0).text)
    # Ten times a → b and b → newline, each about log2 of the length of a run.
    assert held_out_fraction(data) == 0.3
    assert held_out_fraction(encode("ab" * 500)) == 0.3


def test_held_out_bits_by_hand() -> None:
    # After a: 300 times b, 300 times c; after b and c always a: 600 bits, so half of them are wanted, at most 30 %.
    text = "abac" * 300
    assert held_out_fraction(encode(text)) == 0.3
    assert held_out_fraction(encode(text * 2)) == pytest.approx(300 / 1200, rel=0.01)
    # Only half of the choices are to be predicted.
    mask = np.zeros(len(text) * 2, bool)
    mask[: len(text)] = True
    assert held_out_fraction(encode(text * 4, mask=np.tile(mask, 2))) == pytest.approx(0.25, rel=0.01)


def test_long_data_hold_out_no_more_than_is_needed() -> None:
    data = encode(np.random.default_rng(0).integers(0, 4, 2_000_000))
    assert held_out_fraction(data) * data.codes.size == pytest.approx(50_000)


def test_pairs_do_not_cross_the_border_of_two_sequences() -> None:
    together = held_out_fraction(encode([list("ab") * 40, list("ba") * 40] * 20))
    assert together == 0.3 and math.isfinite(together)


def test_a_text_alone_is_enough() -> None:
    model = GLNN(recipe="paper", budget="2 steps", verbose=0).fit("abracadabra " * 30)
    assert model.units_ == 24 and model.degree_ == 3 and len(model.restarts_) == 1 and model.held_out_ > 0


def test_small_and_wide_networks_compete_where_each_symbol_has_a_matrix() -> None:
    for kinds in (2, 5, 16, 100):
        units = {size.units for size in sizes_for_chunks("auto", "auto", 6, kinds, gated=True)}
        assert units == {32, 256}
    assert [size.units for size in sizes_for_chunks(48, "auto", 6, 5, gated=True)] == [48]
    assert sizes_for_chunks("auto", "auto", 6, 5, gated=False, full=128) == [Size(128, 128, 6)]


def test_small_data_have_rivals_at_every_budget() -> None:
    # aⁿbⁿ, 10,000 symbols of 3 letters: a turn takes part of the budget, and without rivals nothing counts.
    for seconds in (0.2, 0.4, 1.0, 5.0):
        for steps in (15, 20):
            size = rival_size("auto", "auto", 10_000, 3, seconds, steps)
            assert size is not None and size.units == size.degree
    # Twice the steps need twice the time.
    reached = [rival_size("auto", "auto", 10_000, 3, 0.09, steps) is not None for steps in (15, 30)]
    assert reached == [True, False]
    # Ten megabytes of text have no time for a single step of them.
    assert rival_size("auto", "auto", 10_000_000, 67, 5.0) is None


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="128 units in plain Python")
def test_a_plain_recurrent_network_takes_shorter_steps() -> None:
    models = [
        kind(units=8, budget="2 steps", verbose=0, random_state=0).fit("abracadabra " * 50) for kind in (RNN, LSTM)
    ]
    rates = [model.history_[0]["transition_rate"] for model in models]
    assert rates[0] == pytest.approx(0.4 * rates[1])
    assert RNN(budget="2 steps", verbose=0).fit("abracadabra " * 50).units_ == 128


def test_members_by_what_their_steps_cost() -> None:
    """Gated networks, whose steps take half the time, are twice as many; long data want longer turns."""
    for seconds, gated, expected in (
        (5.9, True, 1),
        (6.0, True, 3),
        (14.0, False, 1),
        (20.0, True, 4),
        (20.0, False, 1),
        (60.0, False, 6),
        (60.0, True, 8),
    ):
        assert members_for(Budget(seconds=seconds), 28_000, gated) == expected
    assert members_for(Budget(seconds=60.0), 300_000, gated=True) == 4
    assert members_for(Budget(steps=100), 28_000, gated=True) == 1
    assert members_for(Budget(seconds=9.0), 60_000, gated=True) == 1
