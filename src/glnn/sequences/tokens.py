"""What counts as a sequence of symbols, and of which kind, before symbols become codes.

Text, bytes and integers become one integer array (code points, bytes, values), so that ten million
characters never become ten million Python objects; anything else becomes a list of hashable tokens. `parts_of` is the
one place that looks at what the user gave: `encode`, readers, the codec and the page accept the same data by it.

Tokens can be written as JSON and read back exactly: str, int, bool and None as they are, the others in an object that
names them; a float in hexadecimal, so that every bit of it comes back.
"""

from __future__ import annotations

import mmap
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from glnn.sequences.errors import InputError
from glnn.sequences.foreign import is_row, unwrapped
from glnn.sequences.several import Sequences

Kind = Literal["characters", "bytes", "integers", "words", "lines", "tokens"]
KINDS: tuple[str, ...] = get_args(Kind)

_MOST_BITS = 1 << 13
_DEEPEST = 64

ACCEPTED = (
    "one sequence is a str, bytes, an array of integers or a list of hashable tokens; several are a list of lists or "
    "of arrays, glnn.Sequences([...]), a series of lists, or a frame with columns for case and activity"
)


class Words(list[str]):
    """One sequence whose tokens are the words of a text."""


class Lines(list[str]):
    """One sequence whose tokens are the lines of a text, without their line ends."""


@dataclass(frozen=True)
class Tokens:
    """One flat run of symbols: an array of code points or integers, or a list of hashable tokens."""

    values: np.ndarray | list[Hashable]
    kind: Kind

    def __len__(self) -> int:
        return len(self.values)

    @property
    def symbol_type(self) -> type:
        """The Python type of the symbols; only asked of runs that are not empty."""
        if isinstance(self.values, np.ndarray):
            return str if self.kind == "characters" else int
        return type(self.values[0])

    def symbol(self, position: int) -> Hashable:
        """The symbol at a position, as the user knows it."""
        if isinstance(self.values, np.ndarray):
            value = int(self.values[position])
            return chr(value) if self.kind == "characters" else value
        return self.values[position]

    def as_list(self) -> list[Hashable]:
        """All symbols as Python objects."""
        if not isinstance(self.values, np.ndarray):
            return self.values
        if self.kind == "characters":
            return list(self.values.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass"))
        return list(self.values.tolist())

    def distinct(self) -> list[Hashable]:
        """The symbols that occur: sorted when they can be sorted, else in order of first occurrence."""
        values = self.values
        if not isinstance(values, np.ndarray):
            return in_stable_order(dict.fromkeys(values))
        low, high = (int(values.min()), int(values.max())) if values.size else (0, -1)
        if high - low > table_limit(values.size):
            return Tokens(np.unique(values), self.kind).as_list()
        present = np.zeros(high - low + 1, bool)
        for block in blocks(values.size):
            present[values[block].astype(np.int64) - low] = True
        return Tokens(np.flatnonzero(present) + low, self.kind).as_list()


class Parts(NamedTuple):
    """The tokens of every sequence."""

    tokens: list[Tokens]
    several: bool
    """Whether they were given as several sequences."""
    names: tuple[str, ...] | None
    """The name of each sequence."""


def parts_of(data: Any, kind: Kind | None = None) -> Parts:
    """One or several sequences of any accepted kind; `kind` says how a text is cut when the alphabet is of words."""
    if isinstance(data, str | bytes):
        return Parts([tokens_of(data, kind)], False, None)
    if not isinstance(data, Sequences):
        data = unwrapped(data)
    if not is_several(data):
        return Parts([tokens_of(data, kind)], False, None)
    if not len(data):
        raise InputError("the data hold no sequence: give at least one")
    parts = []
    for which, item in enumerate(data):
        try:
            parts.append(tokens_of(item, kind))
        except InputError as error:
            raise InputError(f"sequence {which}: {error}") from None
    return Parts(parts, True, data.names if isinstance(data, Sequences) else None)


def in_stable_order(symbols: Iterable[Hashable]) -> list[Hashable]:
    """Sorted when the symbols can be sorted, else as they come."""
    listed = list(symbols)
    # The order of frozensets is inclusion: sorting them neither fails nor means anything.
    if any(isinstance(symbol, frozenset) for symbol in listed):
        return listed
    try:
        return sorted(listed)  # type: ignore[type-var]
    except TypeError:
        return listed


def is_several(data: Any) -> bool:
    """Whether the data are several sequences: a `Sequences`, a list of lists or arrays, or a tuple of tuples."""
    if isinstance(data, Sequences):
        return True
    if not isinstance(data, list | tuple) or not data:
        return False
    if isinstance(data, tuple) and all(isinstance(item, tuple) for item in data):
        return True
    # A tuple in a list is a token.
    inner = [is_row(item) and not isinstance(item, tuple) for item in data]
    if any(inner) and not all(inner):
        odd = inner.index(not inner[0])
        raise InputError(
            f"the list mixes sequences and tokens: item 0 is a {type(data[0]).__name__}, "
            f"item {odd} a {type(data[odd]).__name__}; {ACCEPTED}"
        )
    return all(inner)


def tokens_of(data: Any, kind: Kind | None = None) -> Tokens:
    """One sequence as a flat run of symbols; `kind` says how a text is cut when the alphabet is of words."""
    if isinstance(data, str):
        if kind == "words":
            return Tokens(list(data.split()), "words")
        if kind == "lines":
            return Tokens(list(split_lines(data)), "lines")
        points = np.frombuffer(data.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        return Tokens(points, "characters")
    if isinstance(data, bytes | bytearray | memoryview | mmap.mmap):
        return Tokens(np.frombuffer(data, dtype=np.uint8), "bytes")
    if hasattr(data, "__array__"):
        return _tokens_of_array(np.asarray(data))
    if isinstance(data, dict | set | frozenset) or not isinstance(data, Iterable):
        raise InputError(f"the data are of type {type(data).__name__}: {ACCEPTED}")
    own_kind: Kind = "words" if isinstance(data, Words) else "lines" if isinstance(data, Lines) else "tokens"
    return Tokens(_checked_tokens(list(data)), own_kind)


def split_lines(text: str) -> list[str]:
    """The lines of a text; a line end at the end of the text opens no empty line."""
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _tokens_of_array(array: np.ndarray) -> Tokens:
    if array.ndim != 1:
        raise InputError(
            f"the array has shape {array.shape}: one sequence is an array of one dimension; "
            "several sequences are a list of arrays, so list(array) makes each row a sequence"
        )
    if array.dtype.kind in "USO":
        return Tokens(_checked_tokens(array.tolist()), "tokens")
    if array.dtype.kind not in "iu":
        raise InputError(
            f"the array is of dtype {array.dtype}: symbols are integers; cut real values into classes, "
            "or write array.astype(int) if they are whole numbers"
        )
    if array.dtype == np.uint64:
        if array.size and array.max() > np.iinfo(np.int64).max:
            raise InputError("the array holds integers above 2^63 - 1: give them as a list of tokens")
        array = array.astype(np.int64)  # numpy compares the two 64-bit types as floats
    return Tokens(array, "integers")


def _checked_tokens(tokens: list[Any]) -> list[Hashable]:
    types = set(map(type, tokens))
    if any(issubclass(kind, np.generic) for kind in types):
        tokens = [token.item() if isinstance(token, np.generic) else token for token in tokens]
        types = set(map(type, tokens))
    if len(types) > 1:
        # Mixing int with bool or float too: 1 == True == 1.0 would silently become one symbol.
        odd = next(place for place, token in enumerate(tokens) if type(token) is not type(tokens[0]))
        raise InputError(
            f"the tokens are of mixed types: {tokens[0]!r} at position 0 is a {type(tokens[0]).__name__}, "
            f"{tokens[odd]!r} at position {odd} a {type(tokens[odd]).__name__}; make them all of one type"
        )
    if types and next(iter(types)) is float and any(token != token for token in tokens):
        place = next(place for place, token in enumerate(tokens) if token != token)
        raise InputError(f"the token at position {place} is NaN, which equals nothing: give it a name")
    try:
        set(tokens)
    except TypeError:
        name = next(iter(types)).__name__
        raise InputError(f"tokens of type {name} are not hashable, so they cannot be symbols; {ACCEPTED}") from None
    return tokens


def table_limit(size: int) -> int:
    """The largest range of values for which a table costs no more than the data."""
    return max(0x110000, 4 * size)


def blocks(size: int, length: int = 1 << 16) -> Iterator[slice]:
    """Pieces short enough that 64-bit copies of them stay in the cache."""
    return (slice(begin, begin + length) for begin in range(0, size, length))


def token_to_json(token: Any, _depth: int = 0) -> Any:
    """A token as JSON: str, bytes, int, bool, float, None, and tuples of these."""
    kind = type(token)
    if token is None or kind in (str, bool):
        return token
    if kind is int:
        if token.bit_length() > _MOST_BITS:
            raise InputError(f"a token is an integer of {token.bit_length()} bits: at most {_MOST_BITS} can be written")
        return token
    if kind is float:
        return {"float": token.hex()}
    if kind is bytes:
        return {"bytes": token.hex()}
    if kind is tuple:
        if _depth == _DEEPEST:
            raise InputError(f"a token is a tuple nested more than {_DEEPEST} deep, which cannot be written")
        return {"tuple": [token_to_json(part, _depth + 1) for part in token]}
    raise InputError(
        f"the token {token!r} is of type {kind.__name__}, which cannot be written to a file: "
        "make tokens str, bytes, int, bool, float, None, or tuples of these"
    )


def token_from_json(value: Any) -> Any:
    """The inverse of `token_to_json`."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, dict) and len(value) == 1:
        name, content = next(iter(value.items()))
        try:
            if name == "float":
                return float.fromhex(content)
            if name == "bytes":
                return bytes.fromhex(content)
            if name == "tuple" and isinstance(content, list):
                return tuple(map(token_from_json, content))
        except (TypeError, ValueError):
            pass
    raise InputError(f"{str(value)[:80]!r} is not the written form of a token")
