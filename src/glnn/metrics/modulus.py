"""The modulus m_j^t: how much a time counts in M̃_j = Σ_t m_j^{t+1} r^t r^tᵀ (Section 3.3).

The outer product metric has m = B², made from the derivative. The backpropagated modulus is a recursion of its own,
which runs back through the network beside B (Section 3.5); the model knows it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np


class Modulus(Protocol):
    """One way to weigh times."""

    name: str
    recursion: bool
    """Whether the model's recursion runs beside B."""

    def fill(self, B: np.ndarray, weight: np.ndarray | None, m: np.ndarray) -> None:
        """Make `m` (S, units) from B, or change what the recursion has put there.

        `weight` are the weights of the sequences that the rows belong to, or None when all are 1.
        """
        ...


@dataclass(frozen=True)
class Backpropagated:
    """m̃_i^t = s'(V_i)² Var_π(w_i) + Σ_j (∂V_j^{t+1}/∂V_i^t)² m̃_j^{t+1}: the model's recursion as it is."""

    name = "backpropagated"
    recursion = True

    def fill(self, B: np.ndarray, weight: np.ndarray | None, m: np.ndarray) -> None:
        """Nothing is left to do."""


@dataclass(frozen=True)
class OuterProduct:
    """m = B²."""

    name = "outer"
    recursion = False

    def fill(self, B: np.ndarray, weight: np.ndarray | None, m: np.ndarray) -> None:
        """B has its sequence's weight c already; the metric wants c B², not c² B²."""
        np.square(B, out=m)
        if weight is not None:
            m /= weight[:, None]


BACKPROPAGATED = Backpropagated()
OUTER_PRODUCT = OuterProduct()
