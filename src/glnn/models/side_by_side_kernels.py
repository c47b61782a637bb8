"""The loops of `side_by_side`: over time, with a matrix product and elementwise rows for every stream."""

from __future__ import annotations

import numpy as np

from glnn.numeric.copying import copy
from glnn.numeric.elementary import logistic, tanh
from glnn.numeric.kernel import CONTRACT, kernel


@kernel(CONTRACT)
def _product(left: np.ndarray, right: np.ndarray, out: np.ndarray) -> None:
    """out = left · right, two rows of `left` by four of `right` at a time, so that loads are shared."""
    rows, inner = left.shape
    out[:] = 0
    even, whole = rows - rows % 2, inner - inner % 4
    for k in range(0, even, 2):
        one, two = out[k], out[k + 1]
        for i in range(0, whole, 4):
            a0, a1, a2, a3 = left[k, i], left[k, i + 1], left[k, i + 2], left[k, i + 3]
            b0, b1, b2, b3 = left[k + 1, i], left[k + 1, i + 1], left[k + 1, i + 2], left[k + 1, i + 3]
            r0, r1, r2, r3 = right[i], right[i + 1], right[i + 2], right[i + 3]
            for j in range(one.size):
                one[j] += (a0 * r0[j] + a1 * r1[j]) + (a2 * r2[j] + a3 * r3[j])
                two[j] += (b0 * r0[j] + b1 * r1[j]) + (b2 * r2[j] + b3 * r3[j])
    for k in range(rows):
        row = out[k]
        for i in range(whole if k < even else 0, inner):
            a0, r0 = left[k, i], right[i]
            for j in range(row.size):
                row[j] += a0 * r0[j]


@kernel(CONTRACT)
def rnn_forward(
    x: np.ndarray,
    first: np.ndarray,
    W: np.ndarray,
    bias: np.ndarray,
    V0: np.ndarray,
    activation: int,
    V: np.ndarray,
    a: np.ndarray,
    noise: np.ndarray,
) -> None:
    """a[t] = s(V^t); V^{t+1} = bias_{x_t} + a^t W + noise; `x`, `first` are (L, K), `a` (L, K, N), `V` (K, N)."""
    L, K = x.shape
    N = W.shape[0]
    for t in range(L):
        now = a[t]
        for k in range(K):
            v, out = V[k], now[k]
            if first[t, k]:
                copy(V0, v)
            if activation == 0:
                for j in range(N):
                    out[j] = tanh(v[j])
            elif activation == 1:
                for j in range(N):
                    out[j] = logistic(v[j])
            else:
                copy(v, out)
        _product(now, W, V)
        for k in range(K):
            v, b = V[k], bias[x[t, k]]
            for j in range(N):
                v[j] += b[j]
            if noise.shape[0] > 0:
                z = noise[t * K + k]
                for j in range(N):
                    v[j] += z[j]


@kernel(CONTRACT)
def rnn_backward(
    first: np.ndarray,
    transposed: np.ndarray,
    activation: int,
    a: np.ndarray,
    error: np.ndarray,
    B: np.ndarray,
    start: np.ndarray,
) -> None:
    """B[t] becomes B^{t+1}, (L, K, N); what arrives at beginnings of sequences is added to `start`."""
    L, K, N = a.shape
    current, gathered = np.zeros((K, N), a.dtype), np.empty((K, N), a.dtype)
    for t in range(L - 1, -1, -1):
        B[t] = current
        _product(current, transposed, gathered)
        for k in range(K):
            b, g, e, s = current[k], gathered[k], error[t, k], a[t, k]
            if activation == 0:
                for j in range(N):
                    b[j] = (1 - s[j] * s[j]) * (g[j] + e[j])
            elif activation == 1:
                for j in range(N):
                    b[j] = s[j] * (1 - s[j]) * (g[j] + e[j])
            else:
                for j in range(N):
                    b[j] = g[j] + e[j]
            if first[t, k]:
                for j in range(N):
                    start[j] += b[j]
                    b[j] = 0


@kernel(CONTRACT)
def lstm_forward(
    x: np.ndarray,
    first: np.ndarray,
    W: np.ndarray,
    bias: np.ndarray,
    peephole: np.ndarray,
    scale: np.float32,
    shift: np.float32,
    start: np.ndarray,
    state: np.ndarray,
    trace: np.ndarray,
    noise: np.ndarray,
) -> None:
    """Fill the trace (L, 8, K, N) with h, c, c', i, f, o, z, tanh c'; `state` (K, 2N) is c and h of every stream."""
    L, K = x.shape
    N = W.shape[0]
    h, V = np.empty((K, N), W.dtype), np.empty((K, 4 * N), W.dtype)
    for k in range(K):
        h[k] = state[k, N:]
    for t in range(L):
        row = trace[t]
        for k in range(K):
            if first[t, k]:
                state[k, :N] = start[:N]
                h[k] = start[N:]
            row[0, k] = h[k]
            row[1, k] = state[k, :N]
        _product(h, W, V)
        for k in range(K):
            v, b, c, hidden = V[k], bias[x[t, k]], state[k, :N], h[k]
            i, f, o, z, squashed = row[3, k], row[4, k], row[5, k], row[6, k], row[7, k]
            for j in range(N):
                i[j] = logistic(v[j] + b[j] + peephole[0, j] * c[j])
            for j in range(N):
                f[j] = logistic(v[N + j] + b[N + j] + peephole[1, j] * c[j])
            for j in range(N):
                z[j] = tanh(v[3 * N + j] + b[3 * N + j])
            for j in range(N):
                c[j] = f[j] * c[j] + i[j] * z[j]
            if noise.shape[0] > 0:
                drawn = noise[t * K + k]
                for j in range(N):
                    c[j] += drawn[j]
            row[2, k] = c
            for j in range(N):
                squashed[j] = tanh(c[j])
            for j in range(N):
                o[j] = logistic(v[2 * N + j] + b[2 * N + j] + peephole[2, j] * c[j])
            for j in range(N):
                hidden[j] = scale * (o[j] * squashed[j]) + shift
    for k in range(K):
        state[k, N:] = h[k]


@kernel(CONTRACT)
def lstm_backward(
    first: np.ndarray,
    transposed: np.ndarray,
    peephole: np.ndarray,
    scale: np.float32,
    trace: np.ndarray,
    error: np.ndarray,
    B: np.ndarray,
    start: np.ndarray,
) -> None:
    """B (L, K, 4N), the derivatives of the pre-activations made at each position: i, f, o, z, N columns each."""
    L, K, N = error.shape
    d_c, d_h = np.zeros((K, N), B.dtype), np.zeros((K, N), B.dtype)
    gathered = np.empty((K, N), B.dtype)
    for t in range(L - 1, -1, -1):
        row = trace[t]
        for k in range(K):
            c, i, f, o, z, squashed = row[1, k], row[3, k], row[4, k], row[5, k], row[6, k], row[7, k]
            of_h, of_c = d_h[k], d_c[k]
            B_i, B_f, B_o, B_z = B[t, k, :N], B[t, k, N : 2 * N], B[t, k, 2 * N : 3 * N], B[t, k, 3 * N :]
            for j in range(N):
                B_o[j] = scale * of_h[j] * squashed[j] * (o[j] * (1 - o[j]))
            for j in range(N):
                direct = scale * of_h[j] * o[j] * (1 - squashed[j] * squashed[j])
                of_c[j] += direct + peephole[2, j] * B_o[j]
            for j in range(N):
                B_i[j] = of_c[j] * z[j] * (i[j] * (1 - i[j]))
            for j in range(N):
                B_f[j] = of_c[j] * c[j] * (f[j] * (1 - f[j]))
            for j in range(N):
                B_z[j] = of_c[j] * i[j] * (1 - z[j] * z[j])
            for j in range(N):
                of_c[j] = of_c[j] * f[j] + peephole[0, j] * B_i[j] + peephole[1, j] * B_f[j]
        _product(B[t], transposed, gathered)
        for k in range(K):
            g, e, of_h, of_c = gathered[k], error[t, k], d_h[k], d_c[k]
            for j in range(N):
                of_h[j] = g[j] + e[j]
            if first[t, k]:
                for j in range(N):
                    start[j] += of_c[j]
                    start[N + j] += of_h[j]
                    of_c[j] = 0
                    of_h[j] = 0


@kernel(CONTRACT)
def lstm_peepholes(trace: np.ndarray, B: np.ndarray, out: np.ndarray) -> None:
    """Σ c B_i, Σ c B_f and Σ c' B_o over all positions, (3, N)."""
    L, _, K, N = trace.shape
    for t in range(L):
        for k in range(K):
            before, after, b = trace[t, 1, k], trace[t, 2, k], B[t, k]
            for j in range(N):
                out[0, j] += before[j] * b[j]
                out[1, j] += before[j] * b[N + j]
                out[2, j] += after[j] * b[2 * N + j]


@kernel(CONTRACT)
def add_by_symbol(x: np.ndarray, rows: np.ndarray, out: np.ndarray) -> None:
    """Add each row to that of its symbol, in the order of the rows."""
    for n in range(x.size):
        sums, row = out[x[n]], rows[n]
        for j in range(row.size):
            sums[j] += row[j]
