"""Encode and decode with RNN, GNN, GLNN or LSTM: compiled loops around the same step kernels that `stepping.py` takes.

Activities are computed once for output and recurrence, and the softmax is not normalised, since counts are made of it.
"""

from __future__ import annotations

import numpy as np

from glnn.coding.quantised import decode_symbol, encode_symbol
from glnn.coding.range_coder import MARGIN, has_bytes, has_room
from glnn.models.stepping_kernels import activities, move, outputs
from glnn.models.stepping_lstm_kernels import advance_lstm
from glnn.numeric.kernel import kernel


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
