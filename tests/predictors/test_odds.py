"""Odds between predictors: never far behind the best of them, whoever it is and however often that changes."""

from __future__ import annotations

import numpy as np
import pytest

from glnn.predictors.odds import RATES, Odds, RunningOdds, chances_of, combined, even, settled, with_uniform

pytestmark = pytest.mark.small


def bits(odds: Odds, chances: np.ndarray) -> float:
    return float(-np.log2((RunningOdds(odds, learns=True).along(chances) * chances).sum(1)).sum())


def said(*parts: np.ndarray) -> np.ndarray:
    return with_uniform(list(parts), 4)


def test_it_is_at_most_a_few_bits_behind_the_best_part_whatever_the_others_say() -> None:
    generator = np.random.default_rng(0)
    for _ in range(5):
        parts = [generator.uniform(low, 1.0, 400) for low in (0.3, 0.01, 0.0001)]
        chances = said(*parts)
        best = min(-np.log2(part).sum() for part in parts)
        assert bits(even(3), chances) <= best + np.log2(len(RATES) * 3.01)


def test_the_best_one_may_change_and_a_mean_may_be_better_than_all() -> None:
    first = np.repeat([0.9, 0.1], 500)
    assert bits(even(2), said(first, 1.0 - first)) < -1000 * np.log2(0.9) + 30
    # One of the two is right by turns that nobody foresees.
    turns = np.where(np.random.default_rng(0).random(2000) < 0.5, 0.99, 0.01)
    mean = 2000.0
    assert bits(even(2), said(turns, 1.0 - turns)) < mean + 60


def test_the_definition_as_loops() -> None:
    generator = np.random.default_rng(1)
    chances = generator.uniform(0.01, 0.9, (30, 3))
    odds = even(2)
    running = RunningOdds(odds, learns=True)
    found = running.along(chances)
    v, W, W0 = np.full(len(RATES), 1.0 / len(RATES)), odds.rows.copy(), odds.rows[0]
    for p, weights in zip(chances, found, strict=True):
        np.testing.assert_allclose(weights, v @ W)
        of_rows = W @ p
        v = v * of_rows / (v @ of_rows)
        eta, alpha = RATES.T[:, :, None]
        W = (1 - alpha) * (1 - eta + eta * p / of_rows[:, None]) * W + alpha * W0
    np.testing.assert_allclose(running.odds.trust, v, rtol=1e-9)
    np.testing.assert_allclose(running.odds.rows, W, rtol=1e-9)
    # In parts it learns the same, to the bit, and what it was made from has not changed.
    again = RunningOdds(odds, learns=True)
    np.testing.assert_array_equal(np.concatenate([again.along(part) for part in np.split(chances, [7, 8])]), found)
    np.testing.assert_array_equal(odds.rows, even(2).rows)


def test_settled_shares_stay() -> None:
    running = RunningOdds(settled((0.6, 0.3), 0.1), learns=True)
    rows = [np.array([[0.7, 0.1, 0.1, 0.1]]), np.array([[0.1, 0.1, 0.1, 0.7]])]
    weights = running.along(chances_of(rows, np.array([3])))
    assert weights.tolist() == [[0.6, 0.3, 0.1]] == running.odds.rows.tolist()
    np.testing.assert_allclose(combined(rows, weights), [[0.475, 0.115, 0.115, 0.295]])


def test_a_part_leaves() -> None:
    running = RunningOdds(even(2), learns=True)
    running.along(np.tile([1e-3, 0.9, 0.25], (400, 1)))
    left = running.odds.of(np.array([True, False, True]))
    assert left.fine and left.rows.shape == (len(RATES), 2)
    # Bayes' row knew nothing but the one that left.
    np.testing.assert_array_equal(left.rows[0], even(1).rows[0])


def test_shares_that_served_well_are_one_of_the_ways() -> None:
    # One is right once in ten times, the other else, and nobody foresees which.
    turns = np.where(np.random.default_rng(2).random(400) < 0.1, 0.99, 0.01)
    chances, shares = said(turns, 1.0 - turns), np.array([0.1, 0.9, 0.0])
    with_them = even(2).with_shares(shares)
    assert with_them.fine and with_them.trust[-1] == pytest.approx(1.0 / len(RATES))
    best = float(-np.log2(chances @ shares).sum())
    assert bits(with_them, chances) < best + 4 < bits(even(2), chances) - 4
    np.testing.assert_array_equal(with_them.rows[:-1], even(2).rows[:-1])


@pytest.mark.parametrize(
    "forged",
    [
        Odds(np.ones(2) / 2, np.full((2, 2), 0.5)),
        Odds(np.ones(1), np.array([[0.5, 0.6]])),
        Odds(np.ones(1), np.array([[1.5, -0.5]])),
        Odds(np.ones(1), np.array([[np.nan, 1.0]])),
        Odds(np.ones(1), np.array([[1.0]])),
        Odds(np.ones(1), np.array([1.0])),
    ],
)
def test_what_are_no_odds(forged: Odds) -> None:
    assert not forged.fine and even(3).fine and settled((0.5,), 0.5).fine


def test_shares_that_follow_the_symbols_of_a_sequence_as_loops() -> None:
    generator = np.random.default_rng(2)
    chances, first = generator.uniform(0.01, 0.9, (40, 5)), np.zeros(40, np.bool_)
    first[[0, 11, 12, 30]] = True
    odds = settled((0.5, 0.3, 0.1, 0.06), 0.04)
    running = RunningOdds(odds, learns=False, inside=0.3, insured=2)
    found = running.along(chances, first)
    w = odds.rows[0]
    W = w.copy()
    for p, begins, weights in zip(chances, first, found, strict=True):
        W = w.copy() if begins else W
        np.testing.assert_allclose(weights, W, rtol=1e-12)
        follow = slice(0, 3)
        W[follow] = 0.7 * w[follow].sum() * W[follow] * p[follow] / (W[follow] @ p[follow]) + 0.3 * w[follow]
    np.testing.assert_allclose(found.sum(1), 1.0)
    # Who insures keeps his share, and the others are not what they were.
    assert (found[:, 3:] == w[3:]).all() and np.abs(found[:, :3] - w[:3]).max() > 0.1
    # Symbol by symbol, in a copy and after a restart it is the same, to the bit.
    again = RunningOdds(odds, learns=False, inside=0.3, insured=2)
    for p, begins, weights in zip(chances, first, found, strict=True):
        if begins:
            again.restart()
        np.testing.assert_array_equal(again.copy().odds.weights, weights)
        np.testing.assert_array_equal(again.begun().odds.weights, w)
        again.learn_one(p)
    again = again.copy()
    again.restart()
    np.testing.assert_array_equal(again.odds.weights, w)
    # What nobody foresaw at all tells nothing.
    again.learn_one(np.array([0.0, 0.0, 0.0, 0.1, 0.2]))
    np.testing.assert_array_equal(again.odds.weights, w)


def test_shares_follow_whoever_is_right_in_a_sequence() -> None:
    """Each of two is right in every other sequence: the shares find out who, and are as they were with the next."""
    right = np.tile(np.repeat([0.9, 0.1], 20), 50)
    chances, first = said(right, 1.0 - right), np.tile(np.arange(20) == 0, 100)
    stays, follows = (RunningOdds(settled((0.49, 0.49), 0.02), False, inside) for inside in (0.0, 0.3))
    costs = [-np.log2((odds.along(chances, first) * chances).sum(1)).sum() for odds in (stays, follows)]
    assert costs[1] < 0.7 * costs[0]
