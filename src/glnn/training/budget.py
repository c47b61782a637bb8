"""How long to train: CPU seconds of this process, steps, or passes (a pass is one accepted update).

CPU seconds are charged for training only: compiling and scoring validation data are not.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from glnn.sequences.errors import one_line

_UNITS = {"s": 1.0, "sec": 1.0, "second": 1.0, "m": 60.0, "min": 60.0, "minute": 60.0, "h": 3600.0, "hour": 3600.0}
# A step that ends within this much of the budget is kept.
_OVERRUN = 1.1
_EXAMPLES = "for example '60s', '5m', '2h', '200 steps' or '1500 passes'"


@dataclass(frozen=True)
class Budget:
    """Training ends when any of the limits that are set is reached."""

    seconds: float | None = None
    steps: int | None = None
    passes: int | None = None

    def spent(self, seconds: float, steps: int, passes: int) -> bool:
        """Whether a limit is reached."""
        pairs = ((self.seconds, seconds), (self.steps, steps), (self.passes, passes))
        return any(limit is not None and used >= limit for limit, used in pairs)

    def __str__(self) -> str:
        parts = []
        if self.seconds is not None:
            parts.append(f"{self.seconds:g}s")
        if self.steps is not None:
            parts.append(f"{self.steps} steps")
        if self.passes is not None:
            parts.append(f"{self.passes} passes")
        return ", ".join(parts)


def parse_budget(text: str | float | int | Budget) -> Budget:
    """A budget from '60s', '5m', '2h', '200 steps', '1500 passes', or a number of CPU seconds."""
    if isinstance(text, Budget):
        return text
    if isinstance(text, bool) or not isinstance(text, int | float | str):
        raise ValueError(f"budget is {one_line(text)}: give CPU seconds or a text, {_EXAMPLES}")
    words = r"s|sec|second|seconds|m|min|minute|minutes|h|hour|hours|steps?|passes|pass"
    match = re.fullmatch(rf"\s*([0-9]*\.?[0-9]+)\s*({words})?\s*", text) if isinstance(text, str) else None
    if isinstance(text, str) and match is None:
        raise ValueError(f"budget is {one_line(text)}: not understood; give {_EXAMPLES}")
    amount, unit = (float(text), "s") if match is None else (float(match[1]), match[2] or "s")
    if not 0 < amount < float("inf"):
        raise ValueError(f"budget is {one_line(text)}: it must be positive and finite; give {_EXAMPLES}")
    # Of units of time the plural means the same, but "s" is one itself.
    single = unit if unit in _UNITS else unit.removesuffix("s")
    if single in _UNITS:
        return Budget(seconds=amount * _UNITS[single])
    if amount != int(amount):
        raise ValueError(f"budget is {one_line(text)}: a number of {unit} must be whole; give {_EXAMPLES}")
    return Budget(steps=int(amount)) if unit.startswith("step") else Budget(passes=int(amount))


_thread = threading.local()


@contextmanager
def charged_alone() -> Iterator[None]:
    """Inside the block this thread's clocks charge for its own work, not for that of the whole process."""
    _thread.alone = True
    try:
        yield
    finally:
        _thread.alone = False


def _cpu_seconds() -> float:
    return time.thread_time() if getattr(_thread, "alone", False) else time.process_time()


class Clock:
    """CPU seconds of this process (or thread, see `charged_alone`) since the start, without what was paused."""

    def __init__(self, spent: float = 0.0) -> None:
        self._paused: float | None = None
        self._begin = _cpu_seconds() - spent

    def set(self, spent: float) -> None:
        """Go on from this many seconds."""
        self._begin = (_cpu_seconds() if self._paused is None else self._paused) - spent

    @property
    def seconds(self) -> float:
        """CPU seconds charged so far."""
        return (_cpu_seconds() if self._paused is None else self._paused) - self._begin

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Time inside the block is not charged."""
        if self._paused is not None:
            yield
            return
        self._paused = begin = _cpu_seconds()
        try:
            yield
        finally:
            self._paused = None
            self._begin += _cpu_seconds() - begin


class OutOfBudgetError(Exception):
    """A step was still at work when the budget was spent."""


def limit(clock: Clock, seconds: float) -> Callable[[], None]:
    """What breaks off a step that would go far beyond this many seconds; one that is nearly done may end."""
    latest = _OVERRUN * seconds

    def check() -> None:
        if clock.seconds > latest:
            raise OutOfBudgetError

    return check
