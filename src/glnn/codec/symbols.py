"""Data as runs of codes and escaped tokens, and back: block after block, so that memory stays bounded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from glnn.codec.container import checksum
from glnn.sequences import Alphabet, Encoded, InputError
from glnn.sequences.special import END, ESCAPE, base_of, code_of, spell
from glnn.sequences.tokens import Tokens, blocks, is_several, tokens_of

_BLOCK = 1 << 18

Run = tuple[np.ndarray, Callable[[int], Any]]
"""Codes, with −1 where a token is outside the alphabet, and what gives the token at a place of them."""


def runs_of_tokens(tokens: Tokens, alphabet: Alphabet, where: str = "", before: int = 0) -> Iterator[Run]:
    """One sequence of tokens, `before` of which came already."""
    escape = code_of(alphabet, ESCAPE) is not None
    for block in blocks(len(tokens), _BLOCK):
        piece = Tokens(tokens.values[block], tokens.kind)
        codes = alphabet.lookup(piece)
        if not escape and codes.size and codes.min() < 0:
            place = int(np.argmax(codes < 0))
            position = before + block.start + place
            raise unknown_symbol(piece.symbol(place), f"position {position}{where}", alphabet)
        yield codes, piece.symbol


def runs_of_codes(codes: np.ndarray, table: np.ndarray, symbols: tuple[Any, ...]) -> Iterator[Run]:
    """One sequence of codes that mean `symbols`; `table` has the code of each in the model's alphabet, or −1."""
    for block in blocks(codes.size, _BLOCK):
        yield table[codes[block]], _at(codes[block], symbols)


def _at(codes: np.ndarray, symbols: tuple[Any, ...]) -> Callable[[int], Any]:
    return lambda place: symbols[codes[place]]


def sequences_of(data: Any, alphabet: Alphabet) -> tuple[list[Iterable[Run]], list[int], bool, bool]:
    """The runs of every sequence, their lengths, whether several were given, and whether codes were given as they are.

    Codes of the model's own alphabet, ends included, are taken as they are; nothing is added to them.
    """
    if isinstance(data, Encoded):
        lengths = np.diff(data.starts).tolist()
        table, symbols, own = _table(data, alphabet)
        return [runs_of_codes(codes, table, symbols) for codes in data], lengths, len(data) != 1, own
    several = is_several(data)
    items = list(data) if several else [data]
    all_tokens = []
    for which, item in enumerate(items):
        try:
            all_tokens.append(tokens_of(item, alphabet.kind))
        except InputError as error:
            raise InputError(f"sequence {which}: {error}" if several else str(error)) from None
    where = [f" of sequence {which}" if several else "" for which in range(len(items))]
    runs = [runs_of_tokens(tokens, alphabet, place) for tokens, place in zip(all_tokens, where, strict=True)]
    return list(runs), [len(tokens) for tokens in all_tokens], several, False


def _table(data: Encoded, alphabet: Alphabet) -> tuple[np.ndarray, tuple[Any, ...], bool]:
    highest = int(data.codes.max()) if data.codes.size else -1
    if data.alphabet == alphabet:
        if code_of(alphabet, ESCAPE) is not None and (data.codes == code_of(alphabet, ESCAPE)).any():
            raise InputError("the codes hold escapes, which do not say what they stand for: give the data themselves")
        return np.arange(len(alphabet), dtype=np.int32), alphabet.symbols, True
    symbols = base_of(data.alphabet).symbols
    if highest >= len(symbols):
        raise InputError("the data are encoded with special symbols of another model: give the data themselves")
    table = alphabet.lookup(Tokens(list(symbols), "tokens"))
    if code_of(alphabet, ESCAPE) is None and data.codes.size and table[data.codes].min() < 0:
        place = int(np.argmax(table[data.codes] < 0))
        raise unknown_symbol(symbols[data.codes[place]], f"position {place}", alphabet)
    return table, symbols, False


def unknown_symbol(symbol: Any, where: str, alphabet: Alphabet) -> InputError:
    """The error for a symbol that the model has no code for."""
    base = base_of(alphabet)
    return InputError(
        f"symbol {symbol!r} at {where} is not in the model's alphabet of {len(base)} symbols ({base.summary()}): only "
        "a model trained with unknown='escape' can code it"
    )


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
    """Codes and tokens of one sequence back to what they were cut from."""

    def __init__(self, alphabet: Alphabet) -> None:
        self._alphabet, self._base = alphabet, base_of(alphabet)
        self._end = code_of(alphabet, END)
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
        """The pieces so far, which are then forgotten."""
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
