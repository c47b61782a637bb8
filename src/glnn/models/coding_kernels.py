"""Encode and decode with RNN, GNN, GLNN or LSTM: a compiled loop around the same step kernels that `stepping.py` takes.

Activities are computed once for output and recurrence, and the softmax is not normalised, since counts are made of it.
"""

from __future__ import annotations

import numpy as np

from glnn.coding.quantised import code_symbol
from glnn.coding.range_coder import MARGIN, fits
from glnn.models.stepping_kernels import activities, move, outputs
from glnn.models.stepping_lstm_kernels import advance_lstm
from glnn.numeric.kernel import kernel


@kernel()
def code_linear(
    decoding: bool,
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
    buffer: np.ndarray,
) -> int:
    """Code symbols from the state V on, until `end`, an escape (A) or the end of the buffer; returns how many."""
    a, p, C = np.empty(V.size), np.empty(w.shape[1]), np.empty(w.shape[1] + 1)
    for t in range(codes.size):
        if not fits(decoding, coder, buffer, MARGIN):
            return t
        activities(V, activation, a)
        outputs(a, w, added, p)
        y = code_symbol(decoding, codes[t], p, C, M, coder, buffer)
        codes[t] = y
        if y == end or y == p.size:
            return t + 1
        move(V, a, y, group, leak, in_ptr, sources, tau, bias)
    return codes.size


@kernel()
def code_lstm(
    decoding: bool,
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
    buffer: np.ndarray,
) -> int:
    """`code_linear` for the LSTM, whose state is (c, h)."""
    p, C = np.empty(w.shape[1]), np.empty(w.shape[1] + 1)
    h = state[state.size // 2 :]
    for t in range(codes.size):
        if not fits(decoding, coder, buffer, MARGIN):
            return t
        outputs(h, w, added, p)
        y = code_symbol(decoding, codes[t], p, C, M, coder, buffer)
        codes[t] = y
        if y == end or y == p.size:
            return t + 1
        advance_lstm(state, y, in_ptr, sources, edges, bias, peepholes, scale, shift)
    return codes.size
