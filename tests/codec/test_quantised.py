"""Counts: every symbol has one, they sum to 2^32, and they are as near to the probabilities as counts can be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glnn.coding.quantised import accumulate, before, known_counts, scale_of

pytestmark = pytest.mark.small

TOTAL = 2**32
WEIGHTS = st.lists(st.one_of(st.just(0.0), st.floats(0, 1), st.floats(0, 1e-30)), min_size=2, max_size=40)


def counts(p: np.ndarray, escape: float | None = None) -> np.ndarray:
    C, M = np.empty(p.size + 1), known_counts(escape)
    accumulate(p, C)
    scale = scale_of(C, M)
    return np.diff([int(before(y, scale, C, M)) for y in range(p.size + 1)])


@given(WEIGHTS, st.one_of(st.none(), st.floats(1e-12, 1 - 1e-12)))
def test_every_symbol_has_a_count(weights: list[float], escape: float | None) -> None:
    found = counts(np.array(weights), escape)
    assert found.min() >= 1
    assert found.sum() == int(known_counts(escape)) <= TOTAL
    if escape is not None:
        assert 2**24 <= found.sum() < TOTAL


@given(WEIGHTS)
def test_counts_are_the_probabilities(weights: list[float]) -> None:
    p = np.array(weights)
    if p.sum() < 1e-200:
        return
    expected = p / p.sum() * TOTAL
    # Each symbol gives A / 2^32 of its probability to the floor, and loses less than one count to rounding.
    assert (np.abs(counts(p) - expected) <= p.size * (expected / TOTAL + 1e-6) + 2).all()


@pytest.mark.parametrize(
    "weights", [[0.0, 0.0, 0.0], [np.nan, np.nan, np.nan], [np.inf, 1.0, 2.0], [1e-300, 0, 1e-320]]
)
def test_weights_that_say_nothing_are_uniform(weights: list[float]) -> None:
    found = counts(np.array(weights))
    assert found.max() - found.min() <= 2


def test_what_is_no_positive_number_gets_the_least() -> None:
    assert counts(np.array([np.nan, 1.0, -3.0, 0.0])).tolist() == [1, TOTAL - 3, 1, 1]


@pytest.mark.parametrize(("escape", "left"), [(None, TOTAL), (0.25, 3 * 2**30), (1e-30, TOTAL - 1), (1.0, 2**24)])
def test_an_escape_takes_its_share(escape: float | None, left: int) -> None:
    assert int(known_counts(escape)) == left
