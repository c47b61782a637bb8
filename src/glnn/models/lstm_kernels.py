"""The LSTM's recurrences as compiled loops over time (Graves 2013, eqs 7–11; peepholes diagonal).

    i, f = σ(V_i + p_i c), σ(V_f + p_f c);  z = tanh V_z;  c' = f c + i z;  o = σ(V_o + p_o c');  h' = o tanh c'

where V are sums over the hidden activities, the constant and the symbol. The four units of a cell stand side by side,
(N, 4): each edge then is one vector of four weights, and a product over edges needs no gathering.
"""

from __future__ import annotations

import numpy as np

from glnn.numeric.elementary import logistic, tanh
from glnn.numeric.kernel import CONTRACT, kernel

TRACE_COLUMNS = 8
"""Columns of a trace for each cell: h, c, c', i, f, o, z, tanh c'."""


@kernel(CONTRACT, inline="always")
def _add_edges(ptr: np.ndarray, ends: np.ndarray, weight: np.ndarray, h: np.ndarray, V: np.ndarray) -> None:
    """V_gj += Σ_i W_gij h_i over the edges into each cell, for its four units at once."""
    for j in range(ptr.size - 1):
        V0, V1, V2, V3 = V[4 * j], V[4 * j + 1], V[4 * j + 2], V[4 * j + 3]
        for e in range(ptr[j], ptr[j + 1]):
            signal = h[ends[e]]
            V0 += weight[e, 0] * signal
            V1 += weight[e, 1] * signal
            V2 += weight[e, 2] * signal
            V3 += weight[e, 3] * signal
        V[4 * j], V[4 * j + 1], V[4 * j + 2], V[4 * j + 3] = V0, V1, V2, V3


@kernel(CONTRACT, inline="always")
def _gather_edges(ptr: np.ndarray, ends: np.ndarray, weight: np.ndarray, B: np.ndarray, out: np.ndarray) -> None:
    """out_i += Σ_j Σ_g W_gij B_gj over the edges out of each cell."""
    for i in range(ptr.size - 1):
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for e in range(ptr[i], ptr[i + 1]):
            k = 4 * ends[e]
            s0 += weight[e, 0] * B[k]
            s1 += weight[e, 1] * B[k + 1]
            s2 += weight[e, 2] * B[k + 2]
            s3 += weight[e, 3] * B[k + 3]
        out[i] += (s0 + s1) + (s2 + s3)


@kernel(CONTRACT, inline="always")
def _add_product(matrix: np.ndarray, a: np.ndarray, out: np.ndarray) -> None:
    """out_j += Σ_i a_i matrix_ij, four rows at a time."""
    whole = a.size - a.size % 4
    for i in range(0, whole, 4):
        a0, a1, a2, a3 = a[i], a[i + 1], a[i + 2], a[i + 3]
        r0, r1, r2, r3 = matrix[i], matrix[i + 1], matrix[i + 2], matrix[i + 3]
        for j in range(out.size):
            out[j] += (a0 * r0[j] + a1 * r1[j]) + (a2 * r2[j] + a3 * r3[j])
    for i in range(whole, a.size):
        a0 = a[i]
        r0 = matrix[i]
        for j in range(out.size):
            out[j] += a0 * r0[j]


@kernel(CONTRACT)
def forward(
    x: np.ndarray,
    first: np.ndarray,
    ptr: np.ndarray,
    ends: np.ndarray,
    weight: np.ndarray,
    dense: bool,
    bias: np.ndarray,
    peephole: np.ndarray,
    scale: float,
    shift: float,
    start: np.ndarray,
    state: np.ndarray,
    trace: np.ndarray,
) -> None:
    """Fill the trace; `state` is (c, h) before the first position and becomes that behind the last.

    `weight` is (N, 4N) when `dense`, else (edges, 4) in the order of `ptr`, `ends`. The hidden activity that others
    read is scale · o tanh c' + shift.
    """
    N = state.size // 2
    c, h = state[:N], state[N:]
    V = np.empty(4 * N)
    for t in range(x.size):
        if first[t]:
            state[:] = start
        V[:] = bias[x[t]]
        if dense:
            _add_product(weight, h, V)
        else:
            _add_edges(ptr, ends, weight, h, V)
        row = trace[t]
        row[:N] = h
        row[N : 2 * N] = c
        c_next, i, f = row[2 * N : 3 * N], row[3 * N : 4 * N], row[4 * N : 5 * N]
        o, z, squashed = row[5 * N : 6 * N], row[6 * N : 7 * N], row[7 * N :]
        for j in range(N):
            i[j] = logistic(V[4 * j] + peephole[0, j] * c[j])
            f[j] = logistic(V[4 * j + 1] + peephole[1, j] * c[j])
            z[j] = tanh(V[4 * j + 3])
        for j in range(N):
            c[j] = f[j] * c[j] + i[j] * z[j]
            c_next[j] = c[j]
        for j in range(N):
            squashed[j] = tanh(c[j])
            o[j] = logistic(V[4 * j + 2] + peephole[2, j] * c[j])
        for j in range(N):
            h[j] = scale * (o[j] * squashed[j]) + shift


@kernel(CONTRACT)
def backward(
    x: np.ndarray,
    first: np.ndarray,
    ptr: np.ndarray,
    ends: np.ndarray,
    weight: np.ndarray,
    dense: bool,
    peephole: np.ndarray,
    scale: float,
    trace: np.ndarray,
    predicted: np.ndarray,
    error: np.ndarray,
    carry: np.ndarray,
    B_next: np.ndarray,
    B_start: np.ndarray,
) -> None:
    """Derivatives of the log-likelihood, from the last position to the first: `B_next[t]` of the 4N pre-activations.

    `carry` holds the derivatives with respect to (c, h) behind the last position, that of c without its part through o
    and h of the same time; it leaves as those of the first. `weight` is (4N, N), or (edges, 4) in the order of sources.
    """
    N = carry.size // 2
    d_c, d_h = carry[:N], carry[N:]
    p = predicted.size - 1
    start = B_start.shape[0] - 1
    for t in range(x.size - 1, -1, -1):
        row, B = trace[t], B_next[t]
        c, i, f = row[N : 2 * N], row[3 * N : 4 * N], row[4 * N : 5 * N]
        o, z, squashed = row[5 * N : 6 * N], row[6 * N : 7 * N], row[7 * N :]
        for j in range(N):
            through_h = scale * d_h[j]
            B_o = through_h * squashed[j] * (o[j] * (1.0 - o[j]))
            of_cell = d_c[j] + through_h * o[j] * (1.0 - squashed[j] * squashed[j]) + peephole[2, j] * B_o
            B_i = of_cell * z[j] * (i[j] * (1.0 - i[j]))
            B_f = of_cell * c[j] * (f[j] * (1.0 - f[j]))
            B[4 * j] = B_i
            B[4 * j + 1] = B_f
            B[4 * j + 2] = B_o
            B[4 * j + 3] = of_cell * i[j] * (1.0 - z[j] * z[j])
            d_c[j] = of_cell * f[j] + peephole[0, j] * B_i + peephole[1, j] * B_f
        if p >= 0 and predicted[p] == t:
            d_h[:] = error[p]
            p -= 1
        else:
            d_h[:] = 0.0
        if dense:
            _add_product(weight, B, d_h)
        else:
            _gather_edges(ptr, ends, weight, B, d_h)
        if first[t]:
            B_start[start] = carry
            start -= 1
            carry[:] = 0.0


@kernel(CONTRACT)
def modulus(
    x: np.ndarray,
    first: np.ndarray,
    ptr: np.ndarray,
    ends: np.ndarray,
    squared: np.ndarray,
    dense: bool,
    peephole: np.ndarray,
    scale: float,
    trace: np.ndarray,
    predicted: np.ndarray,
    variance: np.ndarray,
    carry: np.ndarray,
    m_next: np.ndarray,
    m_start: np.ndarray,
) -> None:
    """The backpropagated modulus: as `backward`, each partial derivative squared (docs/lstm.md has the derivation).

    `squared` holds the squares of the edges' weights, `variance` stands in the place of the error.
    """
    N = carry.size // 2
    m_c, m_h = carry[:N], carry[N:]
    p = predicted.size - 1
    start = m_start.shape[0] - 1
    for t in range(x.size - 1, -1, -1):
        row, m = trace[t], m_next[t]
        c, i, f = row[N : 2 * N], row[3 * N : 4 * N], row[4 * N : 5 * N]
        o, z, squashed = row[5 * N : 6 * N], row[6 * N : 7 * N], row[7 * N :]
        for j in range(N):
            through_h = scale * scale * m_h[j]
            by_o = squashed[j] * (o[j] * (1.0 - o[j]))
            m_o = by_o * by_o * through_h
            by_c = o[j] * (1.0 - squashed[j] * squashed[j])
            of_cell = m_c[j] + by_c * by_c * through_h + peephole[2, j] * peephole[2, j] * m_o
            by_i = z[j] * (i[j] * (1.0 - i[j]))
            by_f = c[j] * (f[j] * (1.0 - f[j]))
            by_z = i[j] * (1.0 - z[j] * z[j])
            m_i = by_i * by_i * of_cell
            m_f = by_f * by_f * of_cell
            m[4 * j] = m_i
            m[4 * j + 1] = m_f
            m[4 * j + 2] = m_o
            m[4 * j + 3] = by_z * by_z * of_cell
            kept = peephole[0, j] * peephole[0, j] * m_i + peephole[1, j] * peephole[1, j] * m_f
            m_c[j] = f[j] * f[j] * of_cell + kept
        if p >= 0 and predicted[p] == t:
            m_h[:] = variance[p]
            p -= 1
        else:
            m_h[:] = 0.0
        if dense:
            _add_product(squared, m, m_h)
        else:
            _gather_edges(ptr, ends, squared, m, m_h)
        if first[t]:
            m_start[start] = carry
            start -= 1
            carry[:] = 0.0
