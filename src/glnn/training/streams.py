"""Chunks for stochastic training: K places in the data run side by side, each with a state of its own, for ever.

The data are a circle: a place that reaches the end goes on at the beginning. So the K streams together read all of it
evenly, cuts fall elsewhere in every round, and no state is ever older than the chunk before it. Sequences begin from
the start state wherever a place meets their beginning.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glnn.sequences import Encoded
from glnn.training.corpus import SequenceWeights, weights_of_sequences

STREAMS = 16
LENGTH = 50
"""Places that run side by side, and positions of each in a chunk."""
_LEAST_APART = 25


@dataclass(frozen=True)
class Chunk:
    """The next positions of every stream; all arrays are (K, L)."""

    x: np.ndarray
    first: np.ndarray
    mask: np.ndarray
    weight: np.ndarray | None
    """The weight of every position's sequence, None when all are 1."""


class Streams:
    """K places in the data, equally far apart at the beginning."""

    def __init__(
        self, data: Encoded, weights: SequenceWeights = "length", streams: int = STREAMS, length: int = LENGTH
    ) -> None:
        self._x = np.ascontiguousarray(data.codes, np.int32)
        self._first = np.zeros(self._x.size, bool)
        self._first[data.starts[:-1]] = True
        self._mask = data.mask
        of_sequence = weights_of_sequences(data, weights)
        self._weight = None if of_sequence is None else np.repeat(of_sequence, np.diff(data.starts))
        self.count = max(1, min(streams, self._x.size // _LEAST_APART))
        # No place reads in one chunk what another is just reading.
        self.length = max(1, min(length, self._x.size // self.count))
        self.places = np.arange(self.count) * self._x.size // self.count

    @property
    def positions(self) -> int:
        """Positions in a chunk."""
        return self.count * self.length

    @property
    def size(self) -> int:
        """Positions in the data."""
        return int(self._x.size)

    def next(self) -> Chunk:
        """The next chunk; the places move on."""
        where = (self.places[:, None] + np.arange(self.length)) % self._x.size
        self.places = (self.places + self.length) % self._x.size
        weight = None if self._weight is None else self._weight[where]
        return Chunk(self._x[where], self._first[where], self._mask[where], weight)
