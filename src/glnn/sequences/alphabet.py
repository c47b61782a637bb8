"""The alphabet: which symbols there are, in which order, and so which code 0 … A-1 each one has.

Symbols are sorted when they can be sorted, else in order of first occurrence; an alphabet given explicitly
keeps its own order. `kind` remembers what the symbols were cut from, so that `join` can put them back. Special symbols,
which stand for no token (the end of a sequence, an escape), follow the data's own, so that these keep their codes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np

from glnn.sequences.errors import InputError, one_line
from glnn.sequences.tokens import KINDS, Kind, Tokens, blocks, in_stable_order, parts_of, table_limit, tokens_of


class Special(Enum):
    """The symbols that are no tokens."""

    END = "end"
    ESCAPE = "escape"

    def __repr__(self) -> str:
        return f"<{self.value}>"


END, ESCAPE = Special.END, Special.ESCAPE


@dataclass(frozen=True, init=False)
class Alphabet:
    """Distinct symbols of one type. Two alphabets are equal when they give every symbol the same code.

    `Alphabet("abc")`, `Alphabet(["the", "cat"])` and `Alphabet(np.arange(10))` all work.
    """

    symbols: tuple[Hashable, ...]
    """Special ones last."""
    kind: Kind = field(compare=False)
    special: tuple[Special, ...] = field(compare=False)
    end: int | None = field(compare=False)
    """The code of the end of a sequence, None where there is none."""
    escape: int | None = field(compare=False)
    """The code of the escape, None where there is none."""

    def __init__(self, symbols: Iterable[Any], kind: Kind | None = None, special: tuple[Special, ...] = ()) -> None:
        tokens = tokens_of(in_stable_order(symbols) if isinstance(symbols, set | frozenset) else symbols)
        distinct = tuple(tokens.as_list())
        if len(set(distinct)) < len(distinct):
            double = next(symbol for symbol in distinct if distinct.count(symbol) > 1)
            raise InputError(f"the alphabet holds {double!r} twice: give each symbol once")
        if kind is not None and kind not in KINDS:
            raise InputError(f"the alphabet's kind is {kind!r}: it is one of {', '.join(KINDS)}")
        object.__setattr__(self, "symbols", (*distinct, *special))
        object.__setattr__(self, "kind", kind or _natural_kind(tokens.kind, distinct))
        object.__setattr__(self, "special", special)
        for name, one in (("end", END), ("escape", ESCAPE)):
            object.__setattr__(self, name, len(distinct) + special.index(one) if one in special else None)

    def __len__(self) -> int:
        return len(self.symbols)

    def __contains__(self, symbol: object) -> bool:
        return symbol in self.codes

    def __repr__(self) -> str:
        return f"Alphabet of {len(self)} {self.kind}: {self.summary()}"

    def summary(self, most: int = 8) -> str:
        """The first symbols, for messages."""
        shown = ", ".join(map(repr, self.symbols[:most]))
        return shown if len(self) <= most else f"{shown}, …"

    def encode(self, tokens: Any) -> np.ndarray:
        """The codes of one sequence, int32; an empty one gives an empty array."""
        flat = tokens_of(tokens, self.kind)
        codes = self.lookup(flat)
        unknown = np.flatnonzero(codes < 0)
        if unknown.size:
            raise self.unknown_symbol(flat.symbol(unknown[0]), f"position {unknown[0]}", unknown.size)
        return codes

    def decode(self, codes: Iterable[int] | np.ndarray) -> list[Any]:
        """The tokens of the codes."""
        array = np.asarray(codes if isinstance(codes, np.ndarray) or not isinstance(codes, Iterable) else list(codes))
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            raise InputError(f"the codes are {one_line(codes)}: give a row of whole numbers, 0 … {len(self) - 1}")
        array = array.astype(np.int64)
        if array.size and not 0 <= array.min() <= array.max() < len(self):
            wrong = array[(array < 0) | (array >= len(self))][0]
            raise InputError(f"code {wrong} is outside 0 … {len(self) - 1}, the codes of this alphabet")
        return list(self._objects[array].tolist())

    def join(self, tokens: Iterable[Any]) -> Any:
        """Tokens back to what they were cut from, without ends: a str, bytes, an integer array, or a list."""
        if self.special:
            tokens = [token for token in tokens if token is not END]
        if self.kind == "characters":
            return "".join(tokens)
        if self.kind == "bytes":
            return bytes(tokens)
        if self.kind == "integers":
            return np.array(list(tokens), dtype=np.int64)
        if self.kind == "words":
            return " ".join(tokens)
        if self.kind == "lines":
            return "".join(f"{line}\n" for line in tokens)
        return list(tokens)

    def lookup(self, tokens: Tokens) -> np.ndarray:
        """The codes of a flat run of symbols, int32, with -1 for those outside the alphabet."""
        if self.special:
            return self.base.lookup(tokens)
        if not len(tokens) or not len(self):
            return np.full(len(tokens), -1, np.int32)
        expected = type(self.symbols[0])
        if tokens.symbol_type is not expected:
            raise InputError(
                f"the data's symbols are {tokens.symbol_type.__name__} ({tokens.symbol(0)!r} first), "
                f"the alphabet's are {expected.__name__} ({self.summary(3)}): they must be of one type"
            )
        if isinstance(tokens.values, np.ndarray) and self._integers is not None:
            return _codes_of_integers(tokens.values, self._integers)
        found = map(self.codes.get, tokens.as_list(), repeat(-1))
        return np.fromiter(found, np.int32, count=len(tokens))

    def unknown_symbol(self, symbol: Hashable, where: str, count: int) -> InputError:
        """The error for a symbol outside the alphabet."""
        more = f" ({count} positions hold such symbols)" if count > 1 else ""
        return InputError(
            f"symbol {symbol!r} at {where} is not in the alphabet of {len(self)} symbols "
            f"({self.summary()}){more}: give alphabet= with every symbol that can occur"
        )

    def with_special(self, *special: Special) -> Alphabet:
        """The data's own symbols followed by these special ones."""
        return Alphabet(self.base.symbols, self.kind, special) if special else self.base

    @cached_property
    def base(self) -> Alphabet:
        """The data's own symbols."""
        return Alphabet(self.symbols[: -len(self.special)], self.kind) if self.special else self

    @cached_property
    def known(self) -> Alphabet:
        """The alphabet with its end, if it has one, and no escape: what a network reads."""
        return self.with_special(*(one for one in self.special if one is not ESCAPE)) if self.special else self

    @cached_property
    def codes(self) -> dict[Hashable, int]:
        """The code of each symbol."""
        return {symbol: code for code, symbol in enumerate(self.symbols)}

    @cached_property
    def _objects(self) -> np.ndarray:
        objects = np.empty(len(self), object)
        for code, symbol in enumerate(self.symbols):
            objects[code] = symbol
        return objects

    @cached_property
    def _integers(self) -> np.ndarray | None:
        """Each symbol as an integer: its code point or its value; None when symbols are anything else."""
        if all(type(symbol) is int for symbol in self.symbols):
            try:
                return np.array(self.symbols, np.int64)
            except OverflowError:
                return None
        if all(isinstance(symbol, str) and len(symbol) == 1 for symbol in self.symbols):
            return np.array([ord(symbol) for symbol in self.symbols], np.int64)  # type: ignore[arg-type]
        return None


def _natural_kind(kind: Kind, symbols: tuple[Hashable, ...]) -> Kind:
    """A list of single characters counts as the characters of a text."""
    if kind == "tokens" and all(isinstance(symbol, str) and len(symbol) == 1 for symbol in symbols):
        return "characters"
    return kind


def _codes_of_integers(values: np.ndarray, symbols: np.ndarray) -> np.ndarray:
    low = min(int(symbols.min()), int(values.min()))
    high = max(int(symbols.max()), int(values.max()))
    if high - low > table_limit(values.size):
        order = np.argsort(symbols)
        places = np.minimum(np.searchsorted(symbols, values, sorter=order), len(symbols) - 1)
        codes = order[places]
        return np.where(symbols[codes] == values, codes, -1).astype(np.int32)
    table = np.full(high - low + 1, -1, np.int32)
    table[symbols - low] = np.arange(len(symbols), dtype=np.int32)
    codes = np.empty(values.size, np.int32)
    for block in blocks(values.size):
        codes[block] = table[values[block].astype(np.int64) - low]
    return codes


def new_symbols(data: Any, alphabet: Alphabet) -> list[Any]:
    """The symbols of the data that the alphabet lacks, in the order of their first occurrence."""
    found: dict[Any, None] = {}
    for tokens in parts_of(data, alphabet.kind).tokens:
        for place in np.flatnonzero(alphabet.lookup(tokens) < 0):
            found[tokens.symbol(int(place))] = None
    return list(found)


def grown(alphabet: Alphabet, new: list[Any]) -> Alphabet:
    """The alphabet with more symbols after the data's own."""
    return Alphabet([*alphabet.base.symbols, *new], alphabet.kind, alphabet.special)


def moved_up(codes: np.ndarray, symbols: int, new: int) -> np.ndarray:
    """Codes of an alphabet of `symbols` of the data's own in one that has `new` more; ends and paddings move up."""
    return np.where(codes >= symbols, codes.astype(np.int64) + new, codes)
