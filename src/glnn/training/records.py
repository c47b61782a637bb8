"""What is known of a training: the record of each step, and where it stands, which is all that a resumed run needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from glnn.metrics import TransitionStep
from glnn.models import Params
from glnn.training.learning_rate import Outcome


@dataclass(frozen=True)
class StepInfo:
    """The record of one step, that is one update of w and one of the transitions."""

    step: int
    log_likelihood: float
    """Of the training data (or batch) after the step, natural logarithm."""
    validation: float | None
    """Regularised log-likelihood of the validation data, natural logarithm; None where it was not scored."""
    writing_rate: float
    transition_rate: float
    """The rates that were used (0: the group rested)."""
    writing_rejected: int
    transition_rejected: int
    writing_size: float
    transition_size: float
    """Euclidean length of the accepted changes."""
    conditioning: float
    retries: int
    quasi_diagonal: int
    resting: int
    """Worst conditioning, blocks damped again, blocks that took their quasi-diagonal form, blocks that rested."""
    passes: int
    """Accepted updates so far."""
    seconds: float
    """CPU seconds of training so far."""
    coherence: float = 1.0
    """The largest quotient by which a unit's step was shortened."""
    notes: tuple[str, ...] = ()


class Update(NamedTuple):
    """How the proposal for one group of parameters fared."""

    outcome: Outcome
    proposed: float
    """Euclidean length of the proposed direction."""

    @property
    def size(self) -> float:
        """Euclidean length of the change."""
        return self.outcome.used * self.proposed


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
        """Go on to where a step has led: its record, parameters, next rates, and what its direction remembers."""
        self.params, self.step, self.passes, self.seconds = params, info.step, info.passes, info.seconds
        self.writing_rate, self.transition_rate = writing_rate, transition_rate
        if remembered is not None:
            self.coherence = remembered
        self.history.append(info)


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
        writing_size=writing.size,
        transition_size=transition.size,
        conditioning=found.conditioning,
        retries=found.retries,
        quasi_diagonal=found.quasi_diagonal,
        resting=found.resting,
        passes=before.passes + (writing.outcome.used > 0) + (transition.outcome.used > 0),
        seconds=seconds,
        coherence=1.0 if found.remembered is None else float(found.remembered.max()),
        notes=tuple(notes),
    )
