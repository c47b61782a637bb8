"""Symbols that stand for no token: the end of a sequence, and the escape in place of a symbol first met later.

They follow the data's own symbols in the alphabet, so that these keep their codes. What an escaped token costs beyond
the escape is said here once, for scores and for compression: log2 of how many bytes (256) or characters (0x110000)
are not in the alphabet; any other token is spelled, 8 bits for each byte of its spelling and 8 for the end of it.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from glnn.sequences.alphabet import Alphabet
from glnn.sequences.errors import InputError, one_line
from glnn.sequences.token_json import token_from_json, token_to_json
from glnn.sequences.tokens import Tokens

_VALUES = {"bytes": 256, "characters": 0x110000}


class Special(Enum):
    """The symbols that are no tokens."""

    END = "end"
    ESCAPE = "escape"

    def __repr__(self) -> str:
        return f"<{self.value}>"


END, ESCAPE = Special.END, Special.ESCAPE


@dataclass(frozen=True, init=False, repr=False)
class ExtendedAlphabet(Alphabet):
    """An alphabet followed by special symbols."""

    base: Alphabet = field(compare=False)

    def __init__(self, base: Alphabet, *special: Special) -> None:
        object.__setattr__(self, "symbols", (*base.symbols, *special))
        object.__setattr__(self, "kind", base.kind)
        object.__setattr__(self, "base", base)

    @property
    def special(self) -> tuple[Special, ...]:
        """The special symbols, in the order of their codes."""
        return self.symbols[len(self.base) :]  # type: ignore[return-value]

    def lookup(self, tokens: Tokens) -> np.ndarray:
        """The codes of a flat run of symbols; no token has the code of a special symbol."""
        return self.base.lookup(tokens)

    def join(self, tokens: Any) -> Any:
        """Tokens back to what they were cut from; an end is left out."""
        return self.base.join(token for token in tokens if token is not END)


def base_of(alphabet: Alphabet) -> Alphabet:
    """The data's own symbols."""
    return alphabet.base if isinstance(alphabet, ExtendedAlphabet) else alphabet


def code_of(alphabet: Alphabet, special: Special) -> int | None:
    """The code of a special symbol, None where there is none."""
    if isinstance(alphabet, ExtendedAlphabet) and special in alphabet.special:
        return len(alphabet.base) + alphabet.special.index(special)
    return None


def escaped_bits(token: Any, alphabet: Alphabet) -> float:
    """The bits that say which token outside the alphabet an escape stands for."""
    values = _values_outside(alphabet)
    if values is None:
        return 8.0 * (len(spell(token)) + 1)
    if alphabet.kind == "characters" and len(token) != 1:
        raise InputError(
            f"the token {one_line(token)} is not one character, as the symbols of the alphabet are; "
            "several texts are glnn.Sequences([...])"
        )
    if alphabet.kind == "bytes" and not 0 <= token < 256:
        raise InputError(f"the token {token!r} is not a byte, as the symbols of the alphabet are")
    return math.log2(values)


def spell(token: Any) -> bytes:
    """A token as bytes among which 0xFF never occurs, so that it can mark the end: UTF-8, of JSON unless a str."""
    if isinstance(token, str):
        return token.encode("utf-8", "surrogatepass")
    return json.dumps(token_to_json(token), separators=(",", ":")).encode()


def unspell(spelling: bytes, alphabet: Alphabet) -> Any:
    """The token of a spelling, for an alphabet whose tokens are of its type."""
    if isinstance(base_of(alphabet).symbols[0], str):
        return spelling.decode("utf-8", "surrogatepass")
    return token_from_json(json.loads(spelling))


def _values_outside(alphabet: Alphabet) -> int | None:
    whole = _VALUES.get(alphabet.kind)
    return None if whole is None else whole - len(base_of(alphabet))
