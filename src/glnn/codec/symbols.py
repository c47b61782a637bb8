"""Data as runs of codes and escaped tokens, and back: block after block, so that memory stays bounded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from glnn.codec.container import checksum
from glnn.sequences import Alphabet, Encoded, InputError, Reader, Sequences
from glnn.sequences.reader import unknown_symbol
from glnn.sequences.special import spell
from glnn.sequences.tokens import Tokens, blocks

_BLOCK = 1 << 18

Run = tuple[np.ndarray, Callable[[int], Any]]
"""Codes, with −1 where a token is outside the alphabet, and a function that gives the token at a place."""


def runs_of_tokens(tokens: Tokens, alphabet: Alphabet, before: int = 0) -> Iterator[Run]:
    """A part of a sequence, after `before` tokens."""
    escape = alphabet.escape is not None
    for block in blocks(len(tokens), _BLOCK):
        piece = Tokens(tokens.values[block], tokens.kind)
        codes = alphabet.lookup(piece)
        if not escape and codes.size and codes.min() < 0:
            place = int(np.argmax(codes < 0))
            raise unknown_symbol(piece.symbol(place), f"position {before + block.start + place}", alphabet)
        yield codes, piece.symbol


def sequences_of(data: Any, alphabet: Alphabet) -> tuple[list[Run], bool, bool]:
    """The run of every sequence without its end, whether several were given, and whether they end as they are.

    Codes of the model's own alphabet, ends included, are taken as they are; nothing is added to them.
    """
    if isinstance(data, Sequences) and not len(data):
        return [], True, False
    as_they_are = isinstance(data, Encoded) and data.alphabet == alphabet
    reading = Reader(alphabet).read(data)
    if as_they_are and reading.outside:
        raise InputError("the codes hold escapes, which do not say what they stand for: give the data themselves")
    escapes = reading.escapes
    outside = dict(zip(escapes.tolist(), reading.outside, strict=True))
    codes = reading.encoded.codes
    if escapes.size:
        codes = codes.copy()
        codes[escapes] = -1
    starts = reading.encoded.starts
    ends = starts[1:] - (not as_they_are and alphabet.end is not None)
    runs = [
        (codes[begin:end], _at(outside, begin)) for begin, end in zip(starts[:-1].tolist(), ends.tolist(), strict=True)
    ]
    several = len(runs) != 1 if isinstance(data, Encoded) else reading.several
    return runs, several, as_they_are


def _at(outside: dict[int, Any], begin: int) -> Callable[[int], Any]:
    return lambda place: outside[begin + place]


class SymbolDigest:
    """The checksum of codes, escaped tokens and where sequences begin, however they are cut into blocks."""

    def __init__(self) -> None:
        self._digest = checksum()
        self.symbols = 0

    def begin(self) -> None:
        """A sequence begins."""
        self._digest.update(b"\xff\xff\xff\xff")

    def codes(self, codes: np.ndarray) -> None:
        """Symbols of the alphabet."""
        self._digest.update(codes.astype("<i4").tobytes())
        self.symbols += codes.size

    def token(self, token: Any) -> None:
        """A token outside of it."""
        spelling = spell(token)
        self._digest.update(b"\xfe\xff\xff\xff" + len(spelling).to_bytes(8, "little") + spelling)
        self.symbols += 1

    def digest(self) -> bytes:
        """The checksum."""
        return self._digest.digest()


class Collector:
    """Codes and tokens of one sequence, turned back into what they were cut from."""

    def __init__(self, alphabet: Alphabet) -> None:
        self._alphabet, self._base = alphabet, alphabet.base
        self._end = alphabet.end
        self._pieces: list[Any] = []
        self._values: np.ndarray | None = None
        if self._base.kind == "characters":
            self._values = np.array([ord(str(symbol)) for symbol in self._base.symbols], "<u4")
        elif self._base.kind == "bytes":
            self._values = np.array(self._base.symbols, np.uint8)

    def codes(self, codes: np.ndarray) -> None:
        """Symbols of the alphabet; an end stands for no token."""
        if self._end is not None:
            codes = codes[codes != self._end]
        self._pieces.append(self.piece(codes))

    def token(self, token: Any) -> None:
        """A token outside of it."""
        self._pieces.append(
            [token] if self._values is None else bytes([token]) if self._base.kind == "bytes" else token
        )

    def piece(self, codes: np.ndarray) -> Any:
        """A str, bytes, or a list of tokens."""
        if self._values is None:
            return self._base.decode(codes)
        values = self._values[codes].tobytes()
        return values.decode("utf-32-le", "surrogatepass") if self._base.kind == "characters" else values

    def take(self) -> list[Any]:
        """The pieces so far, which are then dropped."""
        pieces, self._pieces = self._pieces, []
        return pieces

    def joined(self) -> Any:
        """The whole sequence, as the alphabet joins it."""
        if self._base.kind == "characters":
            return "".join(self.take())
        if self._base.kind == "bytes":
            return b"".join(self.take())
        tokens = [token for piece in self.take() for token in piece]
        try:
            return self._alphabet.join(tokens)
        except OverflowError:
            return tokens  # integers beyond 64 bits, escaped
