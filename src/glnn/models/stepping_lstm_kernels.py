"""The compiled steps of the LSTM, with the same bits everywhere (see `stepping.py`):

i, f = σ(V_i + p_i c), σ(V_f + p_f c);  c' = f c + i tanh V_z;  o = σ(V_o + p_o c');  h' = scale · o tanh c' + shift.
"""

from __future__ import annotations

import numpy as np

from glnn.models.stepping_kernels import write
from glnn.numeric.kernel import kernel
from glnn.numeric.portable import logistic, tanh


@kernel()
def probabilities_lstm(state: np.ndarray, w: np.ndarray, pi: np.ndarray) -> None:
    """The output at the hidden activities."""
    write(state[state.size // 2 :], w, pi)


@kernel()
def advance_lstm(
    state: np.ndarray,
    x: int,
    in_ptr: np.ndarray,
    sources: np.ndarray,
    edges: np.ndarray,
    bias: np.ndarray,
    peepholes: np.ndarray,
    scale: float,
    shift: float,
) -> None:
    """The recurrence, edges into each cell in their order; (N, 4) in the order input, forget, output, cell input."""
    N = state.size // 2
    h = state[N:].copy()
    for j in range(N):
        c = state[j]
        V0, V1, V2, V3 = bias[x, j, 0], bias[x, j, 1], bias[x, j, 2], bias[x, j, 3]
        for e in range(in_ptr[j], in_ptr[j + 1]):
            signal = h[sources[e]]
            V0 += edges[e, 0] * signal
            V1 += edges[e, 1] * signal
            V2 += edges[e, 2] * signal
            V3 += edges[e, 3] * signal
        following = logistic(V1 + peepholes[j, 1] * c) * c + logistic(V0 + peepholes[j, 0] * c) * tanh(V3)
        state[j] = following
        state[N + j] = scale * (logistic(V2 + peepholes[j, 2] * following) * tanh(following)) + shift


@kernel()
def run_lstm(
    state: np.ndarray,
    codes: np.ndarray,
    in_ptr: np.ndarray,
    sources: np.ndarray,
    edges: np.ndarray,
    bias: np.ndarray,
    peepholes: np.ndarray,
    scale: float,
    shift: float,
    w: np.ndarray,
    rows: np.ndarray,
) -> None:
    """`probabilities_lstm` then `advance_lstm`, symbol after symbol."""
    for t in range(codes.size):
        probabilities_lstm(state, w, rows[t])
        advance_lstm(state, codes[t], in_ptr, sources, edges, bias, peepholes, scale, shift)
