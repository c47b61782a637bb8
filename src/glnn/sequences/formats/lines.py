"""One sequence per line: of characters, words, or numbers separated by spaces, commas or tabs."""

from __future__ import annotations

import re
from typing import Any

from glnn.sequences.errors import InputError, one_line
from glnn.sequences.formats.source import NUMBERS, ReadOptions, Source, only_numbers
from glnn.sequences.several import Sequences
from glnn.sequences.tokens import Words

_BETWEEN = re.compile(r"[\s,;]+")
# This much of a line is its name: "line 7" would not say which one it is.
_SHOWN = 40
_TITLES = {"chars": "characters", "words": "words", NUMBERS: "numbers"}


class SequenceALine:
    """Several sequences, one per line; empty lines are left out."""

    name = "lines"
    title = "one sequence per line"

    def read(self, source: Source, options: ReadOptions) -> Sequences:
        """The lines of the file."""
        cut = options.tokens or (NUMBERS if only_numbers(source) else "chars")
        if cut not in _TITLES:
            raise InputError(f"a line is a sequence of chars, words or numbers, not of {cut}: give another --tokens")
        items, names, empty = [], [], 0
        for number, line in source.lines():
            if line.strip():
                items.append(_cut(line, cut, number, source))
                names.append(f"line {number}: {_shown(line)}")
            else:
                empty += 1
        if not items:
            raise InputError(f"{source.title} is empty: there is nothing to read")
        return Sequences(
            items,
            names,
            source=source.title,
            title=f"one sequence of {_TITLES[cut]} a line",
            note=f"{empty:,} empty lines left out" if empty else "",
            options=options.found(format=self.name, tokens=cut),
        )

    def write(self, samples: list[Any], options: ReadOptions) -> bytes:
        """A line each; the numbers of one with spaces between them."""
        lines = (item if isinstance(item, str) else " ".join(map(str, item)) for item in samples)
        return "".join(f"{line}\n" for line in lines).encode()


def _shown(line: str) -> str:
    text = " ".join(line.split())
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _cut(line: str, cut: str, number: int, source: Source) -> Any:
    if cut == "chars":
        return line
    if cut == "words":
        return Words(line.split())
    try:
        return [int(part) for part in _BETWEEN.split(line.strip(" \t,;"))]
    except ValueError:
        raise InputError(
            f"line {number} of {source.title} holds {one_line(line, 40)}, which is not a row of whole numbers: "
            "choose tokens='words' (--tokens words), or cut real values into classes"
        ) from None
