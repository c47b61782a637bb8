"""Events one after the other become one sequence per case.

Cases come in the order in which they first occur; inside a case events are ordered by time, and events of the same
time keep the order in which they came.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from glnn.sequences.errors import InputError
from glnn.sequences.formats.columns import Columns, Moment, moment
from glnn.sequences.several import Sequences

NOTHING = "(empty)"


class Events:
    """Gathers events, with a rule for empty cells."""

    def __init__(self, columns: Columns, empty: str, title: str) -> None:
        self._columns, self._empty, self._title = columns, empty, title
        self._cases: dict[str, list[tuple[Any, Hashable]]] = {}
        self._skipped = 0
        self._seen: dict[Hashable, Hashable] = {}

    def add(self, where: str, case: str, activity: Hashable, time: Any = None) -> None:
        """One event; `where` says where it stands, for messages."""
        columns = self._columns
        given = ((columns.case, case), (columns.activity, activity), (columns.time, time))
        missing = [name for name, value in given if name is not None and value in ("", None)]
        if missing:
            if self._empty == "error":
                raise InputError(
                    f"{where} has nothing in column {missing[0]!r}: empty='skip' (--empty skip) leaves such events "
                    f"out, empty='keep' (--empty keep) makes {NOTHING!r} of them"
                )
            if self._empty == "skip" or columns.time in missing:
                self._skipped += 1
                return
            case, activity = case or NOTHING, activity or NOTHING
        # One object for each activity, however often it occurs.
        activity = self._seen.setdefault(activity, activity)
        self._cases.setdefault(case, []).append((self._moment(time, where), activity))

    def sequences(self, **about: Any) -> Sequences:
        """All cases, each in the order of its times."""
        if not self._cases:
            raise InputError(f"the event log {self._title} holds no event under its header")
        items = [_in_order(events, name) for name, events in self._cases.items()]
        if self._skipped:
            about["note"] = f"{about.get('note', '')}; {self._skipped:,} events with empty cells left out".lstrip("; ")
        return Sequences(items, names=self._cases, **about)

    def _moment(self, time: Any, where: str) -> Moment:
        if self._columns.time is None:
            return 0.0
        if not isinstance(time, str):
            return time  # type: ignore[no-any-return]
        written = self._columns.time_format
        try:
            return moment(time, written)
        except ValueError:
            if time.strip().lower().lstrip("+-") == "nan":
                raise InputError(f"{where}: the time {time!r} is not a number that can be ordered") from None
            expected = f"of the format {written!r}" if written else "a number or an ISO 8601 date"
            raise InputError(
                f"{where}: the time {time!r} is not {expected}; give time_format= (as in strptime) that fits"
            ) from None


def _in_order(events: list[tuple[Any, Hashable]], name: str) -> list[Hashable]:
    try:
        ordered = sorted(events, key=lambda event: event[0])
    except TypeError:
        raise InputError(
            f"the times of case {name!r} cannot be compared: numbers mixed with dates, or dates with and "
            "without a time zone; write them all in one way"
        ) from None
    return [activity for _, activity in ordered]
