"""Encode and decode with RNN, GNN, GLNN or LSTM, as compiled loops around one shared step of the network.

The step is that of `glnn.models.stepping`, bit for bit: sums in the order of their index, no liberties. Here activities
are computed once for output and recurrence, loops are split so that LLVM makes vectors of them, and the softmax
is not normalised, since counts are made from it.
"""

from __future__ import annotations

import numpy as np

from glnn.codec.quantised import decode_symbol, encode_symbol
from glnn.codec.range_coder import MARGIN, has_bytes, has_room
from glnn.models.stepping_lstm import advance_lstm
from glnn.numeric.kernel import kernel
from glnn.numeric.portable import exp, logistic, tanh


@kernel()
def activities(V: np.ndarray, activation: int, a: np.ndarray) -> None:
    """a = s(V)."""
    if activation == 0:
        for i in range(V.size):
            a[i] = tanh(V[i])
    elif activation == 1:
        for i in range(V.size):
            a[i] = logistic(V[i])
    else:
        for i in range(V.size):
            a[i] = V[i]


@kernel()
def outputs(a: np.ndarray, w: np.ndarray, added: float, p: np.ndarray) -> None:
    """p_y = exp(w_0y + Σ_i w_iy a_i − the largest of these), units in their order, four in one go.

    `added` times the sum of all p is then added to each, for the share of the uniform distribution.
    """
    constant = w[0]
    for y in range(p.size):
        p[y] = constant[y]
    whole = a.size - a.size % 4
    for i in range(0, whole, 4):
        a0, a1, a2, a3 = a[i], a[i + 1], a[i + 2], a[i + 3]
        w0, w1, w2, w3 = w[i + 1], w[i + 2], w[i + 3], w[i + 4]
        for y in range(p.size):
            p[y] = (((p[y] + a0 * w0[y]) + a1 * w1[y]) + a2 * w2[y]) + a3 * w3[y]
    for i in range(whole, a.size):
        a0, w0 = a[i], w[i + 1]
        for y in range(p.size):
            p[y] += a0 * w0[y]
    top = _largest(p)
    for y in range(p.size):
        p[y] = exp(p[y] - top)
    if added > 0.0:
        total = 0.0
        for y in range(p.size):
            total += p[y]
        for y in range(p.size):
            p[y] += added * total


@kernel()
def _largest(p: np.ndarray) -> float:
    """The maximum, by four independent ones: no rounding, so any order gives the same bits."""
    t0 = t1 = t2 = t3 = p[0]
    whole = p.size - p.size % 4
    for y in range(0, whole, 4):
        t0 = p[y] if p[y] > t0 else t0
        t1 = p[y + 1] if p[y + 1] > t1 else t1
        t2 = p[y + 2] if p[y + 2] > t2 else t2
        t3 = p[y + 3] if p[y + 3] > t3 else t3
    for y in range(whole, p.size):
        t0 = p[y] if p[y] > t0 else t0
    t0 = t1 if t1 > t0 else t0
    t2 = t3 if t3 > t2 else t2
    return t2 if t2 > t0 else t0


@kernel()
def move(
    V: np.ndarray,
    a: np.ndarray,
    x: int,
    group: np.ndarray,
    leak: float,
    in_ptr: np.ndarray,
    sources: np.ndarray,
    tau: np.ndarray,
    bias: np.ndarray,
) -> None:
    """V_j ← leak · V_j + bias_jx + Σ_i τ_ij(x) a_i, edges in their order."""
    edges = tau[group[x]]
    for j in range(V.size):
        total = leak * V[j] + bias[x, j]
        for e in range(in_ptr[j], in_ptr[j + 1]):
            total += edges[e] * a[sources[e]]
        V[j] = total


@kernel()
def encode_linear(
    codes: np.ndarray,
    V: np.ndarray,
    group: np.ndarray,
    leak: float,
    activation: int,
    in_ptr: np.ndarray,
    sources: np.ndarray,
    tau: np.ndarray,
    bias: np.ndarray,
    w: np.ndarray,
    added: float,
    M: np.uint64,
    coder: np.ndarray,
    out: np.ndarray,
) -> int:
    """Encode symbols from the state V on; gives how many `out` had room for."""
    a, p, C = np.empty(V.size), np.empty(w.shape[1]), np.empty(w.shape[1] + 1)
    for t in range(codes.size):
        if not has_room(coder, out, MARGIN):
            return t
        activities(V, activation, a)
        outputs(a, w, added, p)
        encode_symbol(codes[t], p, C, M, coder, out)
        move(V, a, codes[t], group, leak, in_ptr, sources, tau, bias)
    return codes.size


@kernel()
def decode_linear(
    codes: np.ndarray,
    end: int,
    V: np.ndarray,
    group: np.ndarray,
    leak: float,
    activation: int,
    in_ptr: np.ndarray,
    sources: np.ndarray,
    tau: np.ndarray,
    bias: np.ndarray,
    w: np.ndarray,
    added: float,
    M: np.uint64,
    coder: np.ndarray,
    source: np.ndarray,
) -> int:
    """Fill `codes` until `end`, an escape (the code A) or the end of `source`; gives how many."""
    a, p, C = np.empty(V.size), np.empty(w.shape[1]), np.empty(w.shape[1] + 1)
    for t in range(codes.size):
        if not has_bytes(coder, source, MARGIN):
            return t
        activities(V, activation, a)
        outputs(a, w, added, p)
        y = decode_symbol(p, C, M, coder, source)
        codes[t] = y
        if y == end or y == p.size:
            return t + 1
        move(V, a, y, group, leak, in_ptr, sources, tau, bias)
    return codes.size


@kernel()
def encode_lstm(
    codes: np.ndarray,
    state: np.ndarray,
    in_ptr: np.ndarray,
    sources: np.ndarray,
    edges: np.ndarray,
    bias: np.ndarray,
    peepholes: np.ndarray,
    scale: float,
    shift: float,
    w: np.ndarray,
    added: float,
    M: np.uint64,
    coder: np.ndarray,
    out: np.ndarray,
) -> int:
    """`encode_linear` for the LSTM, whose state is (c, h)."""
    p, C = np.empty(w.shape[1]), np.empty(w.shape[1] + 1)
    h = state[state.size // 2 :]
    for t in range(codes.size):
        if not has_room(coder, out, MARGIN):
            return t
        outputs(h, w, added, p)
        encode_symbol(codes[t], p, C, M, coder, out)
        advance_lstm(state, codes[t], in_ptr, sources, edges, bias, peepholes, scale, shift)
    return codes.size


@kernel()
def decode_lstm(
    codes: np.ndarray,
    end: int,
    state: np.ndarray,
    in_ptr: np.ndarray,
    sources: np.ndarray,
    edges: np.ndarray,
    bias: np.ndarray,
    peepholes: np.ndarray,
    scale: float,
    shift: float,
    w: np.ndarray,
    added: float,
    M: np.uint64,
    coder: np.ndarray,
    source: np.ndarray,
) -> int:
    """`decode_linear` for the LSTM."""
    p, C = np.empty(w.shape[1]), np.empty(w.shape[1] + 1)
    h = state[state.size // 2 :]
    for t in range(codes.size):
        if not has_bytes(coder, source, MARGIN):
            return t
        outputs(h, w, added, p)
        y = decode_symbol(p, C, M, coder, source)
        codes[t] = y
        if y == end or y == p.size:
            return t + 1
        advance_lstm(state, y, in_ptr, sources, edges, bias, peepholes, scale, shift)
    return codes.size
