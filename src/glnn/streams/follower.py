"""Follow the lines of a log: each becomes events, each event is pushed to its stream, and what surprises is told.

A follower can be written down at any line and taken up in another process, which then tells what this one would have
told: the streams, where the file was read up to, what was counted for the threshold, and how far counting got.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from glnn.sequences import InputError
from glnn.sequences.special import END
from glnn.streams.events import BrokenLine, Event, LineParser
from glnn.streams.group import Streams
from glnn.streams.stream import Expected, Pushed
from glnn.streams.threshold import Threshold


class Surprise(NamedTuple):
    """An event worth telling."""

    line: int
    """The number of its line, from 1 on, since following began."""
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
    """Reads lines; `counting` adds every event to what the threshold is found from."""

    def __init__(
        self,
        streams: Streams,
        parser: LineParser,
        threshold: Threshold,
        counting: bool = False,
        last: Hashable = None,
        tally: Tally | None = None,
    ) -> None:
        self.streams, self.parser, self.threshold = streams, parser, threshold
        self.counting, self.last, self.tally = counting, last, tally or Tally()

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
        }

    def _read_event(self, event: Event) -> Surprise | None:
        streams, (key, symbol) = self.streams, event
        pushed: Pushed | None
        if symbol is END:
            pushed = streams.end(key)
            if pushed is None:
                return None
        else:
            try:
                pushed = streams.push(key, symbol)
            except InputError:
                # A model without an escape does not know the symbol: nothing is more surprising.
                self.tally.events += 1
                return Surprise(self.tally.lines, key, symbol, math.inf, 0.0, streams[key].predict())
        self.tally.events += 1
        self.tally.bits += pushed.bits
        told = pushed.bits > self.threshold.bits
        if self.counting:
            self.threshold.count(pushed.bits)
        if self.last is not None and symbol == self.last:
            streams.end(key)
        if not told:
            return None
        return Surprise(self.tally.lines, key, symbol, pushed.bits, pushed.probability, pushed.expected)


def remembered(memory: dict[str, Any], threshold: Threshold) -> Tally:
    """The tally of a follower that was written down; `threshold` gets what was counted."""
    told = dict(memory["tally"])
    for k, n in memory["counts"].items():
        threshold.counts[int(k)] = int(n)
    threshold.count_many(())
    return Tally(**{**told, "bits": float.fromhex(told["bits"])})
