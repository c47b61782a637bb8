"""Floating-point operations of each part of an update, by formula, so that timings can be printed as GFlop/s.

An addition, multiplication, division, comparison, exp, tanh, log or square root counts as one, so a fused
multiply-add as two. `incoming` is the number of edges into each unit, the one from the constant unit included.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Sizes:
    """What the cost of an update depends on."""

    symbols: int
    predicted: int
    sequences: int
    letters: int
    incoming: np.ndarray

    @property
    def units(self) -> int:
        return len(self.incoming)

    def activities(self) -> int:
        """A multiplication and an addition per edge, tanh and the addition to V per unit."""
        return self.symbols * (2 * self._edges + 2 * self.units)

    def output(self) -> int:
        """The exponents, then maximum, difference, exp, sum and division per letter, and the log."""
        return self.predicted * (self.letters * (2 * self.units + 5) + 4)

    def writing_terms(self) -> int:
        """Three sums per unit and letter, the variance per letter, a² and the symbol itself per unit."""
        units = self.units + 1
        return self.predicted * (6 * units * self.letters + 2 * self.letters + 2 * units)

    def writing_step(self) -> int:
        """Ratio, direction, step and bias per unit and letter."""
        return self.letters * (10 * self.units + 3)

    def backward(self, metric: str) -> int:
        """Sums over the edges out of a unit and over the letters, of B alone (RUOP) or of B and m (RBPM)."""
        between = self._edges - 2 * self.units  # neither from the constant nor a loop
        if metric == "ruop":
            return self.symbols * (2 * between + 6 * self.units) + self.predicted * self.units * (2 * self.letters + 2)
        return self.symbols * (5 * between + 12 * self.units) + self.predicted * self.units * (4 * self.letters + 5)

    def metric_terms(self) -> int:
        """G, and the lower triangle of M, at each time but a sequence's last."""
        triangles = int((self.incoming * (self.incoming + 1) // 2).sum())
        return (self.symbols - self.sequences) * (3 * self._edges + 2 * triangles)

    def transition_step(self) -> int:
        """Cholesky (n³/3 + n²/2 + n/6), two triangular solves of n² each, the damping and the step."""
        n = self.incoming
        return self.letters * int(((2 * n**3 + 3 * n**2 + n) // 6 + 2 * n**2 + 3 * n).sum())

    @property
    def _edges(self) -> int:
        return int(self.incoming.sum())
