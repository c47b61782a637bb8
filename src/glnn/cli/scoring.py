"""The bits of every symbol of some data, sequence by sequence, with what is to be predicted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from glnn.cli.reading import Data

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
    from glnn.estimators.reading import Reader

    reading = Reader(model.alphabet_).read(data.content, data.mask)
    surprise = model.surprise(data.content, data.mask)
    flat = np.concatenate(surprise) if isinstance(surprise, list) else surprise
    return Scored(reading.encoded, flat, _tokens(model, data, reading.encoded))


def _tokens(model: SequenceModel, data: Data, encoded: Encoded) -> list[Any]:
    """The symbols as the model knows them, with those it does not know put back in their places."""
    from glnn.sequences.special import ESCAPE, base_of, code_of
    from glnn.sequences.tokens import is_several, tokens_of

    tokens = model.alphabet_.decode(encoded.codes)
    escape = code_of(model.alphabet_, ESCAPE)
    unknown = np.flatnonzero(encoded.codes == escape) if escape is not None else np.zeros(0, np.int64)
    if not unknown.size:
        return tokens
    items = list(data.content) if is_several(data.content) else [data.content]
    for which, item in enumerate(items):
        begin, end = encoded.starts[which], encoded.starts[which + 1]
        own = tokens_of(item, base_of(model.alphabet_).kind)
        for position in unknown[(unknown >= begin) & (unknown < end)]:
            tokens[position] = own.symbol(int(position - begin))
    return tokens
