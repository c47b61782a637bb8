"""Learning that goes on with more data, and alphabets that grow on the way.

New symbols follow the data's own in the alphabet, before the end and the escape: those known keep their codes, and an
end moves up. Each model knows how to be the same over the larger alphabet (`_take_symbols`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from glnn.sequences import Alphabet, Reader
from glnn.sequences.special import ExtendedAlphabet, base_of
from glnn.sequences.tokens import parts_of

if TYPE_CHECKING:
    from glnn.estimators.base import SequenceModel


def go_on(model: SequenceModel, data: Any, mask: Any) -> None:
    """Let a fitted model learn from more data."""
    if model.unknown == "grow":
        new = new_symbols(data, base_of(model.alphabet_))
        if new:
            model._take_symbols(grown(model.alphabet_, new), len(new))
    model._go_on(Reader(model.alphabet_).read(data, mask).known())


def new_symbols(data: Any, alphabet: Alphabet) -> list[Any]:
    """The symbols of the data that the alphabet lacks, in the order of their first occurrence."""
    found: dict[Any, None] = {}
    for tokens in parts_of(data, alphabet.kind).tokens:
        for place in np.flatnonzero(alphabet.lookup(tokens) < 0):
            found[tokens.symbol(int(place))] = None
    return list(found)


def grown(alphabet: Alphabet, new: list[Any]) -> Alphabet:
    """The alphabet with more symbols after the data's own."""
    base = base_of(alphabet)
    larger = Alphabet([*base.symbols, *new], base.kind)
    return ExtendedAlphabet(larger, *alphabet.special) if isinstance(alphabet, ExtendedAlphabet) else larger


def moved_up(codes: np.ndarray, symbols: int, new: int) -> np.ndarray:
    """Codes of an alphabet of `symbols` of the data's own in one that has `new` more; ends and paddings move up."""
    return np.where(codes >= symbols, codes.astype(np.int64) + new, codes)


def with_mean(values: np.ndarray, at: int, new: int, axis: int) -> np.ndarray:
    """Values for each symbol along an axis, with those of new symbols, the mean over the known, put in at a place."""
    mean = np.repeat(values.mean(axis=axis, keepdims=True), new, axis=axis)
    before, after = np.split(values, [at], axis=axis)
    return np.concatenate([before, mean, after], axis=axis)
