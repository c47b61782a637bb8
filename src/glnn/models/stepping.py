"""One step of a network at a time, with the same bits on every machine: distribution, then next state.

Encoder and decoder share it: float64, every sum in the order of its index, no BLAS, no libm, no reassociation, no fused
multiply-add. Training and scores use the faster passes of `recurrence.py`, which agree up to rounding.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from glnn.models.base import LinearRecurrence, Model, Params
from glnn.models.lstm import LSTM
from glnn.models.stepping_kernels import advance_linear, probabilities_linear, run_linear, write
from glnn.models.stepping_lstm import LSTMStepper


class Stepper(Protocol):
    """A network with its parameters; the state is an array that belongs to the caller."""

    portable: bool
    """Whether every machine computes the same bits."""

    def begin(self) -> np.ndarray:
        """The state at the start of a sequence."""
        ...

    def probabilities(self, state: np.ndarray) -> np.ndarray:
        """The distribution of the next symbol, (A,)."""
        ...

    def advance(self, state: np.ndarray, code: int) -> None:
        """Read a symbol: `state` becomes the next one."""
        ...

    def run(self, state: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Read several symbols; row t is what `probabilities` would have given before codes[t]."""
        ...


def stepper(model: Model, params: Params) -> Stepper:
    """The stepper of a model."""
    if isinstance(model, LinearRecurrence):
        return LinearStepper(model, params)
    if isinstance(model, LSTM):
        return LSTMStepper(model, params)
    return ForwardStepper(model, params)


class LinearStepper:
    """Steps of RNN, GNN and GLNN, over the edges of the graph."""

    portable = True

    def __init__(self, model: LinearRecurrence, params: Params) -> None:
        tau, bias = model.split(np.ascontiguousarray(params.theta, np.float64))
        self._V0 = np.array(params.V0, np.float64)
        self._given = (
            np.asarray(model.group, np.int64),
            float(model.leak),
            int(model._code),
            np.ascontiguousarray(model.graph.in_ptr, np.int64),
            np.ascontiguousarray(model.graph.sources, np.int64),
            np.ascontiguousarray(tau, np.float64),
            np.ascontiguousarray(bias, np.float64),
            np.ascontiguousarray(params.w, np.float64),
        )

    def begin(self) -> np.ndarray:
        """The start state V⁰."""
        return self._V0.copy()

    def probabilities(self, state: np.ndarray) -> np.ndarray:
        """The softmax output at V."""
        w = self._given[-1]
        pi = np.empty(w.shape[1])
        probabilities_linear(state, self._given[2], w, pi)
        return pi

    def advance(self, state: np.ndarray, code: int) -> None:
        """V at the next position."""
        advance_linear(state, code, *self._given)

    def run(self, state: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Rows of distributions along the codes."""
        rows = np.empty((len(codes), self._given[-1].shape[1]))
        run_linear(state, np.ascontiguousarray(codes, np.int32), *self._given, rows)
        return rows


class ForwardStepper:
    """Steps of any other model, through its forward pass: the same bits on one machine, not on every one."""

    portable = False

    def __init__(self, model: Model, params: Params) -> None:
        self._model, self._params = model, params
        self._weights = model.weights(params.theta)

    def begin(self) -> np.ndarray:
        """The start state."""
        return self._model.begin(self._params.V0)

    def probabilities(self, state: np.ndarray) -> np.ndarray:
        """The softmax output; the activities at a position do not depend on the symbol read there."""
        pi = np.empty(self._model.alphabet_size)
        write(self._read(state.copy(), 0), np.ascontiguousarray(self._params.w), pi)
        return pi

    def advance(self, state: np.ndarray, code: int) -> None:
        """The state at the next position."""
        self._read(state, code)

    def run(self, state: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Rows of distributions along the codes."""
        rows = np.empty((len(codes), self._model.alphabet_size))
        for row, code in zip(rows, codes, strict=True):
            row[:] = self.probabilities(state)
            self.advance(state, int(code))
        return rows

    def _read(self, state: np.ndarray, code: int) -> np.ndarray:
        """Advance the state; returns the activities before."""
        trace = np.empty((1, self._model.trace_width))
        x, first = np.array([code], np.int32), np.zeros(1, bool)
        self._model.forward(self._weights, self._params.V0, x, first, state, trace)
        return np.ascontiguousarray(self._model.activities(trace)[0])
