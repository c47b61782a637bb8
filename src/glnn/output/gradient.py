"""The output where no more than gradients are wanted, as on chunks: w's gradient and the error of each activity.

Everything has the precision of the activities; the log-likelihood and the constant's sums are double.
"""

from __future__ import annotations

import numpy as np

from glnn.numeric.elementary import exp, exp_single
from glnn.numeric.kernel import REASSOCIATE, kernel
from glnn.output.softmax import WritingStatistics, logits

# Sums of exponentials that are multiplied before a logarithm is taken.
_FACTORS = 16


def gradient_terms(
    a: np.ndarray, y: np.ndarray, weight: np.ndarray, w: np.ndarray, error: np.ndarray
) -> tuple[WritingStatistics, float]:
    """The gradient of w, `error` as in `softmax.source_terms`, and the log-likelihood, from one look at the output.

    The terms of the Hessian are left empty.
    """
    N, A = a.shape[1], w.shape[1]
    nothing = np.empty((0, 0))
    gradient, of_constant, total = np.zeros((A, N)), np.zeros(A), 0.0
    rows_of_w = np.ascontiguousarray(w[1:].T, a.dtype)
    first = w[0].astype(a.dtype)
    exponentials = exponentials_single if a.dtype == np.float32 else _exponentials
    for rows, E in logits(a, w):
        total += shift(E, first, y[rows], weight[rows])
        exponentials(E.reshape(-1))
        total += errors(E, y[rows], weight[rows], of_constant)
        gradient += E.T @ a[rows]
        np.dot(E, rows_of_w, out=error[rows])
    return WritingStatistics(np.vstack([of_constant, gradient.T]), nothing, nothing), total


@kernel(REASSOCIATE)
def shift(E: np.ndarray, w0: np.ndarray, y: np.ndarray, weight: np.ndarray) -> float:
    """Add the constant unit's weights to every row and subtract its maximum; returns Σ weight E(y)."""
    total = 0.0
    for t in range(y.size):
        row = E[t]
        row[0] += w0[0]
        top = row[0]
        for k in range(1, row.size):
            row[k] += w0[k]
            top = max(top, row[k])
        for k in range(row.size):
            row[k] -= top
        total += weight[t] * row[y[t]]
    return total


@kernel(REASSOCIATE)
def _exponentials(flat: np.ndarray) -> None:
    for s in range(flat.size):
        flat[s] = exp(flat[s])


@kernel(REASSOCIATE)
def exponentials_single(flat: np.ndarray) -> None:
    """In place, in single precision."""
    for s in range(flat.size):
        flat[s] = exp_single(flat[s])


@kernel(REASSOCIATE)
def errors(E: np.ndarray, y: np.ndarray, weight: np.ndarray, of_constant: np.ndarray) -> float:
    """Exponentials become weight (1_y − π), whose column sums are added to the last; returns −Σ weight log Σ_k E_k."""
    total, product, factors = 0.0, 1.0, 0
    for t in range(y.size):
        row, scale = E[t], 0.0
        for k in range(row.size):
            scale += row[k]
        # One logarithm for some rows of the same weight; each factor lies between 1 and A.
        product *= scale
        factors += 1
        if factors == _FACTORS or t + 1 == y.size or weight[t + 1] != weight[t]:
            total -= weight[t] * np.log(product)
            product, factors = 1.0, 0
        scale = -weight[t] / scale
        for k in range(row.size):
            row[k] *= scale
        row[y[t]] += weight[t]
        for k in range(row.size):
            of_constant[k] += row[k]
    return total
