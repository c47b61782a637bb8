"""A sweep: the settings that have no line yet are run, each line is written as soon as it is there.

Who runs them, processes of this machine or a cluster, is the runner's business; this file only counts and writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from glnn.reproduction.results import Line, appending, read_lines, settings_of
from glnn.reproduction.settings import Setting
from glnn.training.budget import parse_budget

Runner = Callable[[Sequence[Setting]], Iterator[tuple[Setting, Line | None, str]]]
# What a setting without a budget costs, and what a second of training costs in all, validation included.
_QUICK = 5.0
_OVERHEAD = 1.4


@dataclass
class Standing:
    """Where a sweep stands."""

    wanted: int
    done: int
    failed: list[tuple[Setting, str]] = field(default_factory=list)
    seconds_left: float | None = None
    last: Setting | None = None
    line: Line | None = None

    @property
    def fraction(self) -> float:
        """The part of the settings that is done."""
        return self.done / max(self.wanted, 1)


Listener = Callable[[Standing], None]


def sweep(
    settings: Sequence[Setting], path: Path, runner: Runner, listener: Listener = lambda standing: None
) -> Standing:
    """Run what is missing in the file of results; Ctrl-C leaves a file with all that is finished."""
    with appending(path) as file:
        there = settings_of(read_lines(path))
        missing = [setting for setting in settings if setting not in there]
        standing = Standing(len(settings), len(settings) - len(missing))
        work_left = sum(expected_seconds(setting) for setting in missing)
        work_done, begun = 0.0, monotonic()
        listener(standing)
        for setting, line, problem in runner(missing) if missing else ():
            # A cluster may run a setting twice when it loses a worker; only the first line counts.
            if setting in there:
                continue
            standing.last, standing.line = setting, line
            work_done += expected_seconds(setting)
            if line is None:
                standing.failed.append((setting, problem))
            else:
                there.add(setting)
                file.append(line)
                standing.done += 1
            standing.seconds_left = (work_left - work_done) * (monotonic() - begun) / max(work_done, 1e-9)
            listener(standing)
    return standing


def expected_seconds(setting: Setting) -> float:
    """Roughly what a setting takes, to estimate the time left; settings of steps or passes count alike."""
    if not setting.budget:
        return _QUICK
    seconds = parse_budget(setting.budget).seconds
    return _QUICK if seconds is None else seconds * _OVERHEAD


def told(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
