"""The training data as the engine walks over it: stretches of time with what every pass needs of them.

All sequences stand one after the other; each begins from the start state. The length of a stretch depends on the
network's size only, never on threads or memory, so that every sum has one order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from glnn.sequences import Encoded

SequenceWeights = Literal["length", "equal"]


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

    @property
    def complete(self) -> bool:
        """Whether every position is to be predicted."""
        return len(self.predicted) == len(self.x)


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

    @property
    def predicted(self) -> int:
        """The number of positions to be predicted."""
        return int(self.predicted_counts.sum())


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
        predicted = every[:n] if mask.all() else np.flatnonzero(mask).astype(np.int32)
        weight = ones[: len(predicted)] if everywhere is None else everywhere[predicted]
        y = x if mask.all() else x[predicted]
        order = np.argsort(x, kind="stable").astype(np.int32)
        groups = np.concatenate([[0], np.cumsum(np.bincount(x, minlength=A))])
        stretches.append(
            Stretch(begin, end, x, first[begin:end], order, groups, predicted, y, weight, everywhere, start_weight)
        )
    return Corpus(
        stretches=tuple(stretches),
        length=len(codes),
        alphabet_size=A,
        counts=counts,
        predicted_counts=np.bincount(codes[data.mask], minlength=A).astype(float),
        frequencies=counts / len(codes),
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
