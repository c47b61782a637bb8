"""Which column of a table is the case, which the activity, which the time: by name, and then by what is in it.

A case occurs in several rows, an activity in several cases, and a time can be parsed. Names are compared without
case and punctuation, so `Case_ID`, `caseId` and `case:concept:name` are all found.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from glnn.sequences.errors import InputError, listed, one_line
from glnn.sequences.formats.source import ReadOptions

CASE = (
    "case concept name", "case id", "caseid", "case", "case number", "case key", "case name", "trace id", "trace",
    "session id", "session", "sequence id", "sequence", "order id", "order", "ticket id", "ticket", "incident id",
    "application id", "application", "patient id", "patient", "customer id", "customer", "visitor id", "user id",
    "user", "account id", "client id", "device id", "machine id", "instance id", "request id", "document id", "id",
)  # fmt: skip
ACTIVITY = (
    "concept name", "activity", "activity name", "activity id", "event", "event name", "event type", "action",
    "action name", "task", "task name", "step", "step name", "operation", "status", "state", "page", "symbol", "token",
    "message", "what", "type", "label", "name",
)  # fmt: skip
TIME = (
    "time timestamp", "timestamp", "complete timestamp", "completion time", "end timestamp", "event time", "time",
    "datetime", "date time", "start timestamp", "start time", "date", "at", "when", "created at", "start", "ts",
)  # fmt: skip
# Dates that can be read in one way only.
DATE_FORMATS = ("%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M", "%d.%m.%Y")

NO_TIME = ""
"""Given as the column of the time: events keep the order of the file."""

Moment = float | datetime


class Columns(NamedTuple):
    """Which columns were found."""

    case: str
    activity: str
    time: str | None
    time_format: str | None
    note: str = ""
    """A remark about the choice."""


def moment(text: str, time_format: str | None) -> Moment:
    """A time as a number or a date; ValueError where it is none."""
    if time_format is not None:
        return datetime.strptime(text, time_format)
    try:
        number = float(text)
    except ValueError:
        # Logs often write 2011/10/01 for the ISO date 2011-10-01.
        return datetime.fromisoformat(text.strip().replace("/", "-"))
    if number != number:
        raise ValueError(text)
    return number


def find_columns(header: Sequence[str], rows: Sequence[Sequence[str]], options: ReadOptions, title: str) -> Columns:
    """The columns that were asked for, and for the others those that names and the first rows suggest."""
    time, time_format, note = options.time_in(header), options.time_format, ""
    if options.time and time is None:
        note = f"it has no {options.time!r} to put them in order"
    for name in (options.case, options.activity, time):
        if name is not None:
            check_column(header, name, title)
    values = {name: [row[place] for row in rows if len(row) > place] for place, name in enumerate(header)}
    taken = [name for name in (options.case, options.activity, time) if name]
    if options.time is None:
        time, time_format, note = _time(header, values, taken, options.time_format)
    taken += [time] if time is not None else []
    case = options.case or _named(header, values, CASE, taken) or _case_by_content(header, values, taken)
    taken += [case] if case is not None else []
    activity = options.activity or _named(header, values, ACTIVITY, taken) or _activity_by_content(values, taken)
    if (case is None or activity is None) and not rows:
        raise InputError(f"the event log {title} holds no event under its header")
    if case is None or activity is None:
        missing = "a case" if case is None else "an activity"
        option = "case= (--case)" if case is None else "activity= (--activity)"
        raise InputError(
            f"{title}: no column looks like {missing}; its columns are {listed(map(one_line, header))}. Say which "
            f"with {option}, or read it as a text with format='text' (--format text)"
        )
    return Columns(case, activity, time, time_format, note)


def check_column(header: Sequence[str], name: str, title: str) -> None:
    """Refuse a column that does not occur exactly once."""
    if not isinstance(name, str) or list(header).count(name) != 1:
        problem = "more than one column" if isinstance(name, str) and name in header else "no column"
        raise InputError(f"the event log {title} has {problem} {one_line(name)}: its columns are {listed(header)}")


def plain_name(name: str) -> str:
    """A column's name without case and punctuation."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return " ".join(re.sub(r"[\W_]+", " ", spaced).lower().split())


def looks_named(header: Sequence[str]) -> bool:
    """Whether the names alone show an event log: a case and an activity are among them."""
    plain = {plain_name(name) for name in header}
    return bool(plain & set(CASE[:-1])) and bool(plain & set(ACTIVITY[:-3]))


def _named(
    header: Sequence[str], values: dict[str, list[str]], wanted: Sequence[str], taken: Sequence[str]
) -> str | None:
    """The column with the best of the wanted names; its values must recur, or nothing could be learned."""
    by_name: dict[str, str] = {}
    for name in header:
        if list(header).count(name) == 1 and name not in taken:
            by_name.setdefault(plain_name(name), name)
    found = [by_name[name] for name in wanted if name in by_name]
    return next((name for name in found if _repeats(values[name])), found[0] if found else None)


def _repeats(column: Sequence[str]) -> bool:
    return len(set(column)) < len(column)


def _case_by_content(header: Sequence[str], values: dict[str, list[str]], taken: Sequence[str]) -> str | None:
    """The column with the most values that each recur."""
    best, most = None, 1
    for name in header:
        distinct = len(set(values[name]))
        if name not in taken and list(header).count(name) == 1 and most < distinct <= len(values[name]) / 2:
            best, most = name, distinct
    return best


def _activity_by_content(values: dict[str, list[str]], taken: Sequence[str]) -> str | None:
    """The first column with few values, each frequent and not a number."""
    for name, column in values.items():
        distinct = set(column) - {""}
        if name not in taken and 2 <= len(distinct) <= max(2, len(column) / 3) and not all(map(_is_time, distinct)):
            return name
    return None


def _time(
    header: Sequence[str], values: dict[str, list[str]], taken: Sequence[str], time_format: str | None
) -> tuple[str | None, str | None, str]:
    """The column of the time, its format, and a remark if it cannot be read."""
    by_name = {plain_name(name): name for name in reversed(header) if name not in taken}
    named = [by_name[name] for name in TIME if name in by_name]
    others = [name for name in header if name not in taken and name not in named]
    for name in named:
        written = _how_written(values[name], time_format)
        if written is not None:
            return name, written or None, ""
    for name in others:
        column = [value for value in values[name] if value]
        # Numbers alone are no sign of a time; dates are.
        if column and all("-" in value[1:] or "/" in value for value in column):
            written = _how_written(column, time_format)
            if written is not None:
                return name, written or None, ""
    if not named:
        return None, time_format, ""
    return None, time_format, (
        f"the times in {named[0]!r} could not be read, so events keep the order of the file (--time-format says how "
        "they are written)"
    )  # fmt: skip


def _how_written(column: Sequence[str], time_format: str | None) -> str | None:
    """The format that fits, "" for numbers and ISO dates, None where nothing fits."""
    filled = [value for value in column if value]
    for written in (time_format,) if time_format is not None else (None, *DATE_FORMATS):
        if filled and all(_is_time(value, written) for value in filled):
            return written or ""
    return None


def _is_time(text: str, written: str | None = None) -> bool:
    try:
        moment(text, written)
    except ValueError:
        return False
    return True
