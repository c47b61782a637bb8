"""A training done again from its record: known steps are read, all others are computed, to the same bits.

Whatever decides how a budget is shared among several starts then decides it again from the same numbers, and need not
be written down. `glnn.storage.checkpoint` keeps records.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from glnn.training.budget import Clock
from glnn.training.engine import Forward
from glnn.training.records import Progress, StepInfo
from glnn.training.trainer import Trainer

Listener = Callable[[StepInfo, Trainer], None]


def recorded_trainer(kind: Any) -> Any:
    """The trainer of a class (or `Trainer` itself) that reads known steps from a record."""
    return RecordedTrainer if kind is Trainer else type(f"Recorded{kind.__name__}", (RecordedTrainer, kind), {})


class RecordedTrainer(Trainer):
    """A trainer that takes the steps of `recorded` from there, and tells `listener` of those that it computes.

    What the listener does is not charged to the budget.
    """

    def __init__(self, *arguments: Any, recorded: Progress | None = None, listener: Listener | None = None) -> None:
        super().__init__(*arguments)
        self._recorded, self._listener = recorded, listener

    def step(self, clock: Clock | None = None) -> StepInfo:
        """One step, read or computed."""
        clock = clock or Clock(self.progress.seconds)
        if self._recorded is not None and self.progress.step < self._recorded.step:
            return self._read_step(clock, self._recorded)
        info = super().step(clock)
        if self._listener is not None:
            with clock.paused():
                self._listener(info, self)
        return info

    def _read_step(self, clock: Clock, recorded: Progress) -> StepInfo:
        progress, info = self.progress, recorded.history[self.progress.step]
        progress.step, progress.passes, progress.seconds = info.step, info.passes, info.seconds
        progress.history.append(info)
        self._is_best(info.log_likelihood if self.validation is None else info.validation, info.step)
        # Parameters are known where the record ends, and the best ones from the step on that found them.
        if progress.best_step == recorded.best_step:
            progress.best = recorded.best
        if info.step == recorded.step:
            progress.params, progress.generator = recorded.params, recorded.generator
            progress.writing_rate, progress.transition_rate = recorded.writing_rate, recorded.transition_rate
            progress.coherence, progress.memory = recorded.coherence, recorded.memory
            self.generator.bit_generator.state = recorded.generator
            self._forget_passes()
        clock.__init__(info.seconds)  # type: ignore[misc]
        return info

    def _begin_step(self) -> Forward:
        fresh = self._current is None
        current = super()._begin_step()
        if fresh and not self._batched and not self._noisy and self.progress.history:
            # The same number from another sum may differ in its last bit, and a step be accepted that was not.
            current = replace(current, log_likelihood=self.progress.history[-1].log_likelihood)
            self._current = current
        return current
