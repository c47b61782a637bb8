"""What the symbols are in a text: which ones words are made of, which differ only in case, which one ends a line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

# So few kinds of letters make no words.
_FEW = 8
_NO_CODES = np.empty(0, np.int64)


class Script(NamedTuple):
    """For each symbol by its code; empty arrays where the symbols are no characters."""

    letter: np.ndarray = np.empty(0, np.bool_)
    """Whether words are made of the symbol."""
    folded: np.ndarray = _NO_CODES
    """The code of the same letter in lower case, of the symbol itself where there is none."""
    newline: int = -1
    """The symbol that ends a line, or −1."""


def script_of(symbols: Iterable[Any], are_bytes: bool = False) -> Script:
    """What these characters, or bytes, are in a text."""
    symbols = list(symbols)
    letter = letters_of(symbols, are_bytes)
    if not letter.any():
        return Script(letter, newline=newline_of(symbols, are_bytes))
    codes = {symbol: code for code, symbol in enumerate(symbols)}
    folded = [codes.get(_lower(symbol, are_bytes), code) for code, symbol in enumerate(symbols)]
    return Script(letter, np.array(folded, np.int64), newline_of(symbols, are_bytes))


def letters_of(symbols: Iterable[Any], are_bytes: bool = False) -> np.ndarray:
    """Which symbols words are made of: letters, digits and the underscore, when there are other characters too."""
    marks = [_is_byte_of_a_word(symbol) if are_bytes else _is_letter(symbol) for symbol in symbols]
    letters = np.array([mark is True for mark in marks], np.bool_)
    several_words = any(mark is False for mark in marks) and letters.sum() > _FEW
    return letters if several_words else np.zeros(len(marks), np.bool_)


def newline_of(symbols: Iterable[Any], are_bytes: bool = False) -> int:
    """The code of the symbol that ends a line, or −1."""
    end = ord("\n") if are_bytes else "\n"
    return next((code for code, symbol in enumerate(symbols) if type(symbol) is type(end) and symbol == end), -1)


def _lower(symbol: Any, are_bytes: bool) -> Any:
    """Of bytes only those of ASCII have a case: the others are parts of letters."""
    if are_bytes:
        return symbol + 32 if isinstance(symbol, int) and ord("A") <= symbol <= ord("Z") else symbol
    return symbol.lower() if isinstance(symbol, str) else symbol


def _is_letter(symbol: Any) -> bool | None:
    """True for what words are made of, False for another character, None for what is no character."""
    if not isinstance(symbol, str) or len(symbol) != 1:
        return None
    return symbol.isalnum() or symbol == "_"


def _is_byte_of_a_word(symbol: Any) -> bool | None:
    """The same for bytes; those from 128 on are parts of letters in UTF-8."""
    if not isinstance(symbol, int):
        return None
    return symbol >= 128 or chr(symbol).isalnum() or symbol == ord("_")
