"""Differences between models, paired: on the same cases or stretches of a text, so that what is hard for both cancels.

With d_u the bits that one model needs more than another on unit u of n, the difference is Σ d_u, and its 95 % interval
± t √(n Var d + s²/k + s'²/k'), where s is the spread of a random model's bits over its k seeds.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

_BLOCKS, _SHORTEST = 40, 50
_FEWEST = 5


class Difference(NamedTuple):
    """How many bits more than another, and how sure that is."""

    bits: float
    half: float | None
    """Half the interval; None where there is too little to tell it from."""

    @property
    def told_apart(self) -> bool | None:
        """Whether the difference is more than noise; None where that is not known."""
        return None if self.half is None else abs(self.bits) > self.half

    def text(self) -> str:
        """As a table shows it."""
        if self.half is None:
            return f"+{self.bits:,.0f}"
        same = "" if self.told_apart else ", may be none"
        return f"+{self.bits:,.0f} ± {self.half:,.0f}{same}"


def units_of(surprise: np.ndarray | list[np.ndarray]) -> np.ndarray:
    """The bits of every sequence; of one sequence, of stretches long enough to be nearly independent."""
    if isinstance(surprise, list):
        return np.array([part.sum() for part in surprise])
    number = min(_BLOCKS, len(surprise) // _SHORTEST)
    if number < 2:
        return surprise.sum(keepdims=True)
    edges = np.linspace(0, len(surprise), number + 1).astype(np.int64)
    return np.add.reduceat(surprise, edges[:-1])


def difference(one: np.ndarray, other: np.ndarray, variance: float = 0.0) -> Difference:
    """What `one` costs more than `other`, unit by unit; `variance` is that of their totals over seeds."""
    apart = one - other
    if len(apart) < _FEWEST or not np.isfinite(apart).all():
        return Difference(float(one.sum() - other.sum()), None)
    error = math.sqrt(len(apart) * float(np.var(apart, ddof=1)) + variance)
    return Difference(float(apart.sum()), _quantile(len(apart) - 1) * error)


def _quantile(freedom: int) -> float:
    """The 97.5 % quantile of Student's t, to about 1 % from 5 degrees of freedom on."""
    return 1.96 + 2.37 / freedom + 2.8 / freedom**2
