"""Follow the lines of a log: each becomes events, each event is pushed to its stream, and surprises are reported.

A follower can be saved at any line and continued in another process, which then reports what this one would have
reported: the streams, where the file was read up to, what was counted for the threshold, and what was counted.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from glnn.sequences import InputError
from glnn.sequences.alphabet import END
from glnn.streams.course import Course
from glnn.streams.events import BrokenLine, Event, LineParser
from glnn.streams.group import Streams
from glnn.streams.growing_file import Position
from glnn.streams.stream import Expected, Pushed
from glnn.streams.threshold import Threshold


class Surprise(NamedTuple):
    """An event worth reporting."""

    line: int
    """The number of its line since following began, from 1."""
    key: Hashable
    symbol: Any
    bits: float
    probability: float
    expected: list[Expected]


@dataclass
class Tally:
    """What was read so far."""

    lines: int = 0
    broken: int = 0
    events: int = 0
    told: int = 0
    bits: float = 0.0
    """Of all events whose symbol the model knows or can escape."""


class Follower:
    """Reads lines; `counting` adds every event to the counts behind the threshold.

    If a model predicts only what comes right after the symbol `after`, other events are read and not judged; `due` are
    the keys whose next event is judged.
    """

    def __init__(
        self,
        streams: Streams,
        parser: LineParser,
        threshold: Threshold,
        counting: bool = False,
        last: Hashable = None,
        tally: Tally | None = None,
        after: Hashable = None,
        due: Iterable[Hashable] = (),
        course: Course | None = None,
    ) -> None:
        self.streams, self.parser, self.threshold = streams, parser, threshold
        self.counting, self.last, self.tally = counting, last, tally or Tally()
        # A dict keeps the order, so that what is written is the same in every process.
        self.after, self._due, self.course = after, dict.fromkeys(due), course or Course()

    def read(self, line: bytes) -> Iterator[Surprise]:
        """The surprises of one line. A line that holds no event is counted and raises `BrokenLine`."""
        self.tally.lines += 1
        try:
            events = list(self.parser.events(line))
        except BrokenLine:
            self.tally.broken += 1
            raise
        for event in events:
            found = self._read_event(event)
            if found is not None:
                self.tally.told += 1
                yield found

    def memory(self) -> dict[str, Any]:
        """All but the streams, as JSON."""
        return {
            "tally": {**asdict(self.tally), "bits": float(self.tally.bits).hex()},
            "counts": {str(k): int(n) for k, n in enumerate(self.threshold.counts) if n},
            "counting": self.counting,
            "parser": self.parser.memory(),
            "course": self.course.memory(),
            "due": [key for key in self._due if key in self.streams],
        }

    def _read_event(self, event: Event) -> Surprise | None:
        streams, (key, symbol) = self.streams, event
        pushed: Pushed | None
        judged = self._is_judged(event)
        if symbol is END:
            pushed = streams.end(key)
            if pushed is None or not judged:
                return None
        else:
            try:
                pushed = streams.push(key, symbol)
            except InputError:
                # A model without an escape does not know the symbol: nothing is more surprising.
                if not judged:
                    return None
                self.tally.events += 1
                return Surprise(self.tally.lines, key, symbol, math.inf, 0.0, streams[key].predict())
        if self.last is not None and symbol == self.last:
            streams.end(key)
            self._due.pop(key, None)
        if not judged:
            return None
        self.tally.events += 1
        self.tally.bits += pushed.bits
        self.course.add(pushed.bits)
        told = pushed.bits > self.threshold.bits
        if self.counting:
            self.threshold.count(pushed.bits)
        if not told:
            return None
        return Surprise(self.tally.lines, key, symbol, pushed.bits, pushed.probability, pushed.expected)

    def _is_judged(self, event: Event) -> bool:
        """Whether an event is one of those that the model predicts."""
        if self.after is None:
            return True
        key, symbol = event
        # What was known of a forgotten case is forgotten with it.
        judged = key in self._due and key in self.streams and symbol is not END
        if symbol == self.after:
            self._due[key] = None
        else:
            self._due.pop(key, None)
        return judged


class Remembered(NamedTuple):
    """What a follower saved, checked: an altered file must not lead the reading astray."""

    tally: Tally
    counting: bool
    due: list[Hashable]
    course: Course
    position: Position | None


def remembered(memory: dict[str, Any], threshold: Threshold) -> Remembered:
    """A saved follower; `threshold` gets what was counted."""
    try:
        told = dict(memory["tally"])
        tally = Tally(**{**told, "bits": float.fromhex(told["bits"])})
        whole = [tally.lines, tally.broken, tally.events, tally.told]
        threshold.recall({int(k): _whole(n) for k, n in memory["counts"].items()})
        if any(_whole(number) < 0 for number in whole) or not tally.bits >= 0.0:
            raise ValueError("a negative count")
        place = memory.get("position")
        position = None if place is None else Position(*map(_whole, place))
        due = list(memory.get("due", ()))
        hash(tuple(due))
        return Remembered(tally, bool(memory["counting"]), due, Course.remembered(memory.get("course")), position)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(f"what was kept does not say how far following got ({error}): start again") from None


def _whole(number: Any) -> int:
    if type(number) is not int or not 0 <= number < 1 << 53:
        raise ValueError(f"{number!r} is no count")
    return number
