"""The steps that a stream is coded with: those that a predictor offers, or those of its states.

Any predictor works through its states, one Python call for each symbol. One with compiled loops offers them by a method
`coding_steps` (see `glnn.coding.steps`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from glnn.coding.quantised import decode_symbol, encode_symbol, known_counts
from glnn.coding.range_coder import MARGIN, TOTAL, encode, has_bytes, has_room
from glnn.coding.steps import Steps, offered_steps
from glnn.predictors import Predictor

__all__ = ["StateSteps", "Steps", "escape_of", "steps_of"]


def escape_of(predictor: Any) -> tuple[Any, float | None]:
    """The predictor without its escape, and the probability of one."""
    if predictor.alphabet.escape is None:
        return predictor, None
    inner, probability = getattr(predictor, "inner", None), getattr(predictor, "probability", None)
    if inner is None or probability is None or len(predictor.alphabet) != len(inner.alphabet) + 1:
        raise TypeError(
            f"{type(predictor).__name__} has an escape among its symbols but no `inner` predictor with a `probability` "
            "of an escape beside it, which the codec needs"
        )
    return inner, float(probability)


def steps_of(predictor: Any) -> Steps:
    """The steps of a predictor: its own if it offers some, otherwise through its states."""
    inner, escape = escape_of(predictor)
    return offered_steps(inner, escape) or StateSteps(inner, escape)


class StateSteps:
    """Any predictor, through its states."""

    portable = False
    margin = MARGIN

    def __init__(self, predictor: Predictor, escape: float | None) -> None:
        self._predictor, self._M = predictor, known_counts(escape)
        self._C = np.empty(len(predictor.alphabet) + 1)
        self._state = predictor.begin()

    def restart(self) -> None:
        """A new state."""
        self._state = self._predictor.begin()

    def encode(self, codes: np.ndarray, coder: np.ndarray, out: np.ndarray) -> int:
        """Symbol after symbol."""
        for done, code in enumerate(codes.tolist()):
            if not has_room(coder, out, self.margin):
                return done
            encode_symbol(code, self._probabilities(), self._C, self._M, coder, out)
            self._state.advance(code)
        return len(codes)

    def encode_escape(self, coder: np.ndarray, out: np.ndarray) -> None:
        """An escape leaves the state as it is."""
        encode(self._M, TOTAL, coder, out)

    def decode(self, codes: np.ndarray, end: int, coder: np.ndarray, source: np.ndarray) -> int:
        """Symbol after symbol."""
        for done in range(len(codes)):
            if not has_bytes(coder, source, self.margin):
                return done
            code = int(decode_symbol(self._probabilities(), self._C, self._M, coder, source))
            codes[done] = code
            if code in (end, self._C.size - 1):
                return done + 1
            self._state.advance(code)
        return len(codes)

    def identity(self) -> Iterator[Any]:
        """Its arrays, if it shows them; what it predicts is included in any case."""
        yield type(self._predictor).__name__
        arrays = getattr(self._predictor, "arrays", None)
        if callable(arrays):
            for name, array in sorted(arrays().items()):
                yield name
                yield array

    def place(self) -> np.ndarray:
        """What it predicts here."""
        return self._probabilities()

    def _probabilities(self) -> np.ndarray:
        return np.ascontiguousarray(self._state.probabilities(), np.float64)
