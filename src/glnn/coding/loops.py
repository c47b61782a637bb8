"""Coding steps from one compiled loop over one state array: what a predictor with a compiled step has to provide.

The loop is `code(decoding, codes, end, state, *given, M, coder, buffer)`, around `code_symbol` of `quantised.py`; it
serves both sides, so that encoder and decoder cannot differ. `models/coding_kernels.py` has examples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from glnn.coding.quantised import known_counts
from glnn.coding.range_coder import MARGIN, TOTAL, encode

NO_END = -1
"""The code that ends nothing, for the side that encodes."""


class LoopSteps:
    """The arrays that the loop is given, and the state that it changes."""

    portable = True
    margin = MARGIN

    def __init__(
        self, name: str, start: np.ndarray, given: tuple[Any, ...], loop: Callable[..., int], escape: float | None
    ) -> None:
        self._name, self._start, self._given, self._M = name, start, given, known_counts(escape)
        self._loop = loop
        self._state = start.copy()

    def restart(self) -> None:
        """The start state."""
        self._state[:] = self._start

    def encode(self, codes: np.ndarray, coder: np.ndarray, out: np.ndarray) -> int:
        """Encode symbols; returns how many `out` had room for."""
        # A copy: the loop writes down what it codes.
        return int(self._loop(False, np.array(codes, np.int32), NO_END, *self._arguments(coder, out)))

    def encode_escape(self, coder: np.ndarray, out: np.ndarray) -> None:
        """An escape leaves the state as it is."""
        encode(self._M, TOTAL, coder, out)

    def decode(self, codes: np.ndarray, end: int, coder: np.ndarray, source: np.ndarray) -> int:
        """Decode symbols; returns how many."""
        return int(self._loop(True, codes, end, *self._arguments(coder, source)))

    def identity(self) -> Iterator[Any]:
        """The name of the loop, and the arrays and numbers that it reads."""
        yield self._name
        yield self._start
        yield from self._given

    def place(self) -> np.ndarray:
        """The state."""
        return self._state

    def _arguments(self, coder: np.ndarray, buffer: np.ndarray) -> tuple[Any, ...]:
        return (self._state, *self._given, self._M, coder, buffer)


def added_to_each(share: float, alphabet_size: int) -> float:
    """What is added to every weight p_y, as a multiple of their sum, to make (1 − δ) π + δ / A of them."""
    return float(share / ((1.0 - share) * alphabet_size))
