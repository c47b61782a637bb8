"""JSON lines: each line a sequence (a list or a text), an object that holds one, or one event of an event log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from glnn.sequences.errors import InputError, one_line
from glnn.sequences.formats.columns import CASE, find_columns, plain_name
from glnn.sequences.formats.events import Events
from glnn.sequences.formats.source import NUMBERS, ReadOptions, Source
from glnn.sequences.formats.table import chosen, describe
from glnn.sequences.several import Sequences
from glnn.sequences.tokens import Words

_SEQUENCE = ("sequence", "tokens", "events", "activities", "symbols", "trace", "steps", "items", "text")
_NAMES = ("name", "title", *CASE)
_LOOKED_AT = 2000

Row = tuple[int, Any]


class JsonLines:
    """One JSON value per line."""

    name = "jsonl"
    title = "JSON lines"

    def read(self, source: Source, options: ReadOptions) -> Sequences:
        """Sequences, or events gathered into them."""
        rows = _values(source)
        first = list(islice(rows, _LOOKED_AT))
        if not first:
            raise InputError(f"{source.title} is empty: there is nothing to read")
        if isinstance(first[0][1], dict) and _sequence_key(first[0][1]) is None:
            return self._events(first, rows, source, options)
        items, names = [], []
        for number, value in chain(first, rows):
            item, name = _sequence(value, number, source, options)
            items.append(item)
            names.append(name or f"line {number}")
        return Sequences(
            items,
            names,
            source=source.title,
            title="JSON lines, a sequence each",
            options=options.found(format=self.name),
        )

    def write(self, samples: list[Any], options: ReadOptions) -> bytes:
        """A list or a text on each line; of an event log an object for each event, with cases 1, 2, …"""
        items = [item.tolist() if hasattr(item, "tolist") else item for item in samples]
        if options.case and options.activity:
            items = [
                {options.case: str(which), options.activity: event}
                for which, events in enumerate(items, start=1)
                for event in events
            ]
        return "".join(f"{json.dumps(item)}\n" for item in items).encode()

    def _events(self, first: list[Row], rest: Iterator[Row], source: Source, options: ReadOptions) -> Sequences:
        header = list(dict.fromkeys(key for _, row in first if isinstance(row, dict) for key in row))
        looked = [[_text(row.get(key)) for key in header] for _, row in first if isinstance(row, dict)]
        columns = find_columns(header, looked, options, source.title)
        events = Events(columns, options.empty, source.title)
        for number, row in chain(first, rest):
            where = f"line {number} of {source.title}"
            if not isinstance(row, dict):
                raise InputError(f"{where} is not an object, as the lines before it are")
            time = None if columns.time is None else _text(row.get(columns.time))
            events.add(where, _text(row.get(columns.case)), _text(row.get(columns.activity)), time)
        return events.sequences(
            source=source.title, title="an event log in JSON lines", note=describe(columns),
            options=options.found(format=self.name, **chosen(columns)),
        )  # fmt: skip


def _values(source: Source) -> Iterator[Row]:
    for number, line in source.lines():
        if not line.strip():
            continue
        try:
            yield number, json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"line {number} of {source.title} is not JSON ({error}): {one_line(line, 40)}") from None


def _sequence_key(row: dict[str, Any]) -> str | None:
    by_name = {plain_name(key): key for key in row if isinstance(row[key], list | str)}
    lists = [by_name[name] for name in _SEQUENCE if name in by_name and isinstance(row[by_name[name]], list)]
    if lists:
        return lists[0]
    return by_name.get("sequence", by_name.get("text"))


def _sequence(value: Any, number: int, source: Source, options: ReadOptions) -> tuple[Any, str]:
    where, name = f"line {number} of {source.title}", ""
    if isinstance(value, dict):
        key = _sequence_key(value)
        if key is None:
            raise InputError(f"{where} holds no sequence: an object has one under {', '.join(_SEQUENCE)}")
        by_name = {plain_name(other): other for other in value if other != key}
        name = next((_text(value[by_name[other]]) for other in _NAMES if other in by_name), "")
        value = value[key]
    if isinstance(value, str):
        if options.tokens == "words":
            return Words(value.split()), name
        return value, name
    if not isinstance(value, list):
        raise InputError(f"{where} is {one_line(value, 40)}: a line is a list, a text or an object")
    wrong = [item for item in value if not isinstance(item, str | int | float | bool)]
    if wrong:
        raise InputError(f"{where} holds {one_line(wrong[0], 40)} as a symbol: symbols are texts or numbers")
    if options.tokens == NUMBERS and not all(isinstance(item, int) for item in value):
        raise InputError(f"{where} holds something other than whole numbers")
    return value, name


def _text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)
