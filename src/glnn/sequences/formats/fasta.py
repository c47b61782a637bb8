"""FASTA: sequences of letters under headers that begin with `>`; the first word of a header is the name.

Lower case only marks what a program masked, so letters are read in upper case.
"""

from __future__ import annotations

from typing import Any

from glnn.sequences.errors import InputError
from glnn.sequences.formats.source import ReadOptions, Source
from glnn.sequences.several import Sequences

_WIDTH = 60


class Fasta:
    """DNA, RNA and proteins."""

    name = "fasta"
    title = "FASTA"

    def read(self, source: Source, options: ReadOptions) -> Sequences:
        """The letters under every header."""
        names: list[str] = []
        parts: list[list[str]] = []
        where: list[int] = []
        lower = False
        for number, line in source.lines():
            line = line.strip()
            if not line or line.startswith(";"):
                continue
            if line.startswith(">"):
                names.append((line[1:].split(None, 1) or [f"line {number}"])[0])
                parts.append([])
                where.append(number)
                continue
            if not names:
                raise InputError(f"line {number} of {source.title} stands before any header: FASTA begins with >")
            upper = "".join(line.split()).upper()
            lower = lower or upper != line
            parts[-1].append(upper)
        if not names:
            raise InputError(f"{source.title} holds no header: FASTA begins with >")
        empty = [number for number, part in zip(where, parts, strict=True) if not part]
        if empty and options.empty == "error":
            raise InputError(
                f"nothing follows the header on line {empty[0]} of {source.title}: empty='skip' (--empty skip) leaves "
                "such sequences out"
            )
        kept = [(name, "".join(part)) for name, part in zip(names, parts, strict=True) if part]
        return Sequences(
            [letters for _, letters in kept],
            [name for name, _ in kept],
            source=source.title,
            title="FASTA",
            note="lower case read as upper case" if lower else "",
            options=options.found(format=self.name, tokens="chars"),
        )

    def write(self, samples: list[Any], options: ReadOptions) -> bytes:
        """Headers 1, 2, …, each with its letters under it; a sample without letters cannot be told in FASTA."""
        rows = []
        for which, letters in enumerate(filter(None, samples), start=1):
            rows += [f">{which}", *(letters[begin : begin + _WIDTH] for begin in range(0, len(letters), _WIDTH))]
        return "".join(f"{row}\n" for row in rows).encode()
