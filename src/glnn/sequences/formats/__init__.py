"""Formats of files: each in a file of its own, with one small protocol; `read` finds out which one a file is in.

A new format is a class with a name and `read`, a place in `FORMATS` and a rule in `recognised`.
"""

from __future__ import annotations

from dataclasses import fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Protocol

from glnn.sequences.errors import InputError, one_line
from glnn.sequences.formats.abc import Abc
from glnn.sequences.formats.fasta import Fasta
from glnn.sequences.formats.json_lines import JsonLines
from glnn.sequences.formats.lines import SequenceALine
from glnn.sequences.formats.recognised import recognised
from glnn.sequences.formats.source import ReadOptions, Source
from glnn.sequences.formats.table import Table, read_event_log
from glnn.sequences.formats.text import Text
from glnn.sequences.formats.xes import Xes
from glnn.sequences.several import Sequences

__all__ = ["FORMATS", "Format", "ReadOptions", "Source", "as_in", "read", "read_event_log", "read_with"]


class Format(Protocol):
    """One way in which files hold sequences."""

    name: str
    """As `format=` and `--format` call it."""
    title: str

    def read(self, source: Source, options: ReadOptions) -> Sequences:
        """The sequences, with the options that were found out."""
        ...


FORMATS: tuple[Format, ...] = (Xes(), Fasta(), Abc(), JsonLines(), Table(), SequenceALine(), Text())
# With these cuts a file is one text, whatever it looks like.
_TEXT_CUTS = ("chars", "bytes", "words", "lines")


def read(path: str | Path, format: str | None = None, **options: Any) -> Sequences:
    """Sequences from a file of any kind, for every model; `-` is standard input, and `.gz` is unpacked.

    What the file is taken for is found out (the result says it when it is shown) unless `format` says it: "text" (one
    sequence), "lines" (one a line), "fasta", "xes", "csv", "abc" or "jsonl". `tokens` says how a text is cut: "chars",
    "bytes", "words", "lines" or "numbers". For event logs `case`, `activity`, `time`, `time_format` and `delimiter`
    say what is not to be guessed, and `empty` ("error", "skip", "keep") what becomes of empty cells.
    """
    known = [field.name for field in fields(ReadOptions)]
    for name in options:
        if name not in known:
            raise InputError(f"read() has no option {name!r}: there are {', '.join(known)}")
    return read_with(Source(path), ReadOptions(format=format, **options))


def read_with(source: Source, options: ReadOptions) -> Sequences:
    """Read a file as the options say, and find out what they do not say."""
    by_name = {one.name: one for one in FORMATS}
    name = options.format
    if name is None:
        columns = options.names_columns
        if options.tokens in _TEXT_CUTS and not columns:
            name = "text"
        elif not source.head:
            # An empty file is told as such by whatever reads texts.
            name = "csv" if columns else "text"
        else:
            name = recognised(source, options)
    if name not in by_name:
        close = get_close_matches(name, by_name, n=1)
        meant = f" (did you mean {close[0]}?)" if close else ""
        raise InputError(f"format (--format) is {one_line(name)}: there are {', '.join(by_name)}{meant}")
    return by_name[name].read(source, options)


def as_in(options: ReadOptions, **changes: str | None) -> ReadOptions:
    """Options for another file: of another format or with other columns, the rest has to be found out again."""
    given = {name: value for name, value in changes.items() if value is not None}
    if given.get("format", options.format) != options.format:
        options = ReadOptions(predict_after=options.predict_after, empty=options.empty)
    elif {"case", "activity", "time"} & given.keys() and options.format not in ("csv", "jsonl", "xes"):
        options = replace(options, format=None, tokens=None)
    return replace(options, **given)  # type: ignore[arg-type]
