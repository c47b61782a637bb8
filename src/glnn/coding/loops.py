"""Coding steps from two compiled loops over one state array: what a predictor with a compiled step writes to have them.

The loops are `encode(codes, state, *given, M, coder, out)` and `decode(codes, end, state, *given, M, coder, source)`,
around `encode_symbol` and `decode_symbol` of `quantised.py`; `models/coding_kernels.py` has examples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from glnn.coding.quantised import known_counts
from glnn.coding.range_coder import MARGIN, TOTAL, encode


class LoopSteps:
    """The arrays that the loops are given, and the state that they change."""

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
        """The name of the loop, and the arrays and numbers that it reads."""
        yield self._encode.__name__
        yield self._start
        yield from self._given

    def place(self) -> np.ndarray:
        """The state."""
        return self._state


def added_to_each(share: float, alphabet_size: int) -> float:
    """What is added to every weight p_y, as a multiple of their sum, to make (1 − δ) π + δ / A of them."""
    return float(share / ((1.0 - share) * alphabet_size))
