"""What context trees and n-grams share: both count what they read, and can go on counting.

A model of counts reads data block by block. Its learner reads on in counts of its own; what it has learned is the
symbols read, sequence after sequence, so a single one is learned symbol by symbol, and each of several as a whole,
when it ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, Self

import numpy as np

from glnn.coding.loops import NO_END
from glnn.coding.range_coder import TOTAL, encode
from glnn.numeric.packed import unpack_array
from glnn.sequences import Alphabet, Encoded, InputError

CHUNK = 1 << 16


class CountedModel:
    """A model that reads along the data, learning from them or not."""

    def with_learning(self, learning: Literal["online", "frozen"]) -> Self:
        """The same, learning or not from what it scores."""
        raise NotImplementedError

    def frozen(self) -> Self:
        """The same, learning nothing from what it scores."""
        return self.with_learning("frozen")

    def distributions(self, data: Encoded, block: int = 4096) -> Iterator[np.ndarray]:
        """Next-symbol distributions along the data, in blocks of at most `block` rows."""
        for _, rows in self._read(data, block, with_rows=True):
            yield rows

    def log_likelihoods(self, data: Encoded) -> np.ndarray:
        """log π_t(x_t) at every position."""
        return np.concatenate([log_likelihoods for log_likelihoods, _ in self._read(data, CHUNK)])

    def _read(self, data: Encoded, block: int, with_rows: bool = False) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """log π_t(x_t), and rows where they are asked for, of each block."""
        raise NotImplementedError


class CountedSteps:
    """The steps of a coder with such a model; `_code` is its compiled loop for both directions."""

    _M: np.uint64

    def encode(self, codes: np.ndarray, coder: np.ndarray, out: np.ndarray) -> int:
        """Encode symbols; returns how many `out` had room for."""
        return self._code(False, np.array(codes, np.int32), NO_END, coder, out)

    def encode_escape(self, coder: np.ndarray, out: np.ndarray) -> None:
        """An escape leaves counts and context as they are."""
        encode(self._M, TOTAL, coder, out)

    def decode(self, codes: np.ndarray, end: int, coder: np.ndarray, source: np.ndarray) -> int:
        """Decode symbols; returns how many."""
        return self._code(True, codes, end, coder, source)

    def _code(self, decoding: bool, codes: np.ndarray, end: int, coder: np.ndarray, buffer: np.ndarray) -> int:
        raise NotImplementedError


class CountedState:
    """Where such a model stands inside a sequence: the symbols before. What is learned on the way is its reader's."""

    _reader: Any
    _at_start: bool
    _learn: bool

    def place(self) -> dict[str, np.ndarray]:
        """The symbols before, and whether there were any."""
        return {"context": self._reader.context.copy(), "at_start": np.array([self._at_start])}

    def move(self, place: dict[str, np.ndarray]) -> None:
        """Go to the place of another state."""
        found, own = place.get("context"), self._reader.context
        fits = found is not None and found.shape == own.shape and found.dtype == own.dtype
        if found is None or not fits or not ((found >= 0) & (found <= len(self._reader.model.alphabet))).all():
            raise InputError("the place of a stream belongs to another context tree or n-gram model")
        own[:] = found
        self._at_start = bool(place.get("at_start", np.zeros(1))[0])

    def pack(self) -> bytes | None:
        """The symbols before, as small as their codes are, where no counts of its own learn."""
        if self._learn:
            return None
        return self._reader.context.astype(self._code()).tobytes() + bytes([self._at_start])

    def unpack(self, packed: bytes, at: int = 0) -> int:
        """Stand where another stood."""
        end = unpack_array(self._reader.context, packed, at, self._code())
        self._at_start = bool(packed[end])
        return end + 1

    def _code(self) -> Any:
        return np.min_scalar_type(len(self._reader.model.alphabet))


class CountedLearner:
    """Goes on counting, for all the sequences that arrive side by side. `_reader` reads in counts of its own."""

    _model: Any
    _reader: Any

    @property
    def alphabet(self) -> Alphabet:
        """The symbols it knows."""
        return self._model.alphabet  # type: ignore[no-any-return]

    def learn(self, codes: np.ndarray) -> None:
        """Count a whole sequence."""
        if len(codes):
            self.read(codes)

    def read(self, codes: np.ndarray) -> np.ndarray:
        """The same; returns the probability of each symbol before it was learned."""
        first = np.zeros(len(codes), bool)
        first[0] = True
        return np.exp(self._reader.read(np.ascontiguousarray(codes, np.int32), first, learn=True)[0])

    def distributions(self, data: Encoded, block: int = 4096) -> Iterator[np.ndarray]:
        """Next-symbol distributions along the data; nothing is learned."""
        return self._now().distributions(data, block)  # type: ignore[no-any-return]

    def log_likelihoods(self, data: Encoded) -> np.ndarray:
        """log π_t(x_t) at every position; nothing is learned."""
        return self._now().log_likelihoods(data)  # type: ignore[no-any-return]

    def _now(self) -> Any:
        """The model with the counts as they are now."""
        raise NotImplementedError


def check_history(history: np.ndarray, alphabet_size: int) -> None:
    """The symbols read, as a file has them, with the code A before each sequence."""
    if history.dtype.kind != "u" or history.ndim != 1 or history.size < 2:
        raise InputError(f"the history has type {history.dtype} and shape {history.shape}: not a list of codes")
    if history.max() > alphabet_size or history[0] != alphabet_size or history[-1] == alphabet_size:
        raise InputError(f"the history does not fit an alphabet of {alphabet_size} symbols")
    padding = history == alphabet_size
    if (padding[1:] & padding[:-1]).any():
        raise InputError("the history holds empty sequences")
