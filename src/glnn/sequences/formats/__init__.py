"""Formats of files: each in a file of its own, with one small protocol; `read` recognises which one a file is in.

A new format is a class with a name, `read` and `write`, a place in `FORMATS` and a rule in `recognised`.
"""

from __future__ import annotations

import csv
import json
import re
from dataclasses import fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Protocol

from glnn.sequences.errors import InputError, one_line
from glnn.sequences.formats.abc import Abc
from glnn.sequences.formats.columns import looks_named
from glnn.sequences.formats.fasta import Fasta
from glnn.sequences.formats.json_lines import JsonLines
from glnn.sequences.formats.lines import SequenceALine
from glnn.sequences.formats.source import NUMBERS, ReadOptions, Source, delimiter_of, only_numbers
from glnn.sequences.formats.table import Table, read_event_log
from glnn.sequences.formats.text import Text
from glnn.sequences.formats.xes import Xes
from glnn.sequences.several import Sequences

__all__ = ["FORMATS", "Format", "ReadOptions", "Source", "as_in", "read", "read_event_log", "read_with", "written"]


class Format(Protocol):
    """One way in which files hold sequences."""

    name: str
    """As `format=` and `--format` call it."""
    title: str

    def read(self, source: Source, options: ReadOptions) -> Sequences:
        """The sequences, with the options that were guessed."""
        ...

    def write(self, samples: list[Any], options: ReadOptions) -> bytes:
        """A file with these sequences, as a model's `sample` makes them, which `read` takes with the same options."""
        ...


FORMATS: tuple[Format, ...] = (Xes(), Fasta(), Abc(), JsonLines(), Table(), SequenceALine(), Text())
_BY_NAME = {one.name: one for one in FORMATS}
# With these cuts a file is one text, whatever it looks like.
_TEXT_CUTS = ("chars", "bytes", "words", "lines")
_FASTA_SUFFIXES = (".fasta", ".fa", ".fna", ".faa", ".ffn", ".frn", ".fas", ".mpfa")
_LETTERS = re.compile(r"[A-Za-z*.\-]{10,}")
_JSON_SUFFIXES = (".jsonl", ".ndjson", ".jsonlines")
_TUNE = re.compile(r"X:\s*\d+")


def read(path: str | Path, format: str | None = None, **options: Any) -> Sequences:
    """Sequences from a file of any kind, for every model; `-` is standard input, and `.gz` is unpacked.

    What the file is gets recognised (printing the result shows it) unless `format` says it: "text" (one sequence),
    "lines" (one per line), "fasta", "xes", "csv", "abc" or "jsonl". `tokens` says how a text is cut: "chars", "bytes",
    "words", "lines" or "numbers". For event logs `case`, `activity`, `time`, `time_format` and `delimiter` say what is
    not to be guessed, and `empty` ("error", "skip", "keep") what becomes of empty cells.
    """
    known = [field.name for field in fields(ReadOptions)]
    for name in options:
        if name not in known:
            raise InputError(f"read() has no option {name!r}: there are {', '.join(known)}")
    return read_with(Source(path), ReadOptions(format=format, **options))


def read_with(source: Source, options: ReadOptions) -> Sequences:
    """Read a file as the options say, and guess the rest."""
    name = options.format
    if name is None:
        columns = options.names_columns
        if options.tokens in _TEXT_CUTS and not columns:
            name = "text"
        elif not source.head:
            # The reader of texts reports an empty file.
            name = "csv" if columns else "text"
        else:
            name = recognised(source, options)
    if name not in _BY_NAME:
        close = get_close_matches(name, _BY_NAME, n=1)
        meant = f" (did you mean {close[0]}?)" if close else ""
        raise InputError(f"format (--format) is {one_line(name)}: there are {', '.join(_BY_NAME)}{meant}")
    return _BY_NAME[name].read(source, options)


def written(samples: list[Any], options: ReadOptions) -> bytes:
    """A file with what a model made, in the format that its data had; lists are an event log where nobody knows."""
    name = options.format or ("text" if isinstance(samples[0], str | bytes) else "csv")
    return _BY_NAME[name].write(samples, options)


def recognised(source: Source, options: ReadOptions) -> str:
    """The name of the format that a file looks like: rules from the pickiest to the one that takes everything."""
    lines = source.first_lines
    written = [line for line in lines if line.strip()]
    # XES: by its name, or by a log as the first element.
    head = source.head[:4096].lstrip()
    if head.startswith(b"<") and (source.suffix == ".xes" or b"<log" in head):
        return "xes"
    # FASTA: by a header and a line of nothing but letters after it.
    told = [line for line in written if not line.startswith(";")]
    if told and told[0].startswith(">"):
        letters = len(told) > 1 and _LETTERS.fullmatch(told[1].strip()) is not None
        if letters or source.suffix in _FASTA_SUFFIXES:
            return "fasta"
    # ABC: by the field that begins a tune and the one that ends its header.
    if any(line.startswith("K:") for line in lines) and any(_TUNE.match(line) for line in lines):
        return "abc"
    if source.suffix in _JSON_SUFFIXES or _all_json([line for line in lines[:20] if line.strip()]):
        return "jsonl"
    # An event log: by its name, or by a header that names a case and an activity.
    if options.names_columns or source.suffix in (".csv", ".tsv"):
        return "csv"
    delimiter = delimiter_of(source) if lines else None
    if delimiter is not None and looks_named(next(csv.reader(lines, delimiter=delimiter), [])):
        return "csv"
    # One sequence per line: numbers alone are recognised, lines of letters may as well be one text.
    return "lines" if options.tokens == NUMBERS or only_numbers(source) else "text"


def _all_json(lines: list[str]) -> bool:
    """Whether all lines are lists or objects."""
    if not lines or lines[0].lstrip()[:1] not in ("[", "{"):
        return False
    try:
        return all(isinstance(json.loads(line), list | dict) for line in lines)
    except (ValueError, RecursionError):
        return False


def as_in(options: ReadOptions, **changes: str | None) -> ReadOptions:
    """Options for another file: if the format or columns change, the rest has to be guessed again."""
    given = {name: value for name, value in changes.items() if value is not None}
    if "time" in given:
        options = ReadOptions(**vars(options))
    if given.get("format", options.format) != options.format:
        options = ReadOptions(predict_after=options.predict_after, empty=options.empty)
    elif {"case", "activity", "time"} & given.keys() and options.format not in ("csv", "jsonl", "xes"):
        options = replace(options, format=None, tokens=None)
    return replace(options, **given)  # type: ignore[arg-type]
