"""Which token an escape stands for, as plain numbers of the stream: what `glnn.sequences.special` says they cost.

A byte or a character is its rank among those outside the alphabet; any other token is spelled, byte after byte, and
0xFF closes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from glnn.codec.errors import DAMAGED, DamagedStream
from glnn.sequences import Alphabet
from glnn.sequences.special import escaped_bits, spell, unspell

_RANGES = {"bytes": 256, "characters": 0x110000}
_END = 0xFF
# Longer than any token that can be written; without a limit a damaged stream could go on for ever.
_LONGEST = 1 << 24


class EscapeCoder:
    """Tokens outside an alphabet as numbers."""

    def __init__(self, alphabet: Alphabet) -> None:
        self._alphabet = alphabet
        self._kind = alphabet.kind
        self._inside = np.empty(0, np.int64)
        self._values = 0
        if self._kind in _RANGES and alphabet.escape is not None:
            symbols: tuple[Any, ...] = alphabet.base.symbols
            self._inside = np.sort(np.array([_value(symbol) for symbol in symbols], np.int64))
            self._values = _RANGES[self._kind] - len(symbols)

    def numbers(self, token: Any) -> Iterator[tuple[int, int]]:
        """Each number with the number of values it could have."""
        escaped_bits(token, self._alphabet)  # refuses what is neither byte nor character where only these can be
        if self._kind in _RANGES:
            value = _value(token)
            yield value - int(np.searchsorted(self._inside, value)), self._values
        else:
            for byte in spell(token):
                yield byte, 256
            yield _END, 256

    def token(self, number: Callable[[int], int]) -> Any:
        """The token; `number(total)` reads the next number."""
        if self._kind in _RANGES:
            if self._values < 1:
                raise DamagedStream(f"the stream holds an escape, but nothing is outside the alphabet: {DAMAGED}")
            value = self._outside(number(self._values))
            return chr(value) if self._kind == "characters" else value
        spelling = bytearray()
        while (byte := number(256)) != _END:
            spelling.append(byte)
            if len(spelling) > _LONGEST:
                raise DamagedStream(f"the stream holds a token of more than {_LONGEST} bytes: {DAMAGED}")
        try:
            return unspell(bytes(spelling), self._alphabet)
        except (ValueError, RecursionError) as error:
            raise DamagedStream(f"the stream holds a token that cannot be read ({error}): {DAMAGED}") from None

    def _outside(self, rank: int) -> int:
        """The value of a rank: those inside the alphabet up to it are skipped."""
        # Before the k-th inside value there are inside[k] − k outside ones.
        return rank + int(np.searchsorted(self._inside - np.arange(self._inside.size), rank, side="right"))


def _value(symbol: Any) -> int:
    return ord(symbol) if isinstance(symbol, str) else int(symbol)
