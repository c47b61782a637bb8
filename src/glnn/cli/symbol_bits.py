"""The bits of every symbol of some data, sequence by sequence, with what is to be predicted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from glnn.cli.inputs import Data
from glnn.sequences.variants import Variant, variants

if TYPE_CHECKING:
    from glnn.estimators import SequenceModel
    from glnn.sequences import Encoded, Reading

# Around a strange symbol the next ones are often strange too: one is enough.
_APART = 20


@dataclass(frozen=True, eq=False)
class Scored:
    """Data scored by a model: `surprise` is (T,), the bits of each position, ends of sequences included."""

    reading: Reading
    surprise: np.ndarray
    tokens: list[Any]
    """The symbol at each position, even if it is outside the alphabet."""

    @property
    def encoded(self) -> Encoded:
        """The codes, with ends and escapes."""
        return self.reading.encoded

    @property
    def bits(self) -> float:
        """Of everything that is to be predicted."""
        return float(self.surprise.sum())

    @property
    def symbols(self) -> int:
        """How many positions are to be predicted, ends included."""
        return int(self.encoded.mask.sum())

    @property
    def unknown(self) -> tuple[Any, ...]:
        """The symbols that the model does not know, in the order of the data."""
        return self.reading.outside

    def variants(self) -> list[Variant]:
        """Equal sequences, once each."""
        codes = self.encoded.codes.astype(np.int64)
        numbers: dict[Any, int] = {}
        for position, symbol in zip(self.reading.escapes.tolist(), self.unknown, strict=True):
            codes[position] = len(self.encoded.alphabet) + numbers.setdefault(symbol, len(numbers))
        return variants(codes, self.surprise, self.encoded.starts, self.encoded.mask)

    def strangest(self, most: int) -> list[int]:
        """The positions that cost most, none close to another."""
        bits = self.surprise.copy()
        found: list[int] = []
        while len(found) < most and bits.max(initial=0.0) > 0.0:
            position = int(np.argmax(bits))
            found.append(position)
            bits[max(position - _APART, 0) : position + _APART + 1] = 0.0
        return found


def scored(model: SequenceModel, data: Data) -> Scored:
    """Score data, symbol by symbol."""
    from glnn.sequences import Reader

    reading = Reader(model.alphabet_).read(data.content, data.mask)
    surprise = model.surprise(reading)
    flat = np.concatenate(surprise) if isinstance(surprise, list) else surprise
    return Scored(reading, flat, reading.symbols())
