"""Bits per event over time, in constant memory: sums over stretches of equal length, doubled when too many.

At most 256 stretches of (events, bits) are kept, each of the same number of events: enough to see a drift, and where.
"""

from __future__ import annotations

from typing import Any

from glnn.sequences import InputError

_MOST = 256
_FIRST_WIDTH = 8


class Course:
    """The stretches so far; the last one may be unfinished."""

    def __init__(self) -> None:
        self.width = _FIRST_WIDTH
        self._events: list[int] = []
        self._bits: list[float] = []

    @property
    def stretches(self) -> list[tuple[int, float]]:
        """Events and bits of each."""
        return list(zip(self._events, self._bits, strict=True))

    def add(self, bits: float) -> None:
        """The next event; one that costs infinitely many bits is left out, as it would hide all others."""
        if bits == float("inf"):
            return
        if not self._events or self._events[-1] == self.width:
            if len(self._events) == _MOST:
                self._halve()
            self._events.append(0)
            self._bits.append(0.0)
        self._events[-1] += 1
        self._bits[-1] += bits

    def memory(self) -> dict[str, Any]:
        """As JSON, to the bit."""
        return {"width": self.width, "events": self._events, "bits": [bits.hex() for bits in self._bits]}

    @classmethod
    def remembered(cls, memory: dict[str, Any] | None) -> Course:
        """The inverse; empty if nothing was kept."""
        course = cls()
        if memory is None:
            return course
        try:
            course.width = int(memory["width"])
            course._events = [int(events) for events in memory["events"]]
            course._bits = [float.fromhex(bits) for bits in memory["bits"]]
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InputError(
                "the course of bits that was kept cannot be read: remove the file and start again"
            ) from None
        full = all(events == course.width for events in course._events[:-1])
        if course.width < 1 or not full or len(course._events) != len(course._bits) or len(course._events) > _MOST:
            raise InputError("the course of bits that was kept does not fit together: remove the file and start again")
        return course

    def _halve(self) -> None:
        self.width *= 2
        self._events = [self._events[k] + self._events[k + 1] for k in range(0, _MOST, 2)]
        self._bits = [self._bits[k] + self._bits[k + 1] for k in range(0, _MOST, 2)]
