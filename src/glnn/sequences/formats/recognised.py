"""What a file is taken for, when nobody says it: rules from the pickiest to the one that takes everything."""

from __future__ import annotations

import csv
import json
import re

from glnn.sequences.formats.columns import looks_named
from glnn.sequences.formats.source import NUMBERS, ReadOptions, Source

_FASTA_SUFFIXES = (".fasta", ".fa", ".fna", ".faa", ".ffn", ".frn", ".fas", ".mpfa")
_LETTERS = re.compile(r"[A-Za-z*.\-]{10,}")
_JSON_SUFFIXES = (".jsonl", ".ndjson", ".jsonlines")
_TUNE = re.compile(r"X:\s*\d+")
_DELIMITERS = ",;\t|"
_NUMBERS = re.compile(r"\s*-?(0|[1-9]\d{0,8})([\s,;]+-?(0|[1-9]\d{0,8}))*[\s,;]*")
_BETWEEN = re.compile(r"[\s,;]+")


def recognised(source: Source, options: ReadOptions) -> str:
    """The name of the format that a file looks like."""
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
    # One sequence a line: numbers alone are recognised, lines of letters may as well be one text.
    return "lines" if options.tokens == NUMBERS or only_numbers(source) else "text"


def _all_json(lines: list[str]) -> bool:
    """Whether all lines are lists or objects."""
    if not lines or lines[0].lstrip()[:1] not in ("[", "{"):
        return False
    try:
        return all(isinstance(json.loads(line), list | dict) for line in lines)
    except (ValueError, RecursionError):
        return False


def only_numbers(source: Source) -> bool:
    """Whether the first lines are rows of numbers."""
    lines = [line for line in source.first_lines if line.strip()]
    if not lines or not all(_NUMBERS.fullmatch(line) for line in lines):
        return False
    return any(len(_BETWEEN.split(line.strip())) > 1 for line in lines)


def delimiter_of(source: Source) -> str | None:
    """The character that cuts the first lines into the most fields, as many in each."""
    best, most = None, (0.0, 1)
    for delimiter in _DELIMITERS:
        try:
            rows = [row for row in csv.reader(source.first_lines[:50], delimiter=delimiter) if row]
        except csv.Error:
            continue
        if not rows or len(rows[0]) < 2:
            continue
        agreeing = sum(len(row) == len(rows[0]) for row in rows) / len(rows)
        if (agreeing, len(rows[0])) > most:
            best, most = delimiter, (agreeing, len(rows[0]))
    return best if most[0] >= 0.8 else None
