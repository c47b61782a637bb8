"""One step of a network at a time: distribution, then next state. A model brings its own, `model.stepper(params)`.

The compiled ones give the same bits on every machine, which compression relies on: float64, every sum in the order of
its index, no BLAS, no libm, no reassociation, no fused multiply-add. Training and scores use the faster passes of
`recurrence.py`, which agree up to rounding. A model without a compiled step takes its forward pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from glnn.coding.steps import Steps
from glnn.models.stepping_kernels import write

if TYPE_CHECKING:
    from glnn.models.base import Model, Params


class Stepper(Protocol):
    """A network with its parameters; the state is an array that belongs to the caller."""

    portable: bool
    """Whether every machine computes the same bits."""
    kind: str
    """Which compiled step it takes; empty where it has none of its own."""
    given: tuple[Any, ...]
    """What its kernels are given after state and symbol, w last: several networks of a kind can step together."""

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

    def coding_steps(self, escape: float | None, share: float = 0.0) -> Steps | None:
        """Compiled loops for the coder, with a share of the uniform distribution mixed in; None where there are none.

        They take the very steps of `advance`, and the weights that `probabilities` normalises.
        """
        ...


class ForwardStepper:
    """Steps of any model, through its forward pass: the same bits on one machine, not on every one, and slower."""

    portable = False
    kind = ""
    given: tuple[Any, ...] = ()

    def __init__(self, model: Model, params: Params) -> None:
        self._model, self._params = model, params
        self._weights = model.weights(params.theta)
        self._w = np.ascontiguousarray(params.w, np.float64)

    def begin(self) -> np.ndarray:
        """The start state."""
        return self._model.begin(self._params.V0)

    def probabilities(self, state: np.ndarray) -> np.ndarray:
        """The softmax output; the activities at a position do not depend on the symbol read there."""
        pi = np.empty(self._w.shape[1])
        write(self._read(state.copy(), 0), self._w, pi)
        return pi

    def advance(self, state: np.ndarray, code: int) -> None:
        """The state at the next position."""
        self._read(state, code)

    def run(self, state: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Rows of distributions along the codes."""
        rows = np.empty((len(codes), self._w.shape[1]))
        for row, code in zip(rows, codes, strict=True):
            write(self._read(state, int(code)), self._w, row)
        return rows

    def coding_steps(self, escape: float | None, share: float = 0.0) -> None:
        """None: the coder goes through the states."""
        return

    def _read(self, state: np.ndarray, code: int) -> np.ndarray:
        """Advance the state; returns the activities before."""
        trace = np.empty((1, self._model.trace_width))
        x, first = np.array([code], np.int32), np.zeros(1, bool)
        self._model.forward(self._weights, self._params.V0, x, first, state, trace)
        return np.ascontiguousarray(self._model.activities(trace)[0], np.float64)
