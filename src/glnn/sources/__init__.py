"""The four synthetic sources of Section 4: samples, and the exact likelihood of any text."""

from __future__ import annotations

from dataclasses import fields
from difflib import get_close_matches
from typing import Any

from glnn.sequences import InputError
from glnn.sequences.errors import one_line
from glnn.sources.anbn import AnBn
from glnn.sources.base import Sample, Source
from glnn.sources.distant_xor import DistantXor
from glnn.sources.insertions import Insertions
from glnn.sources.music import Music

_SOURCES: dict[str, type[Source]] = {kind.name: kind for kind in (Insertions, Music, DistantXor, AnBn)}
NAMES = tuple(_SOURCES)


def get(name: str, **constants: Any) -> Source:
    """The source of that name, with the paper's constants except those given."""
    if not isinstance(name, str) or name not in _SOURCES:
        raise InputError(f"no source is called {one_line(name)}{_nearest(name, NAMES)}; there are {', '.join(NAMES)}")
    kind = _SOURCES[name]
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    for constant in constants:
        if constant not in known:
            raise InputError(
                f"{name} has no constant {constant!r}{_nearest(constant, known)}; it has {', '.join(known)}"
            )
    return kind(**constants)


def _nearest(given: str, known: tuple[str, ...] | list[str]) -> str:
    close = get_close_matches(str(given), known, n=1, cutoff=0.3)
    return f" (did you mean {close[0]!r}?)" if close else ""


__all__ = ["NAMES", "AnBn", "DistantXor", "Insertions", "Music", "Sample", "Source", "get"]
