"""ABC tunes: one sequence per tune, of notes, rests, bar lines and ornaments as they are written; the title is its
name.

A note keeps its accidental, octave and length (`^c'3/2`), so a symbol is what a player would call one. Spaces only join
beams and are left out, and so are words, comments and the fields of the header.
"""

from __future__ import annotations

import re
from typing import Any

from glnn.sequences.errors import InputError
from glnn.sequences.formats.source import ReadOptions, Source
from glnn.sequences.several import Sequences

_FIELD = re.compile(r"[A-Za-z+]:")
_START = re.compile(r"X:\s*\d+")
_PITCH = r"(?:\^\^|\^|__|_|=)?[A-Ga-g][,']*"
_LENGTH = r"\d*(?:/+\d*)?"
# No name, ornament or field is longer: otherwise a line of nothing but opening braces would take quadratic time.
_MOST = "{0,500}"
_SYMBOL = re.compile(
    rf"""
      "[^"]{_MOST}" | ![^!\s]{_MOST}! | \+[^+\s]{_MOST}\+ # chord names, ornaments
    | \[[A-Za-z]:[^\]]{_MOST}\]                  # a field inside the music
    | :*\|[\]|:\[]*:* | :+ | \[\d | \[\|           # bar lines, repeats, endings
    | \[(?:{_PITCH}{_LENGTH}|[xz]{_LENGTH}){{1,100}}\]{_LENGTH} # chords
    | \{{[^}}]{_MOST}\}}                         # grace notes
    | \(\d(?::\d?)*                              # triplets and their like
    | {_PITCH}{_LENGTH} | [zxZ]{_LENGTH}         # notes and rests
    | >+ | <+ | \S
    """,
    re.VERBOSE,
)


class Abc:
    """Tunes in ABC notation."""

    name = "abc"
    title = "ABC tunes"

    def read(self, source: Source, options: ReadOptions) -> Sequences:
        """The music of every tune."""
        cut = options.tokens if options.tokens in ("chars", "words") else "notes"
        items: list[Any] = []
        names: list[str] = []
        music: list[str] = []
        title, inside = "", False

        def close() -> None:
            if music:
                items.append("".join(music) if cut == "chars" else list(music))
                names.append(title or f"tune {len(items)}")
            music.clear()

        for _, raw in source.lines():
            line = raw.split("%", 1)[0].strip()
            if _START.match(line):
                close()
                title, inside = "", False
            elif line.startswith("T:") and not title:
                title = line[2:].strip()
            elif line.startswith("K:"):
                inside = True
            elif inside and line and not _FIELD.match(line):
                body = line.rstrip("\\")
                music.extend(body if cut == "chars" else body.split() if cut == "words" else _SYMBOL.findall(body))
        close()
        if not items:
            raise InputError(f"{source.title} holds no tune: a tune begins with X: and its music follows K:")
        return Sequences(
            items,
            names,
            source=source.title,
            title=f"ABC tunes, as {'characters' if cut == 'chars' else cut}",
            options=options.found(format=self.name),
        )

    def write(self, samples: list[Any], options: ReadOptions) -> bytes:
        """Tunes 1, 2, …; no key is among the symbols, so none is given."""
        music = (item if isinstance(item, str) else " ".join(item) for item in samples)
        return "\n".join(f"X:{which}\nK:none\n{one}\n" for which, one in enumerate(music, start=1)).encode()
