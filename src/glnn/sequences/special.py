"""What an escape costs on top of itself: which token, first met after training, it stands for.

The same for scores and compression: log2 of how many bytes (256) or characters (0x110000) are not in the
alphabet; any other token is spelled, 8 bits for each byte of its spelling and 8 for the end of it.
"""

from __future__ import annotations

import json
import math
from typing import Any

from glnn.sequences.alphabet import Alphabet
from glnn.sequences.errors import InputError, one_line
from glnn.sequences.tokens import token_from_json, token_to_json

_VALUES = {"bytes": 256, "characters": 0x110000}


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
    if isinstance(alphabet.base.symbols[0], str):
        return spelling.decode("utf-8", "surrogatepass")
    return token_from_json(json.loads(spelling))


def _values_outside(alphabet: Alphabet) -> int | None:
    whole = _VALUES.get(alphabet.kind)
    return None if whole is None else whole - len(alphabet.base)
