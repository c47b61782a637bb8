"""The inverse of the unitwise metric, block by block: in full, (M̃ + ε) δ = G, and in its quasi-diagonal form.

In full, by Cholesky in float64: a block that is not positive definite, whose pivots are rounding errors, or whose step
is not finite is damped ten times more, at most eight times; then it takes its quasi-diagonal form, and if even that is
not finite it rests. The record says what happened.

Quasi-diagonal (Section 2, "Non-sparse networks"; `eq:qdw1`, `eq:qdw2` for w): in a block with the constant as index 0
only M_00, M_0k and M_kk are used. Signals are taken as orthogonal to each other but not to the constant, which keeps
the invariance under affine changes of each unit's activity.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from glnn.numeric.kernel import CONTRACT, kernel

ROUNDING = 1e-14
"""What differences in a metric are in doubt by, beside the numbers that they are differences of."""


def quasi_diagonal(gradient: np.ndarray, diagonal: np.ndarray, cross: np.ndarray, block_ptr: np.ndarray) -> np.ndarray:
    """The quasi-diagonal inverse applied to the gradient, block by block; `diagonal` has its damping already."""
    out = np.empty_like(gradient)
    _fill(gradient, diagonal, cross, block_ptr, out)
    return out


@kernel()
def solve_block(G: np.ndarray, diagonal: np.ndarray, cross: np.ndarray, out: np.ndarray) -> None:
    """One block: out_k = (G_k − G_0 M_0k/M_00) / (M_kk − M_0k²/M_00), and the constant takes up the rest.

    The denominator is at least the damping in it. Where M is so large that rounding swallows that, the difference can
    come out 0 or negative, and the step infinite or downhill: it counts as its own rounding error then.
    """
    M00 = diagonal[0]
    rest = G[0] / M00
    for k in range(1, G.size):
        ratio = cross[k] / M00
        variance = diagonal[k] - cross[k] * ratio
        if variance < ROUNDING * diagonal[k]:
            variance = ROUNDING * diagonal[k]
        step = (G[k] - G[0] * ratio) / variance
        out[k] = step
        rest -= ratio * step
    out[0] = rest


@kernel()
def _fill(G: np.ndarray, diagonal: np.ndarray, cross: np.ndarray, block_ptr: np.ndarray, out: np.ndarray) -> None:
    for b in range(block_ptr.size - 1):
        s, e = block_ptr[b], block_ptr[b + 1]
        solve_block(G[s:e], diagonal[s:e], cross[s:e], out[s:e])


MORE_DAMPING = 10.0
MOST_RETRIES = 8


class Solution(NamedTuple):
    """The steps of all blocks, and how they came about."""

    step: np.ndarray
    conditioning: float
    """The worst ratio of the largest to the smallest squared pivot."""
    retries: int
    quasi_diagonal: int
    resting: int


def full_solve(gradient: np.ndarray, matrices: np.ndarray, block_ptr: np.ndarray, damping: float) -> Solution:
    """Solve each block; `matrices` are packed one after the other, without damping."""
    step = np.zeros_like(gradient)
    counts = np.zeros(3, np.int64)
    worst = _solve_all(gradient, matrices, block_ptr, damping, step, counts)
    return Solution(step, float(worst), *(int(c) for c in counts))


@kernel(CONTRACT)
def _cholesky(L: np.ndarray, K: int) -> float:
    """Factor in place, lower triangle; returns the conditioning, or −1 when the matrix is not positive definite.

    A pivot no larger than the rounding error of the number it was subtracted from counts as none.
    """
    largest, smallest = 0.0, np.inf
    for j in range(K):
        own = L[j, j]
        for k in range(j):
            factor = L[j, k]
            for i in range(j, K):
                L[i, j] -= factor * L[i, k]
        pivot = L[j, j]
        if not (pivot > ROUNDING * own and pivot < np.inf):
            return -1.0
        largest, smallest = max(largest, pivot), min(smallest, pivot)
        scale = 1.0 / np.sqrt(pivot)
        for i in range(j, K):
            L[i, j] *= scale
    return largest / smallest


@kernel(CONTRACT)
def _substitute(L: np.ndarray, K: int, x: np.ndarray) -> bool:
    """Solve L Lᵀ x = x in place; returns whether the result is finite."""
    for i in range(K):
        for k in range(i):
            x[i] -= L[i, k] * x[k]
        x[i] /= L[i, i]
    for i in range(K - 1, -1, -1):
        for k in range(i + 1, K):
            x[i] -= L[k, i] * x[k]
        x[i] /= L[i, i]
    finite = True
    for i in range(K):
        finite = finite and np.isfinite(x[i])
    return finite


@kernel(CONTRACT)
def _solve_all(
    G: np.ndarray,
    matrices: np.ndarray,
    block_ptr: np.ndarray,
    damping: float,
    step: np.ndarray,
    counts: np.ndarray,
) -> float:
    widest = 0
    for b in range(block_ptr.size - 1):
        widest = max(widest, block_ptr[b + 1] - block_ptr[b])
    L = np.empty((widest, widest))
    diagonal, cross = np.empty(widest), np.empty(widest)
    worst = 1.0
    base = 0
    for b in range(block_ptr.size - 1):
        s, e = block_ptr[b], block_ptr[b + 1]
        K = e - s
        M = matrices[base : base + K * K].reshape((K, K))
        base += K * K
        idle = True
        for k in range(K):
            idle = idle and G[s + k] == 0.0
        if idle:
            continue
        epsilon, share = damping, 0.0
        solved = False
        for attempt in range(MOST_RETRIES + 1):
            for i in range(K):
                for k in range(i + 1):
                    L[i, k] = M[i, k]
                L[i, i] += epsilon + share * M[i, i]
            conditioning = _cholesky(L, K)
            if conditioning > 0.0:
                step[s:e] = G[s:e]
                if _substitute(L, K, step[s:e]):
                    worst = max(worst, conditioning)
                    solved = True
                    break
            if attempt < MOST_RETRIES:
                counts[0] += 1
                # Without damping at first, more of it has to begin somewhere: at the matrix's own rounding error.
                # Next to a metric of 1e70, which moduli that grow at every time step reach, ε vanishes: each number of
                # the diagonal is also raised by a share of itself, its rounding error at first.
                share = ROUNDING if share == 0.0 else share * MORE_DAMPING
                epsilon = epsilon * MORE_DAMPING if epsilon > 0.0 else 1e-16 * max(M[0, 0], 1e-300)
        if solved:
            continue
        counts[1] += 1
        for k in range(K):
            diagonal[k] = M[k, k] + damping
            cross[k] = M[k, 0]
        solve_block(G[s:e], diagonal[:K], cross[:K], step[s:e])
        finite = True
        for k in range(s, e):
            finite = finite and np.isfinite(step[k])
        if not finite:
            counts[2] += 1
            step[s:e] = 0.0
    return worst
