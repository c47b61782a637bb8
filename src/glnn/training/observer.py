"""Who watches a training from outside: `fit(…, observer=…)`, for what must be shown or survive it.

Nothing that an observer does changes what is learned or is charged to the budget. It can also bring what an earlier
training did: the steps of such a record are read instead of computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glnn.training.fitting import Split
    from glnn.training.race import Run
    from glnn.training.records import Progress, StepInfo
    from glnn.training.sizes import Size
    from glnn.training.trainer import Trainer


@dataclass(frozen=True)
class Training:
    """A training while it goes on and when it is over: its random starts, their size, the data."""

    runs: Sequence[Run]
    """Each start; its `progress` tells where it stands, None before its first turn."""
    size: Size
    split: Split
    finish: Callable[[Training], Any] = field(repr=False)

    @property
    def best(self) -> Run:
        """The start with the best validation score so far."""
        return max((run for run in self.runs if run.progress is not None), key=lambda run: run.score)

    def kept(self, count: int) -> list[Run]:
        """So many starts with the best validation scores so far, the best first; fewer where fewer have begun."""
        begun = [run for run in self.runs if run.progress is not None]
        ordered = sorted(begun, key=lambda run: -run.score)
        return [run for k, run in enumerate(ordered[:count]) if k == 0 or run.score > -math.inf]

    def used(self, what: str) -> float:
        """Seconds, steps or passes spent by all starts together."""
        return sum(run.used(what) for run in self.runs)

    def fitted(self) -> Any:
        """The model as if the training had ended now: fitted, ready to predict and to save."""
        return self.finish(self)


class Observer:
    """Sees a training from inside; every method does nothing until it is overridden."""

    def begin(self, training: Training) -> None:
        """Before the first step, when everything is compiled."""

    def recorded(self, run: Run) -> Progress | None:
        """Where an earlier training of this start stood; None begins anew."""

    def step(self, run: Run, info: StepInfo, trainer: Trainer) -> None:
        """After every step that was computed, not after those that were read from a record."""
