"""Known symbols that are spelled like an unknown one, for messages: most unknown symbols are typing errors."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from glnn.sequences.alphabet import Alphabet

# Comparing with every word of a large vocabulary would take seconds.
_MOST_COMPARED = 20_000


def nearest_symbols(symbol: Any, alphabet: Alphabet, most: int = 3) -> list[str]:
    """Known symbols that look like it, the most similar first; none for single characters and numbers."""
    if not isinstance(symbol, str) or len(symbol) < 2:
        return []
    known = [other for other in alphabet.base.symbols if isinstance(other, str) and len(other) > 1]
    if len(known) > _MOST_COMPARED:
        known = [other for other in known if other[:1].casefold() == symbol[:1].casefold()][:_MOST_COMPARED]
    by_fold: dict[str, str] = {}
    for other in known:
        by_fold.setdefault(other.casefold(), other)
    return [by_fold[fold] for fold in get_close_matches(symbol.casefold(), by_fold, n=most, cutoff=0.5)]


def nearest_of(symbol: Any, alphabet: Alphabet) -> str:
    """The end of a sentence that names the nearest known symbols, or some of the alphabet if none is near."""
    near = nearest_symbols(symbol, alphabet)
    base = alphabet.base
    if not near:
        return f": it knows {len(base):,} symbols ({base.summary()})"
    return f": the nearest it knows {'is' if len(near) == 1 else 'are'} {', '.join(map(repr, near))}"
