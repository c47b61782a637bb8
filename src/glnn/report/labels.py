"""Symbols as a person can see them: ⏎ for a newline, · for a space, \\x00 for a byte, U+202E for what stays invisible.

What comes out is plain text. It is escaped where it is put: `html.escape` in the page, JSON in scripts, and in the
charts by the page itself, since plotly reads a little HTML in every label.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from glnn.sequences import Alphabet
from glnn.sequences.alphabet import Special

NEWLINE, SPACE, TAB, RETURN, EMPTY = "⏎", "·", "⇥", "␍", "∅"
_VISIBLE = {"\n": NEWLINE, " ": SPACE, "\t": TAB, "\r": RETURN}
_MEANS_ANOTHER = frozenset(_VISIBLE.values())
# Controls, formats (which can turn the direction of writing), surrogates, private, unassigned, separators.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"})
_LONGEST = 32
LONGEST_NAME = 80
"""Letters of a name: of a case, of the data, of a model in a comparison."""


def visible(text: str) -> str:
    """A text with every character visible; a character that stands for another one here is shown by its number."""
    return "".join(map(visible_character, text))


def visible_character(character: str) -> str:
    """One character, made visible."""
    shown = _VISIBLE.get(character)
    if shown is not None:
        return shown
    category = unicodedata.category(character)
    if category in _UNSEEN or character in _MEANS_ANOTHER:
        return f"U+{ord(character):04X}"
    # A combining mark alone would sit on the character before it.
    return f"◌{character}" if category.startswith("M") else character


def visible_byte(value: int) -> str:
    """A byte: printable ASCII as it is, all others in hexadecimal."""
    character = chr(value)
    if character in _VISIBLE or 0x20 < value < 0x7F:
        return visible_character(character)
    return f"\\x{value:02x}"


def label(symbol: Hashable, kind: str = "tokens", longest: int = _LONGEST) -> str:
    """A symbol of an alphabet of this kind, shortened in the middle if it is long."""
    if isinstance(symbol, Special):
        return f"⟨{symbol.value}⟩"
    if kind == "bytes" and isinstance(symbol, int):
        return visible_byte(symbol)
    text = symbol if isinstance(symbol, str) else str(symbol)
    # Single spaces between words are visible enough, and names read better with them.
    parts = text.split(" ")
    seen = (" " if all(parts) else SPACE).join(map(visible, parts)) or EMPTY
    if len(seen) > longest:
        seen = f"{seen[: longest - longest // 3 - 1]}…{seen[-(longest // 3) :]}"
    return seen


def labels(symbols: Iterable[Hashable], kind: str = "tokens") -> tuple[str, ...]:
    """The labels of many symbols."""
    return tuple(label(symbol, kind) for symbol in symbols)


def symbols_of(sample: Any, alphabet: Alphabet) -> list[str]:
    """What a model sampled (a text, bytes, an array or a list of tokens), symbol by symbol and visible."""
    if isinstance(sample, np.ndarray):
        sample = sample.tolist()
    if isinstance(sample, str) and alphabet.kind in ("words", "lines"):
        sample = sample.split() if alphabet.kind == "words" else sample.splitlines()
    return [label(symbol, alphabet.kind) for symbol in sample]
