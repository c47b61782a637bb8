"""Networks as the coder drives them: RNN, GNN, GLNN and LSTM through the compiled loops of `network_kernels.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from glnn.codec.network_kernels import decode_linear, decode_lstm, encode_linear, encode_lstm
from glnn.codec.quantised import known_counts
from glnn.codec.range_coder import MARGIN, TOTAL, encode
from glnn.models.stepping import LinearStepper, Stepper
from glnn.models.stepping_lstm import LSTMStepper


class NetworkSteps:
    """A network with its parameters in the form that the kernels take, and its state."""

    portable = True
    margin = MARGIN

    def __init__(
        self, start: np.ndarray, given: tuple[Any, ...], loops: tuple[Callable[..., int], ...], escape: float | None
    ) -> None:
        self._start, self._given, self._M = start, given, known_counts(escape)
        self._encode, self._decode = loops
        self._state = start.copy()

    def restart(self) -> None:
        """The start state."""
        self._state[:] = self._start

    def encode(self, codes: np.ndarray, coder: np.ndarray, out: np.ndarray) -> int:
        """Encode symbols; gives how many `out` had room for."""
        return int(self._encode(codes, self._state, *self._given, self._M, coder, out))

    def encode_escape(self, coder: np.ndarray, out: np.ndarray) -> None:
        """An escape leaves the state as it is."""
        encode(self._M, TOTAL, coder, out)

    def decode(self, codes: np.ndarray, end: int, coder: np.ndarray, source: np.ndarray) -> int:
        """Decode symbols; gives how many."""
        return int(self._decode(codes, end, self._state, *self._given, self._M, coder, source))

    def identity(self) -> Iterator[Any]:
        """The arrays and numbers that the kernels read."""
        yield self._encode.__name__
        yield self._start
        yield from self._given

    def place(self) -> np.ndarray:
        """The state."""
        return self._state


def network_steps(steps: Stepper, escape: float | None, share: float = 0.0) -> NetworkSteps | None:
    """The compiled loops for a stepper with the share δ of the uniform distribution; None where there are none."""
    if isinstance(steps, LinearStepper):
        A = steps._given[-1].shape[1]
        return NetworkSteps(steps.begin(), (*steps._given, _added(share, A)), (encode_linear, decode_linear), escape)
    if isinstance(steps, LSTMStepper):
        given = (*steps._given, steps._w, _added(share, steps._w.shape[1]))
        return NetworkSteps(steps.begin(), given, (encode_lstm, decode_lstm), escape)
    return None


def _added(share: float, alphabet_size: int) -> float:
    """What is added to every p_y, as a multiple of their sum, to make (1 − δ) π + δ / A of them."""
    return float(share / ((1.0 - share) * alphabet_size))
