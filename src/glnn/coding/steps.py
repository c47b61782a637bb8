"""Predictors as the coder drives them: restart, encode a run of symbols, decode one, with the same step in both.

A predictor that has compiled loops offers them by a method `coding_steps(escape, share=0.0)`: its steps when an escape
has that probability and a share δ of the uniform distribution is mixed in, (1 − δ) π + δ / A, or None where it has
none for this case. Others are driven through their states.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np


class Steps(Protocol):
    """One predictor at one place of the data. Codes are those of its alphabet; the next one stands for an escape."""

    portable: bool
    """Whether every machine computes the same bits."""
    margin: int
    """How many bytes a symbol may need at most."""

    def restart(self) -> None:
        """Go to the start of the first sequence, or of the next one."""
        ...

    def encode(self, codes: np.ndarray, coder: np.ndarray, out: np.ndarray) -> int:
        """Encode symbols, without escapes; returns how many `out` had room for."""
        ...

    def encode_escape(self, coder: np.ndarray, out: np.ndarray) -> None:
        """Encode one escape; `out` has room."""
        ...

    def decode(self, codes: np.ndarray, end: int, coder: np.ndarray, source: np.ndarray) -> int:
        """Fill `codes` until the code `end`, an escape, or the end of `source`; returns how many."""
        ...

    def identity(self) -> Iterator[Any]:
        """All that its probabilities depend on: arrays and texts."""
        ...

    def place(self) -> np.ndarray:
        """The numbers that say where it stands."""
        ...


def offered_steps(predictor: Any, escape: float | None, share: float = 0.0) -> Steps | None:
    """The steps that a predictor offers, unless a class derived from the one that offers them has states of its own."""
    for owner in type(predictor).__mro__:
        if "coding_steps" in vars(owner):
            steps: Steps | None = predictor.coding_steps(escape, share)
            return steps
        if "begin" in vars(owner):
            return None
    return None


def both_shares(one: float, other: float) -> float:
    """The share of the uniform distribution after mixing twice."""
    return one if other == 0.0 else 1.0 - (1.0 - one) * (1.0 - other)
