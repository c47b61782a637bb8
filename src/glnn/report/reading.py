"""Data position by position, as a page shows them: codes of labels, bits, where sequences begin, the mask.

Codes are those of the model's alphabet; symbols it does not know, which only a model with an escape can score, follow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from glnn.report.labels import label, labels
from glnn.sequences import Alphabet, Encoded, InputError, Sequences
from glnn.sequences.special import END, base_of, code_of
from glnn.sequences.tokens import Tokens, is_several, tokens_of

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

    @property
    def predicted(self) -> int:
        """How many symbols were to be predicted."""
        return int(self.mask.sum())

    def known_beginning(self, most: int) -> int:
        """How many positions from the start on hold symbols that the model knows, at most `most`."""
        unknown = np.flatnonzero(self.codes[:most] >= len(base_of(self.alphabet)) + self._ends)
        return int(unknown[0]) if unknown.size else min(most, self.codes.size)

    def beginning(self, length: int) -> list[Any]:
        """The first positions as data that the model accepts, without the ends."""
        end = code_of(self.alphabet, END)
        parts = np.split(self.codes[:length], self.starts[(self.starts > 0) & (self.starts < length)])
        tokens = [self.alphabet.decode(part[part != end] if end is not None else part) for part in parts]
        return tokens if self.several else tokens[0]

    @property
    def _ends(self) -> int:
        return int(code_of(self.alphabet, END) is not None)


def read_positions(model: Any, data: Any, mask: Any = None) -> Positions:
    """Score the data with the model and lay them out."""
    surprise = model.surprise(data, mask)
    several = isinstance(surprise, list)
    bits = surprise if several else [surprise]
    alphabet: Alphabet = model.alphabet_
    shown = list(labels(alphabet.symbols, alphabet.kind))
    unknown: dict[Any, int] = {}
    end = code_of(alphabet, END)
    codes = []
    for tokens, cost in zip(_tokens(data, alphabet), bits, strict=True):
        found = np.array(alphabet.lookup(tokens), np.int64)
        for position in np.flatnonzero(found < 0).tolist():
            symbol = tokens.symbol(position)
            if symbol not in unknown and len(unknown) < _MOST_UNKNOWN:
                unknown[symbol] = len(shown)
                shown.append(label(symbol, alphabet.kind))
            elif symbol not in unknown and shown[-1] != _OTHERS:
                shown.append(_OTHERS)
            found[position] = unknown.get(symbol, len(shown) - 1)
        if end is not None and len(cost) == len(found) + 1:
            found = np.append(found, end)
        if len(cost) != len(found):
            raise InputError(f"the model gave {len(cost)} numbers for {len(found)} symbols: give the data unencoded")
        codes.append(found)
    lengths = [len(part) for part in codes]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    names = data.names if isinstance(data, Sequences) else None
    flat, chosen = np.concatenate(codes), _mask(mask, data, starts)
    if not chosen.any():
        raise InputError("nothing in the data is to be predicted: a page needs at least one symbol")
    return Positions(flat, np.concatenate(bits), starts, chosen, tuple(shown), names, alphabet, several)


def _tokens(data: Any, alphabet: Alphabet) -> list[Tokens]:
    if isinstance(data, Encoded):
        return [Tokens(data.alphabet.decode(codes), "tokens") for codes in data]
    items = list(data) if is_several(data) else [data]
    return [tokens_of(item, alphabet.kind) for item in items]


def _mask(mask: Any, data: Any, starts: np.ndarray) -> np.ndarray:
    """One flat mask over all positions; the ends that a mask over the symbols leaves out are not predicted."""
    if mask is None:
        mask = data.mask if isinstance(data, Encoded) and not data.mask.all() else np.ones(starts[-1], bool)
    nested = isinstance(mask, list | tuple) and len(mask) > 0 and all(np.ndim(item) > 0 for item in mask)
    flat = np.concatenate([np.asarray(item, bool) for item in mask]) if nested else np.asarray(mask, bool)
    if flat.size == starts[-1]:
        return flat
    inner = np.ones(starts[-1], bool)
    inner[starts[1:] - 1] = False
    whole = np.zeros(starts[-1], bool)
    whole[inner] = flat
    return whole
