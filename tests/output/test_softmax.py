"""The softmax output against its formulas, over several blocks of rows and with extreme weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glnn.output import softmax
from tests import naive

pytestmark = pytest.mark.small

ROWS, UNITS, SYMBOLS = 70, 4, 3


@pytest.fixture(params=[4096, 16])
def rows_per_block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """All rows in one block, or in five with a rest."""
    monkeypatch.setattr(softmax, "_BLOCK_ROWS", request.param)
    return request.param


def example() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    a = generator.uniform(-1, 1, (ROWS, UNITS))
    y = generator.integers(0, SYMBOLS, ROWS, np.int32)
    return a, y, 0.5 + generator.random(ROWS), generator.standard_normal((UNITS + 1, SYMBOLS))


def outputs(a: np.ndarray, w: np.ndarray) -> np.ndarray:
    """π by the oracle, (T, A)."""
    return np.array([naive.output(w, np.append(1.0, row)) for row in a])


def test_distributions(rows_per_block: int) -> None:
    a, _, _, w = example()
    np.testing.assert_allclose(softmax.distributions(a, w), outputs(a, w), rtol=1e-13)


def test_log_likelihoods(rows_per_block: int) -> None:
    a, y, weight, w = example()
    logs = np.log(outputs(a, w)[np.arange(ROWS), y])
    np.testing.assert_allclose(softmax.symbol_log_likelihoods(a, y, w), logs, rtol=1e-12)
    assert float(weight @ softmax.symbol_log_likelihoods(a, y, w)) == pytest.approx(weight @ logs, rel=1e-13)


@pytest.mark.parametrize("small", [0, softmax.SMALL], ids=["matrix products", "small sums"])
def test_statistics_of_the_writing_weights(rows_per_block: int, small: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(softmax, "SMALL", small)
    a, y, weight, w = example()
    pi, with_constant = outputs(a, w), np.concatenate([np.ones((ROWS, 1)), a], axis=1)
    (W, diagonal, cross), value = softmax.writing_statistics(a, y, weight, w)
    spread = weight[:, None] * pi * (1 - pi)
    np.testing.assert_allclose(
        W, with_constant.T @ (weight[:, None] * (np.eye(SYMBOLS)[y] - pi)), rtol=1e-11, atol=1e-12
    )
    np.testing.assert_allclose(diagonal, (with_constant**2).T @ spread, rtol=1e-12)
    np.testing.assert_allclose(cross, with_constant.T @ spread, rtol=1e-11, atol=1e-12)
    assert value == pytest.approx(float(weight @ softmax.symbol_log_likelihoods(a, y, w)), rel=1e-14)


@pytest.mark.parametrize("with_variance", [True, False])
def test_terms_for_the_way_back(with_variance: bool, rows_per_block: int) -> None:
    a, y, weight, w = example()
    pi = outputs(a, w)
    error = np.empty((ROWS, UNITS))
    variance = np.empty((ROWS, UNITS)) if with_variance else None
    value = softmax.source_terms(a, y, weight, w, error, variance)
    mean = pi @ w[1:].T
    np.testing.assert_allclose(error, weight[:, None] * (w[1:, y].T - mean), rtol=1e-11, atol=1e-13)
    if variance is not None:
        expected = weight[:, None] * (pi @ (w[1:] ** 2).T - mean**2)
        np.testing.assert_allclose(variance, expected, rtol=1e-10, atol=1e-13)
        by_oracle = [naive.output_variance(w, list(pi[0]), 1 + i) for i in range(UNITS)]
        np.testing.assert_allclose(variance[0], weight[0] * np.array(by_oracle), rtol=1e-10)
    assert value == pytest.approx(float(weight @ softmax.symbol_log_likelihoods(a, y, w)), rel=1e-14)


@given(st.floats(-1e4, 1e4), st.integers(0, 2))
def test_no_weight_is_too_large(scale: float, y: int) -> None:
    """Logits of ±1e4: nothing overflows, π sums to 1, variances are not negative."""
    a, w = np.array([[1.0, 0.5]]), scale * np.array([[0.0, 0.0, 0.0], [1.0, -1.0, 0.3], [0.2, 0.1, -1.0]])
    pi = softmax.distributions(a, w)
    assert pi.sum() == pytest.approx(1.0, rel=1e-12)
    target, weight = np.array([y]), np.ones(1)
    logs = softmax.symbol_log_likelihoods(a, target, w)[0]
    assert logs == pytest.approx(naive.log_output(w, np.array([1.0, 1.0, 0.5]))[y], rel=1e-9, abs=1e-9)
    error, variance = np.empty((1, 2)), np.empty((1, 2))
    softmax.source_terms(a, target, weight, w, error, variance)
    assert np.isfinite(error).all() and np.isfinite(variance).all() and variance.min() >= 0.0
    statistics, _ = softmax.writing_statistics(a, target, weight, w)
    assert all(np.isfinite(part).all() for part in statistics) and statistics.diagonal.min() >= 0.0


@pytest.mark.parametrize("weights", ["equal", "in runs", "all different"])
def test_logarithms_of_several_rows_at_once_keep_their_weights(weights: str) -> None:
    """Rows of the same weight share one logarithm: runs of any length, also across blocks, must not mix weights."""
    a, y, weight, w = example()
    if weights == "equal":
        weight = np.full(ROWS, 0.7)
    elif weights == "in runs":
        weight = np.repeat([0.5, 2.0, 1.0, 0.25], [3, 40, 20, 7])
    logs = np.log(outputs(a, w)[np.arange(ROWS), y])
    assert float(weight @ softmax.symbol_log_likelihoods(a, y, w)) == pytest.approx(weight @ logs, rel=1e-13)


def test_statistics_of_nothing_are_zero() -> None:
    nothing = softmax.no_statistics(UNITS, SYMBOLS)
    a, y, weight, w = example()
    some, _ = softmax.writing_statistics(a, y, weight, w)
    for part, total in zip(some, nothing + some, strict=True):
        np.testing.assert_array_equal(part, total)
