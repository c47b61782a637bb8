"""The training data laid out in time: stretches for passes over all of it, chunks of many places for stochastic steps.

Stretches: all sequences stand one after the other; each begins from the start state. The length of a stretch depends on
the network's size only, never on threads or memory, so that every sum has one order.

Chunks: K places in the data run side by side, each with a state of its own, for ever. The data are a circle: a place
that reaches the end goes on at the beginning. So the places together read all of it evenly, cuts fall elsewhere in
every round, and no state is ever older than the chunk before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from glnn.sequences import Encoded

SequenceWeights = Literal["length", "equal"]

ALL = slice(None)
_ROWS = 4096
"""Rows of the output that make up one job: fixed, as the order of every sum depends on it."""


@dataclass(frozen=True)
class Stretch:
    """Positions begin ≤ t < end of the data. `predicted` lists those with χ = 1, counted from `begin`."""

    begin: int
    end: int
    x: np.ndarray
    """The symbols, (S,)."""
    first: np.ndarray
    order: np.ndarray
    """Positions sorted by symbol, each symbol's in the order of time."""
    groups: np.ndarray
    """Where each symbol's positions begin in `order`, (A + 1,)."""
    predicted: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    """The weight of each predicted position in the log-likelihood."""
    sequence_weight: np.ndarray | None
    """The weight of every position's sequence, or None when all are 1."""
    start_weight: np.ndarray
    """The weight of each sequence that begins here."""
    complete: bool
    """Whether every position is to be predicted."""

    @property
    def pieces(self) -> list[slice]:
        """What is walked over before others can begin with its output: the rows of a job, if all are predicted."""
        if not self.complete:
            return [ALL]
        return [slice(begin, begin + _ROWS) for begin in range(0, len(self.x), _ROWS)]

    def parts(
        self, activities: np.ndarray, piece: slice = ALL
    ) -> Iterator[tuple[slice, np.ndarray, np.ndarray, np.ndarray]]:
        """The predicted rows, of a piece or of all, in parts of a fixed size: which, activities, symbols, weights."""
        a, first = activities if self.complete else activities[self.predicted], piece.start or 0
        for start in range(0, len(a), _ROWS):
            rows = slice(first + start, first + start + _ROWS)
            yield rows, a[start : start + _ROWS], self.y[rows], self.weight[rows]


@dataclass(frozen=True)
class Corpus:
    """Encoded sequences cut into stretches, with the symbol counts."""

    stretches: tuple[Stretch, ...]
    length: int
    alphabet_size: int
    counts: np.ndarray
    """How often each symbol occurs."""
    predicted_counts: np.ndarray
    """How often each symbol is to be predicted."""
    frequencies: np.ndarray
    """How often each symbol is read, n_y / T."""
    predicted: int
    """The number of positions to be predicted."""


def stretch_length(units: int) -> int:
    """Positions in a stretch: long enough for dot products over one symbol's times, at most some tens of MB an array.

    Short enough, too, that there are several: one thread walks over a stretch while others add up the one before.
    """
    return max(4096, min(16384, 1 << (22 - max(units, 1).bit_length() + 1)))


def prepare(data: Encoded, length: int, weights: SequenceWeights = "length", continues: bool = False) -> Corpus:
    """Cut the data into stretches of at most `length` positions.

    With `continues`, the first sequence began earlier: the network continues from the state that it was left in.

    Weights by `"length"` count every predicted position once. `"equal"` gives every sequence the same total, scaled so
    that all weights together still sum to the number of predicted positions.
    """
    codes = np.ascontiguousarray(data.codes, np.int32)
    A = len(data.alphabet)
    counts = np.bincount(codes, minlength=A).astype(float)
    first = np.zeros(len(codes), bool)
    begun = data.starts[1:-1] if continues else data.starts[:-1]
    first[begun] = True
    of_sequence = weights_of_sequences(data, weights)
    ones, every = np.ones(min(length, len(codes))), np.arange(min(length, len(codes)), dtype=np.int32)
    stretches = []
    for begin in range(0, len(codes), length):
        end = min(begin + length, len(codes))
        x, mask = codes[begin:end], data.mask[begin:end]
        n = end - begin
        starting = np.flatnonzero((begun >= begin) & (begun < end)) + continues
        if of_sequence is None:
            everywhere, start_weight = None, np.ones(len(starting))
        else:
            owner = np.searchsorted(data.starts, np.arange(begin, end), side="right") - 1
            everywhere, start_weight = of_sequence[owner], of_sequence[starting]
        complete = bool(mask.all())
        predicted = every[:n] if complete else np.flatnonzero(mask).astype(np.int32)
        weight = ones[: len(predicted)] if everywhere is None else everywhere[predicted]
        y = x if complete else x[predicted]
        order = np.argsort(x, kind="stable").astype(np.int32)
        groups = np.concatenate([[0], np.cumsum(np.bincount(x, minlength=A))])
        given = (x, first[begin:end], order, groups, predicted, y, weight, everywhere, start_weight, complete)
        stretches.append(Stretch(begin, end, *given))
    return Corpus(
        stretches=tuple(stretches),
        length=len(codes),
        alphabet_size=A,
        counts=counts,
        predicted_counts=np.bincount(codes[data.mask], minlength=A).astype(float),
        frequencies=counts / len(codes),
        predicted=int(data.mask.sum()),
    )


def weights_of_sequences(data: Encoded, weights: SequenceWeights) -> np.ndarray | None:
    """The weight of each sequence in the log-likelihood, None when all are 1."""
    if weights == "length" or len(data) == 1:
        return None
    if weights != "equal":
        raise ValueError(f"sequence weights are {weights!r}: choose 'length' or 'equal'")
    totals = np.add.reduceat(data.mask.astype(float), data.starts[:-1])
    used = totals > 0
    return np.where(used, totals.sum() / (used.sum() * np.where(used, totals, 1.0)), 1.0)


STREAMS, LENGTH = 8, 100
"""Places in the data, and positions of each in a chunk: derivatives go no further back (`experiments/learning.md`)."""
SHORT_STREAMS = 16, 50
"""The same for networks whose streams run side by side, where more of them are cheaper."""
MANY_STREAMS = 32, 50
"""And for large ones among them, whose matrix is long in coming from memory."""
_LEAST_APART = 25


@dataclass(frozen=True)
class Chunk:
    """The next positions of every stream; all arrays are (K, L)."""

    x: np.ndarray
    first: np.ndarray
    mask: np.ndarray
    weight: np.ndarray | None
    """The weight of every position's sequence, None when all are 1."""
    misread: np.ndarray | None = None
    """What is read instead of `x`, which is still to be predicted; None where nothing is misread."""

    @property
    def read(self) -> np.ndarray:
        """What the network reads."""
        return self.x if self.misread is None else self.misread


class Streams:
    """K places in the data, equally far apart at the beginning."""

    def __init__(
        self, data: Encoded, weights: SequenceWeights = "length", streams: int = STREAMS, length: int = LENGTH
    ) -> None:
        self._x = np.ascontiguousarray(data.codes, np.int32)
        self._first, self._mask = data.first, data.mask
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
