"""From lines of a log to events: whose stream, and which symbol. A line that holds none raises `BrokenLine` and is
reported.

Five kinds of line: a symbol as it stands, a piece of a text, a whole sequence, a row of columns, a JSON object. Which
it is follows from how the data of the model were read.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple, Protocol

from glnn.sequences import InputError, ReadOptions
from glnn.sequences.alphabet import END
from glnn.sequences.errors import listed


class Event(NamedTuple):
    """A symbol for the stream of a key; the symbol `END` says that the sequence is over."""

    key: Hashable
    symbol: Any


class BrokenLine(Exception):  # noqa: N818
    """A line that holds no event; the text says why."""


class LineParser(Protocol):
    """Makes events of the lines of one file."""

    def events(self, line: bytes) -> Iterable[Event]:
        """The events of a line, often one."""
        ...

    def memory(self) -> dict[str, Any]:
        """What it must know to go on in the middle of a file, as JSON."""
        ...


class WholeLines:
    """Each line is a symbol."""

    def events(self, line: bytes) -> Iterable[Event]:
        """One event; an empty line is none."""
        text = _decoded(line)
        return [Event(None, text)] if text else []

    def memory(self) -> dict[str, Any]:
        """Nothing."""
        return {}


class CutLines:
    """Each line is a piece of one text, cut as the training data were."""

    def __init__(self, cut: str) -> None:
        if cut not in ("chars", "bytes", "words"):
            raise InputError(f"lines are cut into {cut!r}: give chars, bytes or words")
        self._cut = cut

    def events(self, line: bytes) -> Iterable[Event]:
        """The symbols of the line and, except for words, of its newline."""
        if self._cut == "bytes":
            return [Event(None, byte) for byte in line + b"\n"]
        text = _decoded(line)
        return [Event(None, symbol) for symbol in (text.split() if self._cut == "words" else text + "\n")]

    def memory(self) -> dict[str, Any]:
        """Nothing."""
        return {}


class SequenceLines:
    """Each line is a sequence of its own."""

    def __init__(self, cut: str) -> None:
        if cut not in ("chars", "words", "numbers"):
            raise InputError(f"lines that are sequences are cut into {cut!r}: give chars, words or numbers")
        self._cut = cut

    def events(self, line: bytes) -> Iterable[Event]:
        """The symbols of the line and its end; an empty line is none."""
        text = _decoded(line)
        if not text.strip():
            return []
        symbols: Iterable[Any] = text if self._cut == "chars" else text.split()
        if self._cut == "numbers":
            try:
                symbols = [int(part) for part in text.replace(",", " ").replace(";", " ").split()]
            except ValueError:
                raise BrokenLine("not a row of whole numbers") from None
        return [*(Event(None, symbol) for symbol in symbols), Event(None, END)]

    def memory(self) -> dict[str, Any]:
        """Nothing."""
        return {}


class Columns:
    """Each line is a row of a table whose first line names the columns: one stream per case."""

    def __init__(self, case: str, activity: str, delimiter: str = ",", header: list[str] | None = None) -> None:
        if header is not None and not (isinstance(header, list) and all(isinstance(name, str) for name in header)):
            raise InputError("the header that was kept is not a row of names: remove the file and start again")
        self._case, self._activity, self._delimiter = case, activity, delimiter
        self._header = header
        self._places = None if header is None else self._find(header)

    def events(self, line: bytes) -> Iterable[Event]:
        """One event; the header, which a new file after a rotation has again, is none."""
        text = _decoded(line)
        if not text.strip():
            return []
        try:
            row = next(csv.reader([text.removeprefix("\ufeff")], delimiter=self._delimiter))
        except csv.Error as error:
            raise BrokenLine(f"not a row of a table ({error})") from None
        if self._places is None:
            self._header, self._places = row, self._find(row)
            return []
        if row == self._header:
            return []
        assert self._header is not None
        if len(row) != len(self._header):
            raise BrokenLine(f"{len(row)} fields where the header has {len(self._header)}")
        case, activity = (row[place] for place in self._places)
        if not case or not activity:
            raise BrokenLine(f"nothing in column {self._activity if case else self._case!r}")
        return [Event(case, activity)]

    def memory(self) -> dict[str, Any]:
        """The header, which is in the first line only."""
        return {"header": self._header}

    def _find(self, header: list[str]) -> tuple[int, int]:
        for name in (self._case, self._activity):
            if header.count(name) != 1:
                raise InputError(f"the log has no single column {name!r}: its columns are {listed(header)}")
        return header.index(self._case), header.index(self._activity)


class JsonObjects:
    """Each line is a JSON object with an activity and, if there are cases, its case."""

    def __init__(self, activity: str, case: str | None = None) -> None:
        self._activity, self._case = activity, case

    @property
    def has_cases(self) -> bool:
        """Whether there is a stream for each case."""
        return self._case is not None

    def events(self, line: bytes) -> Iterable[Event]:
        """One event; an empty line is none."""
        text = _decoded(line)
        if not text.strip():
            return []
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BrokenLine(f"no JSON ({error})") from None
        wanted = [self._activity] if self._case is None else [self._activity, self._case]
        for name in wanted:
            if not isinstance(found, dict) or not isinstance(found.get(name), str | int):
                raise BrokenLine(f"not an object with a text or number under {name!r}")
        symbol = found[self._activity]
        return [Event(None if self._case is None else found[self._case], symbol)]

    def memory(self) -> dict[str, Any]:
        """Nothing."""
        return {}


def parser_for(options: ReadOptions, memory: dict[str, Any] | None = None) -> LineParser:
    """How the lines of a file become events, for a model whose data were read with these options.

    `memory` is what the parser of the same file remembered.
    """
    if memory is not None and not isinstance(memory, dict):
        raise InputError("what was kept of the lines cannot be read: remove the file and start again")
    cut = options.tokens or "lines"
    if options.format == "jsonl":
        if options.activity is None:
            raise InputError("lines of JSON are followed as events: name the activity's key with --activity")
        return JsonObjects(options.activity, options.case)
    if options.format == "csv" or (options.format is None and options.activity is not None):
        if options.case is None or options.activity is None:
            raise InputError("an event log is followed by its columns: name them with --case and --activity")
        return Columns(options.case, options.activity, options.delimiter or ",", (memory or {}).get("header"))
    if options.format == "lines":
        return SequenceLines(options.tokens or "chars")
    if options.format in ("text", None):
        return WholeLines() if cut == "lines" else CutLines(cut)
    raise InputError(
        f"{options.format} has no lines that are events: give --format csv, jsonl, lines or text for what is followed"
    )


def has_cases(parser: LineParser) -> bool:
    """Whether sequences stand side by side, one for each case."""
    return isinstance(parser, Columns) or (isinstance(parser, JsonObjects) and parser.has_cases)


def _decoded(line: bytes) -> str:
    try:
        return line.removesuffix(b"\r").decode()
    except UnicodeDecodeError as error:
        raise BrokenLine(f"not UTF-8 ({error.reason} at byte {error.start})") from None
