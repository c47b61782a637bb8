"""One step of the LSTM at a time, with the same bits everywhere (see `stepping.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from glnn.coding.loops import LoopSteps, added_to_each
from glnn.models.coding_kernels import code_lstm
from glnn.models.stepping_lstm_kernels import advance_lstm, probabilities_lstm, run_lstm

if TYPE_CHECKING:
    from glnn.models.base import Params
    from glnn.models.lstm import LSTM


class LSTMStepper:
    """Steps of the LSTM; the state is (c, h)."""

    portable = True
    kind = "lstm"

    def __init__(self, model: LSTM, params: Params) -> None:
        constants, edges, peepholes, inputs = model.split(np.ascontiguousarray(params.theta, np.float64))
        self._start = np.array(params.V0, np.float64)
        self._w = np.ascontiguousarray(params.w, np.float64)
        self.given = (
            np.ascontiguousarray(model.graph.in_ptr, np.int64),
            np.ascontiguousarray(model.graph.sources, np.int64),
            np.ascontiguousarray(edges, np.float64),
            np.ascontiguousarray(constants + inputs),
            np.ascontiguousarray(peepholes, np.float64),
            float(model.scale),
            float(model.shift),
            self._w,
        )

    def begin(self) -> np.ndarray:
        """The start state."""
        return self._start.copy()

    def probabilities(self, state: np.ndarray) -> np.ndarray:
        """The softmax output at h."""
        pi = np.empty(self._w.shape[1])
        probabilities_lstm(state, self._w, pi)
        return pi

    def advance(self, state: np.ndarray, code: int) -> None:
        """(c, h) at the next position."""
        advance_lstm(state, code, *self.given[:-1])

    def run(self, state: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Rows of distributions along the codes."""
        rows = np.empty((len(codes), self._w.shape[1]))
        run_lstm(state, np.ascontiguousarray(codes, np.int32), *self.given, rows)
        return rows

    def coding_steps(self, escape: float | None, share: float = 0.0) -> LoopSteps:
        """The same steps around the coder."""
        given = (*self.given, added_to_each(share, self._w.shape[1]))
        return LoopSteps("encode_lstm", self.begin(), given, code_lstm, escape)
