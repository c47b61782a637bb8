"""Half of everything is the end of a sequence, whatever came before: insurance against sequences that are cut short.

A log ends with cases that are not finished, and none of the finished ones before says that they may end there. A share
of one in a few thousand bounds what each of them costs. The other half is the uniform distribution.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from glnn.sequences import Alphabet, Encoded


def chances_of_ends(codes: np.ndarray, end: int, size: int) -> np.ndarray:
    """What is said of each symbol: (1 + 1/A) / 2 of the end, 1 / 2A of all others."""
    return 0.5 * (codes == end) + 0.5 / size


@dataclass(frozen=True)
class Ends:
    """A predictor without memory: it is its own state, and its own learner."""

    alphabet: Alphabet
    portable = True

    @cached_property
    def _row(self) -> np.ndarray:
        assert self.alphabet.end is not None
        return chances_of_ends(np.arange(len(self.alphabet)), self.alphabet.end, len(self.alphabet))

    def begin(self) -> Ends:
        """The state at the start of a sequence."""
        return self

    def probabilities(self) -> np.ndarray:
        """The distribution of the next symbol."""
        return self._row.copy()

    def advance(self, code: int) -> None:
        """Nothing changes."""

    def ask(self, code: int) -> float:
        """The probability of the next symbol."""
        return float(self._row[code])

    push = ask

    def run(self, codes: np.ndarray) -> np.ndarray:
        """The same distribution before each symbol."""
        return np.tile(self._row, (codes.size, 1))

    def copy(self) -> Ends:
        """Itself, since it never changes."""
        return self

    def place(self) -> dict[str, np.ndarray]:
        """Everywhere is the same."""
        return {}

    def move(self, place: dict[str, np.ndarray]) -> None:
        """Stay."""

    def pack(self) -> bytes:
        """Everywhere is the same."""
        return b""

    def unpack(self, packed: bytes, at: int = 0) -> int:
        """Stay."""
        return at

    def distributions(self, data: Encoded, block: int = 4096) -> Iterator[np.ndarray]:
        """The same row along the data, in blocks."""
        for begin in range(0, data.codes.size, block):
            yield self.run(data.codes[begin : begin + block])

    def log_likelihoods(self, data: Encoded) -> np.ndarray:
        """log π_t(x_t) at every position."""
        return np.log(self._row[data.codes])

    def learner(self) -> Ends:
        """Nothing is learned."""
        return self

    def begin_learning(self) -> Ends:
        """The state at the start of a sequence."""
        return self

    def learn(self, codes: np.ndarray) -> None:
        """Nothing is learned."""

    def learned(self) -> Ends:
        """Nothing was learned."""
        return self

    def memory(self) -> dict[str, np.ndarray]:
        """It knows nothing."""
        return {}

    def recall(self, memory: dict[str, np.ndarray]) -> None:
        """It knows nothing."""
