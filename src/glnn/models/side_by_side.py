"""Several streams side by side, for networks whose matrix all symbols share: a matrix product a time step.

V^{t+1} = bias_{x_t} + H^t W with a row of H for each stream. Everything is single precision, rows stand in the order
of time, stream after stream within a time; derivatives end at the beginning of the chunk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from glnn.models.base import Params
from glnn.models.side_by_side_kernels import (
    add_by_symbol,
    lstm_backward,
    lstm_forward,
    lstm_peepholes,
    rnn_backward,
    rnn_forward,
)
from glnn.numeric.scratch import Workspace

if TYPE_CHECKING:
    from glnn.models.lstm import LSTM
    from glnn.models.rnn import RNN

_F = np.float32


class SideBySide(Protocol):
    """A pass forth over a chunk of every stream, and the pass back over the same chunk."""

    precision: type[np.floating]
    """Of the states."""

    def forward(
        self, params: Params, x: np.ndarray, first: np.ndarray, state: np.ndarray, noise: np.ndarray
    ) -> np.ndarray:
        """Activities (L · K, N) of a chunk x, first (L, K); `state` (K, state size) moves on to the chunk's end."""
        ...

    def backward(
        self, params: Params, x: np.ndarray, first: np.ndarray, error: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The gradients of θ (flat) and of the start state; `error` is (L · K, N)."""
        ...


class RNNSideBySide:
    """The RNN: activities (L + 1, K, N) are all that has to be kept."""

    precision: type[np.floating] = np.float32

    def __init__(self, model: RNN) -> None:
        self._model, self._space = model, Workspace()
        self._kept: tuple[np.ndarray, np.ndarray] | None = None

    def forward(
        self, params: Params, x: np.ndarray, first: np.ndarray, state: np.ndarray, noise: np.ndarray
    ) -> np.ndarray:
        """Activities of a chunk; V of every stream moves on to its end."""
        model = self._model
        (L, K), N = x.shape, model.units
        tau, bias = model.split(params.theta)
        W = np.zeros((N, N), _F)
        W[model.graph.sources, model.graph.edge_targets] = tau[0]
        a = self._space.array("activities", L, K, N, dtype=_F)
        rnn_forward(x, first, W, bias.astype(_F), params.V0.astype(_F), model.activation_code, state, a, noise)
        self._kept = a, W
        return a.reshape(L * K, N)

    def backward(
        self, params: Params, x: np.ndarray, first: np.ndarray, error: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The gradients of θ and of the start state."""
        assert self._kept is not None
        model, (a, W) = self._model, self._kept
        L, K, N = a.shape
        B = self._space.array("B", L, K, N, dtype=_F)
        start = np.zeros(N)
        transposed = np.ascontiguousarray(W.T)
        rnn_backward(first, transposed, model.activation_code, a, error.reshape(L, K, N), B, start)
        flat = B.reshape(L * K, N)
        edges = (a.reshape(L * K, N).T @ flat)[model.graph.sources, model.graph.edge_targets]
        inputs = by_symbol(x.ravel(), flat, model.alphabet_size)
        return model.join(inputs.sum(axis=0), edges, inputs), start


class LSTMSideBySide:
    """The LSTM: h, c, c', the gates, the cell input and tanh c' of every position are kept."""

    precision: type[np.floating] = np.float32

    def __init__(self, model: LSTM) -> None:
        self._model, self._space = model, Workspace()
        self._kept: tuple[Any, ...] | None = None

    def forward(
        self, params: Params, x: np.ndarray, first: np.ndarray, state: np.ndarray, noise: np.ndarray
    ) -> np.ndarray:
        """Hidden activities of a chunk; (c, h) of every stream moves on to its end."""
        model = self._model
        (L, K), N = x.shape, model.units
        constants, edges, peepholes, inputs = model.split(params.theta)
        matrix = np.zeros((N, N, 4), _F)
        matrix[model.graph.sources, model.graph.edge_targets] = edges
        W = np.ascontiguousarray(matrix.transpose(0, 2, 1)).reshape(N, 4 * N)
        bias = np.ascontiguousarray((constants + inputs).transpose(0, 2, 1), _F).reshape(-1, 4 * N)
        peephole = np.ascontiguousarray(peepholes.T, _F)
        trace = self._space.array("trace", L, 8, K, N, dtype=_F)
        code = (_F(model.scale), _F(model.shift))
        lstm_forward(x, first, W, bias, peephole, *code, params.V0.astype(_F), state, trace, noise)
        self._kept = trace, W, peephole
        return np.ascontiguousarray(trace[:, 0]).reshape(L * K, N)

    def backward(
        self, params: Params, x: np.ndarray, first: np.ndarray, error: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The gradients of θ and of the start state."""
        assert self._kept is not None
        model, (trace, W, peephole) = self._model, self._kept
        L, _, K, N = trace.shape
        B = self._space.array("B", L, K, 4 * N, dtype=_F)
        start = np.zeros(2 * N)
        transposed = np.ascontiguousarray(W.T)
        lstm_backward(first, transposed, peephole, _F(model.scale), trace, error.reshape(L, K, N), B, start)
        flat = B.reshape(L * K, 4 * N)
        h = np.ascontiguousarray(trace[:, 0]).reshape(L * K, N)
        of_edges = (h.T @ flat).reshape(N, 4, N)[model.graph.sources, :, model.graph.edge_targets]
        peepholes = np.zeros((3, N))
        lstm_peepholes(trace, B, peepholes)
        inputs = by_symbol(x.ravel(), flat, model.alphabet_size).reshape(-1, 4, N)
        constants = inputs.sum(axis=0).T
        return model.join(constants, of_edges, peepholes.T, inputs.transpose(0, 2, 1)), start


def by_symbol(x: np.ndarray, rows: np.ndarray, symbols: int) -> np.ndarray:
    """Σ of the rows of each symbol, (A, columns)."""
    out = np.zeros((symbols, rows.shape[1]))
    add_by_symbol(x, rows, out)
    return out
