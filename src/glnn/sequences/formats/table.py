"""Event logs as tables: CSV with any delimiter, one event per line, the first line names the columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from glnn.sequences.errors import InputError
from glnn.sequences.formats.columns import NO_TIME, Columns, find_columns
from glnn.sequences.formats.events import Events
from glnn.sequences.formats.source import ReadOptions, Source, delimiter_of
from glnn.sequences.several import Sequences

_LOOKED_AT = 2000
_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


class Table:
    """CSV and its relatives."""

    name = "csv"
    title = "event log"

    def read(self, source: Source, options: ReadOptions) -> Sequences:
        """One sequence of activities per case."""
        delimiter = self._between(source, options)
        rows = _rows(source, delimiter)
        _, header = next(rows, (0, None))
        if header is None:
            raise InputError(f"the event log {source.title} is empty: its first line names the columns")
        first = list(islice(rows, _LOOKED_AT))
        columns = find_columns(header, [row for _, row in first], options, source.title)
        events = Events(columns, options.empty, source.title)
        places = [None if name is None else header.index(name) for name in columns[:3]]
        for number, row in _chained(first, rows):
            where = f"line {number} of {source.title}"
            if len(row) != len(header):
                raise InputError(f"{where} has {len(row)} fields, the header {len(header)}: they must agree")
            case, activity, time = (None if place is None else row[place] for place in places)
            assert case is not None
            events.add(where, case, activity, time)
        found = options.found(format=self.name, delimiter=delimiter, **chosen(columns))
        return events.sequences(
            source=source.title, title=f"an event log with {_NAMES.get(delimiter, repr(delimiter))} between the fields",
            note=describe(columns), options=found,
        )  # fmt: skip

    def write(self, samples: list[Any], options: ReadOptions) -> bytes:
        """Cases 1, 2, … with a line for each event."""
        out = io.StringIO()
        table = csv.writer(out, delimiter=options.delimiter or ",", lineterminator="\n")
        table.writerow([options.case or "case", options.activity or "activity"])
        for which, events in enumerate(samples, start=1):
            table.writerows([which, event] for event in events)
        return out.getvalue().encode("utf-8", "surrogatepass")

    def _between(self, source: Source, options: ReadOptions) -> str:
        """The delimiter that was given, unless it cuts nothing and another one does."""
        found = delimiter_of(source)
        if options.delimiter is None:
            return found or ("\t" if source.suffix == ".tsv" else ",")
        header = source.first_lines[0] if source.first_lines else ""
        return found if found is not None and options.delimiter not in header else options.delimiter


def read_event_log(
    path: str | Path,
    case: str,
    activity: str,
    time: str | None = None,
    time_format: str | None = None,
    delimiter: str | None = None,
    empty: str = "error",
) -> Sequences:
    """The activities of each case as one sequence; `names` of the result are the cases.

    `time` names a column of numbers or ISO 8601 dates (or dates of `time_format`, as in `strptime`); without it events
    keep the order of the file. The delimiter is guessed if it is not given.
    """
    options = ReadOptions(
        format="csv", case=case, activity=activity, time=time or NO_TIME, time_format=time_format,
        delimiter=delimiter, empty=empty,
    )  # fmt: skip
    return Table().read(Source(path), options)


def describe(columns: Columns) -> str:
    """Which columns were taken for what."""
    order = f"in the order of {columns.time!r}" if columns.time else "in the order of the file"
    note = f"; {columns.note}" if columns.note else ""
    return f"case {columns.case!r}, activity {columns.activity!r}, {order}{note}"


def chosen(columns: Columns) -> dict[str, str | None]:
    """The columns as options, for files that are read later."""
    return {
        "case": columns.case,
        "activity": columns.activity,
        "time": NO_TIME if columns.time is None else columns.time,
        "time_format": columns.time_format,
    }


def _rows(source: Source, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not empty, with the number of the line they end on."""
    written: list[str] = []

    def lines() -> Iterator[str]:
        for _, line in source.lines(ends=True):
            written.append(line)
            yield line

    table, open_ended = csv.reader(lines(), delimiter=delimiter), 0
    try:
        for row in table:
            # A quote that is never closed takes in the rest of the file.
            odd = len(written) > 1 and "".join(written).count('"') % 2
            open_ended = table.line_num - len(written) + 1 if odd else 0
            written.clear()
            if row:
                yield table.line_num, row
    except csv.Error as error:
        raise InputError(f"line {table.line_num} of {source.title} is not CSV ({error})") from None
    if open_ended:
        raise InputError(f"line {open_ended} of {source.title} opens a quote that is never closed")


def _chained(first: list[Any], rest: Iterator[Any]) -> Iterator[Any]:
    yield from first
    yield from rest
