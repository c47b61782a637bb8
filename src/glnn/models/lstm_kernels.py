"""The LSTM's recurrences as compiled loops over time (Graves 2013, eqs 7–11; peepholes diagonal).

    i, f = σ(V_i + p_i c), σ(V_f + p_f c);  z = tanh V_z;  c' = f c + i z;  o = σ(V_o + p_o c');  h' = o tanh c'

where V are sums over the hidden activities, the constant and the symbol. An edge i → j carries four weights, side by
side, one for each unit of cell j; few or many edges are walked one by one or as a matrix. Sums keep a fixed order.
"""

from __future__ import annotations

import numpy as np

from glnn.numeric.copying import copy
from glnn.numeric.elementary import logistic, tanh
from glnn.numeric.kernel import CONTRACT, kernel

TRACE_COLUMNS = 8
"""Columns of a trace for each cell: h, c, c', i, f, o, z, tanh c'."""


@kernel(CONTRACT)
def _add_edges(ptr: np.ndarray, ends: np.ndarray, weight: np.ndarray, h: np.ndarray, V: np.ndarray) -> None:
    """V_gj += Σ_i W_gij h_i over the edges into each cell, for its four units at once."""
    N = h.size
    for j in range(N):
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        # Unsigned numbers need no check for indices that count from the end.
        for e in range(np.uint64(ptr[j]), np.uint64(ptr[j + 1])):
            signal = h[np.uint64(ends[e])]
            s0 += weight[e, 0] * signal
            s1 += weight[e, 1] * signal
            s2 += weight[e, 2] * signal
            s3 += weight[e, 3] * signal
        V[j] += s0
        V[N + j] += s1
        V[2 * N + j] += s2
        V[3 * N + j] += s3


@kernel(CONTRACT)
def _gather_edges(ptr: np.ndarray, ends: np.ndarray, weight: np.ndarray, B: np.ndarray, out: np.ndarray) -> None:
    """out_i += Σ_j Σ_g W_gij B_gj over the edges out of each cell."""
    of_cell = B.reshape((out.size, 4))
    for i in range(out.size):
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for e in range(np.uint64(ptr[i]), np.uint64(ptr[i + 1])):
            j = np.uint64(ends[e])
            s0 += weight[e, 0] * of_cell[j, 0]
            s1 += weight[e, 1] * of_cell[j, 1]
            s2 += weight[e, 2] * of_cell[j, 2]
            s3 += weight[e, 3] * of_cell[j, 3]
        out[i] += (s0 + s1) + (s2 + s3)


@kernel(CONTRACT)
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
def _look(peephole: np.ndarray, c: np.ndarray, V: np.ndarray) -> None:
    for j in range(c.size):
        V[j] += peephole[j] * c[j]


@kernel(CONTRACT)
def _logistic(V: np.ndarray, out: np.ndarray) -> None:
    for j in range(V.size):
        out[j] = logistic(V[j])


@kernel(CONTRACT)
def _tanh(V: np.ndarray, out: np.ndarray) -> None:
    for j in range(V.size):
        out[j] = tanh(V[j])


@kernel(CONTRACT)
def _interleave(of_units: np.ndarray, out: np.ndarray) -> None:
    """The four rows (4, N) as the units stand, cell after cell."""
    for j in range(of_units.shape[1]):
        out[4 * j] = of_units[0, j]
        out[4 * j + 1] = of_units[1, j]
        out[4 * j + 2] = of_units[2, j]
        out[4 * j + 3] = of_units[3, j]


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
    noise: np.ndarray,
) -> None:
    """Fill the trace; `state` is (c, h) before the first position and becomes that after the last.

    Row t of `noise` is added to the cells c^{t+1}; it has no rows where there is none.

    `weight` is (N, 4N) when `dense`, else (edges, 4) in the order of `ptr`, `ends`. The hidden activity that others
    read is scale · o tanh c' + shift.
    """
    N = state.size // 2
    c, h = state[:N], state[N:]
    V = np.empty(4 * N)
    for t in range(x.size):
        if first[t]:
            copy(start, state)
        row = trace[t]
        row[:N] = h
        row[N : 2 * N] = c
        copy(bias[x[t]], V)
        if dense:
            _add_product(weight, h, V)
        else:
            _add_edges(ptr, ends, weight, h, V)
        _look(peephole[0], c, V[:N])
        _look(peephole[1], c, V[N : 2 * N])
        gates, z, squashed = row[3 * N : 6 * N], row[6 * N : 7 * N], row[7 * N :]
        _logistic(V[: 2 * N], gates[: 2 * N])
        _tanh(V[3 * N :], z)
        i, f, o = gates[:N], gates[N : 2 * N], gates[2 * N :]
        for j in range(N):
            c[j] = f[j] * c[j] + i[j] * z[j]
        if noise.shape[0] > 0:
            for j in range(N):
                c[j] += noise[t, j]
        row[2 * N : 3 * N] = c
        _tanh(c, squashed)
        _look(peephole[2], c, V[2 * N : 3 * N])
        _logistic(V[2 * N : 3 * N], o)
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

    `carry` holds the derivatives with respect to (c, h) after the last position, that of c without its part through o
    and h of the same time; it leaves as those of the first. `weight` is (4N, N), or (edges, 4) in the order of sources.
    """
    N = carry.size // 2
    d_c, d_h = carry[:N], carry[N:]
    of_cell, of_units = np.empty(N), np.empty((4, N))
    B_i, B_f, B_o, B_z = of_units[0], of_units[1], of_units[2], of_units[3]
    p = predicted.size - 1
    start = B_start.shape[0] - 1
    for t in range(x.size - 1, -1, -1):
        row = trace[t]
        c, i, f = row[N : 2 * N], row[3 * N : 4 * N], row[4 * N : 5 * N]
        o, z, squashed = row[5 * N : 6 * N], row[6 * N : 7 * N], row[7 * N :]
        # One loop for each array that is written: LLVM makes vectors only of few pointers at a time.
        for j in range(N):
            B_o[j] = scale * d_h[j] * squashed[j] * (o[j] * (1.0 - o[j]))
        for j in range(N):
            direct = scale * d_h[j] * o[j] * (1.0 - squashed[j] * squashed[j])
            of_cell[j] = d_c[j] + direct + peephole[2, j] * B_o[j]
        for j in range(N):
            B_i[j] = of_cell[j] * z[j] * (i[j] * (1.0 - i[j]))
        for j in range(N):
            B_f[j] = of_cell[j] * c[j] * (f[j] * (1.0 - f[j]))
        for j in range(N):
            B_z[j] = of_cell[j] * i[j] * (1.0 - z[j] * z[j])
        for j in range(N):
            d_c[j] = of_cell[j] * f[j] + peephole[0, j] * B_i[j] + peephole[1, j] * B_f[j]
        B = B_next[t]
        _interleave(of_units, B)
        if p >= 0 and predicted[p] == t:
            copy(error[p], d_h)
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
    of_cell, of_units = np.empty(N), np.empty((4, N))
    m_i, m_f, m_o, m_z = of_units[0], of_units[1], of_units[2], of_units[3]
    p = predicted.size - 1
    start = m_start.shape[0] - 1
    for t in range(x.size - 1, -1, -1):
        row = trace[t]
        c, i, f = row[N : 2 * N], row[3 * N : 4 * N], row[4 * N : 5 * N]
        o, z, squashed = row[5 * N : 6 * N], row[6 * N : 7 * N], row[7 * N :]
        for j in range(N):
            m_o[j] = (scale * squashed[j] * (o[j] * (1.0 - o[j]))) ** 2 * m_h[j]
        for j in range(N):
            direct = (scale * o[j] * (1.0 - squashed[j] * squashed[j])) ** 2 * m_h[j]
            of_cell[j] = m_c[j] + direct + peephole[2, j] ** 2 * m_o[j]
        for j in range(N):
            m_i[j] = (z[j] * (i[j] * (1.0 - i[j]))) ** 2 * of_cell[j]
        for j in range(N):
            m_f[j] = (c[j] * (f[j] * (1.0 - f[j]))) ** 2 * of_cell[j]
        for j in range(N):
            m_z[j] = (i[j] * (1.0 - z[j] * z[j])) ** 2 * of_cell[j]
        for j in range(N):
            m_c[j] = f[j] ** 2 * of_cell[j] + peephole[0, j] ** 2 * m_i[j] + peephole[1, j] ** 2 * m_f[j]
        m = m_next[t]
        _interleave(of_units, m)
        if p >= 0 and predicted[p] == t:
            copy(variance[p], m_h)
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
