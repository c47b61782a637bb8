"""The softmax output, `eq:output`:  π_t(y) ∝ exp Σ_i a_i^t w_iy, over rows of activities in blocks.

Everything over the alphabet is a matrix product on a block of rows that fits the cache, so no T×A array exists. The
products have the precision of the activities; sums over time are always double.
`weight` is the weight of each row in the log-likelihood (1, or the weight of its sequence).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from glnn.numeric.elementary import exp
from glnn.numeric.kernel import REASSOCIATE, kernel
from glnn.numeric.scratch import thread_workspace
from glnn.output.small_moments import add_moments, add_moments_of_singles

_BLOCK_ELEMENTS = 32768
_BLOCK_ROWS = 4096
# Sums of exponentials that are multiplied before a logarithm is taken.
_FACTORS = 16
# Units times symbols up to which sums without matrix products are faster.
SMALL = 1024


class WritingStatistics(NamedTuple):
    """W, h_ii and h_0i of Section 2 (`eq:hessian`, without the damping), each (N + 1, A), row 0 the constant.

    They can be added and scaled, so running averages are `(1 - g) * running + g * chunk`.
    """

    gradient: np.ndarray
    diagonal: np.ndarray
    cross: np.ndarray

    def __add__(self, other: WritingStatistics) -> WritingStatistics:  # type: ignore[override]
        return WritingStatistics(*(a + b for a, b in zip(self, other, strict=True)))

    def __mul__(self, factor: float) -> WritingStatistics:  # type: ignore[override]
        return WritingStatistics(*(factor * part for part in self))

    def __rmul__(self, factor: float) -> WritingStatistics:  # type: ignore[override]
        return self * factor


def no_statistics(units: int, symbols: int) -> WritingStatistics:
    """The statistics of no data."""
    return WritingStatistics(*(np.zeros((units + 1, symbols)) for _ in range(3)))


def symbol_log_likelihoods(a: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """log π_t(y_t) for every row of `a`."""
    out = np.empty(len(y))
    for rows, E in logits(a, w):
        _log_probability_of(E, w[0], y[rows], out[rows])
    return out


def distributions(a: np.ndarray, w: np.ndarray) -> np.ndarray:
    """π for every row of `a`: use on blocks of rows only."""
    pi = a @ w[1:] + w[0]
    pi -= pi.max(axis=1, keepdims=True)
    np.exp(pi, out=pi)
    pi /= pi.sum(axis=1, keepdims=True)
    return pi


def writing_statistics(
    a: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    w: np.ndarray,
    error: np.ndarray | None = None,
    variance: np.ndarray | None = None,
) -> tuple[WritingStatistics, float]:
    """The derivative with respect to w and the needed terms of its Hessian, and the log-likelihood.

    `error` and `variance`, where they are given, are filled as by `source_terms`, from the same look at the output.
    """
    N, A = a.shape[1], w.shape[1]
    columns = np.ascontiguousarray(w[1:].T, a.dtype)
    squared = columns * columns if variance is not None else columns
    total = 0.0
    if N * A <= SMALL:
        # Here the sums stay in the first cache, and matrix products would be too narrow to be fast.
        sums = np.zeros((3, A, len(w)))
        adding = add_moments if a.dtype == np.float64 else add_moments_of_singles
        for rows, E in logits(a, w):
            total += _normalise(E, w[0], y[rows], weight[rows])
            if error is not None:
                _sources(E, columns, squared, y[rows], weight[rows], error[rows], variance, rows)
            adding(a[rows], y[rows], weight[rows], E, *sums)
        found = np.empty((3, len(w), A))
        found[:, 0], found[:, 1:] = sums[:, :, N], sums[:, :, :N].transpose(0, 2, 1)
        found[2, 0] = found[1, 0]
        return WritingStatistics(*found), total
    # Symbols as rows: the products are a tenth to a third faster than with symbols as columns, to the same bits.
    sums, of_constant, zeroth = np.zeros((3, A, N)), np.zeros(A), np.zeros(A)
    squares = thread_workspace().array("squares", block_rows(A), N, dtype=a.dtype)
    spread = thread_workspace().array("spreads", block_rows(A), A, dtype=a.dtype)
    for rows, E in logits(a, w):
        block, square, P = a[rows], squares[: len(E)], spread[: len(E)]
        np.multiply(block, block, out=square)
        total += _normalise(E, w[0], y[rows], weight[rows])
        if error is not None:
            _sources(E, columns, squared, y[rows], weight[rows], error[rows], variance, rows)
        _errors_and_spreads(E, y[rows], weight[rows], P, of_constant, zeroth)
        sums[0] += E.T @ block
        sums[1] += P.T @ square
        sums[2] += P.T @ block
    firsts = of_constant, zeroth, zeroth
    return WritingStatistics(*(np.vstack([first, part.T]) for first, part in zip(firsts, sums, strict=True))), total


def source_terms(
    a: np.ndarray, y: np.ndarray, weight: np.ndarray, w: np.ndarray, error: np.ndarray, variance: np.ndarray | None
) -> float:
    """Fill `error` with w_iy − Σ π w_i and `variance` with the π-variance of w_i, each times the row's weight.

    Returns the log-likelihood.
    """
    columns = np.ascontiguousarray(w[1:].T, a.dtype)
    squared = columns * columns if variance is not None else columns
    total = 0.0
    for rows, E in logits(a, w):
        total += _normalise(E, w[0], y[rows], weight[rows])
        _sources(E, columns, squared, y[rows], weight[rows], error[rows], variance, rows)
    return total


def _sources(
    pi: np.ndarray,
    columns: np.ndarray,
    squared: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    error: np.ndarray,
    variance: np.ndarray | None,
    rows: slice,
) -> None:
    """The terms of `source_terms` from π of a block of rows."""
    np.dot(pi, columns, out=error)
    if variance is None:
        _error(error, columns, y, weight)
    else:
        np.dot(pi, squared, out=variance[rows])
        _error_and_variance(error, variance[rows], columns, y, weight)


def block_rows(A: int) -> int:
    """Rows that are worked on together: their logits stay in the cache."""
    return max(16, min(_BLOCK_ROWS, _BLOCK_ELEMENTS // A))


def logits(a: np.ndarray, w: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Blocks of Σ_i a_i w_iy without the constant, in a buffer that is used again."""
    size = block_rows(w.shape[1])
    w = w.astype(a.dtype, copy=False)
    buffer = thread_workspace().array("logits", size, w.shape[1], dtype=a.dtype)
    for start in range(0, len(a), size):
        rows = slice(start, min(start + size, len(a)))
        E = buffer[: rows.stop - start]
        np.dot(a[rows], w[1:], out=E)
        yield rows, E


@kernel(REASSOCIATE, inline="always")
def _shift(E: np.ndarray, t: int, w0: np.ndarray) -> None:
    """Add the constant unit's weights to a row and subtract its maximum."""
    row = E[t]
    row[0] += w0[0]
    top = row[0]
    for k in range(1, row.size):
        row[k] += w0[k]
        top = max(top, row[k])
    for k in range(row.size):
        row[k] -= top


@kernel(REASSOCIATE)
def _exponentials(E: np.ndarray) -> None:
    """All at once: row by row, the last few of each row would miss the vector instructions."""
    flat = E.reshape(-1)
    for s in range(flat.size):
        flat[s] = exp(flat[s])


@kernel(REASSOCIATE)
def _log_probability_of(E: np.ndarray, w0: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    for t in range(y.size):
        _shift(E, t, w0)
        out[t] = E[t, y[t]]
    _exponentials(E)
    for t in range(y.size):
        row = E[t]
        scale = 0.0
        for k in range(row.size):
            scale += row[k]
        out[t] -= np.log(scale)


@kernel(REASSOCIATE)
def _normalise(E: np.ndarray, w0: np.ndarray, y: np.ndarray, weight: np.ndarray) -> float:
    """E, the logits without their constant w0, becomes π; returns Σ weight log π(y).

    Every log-likelihood of training comes from here, to the same bits.
    """
    total = 0.0
    for t in range(y.size):
        _shift(E, t, w0)
        total += weight[t] * E[t, y[t]]
    _exponentials(E)
    product, factors = 1.0, 0
    for t in range(y.size):
        row = E[t]
        scale = 0.0
        for k in range(row.size):
            scale += row[k]
        # One logarithm for some rows of the same weight; each factor lies between 1 and A.
        product *= scale
        factors += 1
        if factors == _FACTORS or t + 1 == y.size or weight[t + 1] != weight[t]:
            total -= weight[t] * np.log(product)
            product, factors = 1.0, 0
        scale = 1.0 / scale
        for k in range(row.size):
            row[k] *= scale
    return total


@kernel(REASSOCIATE)
def _errors_and_spreads(
    E: np.ndarray, y: np.ndarray, weight: np.ndarray, P: np.ndarray, gradient0: np.ndarray, zeroth: np.ndarray
) -> None:
    """π becomes weight (1_{y} − π), P becomes weight π (1 − π); their column sums are added to the last two."""
    for t in range(y.size):
        row, spread, c = E[t], P[t], weight[t]
        for k in range(row.size):
            pi = row[k]
            row[k] = -c * pi
            spread[k] = c * pi * (1.0 - pi)
        row[y[t]] += c
        for k in range(row.size):
            gradient0[k] += row[k]
            zeroth[k] += spread[k]


@kernel(REASSOCIATE)
def _error_and_variance(
    mean: np.ndarray, square: np.ndarray, columns: np.ndarray, y: np.ndarray, weight: np.ndarray
) -> None:
    """From E_π[w] and E_π[w²] to the error and the variance, in place; rounding must not make a variance negative."""
    for t in range(y.size):
        own, c = columns[y[t]], weight[t]
        m, s = mean[t], square[t]
        for i in range(m.size):
            s[i] = c * max(s[i] - m[i] * m[i], 0.0)
            m[i] = c * (own[i] - m[i])


@kernel(REASSOCIATE)
def _error(mean: np.ndarray, columns: np.ndarray, y: np.ndarray, weight: np.ndarray) -> None:
    for t in range(y.size):
        own, c = columns[y[t]], weight[t]
        m = mean[t]
        for i in range(m.size):
            m[i] = c * (own[i] - m[i])
