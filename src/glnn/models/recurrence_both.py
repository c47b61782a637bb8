"""B and the backpropagated modulus m̃ in one walk back over time: they read the same weights, slopes and edges.

The walk is bound by loads, so reading each edge once for both is a third faster than two walks. The weights come
without loops, as `D`, with the loops apart: the loop's (leak + τ_ii s')² is squared as a whole, since its expansion
cancels when τ_ii s' is near −1.
"""

from __future__ import annotations

import numpy as np

from glnn.models.recurrence import _copy, _slope
from glnn.numeric.kernel import CONTRACT, kernel


@kernel(CONTRACT, inline="always")
def _next(
    leak: float,
    loop: np.ndarray,
    slope: np.ndarray,
    error: np.ndarray,
    variance: np.ndarray,
    B: np.ndarray,
    m: np.ndarray,
) -> None:
    """From B^{t+1}, m̃^{t+1} and all that reached the activities to B^t (`eq:explicitbackprop`) and m̃^t."""
    for i in range(B.size):
        B[i] = leak * B[i] + slope[i] * (error[i] + loop[i] * B[i])
    for i in range(m.size):
        own = leak + loop[i] * slope[i]
        m[i] = slope[i] * slope[i] * variance[i] + own * own * m[i]


@kernel(CONTRACT)
def both_sparse(
    x: np.ndarray,
    first: np.ndarray,
    group: np.ndarray,
    leak: float,
    activation: int,
    ptr: np.ndarray,
    ends: np.ndarray,
    D: np.ndarray,
    loops: np.ndarray,
    a: np.ndarray,
    predicted: np.ndarray,
    error: np.ndarray,
    B: np.ndarray,
    B_next: np.ndarray,
    B_start: np.ndarray,
    variance: np.ndarray,
    m: np.ndarray,
    m_next: np.ndarray,
    m_start: np.ndarray,
) -> None:
    """Over the edges out of each unit. Arrays as in `recurrence.backward_sparse`, those of m̃ alike."""
    N = B.size
    gathered, spread, slope = np.empty_like(B), np.empty_like(B), np.empty_like(B)
    p = predicted.size - 1
    start = B_start.shape[0] - 1
    for t in range(x.size - 1, -1, -1):
        _copy(B, B_next[t])
        _copy(m, m_next[t])
        _slope(a[t], activation, slope)
        g = group[x[t]]
        weight = D[g]
        for i in range(N):
            total, square = 0.0, 0.0
            for e in range(ptr[i], ptr[i + 1]):
                tau, j = weight[e], ends[e]
                total += tau * B[j]
                square += tau * tau * m[j]
            gathered[i] = total
            spread[i] = square
        if p >= 0 and predicted[p] == t:
            row, variances = error[p], variance[p]
            for i in range(N):
                gathered[i] += row[i]
                spread[i] += variances[i]
            p -= 1
        _next(leak, loops[g], slope, gathered, spread, B, m)
        if first[t]:
            B_start[start] = B
            m_start[start] = m
            start -= 1
            B[:] = 0.0
            m[:] = 0.0


@kernel(CONTRACT)
def both_dense(
    x: np.ndarray,
    first: np.ndarray,
    group: np.ndarray,
    leak: float,
    activation: int,
    D: np.ndarray,
    loops: np.ndarray,
    a: np.ndarray,
    predicted: np.ndarray,
    error: np.ndarray,
    B: np.ndarray,
    B_next: np.ndarray,
    B_start: np.ndarray,
    variance: np.ndarray,
    m: np.ndarray,
    m_next: np.ndarray,
    m_start: np.ndarray,
) -> None:
    """With the transposed matrices `D[g, j, i]` = τ_ij, zero where i = j."""
    N = B.size
    gathered, spread, slope = np.empty_like(B), np.empty_like(B), np.empty_like(B)
    p = predicted.size - 1
    start = B_start.shape[0] - 1
    whole = N - N % 2
    for t in range(x.size - 1, -1, -1):
        _copy(B, B_next[t])
        _copy(m, m_next[t])
        _slope(a[t], activation, slope)
        if p >= 0 and predicted[p] == t:
            _copy(error[p], gathered)
            _copy(variance[p], spread)
            p -= 1
        else:
            gathered[:] = 0.0
            spread[:] = 0.0
        g = group[x[t]]
        matrix = D[g]
        for j in range(0, whole, 2):
            B0, B1, m0, m1 = B[j], B[j + 1], m[j], m[j + 1]
            D0, D1 = matrix[j], matrix[j + 1]
            for i in range(N):
                gathered[i] += B0 * D0[i] + B1 * D1[i]
                spread[i] += m0 * (D0[i] * D0[i]) + m1 * (D1[i] * D1[i])
        for j in range(whole, N):
            B0, m0, D0 = B[j], m[j], matrix[j]
            for i in range(N):
                gathered[i] += B0 * D0[i]
                spread[i] += m0 * (D0[i] * D0[i])
        _next(leak, loops[g], slope, gathered, spread, B, m)
        if first[t]:
            B_start[start] = B
            m_start[start] = m
            start -= 1
            B[:] = 0.0
            m[:] = 0.0
