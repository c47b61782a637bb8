"""How surprising an event must be to be reported: a number of bits, or a rate of false alarms. A rate r asks for the
smallest b with share(bits > b) ≤ r among normal events. They are counted in bins of 1/8 bit, so that any number of them
takes the same memory and the count can go on while a stream is followed.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from glnn.sequences import InputError

BINS_PER_BIT = 8
_BINS = 64 * BINS_PER_BIT


class Threshold:
    """A bound on bits that is fixed, or follows from the events counted and the rate of alarms wanted among them."""

    def __init__(self, bits: float | None = None, rate: float | None = None, counts: np.ndarray | None = None) -> None:
        if (bits is None) == (rate is None):
            raise InputError("give either a threshold in bits or a rate of false alarms")
        if bits is not None and not bits >= 0.0:
            raise InputError(f"the threshold is {bits} bits: give 0 or more")
        if rate is not None and not 0.0 < rate < 1.0:
            raise InputError(f"the rate of false alarms is {rate}: give a number between 0 and 1, such as 0.001")
        self.rate, self._fixed = rate, bits
        self.counts = np.zeros(_BINS + 1, np.int64) if counts is None else np.array(counts, np.int64)
        if self.counts.shape != (_BINS + 1,) or (self.counts < 0).any():
            raise InputError("the counts of bits are not those of a threshold")
        self._value: float | None = None

    @property
    def bits(self) -> float:
        """The bound; infinite while too few were counted to tell."""
        # Found from all that was counted, so that it does not matter where counting was interrupted.
        if self._value is None:
            self._value = self._find()
        return self._value

    def count(self, bits: float) -> None:
        """A normal event that cost this many bits."""
        self.counts[min(int(bits * BINS_PER_BIT), _BINS) if bits < np.inf else _BINS] += 1
        self._value = None

    def count_many(self, bits: Iterable[float]) -> None:
        """Several such events."""
        for value in bits:
            self.count(value)

    def recall(self, counts: dict[int, int]) -> None:
        """Continue from earlier counts, bin by bin."""
        for k, n in counts.items():
            if not 0 <= k <= _BINS or n < 0:
                raise InputError("the counts of bits are not those of a threshold")
            self.counts[k] = n
        self._value = None

    def _find(self) -> float:
        if self._fixed is not None:
            return self._fixed
        assert self.rate is not None
        total = int(self.counts.sum())
        # above[k]: events that cost the lower edge of bin k + 1 or more.
        above = total - np.cumsum(self.counts)
        allowed = self.rate * total
        if allowed < 1.0:
            return np.inf
        return float((int(np.argmax(above <= allowed)) + 1) / BINS_PER_BIT)
