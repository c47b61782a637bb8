"""The bits of every symbol of some data, sequence by sequence, with what is to be predicted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from glnn.cli.inputs import Data

if TYPE_CHECKING:
    from glnn.estimators import SequenceModel
    from glnn.sequences import Encoded


@dataclass(frozen=True, eq=False)
class Scored:
    """Data under a model: `surprise` is (T,), the bits of each position, ends of sequences included."""

    encoded: Encoded
    surprise: np.ndarray
    tokens: list[Any]
    """The symbol at each position, also where it is outside the alphabet."""

    @property
    def bits(self) -> float:
        """Of everything that is to be predicted."""
        return float(self.surprise.sum())

    @property
    def symbols(self) -> int:
        """How many positions are to be predicted, ends included."""
        return int(self.encoded.mask.sum())


def scored(model: SequenceModel, data: Data) -> Scored:
    """Score data, and put the bits beside the symbols."""
    from glnn.sequences import Reader

    reading = Reader(model.alphabet_).read(data.content, data.mask)
    surprise = model.surprise(reading)
    flat = np.concatenate(surprise) if isinstance(surprise, list) else surprise
    return Scored(reading.encoded, flat, reading.symbols())
