"""XES, the XML of event logs: one sequence per trace, in the order of the file.

XML from strangers: a document type or an entity is refused, nothing outside the file is opened, depth and the length
of one tag are bounded.
"""

from __future__ import annotations

from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from glnn.sequences.errors import InputError
from glnn.sequences.formats.columns import Columns
from glnn.sequences.formats.events import NOTHING
from glnn.sequences.formats.source import ReadOptions, Source
from glnn.sequences.several import Sequences

_NAME = "concept:name"
_DEEPEST = 100
_LONGEST_TAG = 1 << 24
_BLOCK = 1 << 16


class Xes:
    """Event logs of process mining."""

    name = "xes"
    title = "XES"

    def read(self, source: Source, options: ReadOptions) -> Sequences:
        """The activities of every trace."""
        activity = options.activity or _NAME
        log = _Log(source, activity, options.case or _NAME, options.empty)
        log.parse()
        if not log.items:
            raise InputError(f"{source.title} holds no trace with events that have {activity!r}")
        columns = Columns(options.case or _NAME, activity, None, None)
        note = f"case {columns.case!r}, activity {columns.activity!r}, in the order of the file"
        if log.skipped:
            note += f"; {log.skipped:,} events without {activity!r} left out"
        return Sequences(
            log.items,
            log.names,
            source=source.title,
            title="an event log in XES",
            note=note,
            options=options.found(format=self.name),
        )

    def write(self, samples: list[Any], options: ReadOptions) -> bytes:
        """Traces 1, 2, … with their activities."""
        case, activity = quoteattr(options.case or _NAME), quoteattr(options.activity or _NAME)
        rows = ['<?xml version="1.0" encoding="UTF-8"?>', '<log xes.version="1.0">']
        for which, events in enumerate(samples, start=1):
            rows += ["<trace>", f'<string key={case} value="{which}"/>']
            rows += [f"<event><string key={activity} value={quoteattr(event)}/></event>" for event in events]
            rows += ["</trace>"]
        return "".join(f"{row}\n" for row in (*rows, "</log>")).encode()


class _Log:
    """What the parser has met so far."""

    def __init__(self, source: Source, activity: str, case: str, empty: str) -> None:
        self.items: list[list[str]] = []
        self.names: list[str] = []
        self.skipped = 0
        self._source, self._activity, self._case, self._empty = source, activity, case, empty
        self._path: list[str] = []
        self._name: str | None = None
        self._events: list[str] = []
        self._found: str | None = None
        self._seen: dict[str, str] = {}
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        for refused in ("StartDoctypeDeclHandler", "EntityDeclHandler", "ExternalEntityRefHandler"):
            setattr(parser, refused, self._refuse)
        self._parser = parser

    def parse(self) -> None:
        """Read the whole log, block after block."""
        fed = 0
        with self._source.open() as file:
            try:
                while block := file.read(_BLOCK):
                    self._parser.Parse(block, False)
                    fed += len(block)
                    if fed - self._parser.CurrentByteIndex > _LONGEST_TAG:
                        raise self._wrong(f"holds a tag of more than {_LONGEST_TAG:,} bytes")
                self._parser.Parse(b"", True)
            except expat.ExpatError as error:
                raise self._wrong(f"is not XML ({expat.ErrorString(error.code)})") from None
            except InputError:
                raise
            except (ValueError, LookupError) as error:
                # An encoding that is declared and that Python knows better than the parser does.
                raise self._wrong(f"cannot be decoded ({error}): convert it to UTF-8") from None

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition(" ")[2]
        self._path.append(name)
        if len(self._path) > _DEEPEST:
            raise self._wrong(f"is nested more than {_DEEPEST} deep")
        if name == "trace":
            self._name, self._events = None, []
        elif name == "event":
            self._found = None
        elif "key" in attributes and "value" in attributes:
            # Attributes of attributes are deeper, and do not concern the event.
            parent = self._path[-2] if len(self._path) > 1 else ""
            if parent == "event" and attributes["key"] == self._activity:
                self._found = attributes["value"]
            elif parent == "trace" and attributes["key"] == self._case:
                self._name = attributes["value"]

    def _end(self, name: str) -> None:
        name = name.rpartition(" ")[2]
        self._path.pop()
        if name == "event" and self._path and self._path[-1] == "trace":
            self._event()
        elif name == "trace" and self._events:
            self.items.append(self._events)
            self.names.append(self._name or f"trace {len(self.items)}")

    def _event(self) -> None:
        found = self._found
        if not found:
            if self._empty == "error":
                raise self._wrong(
                    f"has an event without {self._activity!r} (empty='skip' or --empty skip leaves such events out, "
                    f"'keep' makes {NOTHING!r} of them)"
                )
            if self._empty == "skip":
                self.skipped += 1
                return
            found = NOTHING
        self._events.append(self._seen.setdefault(found, found))

    def _refuse(self, *_: Any) -> None:
        raise self._wrong("declares a document type or an entity, which no event log needs and which is not safe")

    def _wrong(self, what: str) -> InputError:
        return InputError(f"line {self._parser.CurrentLineNumber} of {self._source.title}: the file {what}")
