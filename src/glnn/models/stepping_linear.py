"""One step of RNN, GNN or GLNN at a time, over the edges of the graph, with the same bits everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from glnn.coding.loops import LoopSteps, added_to_each
from glnn.models.coding_kernels import code_linear
from glnn.models.stepping_kernels import advance_linear, probabilities_linear, run_linear

if TYPE_CHECKING:
    from glnn.models.base import Params
    from glnn.models.linear import LinearRecurrence


class LinearStepper:
    """Steps of the recurrence V_j ← leak · V_j + bias_jx + Σ_i τ_ij(x) s(V_i); the state is V."""

    portable = True
    kind = "linear"

    def __init__(self, model: LinearRecurrence, params: Params) -> None:
        tau, bias = model.split(np.ascontiguousarray(params.theta, np.float64))
        self._V0 = np.array(params.V0, np.float64)
        self._activation = int(model.activation_code)
        self._w = np.ascontiguousarray(params.w, np.float64)
        self.given = (
            np.asarray(model.group, np.int64),
            float(model.leak),
            self._activation,
            np.ascontiguousarray(model.graph.in_ptr, np.int64),
            np.ascontiguousarray(model.graph.sources, np.int64),
            np.ascontiguousarray(tau, np.float64),
            np.ascontiguousarray(bias, np.float64),
            self._w,
        )

    def begin(self) -> np.ndarray:
        """The start state V⁰."""
        return self._V0.copy()

    def probabilities(self, state: np.ndarray) -> np.ndarray:
        """The softmax output at V."""
        pi = np.empty(self._w.shape[1])
        probabilities_linear(state, self._activation, self._w, pi)
        return pi

    def advance(self, state: np.ndarray, code: int) -> None:
        """V at the next position."""
        advance_linear(state, code, *self.given)

    def run(self, state: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Rows of distributions along the codes."""
        rows = np.empty((len(codes), self._w.shape[1]))
        run_linear(state, np.ascontiguousarray(codes, np.int32), *self.given, rows)
        return rows

    def coding_steps(self, escape: float | None, share: float = 0.0) -> LoopSteps:
        """The same steps around the coder."""
        given = (*self.given, added_to_each(share, self._w.shape[1]))
        return LoopSteps("encode_linear", self.begin(), given, code_linear, escape)
