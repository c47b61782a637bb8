"""What is known of a training: the record of each step, where it stands, and who keeps the record.

Where a training stands is all that a resumed run needs. One that is done again from its record (`Replay`) reads the
steps that are known and computes all others, to the same bits: whatever decides how a budget is shared among several
starts then decides it again from the same numbers, and need not be written down.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from glnn.metrics import TransitionStep
from glnn.models import Params
from glnn.training.budget import Clock

if TYPE_CHECKING:
    from glnn.training.trainer import Trainer


class Outcome(NamedTuple):
    """How a search for an acceptable step ended."""

    rate: float
    """The rate for the next step."""
    used: float
    """The rate of the accepted step, 0 when none was."""
    rejected: int


@dataclass(frozen=True)
class StepInfo:
    """The record of one step, that is one update of w and one of the transitions."""

    step: int
    """Number of the step, from 1."""
    log_likelihood: float
    """Of the training data (or batch) after the step, natural logarithm."""
    validation: float | None
    """Regularised log-likelihood of the validation data, natural logarithm; None where it was not scored."""
    writing_rate: float
    """The rate that was used for w; 0 when the group rested."""
    transition_rate: float
    """The rate that was used for the transitions; 0 when the group rested."""
    writing_rejected: int
    """Trials of w that were taken back."""
    transition_rejected: int
    """Trials of the transitions that were taken back."""
    writing_size: float
    """Euclidean length of the accepted change of w."""
    transition_size: float
    """Euclidean length of the accepted change of the transitions."""
    conditioning: float
    """The worst ratio of the largest to the smallest squared Cholesky pivot."""
    retries: int
    """How often a block was damped again."""
    quasi_diagonal: int
    """Blocks that took their quasi-diagonal form."""
    resting: int
    """Blocks that rested."""
    passes: int
    """Accepted updates so far."""
    seconds: float
    """CPU seconds of training so far."""
    coherence: float = 1.0
    """The largest factor by which a unit's step was shortened; 1 where that was not asked for."""
    notes: tuple[str, ...] = ()
    """What was not finite: which number, at which unit and time."""


class Update(NamedTuple):
    """How the proposal for one group of parameters fared."""

    outcome: Outcome
    proposed: float
    """Euclidean length of the proposed direction."""


@dataclass
class Progress:
    """Where training stands: everything that a resumed run needs."""

    params: Params
    writing_rate: float
    transition_rate: float
    best: Params
    best_score: float = -np.inf
    best_step: int = 0
    step: int = 0
    passes: int = 0
    seconds: float = 0.0
    generator: Any = None
    coherence: np.ndarray | None = None
    """By how much each unit's step is shortened, and at last that of the start values; None: not measured."""
    memory: dict[str, np.ndarray] = field(default_factory=dict)
    """What stochastic training remembers between its steps."""
    reason: str = ""
    history: list[StepInfo] = field(default_factory=list)

    def take(
        self,
        info: StepInfo,
        params: Params,
        writing_rate: float,
        transition_rate: float,
        remembered: np.ndarray | None = None,
    ) -> None:
        """Go on to where a step has led: parameters, next rates, and what its direction remembers."""
        self.params, self.step, self.passes, self.seconds = params, info.step, info.passes, info.seconds
        self.writing_rate, self.transition_rate = writing_rate, transition_rate
        if remembered is not None:
            self.coherence = remembered


def step_info(
    before: Progress,
    log_likelihood: float,
    updates: tuple[Update, Update],
    found: TransitionStep,
    seconds: float,
    notes: list[str],
) -> StepInfo:
    """The record of a step: the updates of w and of the transitions, and how the direction of the latter was found."""
    writing, transition = updates
    return StepInfo(
        step=before.step + 1,
        log_likelihood=log_likelihood,
        validation=None,
        writing_rate=writing.outcome.used,
        transition_rate=transition.outcome.used,
        writing_rejected=writing.outcome.rejected,
        transition_rejected=transition.outcome.rejected,
        writing_size=writing.outcome.used * writing.proposed,
        transition_size=transition.outcome.used * transition.proposed,
        conditioning=found.conditioning,
        retries=found.retries,
        quasi_diagonal=found.quasi_diagonal,
        resting=found.resting,
        passes=before.passes + (writing.outcome.used > 0) + (transition.outcome.used > 0),
        seconds=seconds,
        coherence=1.0 if found.remembered is None else float(found.remembered.max()),
        notes=tuple(notes),
    )


def furthest(progress: Progress | None, recorded: Progress | None) -> Progress | None:
    """Where a training stands; if it stopped in the middle of its record, as with another budget, the end of the
    record.

    Parameters are known there alone.
    """
    if recorded is None or recorded.step <= (0 if progress is None else progress.step):
        return progress
    return recorded


class Recorder:
    """Keeps the record of every step in `progress.history`; anything with these two methods can replace it."""

    changing: Any = nullcontext()
    """Held while a step changes `progress` and is kept: a lock, where a listener looks at several trainings."""
    exact = False
    """Whether a training that is taken up again must know the last likelihood to the bit, from the record."""

    def read(self, trainer: Trainer, clock: Clock) -> StepInfo | None:
        """The next step where it is known already: `trainer.progress` is then where it led. None: compute it."""
        return None

    def keep(self, info: StepInfo, trainer: Trainer) -> None:
        """Keep the record of a step that was computed and led to `trainer.progress`; not charged to the budget."""
        trainer.progress.history.append(info)


class Replay(Recorder):
    """Takes the steps of `recorded` from there, and reports those that are computed to `listener`."""

    exact = True

    def __init__(
        self,
        recorded: Progress | None = None,
        listener: Callable[[StepInfo, Trainer], Any] | None = None,
        changing: Any = None,
    ) -> None:
        self._recorded, self._listener = recorded, listener
        self.changing = changing or nullcontext()

    def read(self, trainer: Trainer, clock: Clock) -> StepInfo | None:
        """The next step of the record, None after its last."""
        recorded, progress = self._recorded, trainer.progress
        if recorded is None or progress.step >= recorded.step:
            return None
        info = recorded.history[progress.step]
        progress.step, progress.passes, progress.seconds = info.step, info.passes, info.seconds
        progress.history.append(info)
        trainer.note_score(info.log_likelihood if trainer.validation is None else info.validation, info.step)
        # Parameters are known where the record ends, and the best ones from the step on that found them.
        if progress.best_step == recorded.best_step:
            progress.best = recorded.best
        if info.step == recorded.step:
            progress.params, progress.generator = recorded.params, recorded.generator
            progress.writing_rate, progress.transition_rate = recorded.writing_rate, recorded.transition_rate
            progress.coherence, progress.memory = recorded.coherence, recorded.memory
            trainer.generator.bit_generator.state = recorded.generator
            trainer.forget_passes()
        clock.set(info.seconds)
        return info

    def keep(self, info: StepInfo, trainer: Trainer) -> None:
        """Keep it and tell the listener."""
        super().keep(info, trainer)
        if self._listener is not None:
            self._listener(info, trainer)
