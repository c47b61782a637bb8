"""Plain text: one sequence, cut into characters, bytes, words or lines.

What is no UTF-8 text is told with its place: bytes are asked for, since they are rarely what was meant.
"""

from __future__ import annotations

from typing import Any

from glnn.sequences.errors import InputError
from glnn.sequences.files import read_file
from glnn.sequences.formats.options import NUMBERS, ReadOptions
from glnn.sequences.formats.source import Source
from glnn.sequences.several import Sequences
from glnn.sequences.tokens import Lines, Words, split_lines

_TITLES = {"chars": "characters", "bytes": "bytes", "words": "words", "lines": "lines"}
_ENOUGH_LINES = 20


class Text:
    """One sequence."""

    name = "text"
    title = "one text"

    def recognises(self, source: Source, options: ReadOptions) -> bool:
        """Whatever nothing else takes."""
        return True

    def read(self, source: Source, options: ReadOptions) -> Sequences:
        """The whole file as one sequence."""
        cut = options.tokens or "chars"
        if cut == NUMBERS:
            raise InputError("tokens is 'numbers', which is for one sequence a line: give format='lines' too")
        content = _unpacked(source, cut) if source.is_packed else read_file(source.path, cut)  # type: ignore[arg-type]
        several = cut == "chars" and options.tokens is None and options.format is None and _one_a_line(source)
        return Sequences(
            [content],
            source=source.title,
            title=f"one sequence of {_TITLES[cut]}",
            note="if each line is a sequence of its own, say format='lines' (--format lines)" if several else "",
            options=options.found(format=self.name, tokens=cut),
        )


def _unpacked(source: Source, cut: str) -> Any:
    """As `read_file` does it, from a packed file."""
    if cut == "bytes":
        with source.open() as file:
            content = file.read()
    else:
        content = "".join(line for _, line in source.lines(ends=True))  # type: ignore[assignment]
    if not content:
        raise InputError(f"{source.title} is empty: there is nothing to read")
    if cut == "words":
        return Words(content.split())  # type: ignore[arg-type]
    return Lines(split_lines(content)) if cut == "lines" else content  # type: ignore[arg-type]


def _one_a_line(source: Source) -> bool:
    """Whether the lines look like sequences: many, all of one word, and not of one width, as wrapped text is."""
    lines = [line for line in source.first_lines if line]
    if len(lines) < _ENOUGH_LINES or any(len(line.split()) != 1 for line in lines):
        return False
    return len({len(line) for line in lines[:-1]}) > 2
