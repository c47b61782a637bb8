"""Weights that will not go on learning: the mean over the second half of what was read, w̄ = (1/S) Σ_s w_s.

Steps of gradient leave the last weights in the noise of the last symbols. What goes on learning profits from
following it; what is frozen predicts better with the mean.
"""

from __future__ import annotations

import numpy as np

from glnn.contexts.mixing_memory import Memory

LOOKS = 64
_FROM = 0.5


class WeightAverage:
    """Looks at the weights now and then while symbols `begin` … `end` are read; the first half does not count."""

    def __init__(self, begin: int, end: int) -> None:
        self._from = begin + _FROM * (end - begin)
        self.stretch = max(1, round((1.0 - _FROM) * (end - begin) / LOOKS))
        """How many symbols to read between looks."""
        self._looks, self._weights, self._final = 0, np.zeros(()), np.zeros(())

    def look(self, place: int, memory: Memory) -> None:
        """After the symbols before a place were read."""
        if place >= self._from:
            self._from = place + self.stretch
            self._looks += 1
            self._weights = self._weights + memory.weights
            self._final = self._final + memory.final_weights

    def settled(self, memory: Memory) -> Memory:
        """The memory with the mean of its weights."""
        if not self._looks:
            return memory
        return memory._replace(weights=self._weights / self._looks, final_weights=self._final / self._looks)
