"""Reading an event log: a CSV table with one event a line becomes one sequence of activities a case.

Cases come in the order in which they first occur in the file; inside a case events are ordered by time, and
events of the same time keep the order of the file.
"""

from __future__ import annotations

import csv
import io
from datetime import datetime
from pathlib import Path

from glnn.sequences.errors import InputError, one_line
from glnn.sequences.files import read_text
from glnn.sequences.tokens import Sequences

Moment = float | datetime


def read_event_log(
    path: str | Path,
    case: str,
    activity: str,
    time: str | None = None,
    time_format: str | None = None,
    delimiter: str = ",",
) -> Sequences:
    """The activities of each case as one sequence; `names` of the result are the cases.

    `time` names a column of numbers or ISO 8601 dates (or dates of `time_format`, as in `strptime`);
    without it events keep the order of the file.
    """
    path = Path(path)
    if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '\r\n"':
        raise InputError(f"delimiter is {one_line(delimiter)}: give one character that is no line end and no quote")
    if time_format is not None and not isinstance(time_format, str):
        raise InputError(f"time_format is {one_line(time_format)}: give a text, as for strptime")
    table = csv.reader(io.StringIO(read_text(path).removeprefix("\ufeff"), newline=""), delimiter=delimiter)
    header = next(table, None)
    if header is None:
        raise InputError(f"the event log {path} is empty: its first line names the columns")
    case_column, activity_column = (_column(header, name, path) for name in (case, activity))
    time_column = None if time is None else _column(header, time, path)
    cases: dict[str, list[tuple[Moment, str]]] = {}
    for row in table:
        if not row:
            continue
        where = f"line {table.line_num} of {path}"
        if len(row) != len(header):
            raise InputError(f"{where} has {len(row)} fields, the header {len(header)}: they must agree")
        if not row[case_column] or not row[activity_column]:
            missing = case if not row[case_column] else activity
            raise InputError(f"{where} has nothing in column {missing!r}: every event has a case and an activity")
        moment = 0.0 if time_column is None else _moment(row[time_column], time_format, where)
        cases.setdefault(row[case_column], []).append((moment, row[activity_column]))
    if not cases:
        raise InputError(f"the event log {path} holds no event under its header")
    return Sequences([_in_order(events, name) for name, events in cases.items()], names=cases)


def _column(header: list[str], name: str, path: Path) -> int:
    if not isinstance(name, str) or header.count(name) != 1:
        problem = "more than one column" if isinstance(name, str) and name in header else "no column"
        raise InputError(f"the event log {path} has {problem} {one_line(name)}: its columns are {', '.join(header)}")
    return header.index(name)


def _moment(text: str, time_format: str | None, where: str) -> Moment:
    try:
        if time_format is not None:
            return datetime.strptime(text, time_format)
        try:
            number = float(text)
        except ValueError:
            # Logs often write 2011/10/01 for the ISO date 2011-10-01.
            return datetime.fromisoformat(text.strip().replace("/", "-"))
    except ValueError:
        expected = f"of the format {time_format!r}" if time_format else "a number or an ISO 8601 date"
        raise InputError(
            f"{where}: the time {text!r} is not {expected}; give time_format= (as in strptime) that fits"
        ) from None
    if number != number:
        raise InputError(f"{where}: the time {text!r} is not a number that can be ordered")
    return number


def _in_order(events: list[tuple[Moment, str]], name: str) -> list[str]:
    try:
        ordered = sorted(events, key=lambda event: event[0])  # type: ignore[arg-type,return-value]
    except TypeError:
        raise InputError(
            f"the times of case {name!r} cannot be compared: numbers beside dates, or dates with and "
            "without a time zone; write them all in one way"
        ) from None
    return [activity for _, activity in ordered]
