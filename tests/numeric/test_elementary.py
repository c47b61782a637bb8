"""exp, tanh and logistic of the kernels against numpy's, over the whole range, extreme values and NaN included."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glnn.numeric.elementary import exp, exp_single, logistic, logistic_single, tanh, tanh_single
from glnn.numeric.kernel import REASSOCIATE, kernel

pytestmark = pytest.mark.small

EXTREMES = [-np.inf, -1e300, -1e4, 1e4, 1e300, np.inf]


def values(function: object, arguments: np.ndarray) -> np.ndarray:
    return np.array([function(float(x)) for x in arguments])


def spread(limit: float) -> np.ndarray:
    """Many magnitudes of both signs, a fine grid, and the places where the integer part of x / ln 2 changes."""
    grid = np.linspace(-limit, limit, 4001)
    small = np.geomspace(1e-300, limit, 600)
    halves = (np.arange(-40, 41) + 0.5) * np.log(2.0)
    borders = np.concatenate([np.nextafter(halves, -np.inf), halves, np.nextafter(halves, np.inf)])
    return np.concatenate([grid, small, -small, borders, [0.0, -0.0]])


def test_exp_is_exact_to_a_few_last_bits() -> None:
    x = spread(700.0)
    expected = np.exp(x)
    assert np.max(np.abs(values(exp, x) - expected) / expected) < 4e-16


def test_exp_at_its_ends_is_held_and_stays_finite() -> None:
    x = np.array([-708.0, -707.5, 708.5, 709.0])
    np.testing.assert_allclose(values(exp, x), np.exp(x), rtol=4e-16)
    low, high = exp(-708.0), exp(709.0)
    for argument in EXTREMES:
        assert exp(argument) == (low if argument < 0 else high)
    assert 0.0 < low < 1e-300 and 1e300 < high < np.inf


def test_single_precision_is_taken_as_it_is() -> None:
    for x in np.array([-3.7, 0.1, 20.3], np.float32):
        assert exp(x) == pytest.approx(np.exp(np.float64(x)), rel=4e-16)
        assert tanh(x) == pytest.approx(np.tanh(np.float64(x)), rel=1e-15)


def test_tanh() -> None:
    x = np.concatenate([spread(20.0), EXTREMES])
    found = values(tanh, x)
    np.testing.assert_allclose(found, np.tanh(x), rtol=0, atol=1e-15)
    assert np.all(np.abs(found) <= 1.0)
    assert tanh(np.inf) == 1.0 and tanh(-np.inf) == -1.0 and tanh(0.0) == 0.0


def test_logistic() -> None:
    x = spread(700.0)
    expected = np.where(x < 0, np.exp(x) / (1.0 + np.exp(x)), 1.0 / (1.0 + np.exp(-x)))
    found = values(logistic, x)
    np.testing.assert_allclose(found, expected, rtol=1e-15)
    for argument in EXTREMES:
        assert logistic(argument) == pytest.approx(float(argument > 0), abs=1e-300)


@pytest.mark.parametrize("function", [exp, tanh, logistic])
def test_nan_stays_nan(function: object) -> None:
    assert np.isnan(function(float("nan")))


@given(st.floats(-300, 300), st.floats(-300, 300))
def test_order_is_kept(x: float, y: float) -> None:
    """A trial that is better by less than rounding must not come out worse by more than it."""
    low, high = min(x, y), max(x, y)
    assert exp(low) <= exp(high) * (1 + 4e-16)
    assert tanh(low) <= tanh(high) + 1e-15


@kernel(REASSOCIATE)
def _exp_of_all(x: np.ndarray, out: np.ndarray) -> None:
    for k in range(x.size):
        out[k] = exp(x[k])


@kernel(REASSOCIATE)
def _exp_of_singles(x: np.ndarray, out: np.ndarray) -> None:
    for k in range(x.size):
        out[k] = exp_single(x[k])


def test_permission_to_reassociate_around_it_does_not_undo_the_shift() -> None:
    """Callers may reorder their sums; inlined into them, the 1.5 · 2^52 trick would vanish."""
    x = np.concatenate([spread(700.0), [np.nan, np.inf, -np.inf]])
    out = np.empty_like(x)
    _exp_of_all(x, out)
    np.testing.assert_array_equal(out, values(exp, x))
    _exp_of_singles(x.astype(np.float32), out)
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(out, singles(exp_single, x), rtol=5e-7)


def singles(function: object, arguments: np.ndarray) -> np.ndarray:
    return np.array([function(x) for x in arguments.astype(np.float32)])


@np.errstate(over="ignore")
def test_exp_in_single_precision() -> None:
    x = spread(86.0)
    expected = np.exp(x.astype(np.float32).astype(float))
    found = singles(exp_single, x)
    # The argument is multiplied by 1/ln 2 first: what is rounded there grows with it.
    assert np.all(np.abs(found - expected) / expected < 3e-7 + 1.2e-7 * np.abs(x))
    low, high = singles(exp_single, np.array([-np.inf, np.inf]))
    assert 0.0 < low < 1e-37 and 1e38 < high < np.inf
    assert np.isnan(singles(exp_single, np.array([np.nan]))).all()


@np.errstate(over="ignore")
def test_tanh_and_logistic_in_single_precision() -> None:
    x = np.concatenate([spread(40.0), [-np.inf, -1e30, 1e30, np.inf]])
    given = x.astype(np.float32).astype(float)
    for function, expected in ((tanh_single, np.tanh(given)), (logistic_single, 0.5 + 0.5 * np.tanh(0.5 * given))):
        found = singles(function, x)
        np.testing.assert_allclose(found, expected, rtol=0, atol=4e-7)
        assert np.all(np.abs(found) <= 1.0)
        assert np.isnan(singles(function, np.array([np.nan]))).all()
    assert tanh_single(np.float32(0.0)) == 0.0
