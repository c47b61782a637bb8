"""Data position by position, as a page shows them: codes of labels, bits, where sequences begin, the mask.

Codes are those of the model's alphabet; symbols it does not know, which only a model with an escape can score, follow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from glnn.report.labels import LONGEST_NAME, label, labels
from glnn.sequences import Alphabet, Encoded, InputError, Reader, Reading

_MOST_UNKNOWN = 1_000
_OTHERS = "⟨other⟩"


@dataclass(frozen=True, eq=False)
class Positions:
    """The data end to end, ends of sequences included where the model learned them."""

    codes: np.ndarray
    bits: np.ndarray
    starts: np.ndarray
    mask: np.ndarray
    symbols: tuple[str, ...]
    names: tuple[str, ...] | None
    alphabet: Alphabet
    several: bool
    encoded: Encoded
    """As the model reads them: symbols it does not know are escapes."""

    @property
    def predicted(self) -> int:
        """How many symbols were to be predicted."""
        return int(self.mask.sum())

    def known_beginning(self, most: int) -> int:
        """How many positions from the start hold symbols that the model knows, at most `most`."""
        unknown = np.flatnonzero(self.codes[:most] >= len(self.alphabet.base) + self._ends)
        return int(unknown[0]) if unknown.size else min(most, self.codes.size)

    def beginning(self, length: int) -> list[Any]:
        """The first positions as data that the model accepts, without the ends."""
        end = self.alphabet.end
        parts = np.split(self.codes[:length], self.starts[(self.starts > 0) & (self.starts < length)])
        tokens = [self.alphabet.decode(part[part != end] if end is not None else part) for part in parts]
        return tokens if self.several else tokens[0]

    @property
    def _ends(self) -> int:
        return int(self.alphabet.end is not None)


def read_positions(model: Any, data: Any, mask: Any = None) -> Positions:
    """Score the data with the model and lay them out."""
    alphabet: Alphabet = model.alphabet_
    reading = Reader(alphabet).read(data, mask)
    surprise = model.surprise(reading)
    encoded = reading.encoded
    if not encoded.mask.any():
        raise InputError("nothing in the data is to be predicted: a page needs at least one symbol")
    codes, shown = _with_unknown(reading)
    bits = np.concatenate(surprise) if isinstance(surprise, list) else surprise
    # Names of cases come from outside as symbols do: all of their characters are to be seen, and no page of them.
    names = None if reading.names is None else tuple(label(name, longest=LONGEST_NAME) for name in reading.names)
    return Positions(codes, bits, encoded.starts, encoded.mask, shown, names, alphabet, reading.several, encoded)


def _with_unknown(reading: Reading) -> tuple[np.ndarray, tuple[str, ...]]:
    """The codes, with symbols outside the alphabet under codes of their own, and the label of every code."""
    alphabet = reading.encoded.alphabet
    shown = list(labels(alphabet.symbols, alphabet.kind))
    codes = reading.encoded.codes.astype(np.int64)
    unknown: dict[Any, int] = {}
    for position, symbol in zip(reading.escapes.tolist(), reading.outside, strict=True):
        if symbol not in unknown and len(unknown) < _MOST_UNKNOWN:
            unknown[symbol] = len(shown)
            shown.append(label(symbol, alphabet.kind))
        elif symbol not in unknown and shown[-1] != _OTHERS:
            shown.append(_OTHERS)
        codes[position] = unknown.get(symbol, len(shown) - 1)
    return codes, tuple(shown)
