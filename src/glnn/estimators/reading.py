"""Data as a fitted model reads them: its alphabet, an end symbol behind each sequence, escapes for unknown symbols.

The end is a symbol like any other, learned from several sequences. An escape stands for a symbol outside the alphabet;
which one it was costs bits of its own (`glnn.sequences.special`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from glnn.sequences import Alphabet, Encoded, InputError, encode
from glnn.sequences.masks import mask_array
from glnn.sequences.special import END, ESCAPE, ExtendedAlphabet, Special, base_of, code_of, escaped_bits
from glnn.sequences.tokens import Tokens, is_several, tokens_of


@dataclass(frozen=True, eq=False)
class Reading:
    """Data over a model's alphabet."""

    encoded: Encoded
    """With ends and escapes; sequences may be empty."""
    several: bool
    """Whether they were given as several sequences."""
    escaped: np.ndarray
    """The bits that say which symbol an escape stands for, 0 at all other positions, (T,)."""

    def split(self, values: np.ndarray) -> np.ndarray | list[np.ndarray]:
        """Values at every position as they belong to the data: an array, or one for each of several sequences."""
        if not self.several:
            return values
        return np.split(values, self.encoded.starts[1:-1])


@dataclass(frozen=True)
class Reader:
    """Turns data of any accepted kind into codes of `alphabet`, special symbols included."""

    alphabet: Alphabet

    @classmethod
    def fitted(cls, data: Any, mask: Any, alphabet: Any, end: bool, unknown: str) -> tuple[Reader, Reading]:
        """The reader that these training data call for, and the data read by it.

        An end is learned from several sequences, unless a mask leaves every end out.
        """
        if alphabet is None:
            base = base_of(encode(data).alphabet)
        else:
            base = alphabet if isinstance(alphabet, Alphabet) else Alphabet(alphabet)
            if len(base) < 2:
                raise InputError(f"alphabet holds {len(base)} symbols: with fewer than 2 there is nothing to predict")
        escape = [ESCAPE] if unknown == "escape" else []
        if end and _number_of_sequences(data) > 1:
            reader = cls(_extended(base, [END, *escape]))
            reading = reader.read(data, mask)
            ends = reading.encoded.starts[1:] - 1
            if reading.encoded.mask[ends].any():
                return reader, reading
        reader = cls(_extended(base, escape))
        return reader, reader.read(data, mask)

    @property
    def end(self) -> int | None:
        """The code of the end symbol."""
        return code_of(self.alphabet, END)

    @property
    def escape(self) -> int | None:
        """The code of the escape."""
        return code_of(self.alphabet, ESCAPE)

    @property
    def known(self) -> Alphabet:
        """The alphabet without the escape: what a network reads."""
        return _extended(base_of(self.alphabet), [] if self.end is None else [END])

    def read(self, data: Any, mask: Any = None) -> Reading:
        """Data with their ends. Without a mask everything is to be predicted; masks may leave the ends out."""
        if isinstance(data, Encoded) and data.alphabet == self.alphabet:
            same = data if mask is None else data.with_mask(mask)
            return Reading(same, len(data) > 1, np.zeros(data.codes.size))
        parts, bits = self._codes(data)
        lengths = np.array([len(part) for part in parts], np.int64)
        if isinstance(data, Encoded) and mask is None and not data.mask.all():
            mask = data.mask
        starts = _offsets(lengths)
        if self.end is None:
            codes, escaped, given = np.concatenate(parts), np.concatenate(bits), _mask(mask, starts)
        else:
            with_ends = _offsets(lengths + 1)
            ends = with_ends[1:] - 1
            codes = np.empty(with_ends[-1], np.int32)
            escaped = np.zeros(with_ends[-1])
            inner = np.ones(with_ends[-1], bool)
            inner[ends] = False
            codes[ends], codes[inner], escaped[inner] = self.end, np.concatenate(parts), np.concatenate(bits)
            given = _mask_with_ends(mask, starts, with_ends, inner)
            starts = with_ends
        several = len(data) > 1 if isinstance(data, Encoded) else is_several(data)
        return Reading(Encoded(codes, starts, given, self.alphabet), several, escaped)

    def prefix(self, data: Any) -> np.ndarray:
        """The codes of the beginning of a sequence, without an end."""
        if data is None:
            return np.empty(0, np.int32)
        parts = self.prefixes(data)
        if len(parts) != 1:
            raise InputError(f"{len(parts)} sequences were given as a prefix: give one")
        return parts[0]

    def prefixes(self, data: Any) -> list[np.ndarray]:
        """The codes of the beginnings of one or several sequences."""
        return self._codes(data)[0]

    def _codes(self, data: Any) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """For every sequence its codes, and the bits of its escapes."""
        if isinstance(data, Encoded):
            symbols = Tokens(list(base_of(data.alphabet).symbols), "tokens")
            if len(data.codes) and data.codes.max() >= len(symbols):
                raise InputError("the data are encoded with special symbols of another model: give the data themselves")
            table, bits = self._lookup(symbols, "", strict=False)
            if table.size and data.codes.size and table[data.codes].min() < 0:
                place = int(np.argmax(table[data.codes] < 0))
                raise self._unknown(data.alphabet.symbols[data.codes[place]], f"position {place}")
            return [table[codes] for codes in data], [bits[codes] for codes in data]
        items = list(data) if is_several(data) else [data]
        if not items:
            raise InputError("the data hold no sequence: give at least one")
        pairs = []
        for which, item in enumerate(items):
            where = f" of sequence {which}" if len(items) > 1 else ""
            pairs.append(self._lookup(tokens_of(item, self.alphabet.kind), where))
        return [codes for codes, _ in pairs], [bits for _, bits in pairs]

    def _lookup(self, tokens: Tokens, place: str, strict: bool = True) -> tuple[np.ndarray, np.ndarray]:
        codes = self.alphabet.lookup(tokens)
        bits = np.zeros(len(codes))
        outside = np.flatnonzero(codes < 0)
        if self.escape is not None:
            codes[outside] = self.escape
            for position in outside.tolist():
                bits[position] = escaped_bits(tokens.symbol(position), self.alphabet)
        elif outside.size and strict:
            raise self._unknown(tokens.symbol(int(outside[0])), f"position {outside[0]}{place}")
        return codes, bits

    def _unknown(self, symbol: Any, place: str) -> InputError:
        return InputError(
            f"symbol {symbol!r} at {place} is not in the alphabet of {len(base_of(self.alphabet))} symbols "
            f"({base_of(self.alphabet).summary()}): train with alphabet= naming every symbol that can occur, "
            "or with unknown='escape'"
        )


def kept_positions(data: Encoded, kept: np.ndarray) -> Encoded:
    """The data at some positions only; sequences that are empty then are left out."""
    owner = np.repeat(np.arange(len(data)), np.diff(data.starts))
    lengths = np.bincount(owner[kept], minlength=len(data))
    return replace(data, codes=data.codes[kept], mask=data.mask[kept], starts=_offsets(lengths[lengths > 0]))


def _extended(base: Alphabet, special: Iterable[Special]) -> Alphabet:
    special = tuple(special)
    return ExtendedAlphabet(base, *special) if special else base


def _number_of_sequences(data: Any) -> int:
    return len(data) if isinstance(data, Encoded) or is_several(data) else 1


def _offsets(lengths: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _mask(mask: Any, starts: np.ndarray) -> np.ndarray:
    if mask is None:
        return np.ones(starts[-1], bool)
    return mask_array(mask, starts)


def _mask_with_ends(mask: Any, starts: np.ndarray, with_ends: np.ndarray, inner: np.ndarray) -> np.ndarray:
    """A mask over symbols and ends; one that is as long as the symbols alone leaves the ends out."""
    if mask is None:
        return np.ones(with_ends[-1], bool)
    nested = isinstance(mask, list | tuple) and len(mask) > 0 and all(np.ndim(item) > 0 for item in mask)
    length = sum(len(item) for item in mask) if nested else np.size(mask)
    if length == with_ends[-1]:
        return mask_array(mask, with_ends)
    given = np.zeros(with_ends[-1], bool)
    given[inner] = mask_array(mask, starts)
    return given
