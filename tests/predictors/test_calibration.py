"""Weights by entropy against plain loops; the fit against finite differences; never worse on data not fitted to."""

from __future__ import annotations

import math

import numpy as np
import pytest

from glnn.predictors import calibration
from glnn.predictors.calibration import EntropyWeights, equal_weights, mixed
from glnn.predictors.calibration_fit import FEWEST, HeldOut, Problem, entropy_nodes, fit_weights

small = pytest.mark.small


def distributions(generator: np.random.Generator, members: int, length: int, size: int) -> np.ndarray:
    """(K, T, A), from nearly certain to nearly uniform."""
    sharpness = generator.gamma(1.0, 2.0, (1, length, 1))
    logits = sharpness * (
        generator.normal(size=(1, length, size)) + 0.3 * generator.normal(size=(members, length, size))
    )
    rows = np.exp(logits - logits.max(axis=2, keepdims=True))
    return rows / rows.sum(axis=2, keepdims=True)


def drawn(generator: np.random.Generator, rows: np.ndarray) -> np.ndarray:
    """One code from each row of (T, A)."""
    return (rows.cumsum(axis=1) < generator.random((len(rows), 1))).sum(axis=1).clip(max=rows.shape[1] - 1)


def bits(rows: np.ndarray, codes: np.ndarray) -> float:
    return float(-np.log2(rows[np.arange(len(codes)), codes]).sum())


def plainly_mixed(members: list[list[float]], nodes: list[float], weights: list[list[float]]) -> list[float]:
    """One row by the formula of the module's docstring."""
    logs = [
        [max(math.log(p), calibration.LEAST_LOG) if p > 0 else calibration.LEAST_LOG for p in row] for row in members
    ]
    mean = [math.exp(sum(column) / len(logs)) for column in zip(*logs, strict=True)]
    mean = [value / sum(mean) for value in mean]
    h = -sum(p * math.log(p) for p in mean if p > 0)
    w = [float(np.interp(h, nodes, [row[k] for row in weights])) for k in range(len(logs))]
    out = [
        math.exp(sum(w_k * value for w_k, value in zip(w, column, strict=True))) for column in zip(*logs, strict=True)
    ]
    return [value / sum(out) for value in out]


@small
@pytest.mark.parametrize("members", [1, 3])
def test_mixing_is_the_formula(members: int) -> None:
    generator = np.random.default_rng(members)
    rows = distributions(generator, members, 40, 6)
    rows[0, 0] = [1.0, 0, 0, 0, 0, 0]
    nodes = np.array([0.1, 0.4, 1.2])
    weights = 1.0 / members + 0.3 * generator.normal(size=(3, members))
    found = mixed(rows, EntropyWeights(nodes, weights))
    for t in range(40):
        expected = plainly_mixed(rows[:, t].tolist(), nodes.tolist(), weights.tolist())
        np.testing.assert_allclose(found[t], expected, rtol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-14)


@small
@pytest.mark.parametrize("members", [3, 4, 5])
def test_one_weight_is_for_the_median_of_several(members: int) -> None:
    rows = distributions(np.random.default_rng(members), members, 40, 6)
    middle = np.exp(np.median(np.log(rows), axis=0))
    middle /= middle.sum(axis=1, keepdims=True)
    weights = EntropyWeights(np.array([0.1, 0.4, 1.2]), np.array([[0.6], [1.5], [0.9]]))
    np.testing.assert_allclose(mixed(rows, weights), mixed(middle[np.newaxis], weights), rtol=1e-12)
    np.testing.assert_allclose(mixed(rows, equal_weights(1)), middle, rtol=1e-12)
    with pytest.raises(ValueError, match="rows of shape"):
        mixed(rows[:2], weights)


@small
def test_who_is_sure_and_wrong_is_outvoted_by_the_median_and_not_by_the_mean() -> None:
    right, wrong = [1.0 - 1e-6, 1e-6], [1e-30, 1.0]
    rows = np.array([[right], [wrong], [right]])
    assert mixed(rows, equal_weights(1))[0, 0] > 0.999
    assert mixed(rows, equal_weights(3))[0, 0] < 0.01


@small
def test_one_member_with_weight_one_stays_as_it_is() -> None:
    rows = distributions(np.random.default_rng(0), 1, 50, 7)
    np.testing.assert_allclose(mixed(rows, equal_weights(1)), rows[0], rtol=1e-12)


@small
def test_weights_run_straight_between_nodes() -> None:
    weights = EntropyWeights(np.array([0.5, 1.0]), np.array([[0.2], [1.0]]))
    np.testing.assert_allclose(weights.at(np.array([0.0, 0.5, 0.75, 2.0]))[:, 0], [0.2, 0.2, 0.6, 1.0])


@small
@pytest.mark.parametrize(
    ("nodes", "weights"),
    [
        ([0.0, 0.0], [[1.0], [1.0]]),
        ([0.0], [[np.nan]]),
        ([0.0, 1.0], [[1.0]]),
        ([], np.empty((0, 1))),
        ([0.0], np.empty((1, 0))),
    ],
)
def test_weights_that_make_no_sense_are_refused(nodes: list[float], weights: object) -> None:
    with pytest.raises(ValueError, match=r"nodes|weights"):
        EntropyWeights(np.array(nodes), np.asarray(weights))


def problem(members: int, length: int = 60) -> Problem:
    generator = np.random.default_rng(7)
    rows = distributions(generator, members, length, 5)
    held = HeldOut.of(rows, drawn(generator, rows[0]))
    return Problem(held, entropy_nodes(held.entropies)[::3])


@small
@pytest.mark.parametrize("members", [1, 2])
def test_gradient_and_curvature_by_finite_differences(members: int) -> None:
    given = problem(members)
    weights = given.start + 0.2 * np.random.default_rng(1).normal(size=given.start.shape)
    every = np.arange(given.held.codes.size)
    _, gradient, curvature = given.likelihood(every, weights)
    small = 1e-5
    for place in np.ndindex(*weights.shape):
        ends = []
        for sign in (1.0, -1.0):
            moved = weights.copy()
            moved[place] += sign * small
            ends.append(given.likelihood(every, moved))
        (above, slope_above, _), (under, slope_under, _) = ends
        assert (above - under) / (2 * small) == pytest.approx(gradient[place], rel=1e-6, abs=1e-6)
        row = curvature[np.ravel_multi_index(place, weights.shape)]
        np.testing.assert_allclose(-(slope_above - slope_under).ravel() / (2 * small), row, rtol=1e-5, atol=1e-5)


@small
def test_the_fit_speaks_of_the_distribution_that_mixing_gives() -> None:
    given = problem(2)
    weights = given.start + 0.2 * np.random.default_rng(2).normal(size=given.start.shape)
    every = np.arange(given.held.codes.size)
    rows = np.exp(given.held.logs.transpose(1, 0, 2))
    own = np.log(mixed(rows, EntropyWeights(given.nodes, weights))[every, given.held.codes])
    np.testing.assert_allclose(given.values(every, weights), own, rtol=1e-9, atol=1e-9)
    assert given.likelihood(every, weights)[0] == pytest.approx(own.sum(), rel=1e-9)


@small
def test_the_maximum_is_one() -> None:
    given = problem(2)
    every = np.arange(given.held.codes.size)
    best = given.maximise(every, (5.0, 50.0), given.start)

    def value(weights: np.ndarray) -> float:
        off = (weights - given.start).ravel()
        return given.likelihood(every, weights)[0] - 0.5 * float(off @ given.prior((5.0, 50.0)) @ off)

    generator = np.random.default_rng(3)
    for _ in range(10):
        assert value(best + 0.05 * generator.normal(size=best.shape)) < value(best)


def test_an_overconfident_predictor_is_corrected_where_it_is_unsure() -> None:
    """Right where it is sure, learned by heart where it is not: the true β is 1 there and a half here."""
    generator = np.random.default_rng(4)
    truth = distributions(generator, 1, 6000, 8)[0]
    unsure = (-(truth * np.log(truth)).sum(axis=1)) > 1.0
    given = np.where(unsure[:, None], truth**2, truth)
    given /= given.sum(axis=1, keepdims=True)
    codes = drawn(generator, truth)
    half = slice(0, 3000), slice(3000, None)
    weights = fit_weights(HeldOut.of(given[np.newaxis, half[0]], codes[half[0]]))
    before, after, best = (
        bits(rows[half[1]], codes[half[1]]) for rows in (given, mixed(given[np.newaxis], weights), truth)
    )
    assert before - best > 300
    assert after - best < 0.45 * (before - best)
    sure, lost = weights.at(np.array([0.02, 1.6]))[:, 0]
    assert sure > 0.7 and lost < 0.65


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("length", [FEWEST - 1, 200, 2000])
def test_a_right_predictor_is_left_alone(seed: int, length: int) -> None:
    """β = 1 is right: what is fitted costs next to nothing on other data."""
    generator = np.random.default_rng(seed)
    rows = distributions(generator, 1, length + 4000, 6)
    codes = drawn(generator, rows[0])
    weights = fit_weights(HeldOut.of(rows[:, :length], codes[:length]))
    own, fitted = bits(rows[0, length:], codes[length:]), bits(mixed(rows[:, length:], weights), codes[length:])
    assert fitted < 1.003 * own
    if length < FEWEST:
        assert np.array_equal(weights.weights, [[1.0]])


def test_several_members_are_better_than_each_and_than_their_plain_mean() -> None:
    """Members that each add noise of their own to what is true."""
    generator = np.random.default_rng(5)
    logits = 2.0 * generator.normal(size=(1, 6000, 8))
    noisy = np.concatenate([logits + sigma * generator.normal(size=logits.shape) for sigma in (1.0, 1.0, 2.5)])
    rows, truth = (np.exp(z) / np.exp(z).sum(axis=2, keepdims=True) for z in (noisy, logits))
    codes = drawn(generator, truth[0])
    weights = fit_weights(HeldOut.of(rows[:, :3000], codes[:3000]))
    plain, fitted = (bits(mixed(rows[:, 3000:], w), codes[3000:]) for w in (equal_weights(3), weights))
    assert fitted < plain < min(bits(row[3000:], codes[3000:]) for row in rows)
    assert (weights.weights[:, 2] < weights.weights[:, :2].min(axis=1)).all()


def test_predictions_that_are_all_certain() -> None:
    rows = np.tile(np.array([1.0, 0.0, 0.0]), (1, 300, 1))
    weights = fit_weights(HeldOut.of(rows, np.zeros(300, int)))
    np.testing.assert_allclose(mixed(rows, weights)[0], [1, 0, 0], atol=1e-15)
    weights = fit_weights(HeldOut.of(np.full((1, 300, 3), 1 / 3), np.arange(300) % 3))
    np.testing.assert_allclose(mixed(np.full((1, 1, 3), 1 / 3), weights)[0], 1 / 3)


@small
def test_weights_that_are_never_surer_than_the_members() -> None:
    weights = EntropyWeights(np.array([0.5, 1.0]), np.array([[0.9, 0.6], [0.2, 0.3]])).at_most_even()
    np.testing.assert_allclose(weights.weights, [[0.6, 0.4], [0.2, 0.3]])
