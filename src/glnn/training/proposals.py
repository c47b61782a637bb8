"""A step is proposed, and accepted or not: directions by a training method, and how far to go along them.

Whoever has the methods of `Proposer`, or the call of `Acceptance`, can stand in. The paper's acceptance (Section 2): a
step that lowers the likelihood is halved and tried again; a success multiplies the rate by 1.1. The direction is kept,
so only the trial is computed again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np

from glnn.metrics import Scales, TransitionMethod, TransitionStep, WritingDirection, hessian_damping
from glnn.models import Params
from glnn.training.engine import Engine
from glnn.training.records import Outcome, Progress
from glnn.training.results import Forward

Trial = TypeVar("Trial")

GROWTH = 1.1
SHRINKAGE = 0.5
MOST_HALVINGS = 60


class Acceptance(Protocol):
    """One way to decide how far to go along a proposed direction.

    `attempt(rate)` gives the log-likelihood there and anything that goes with it. Returned are how it ended, the
    log-likelihood reached, and what went with the accepted trial; None when nothing was accepted. When something is,
    it must be the last attempt: earlier ones have given their arrays away.
    """

    def __call__(
        self, rate: float, log_likelihood: float, attempt: Callable[[float], tuple[float, Trial]]
    ) -> tuple[Outcome, float, Trial | None]:
        """Search from `rate` on, where `log_likelihood` is that of standing still."""
        ...


def always(
    rate: float, log_likelihood: float, attempt: Callable[[float], tuple[float, Trial]]
) -> tuple[Outcome, float, Trial | None]:
    """Take the step at its rate, better or not, and keep the rate; only a trial that is not finite is left out."""
    value, trial = attempt(rate)
    if value > -np.inf:
        return Outcome(rate, rate, 0), value, trial
    return Outcome(rate, 0.0, 1), log_likelihood, None


def climb(
    rate: float, log_likelihood: float, attempt: Callable[[float], tuple[float, Trial]]
) -> tuple[Outcome, float, Trial | None]:
    """Try the step at `rate`, then at half of it, and so on, until the log-likelihood does not fall.

    `attempt(rate)` gives the log-likelihood there and anything that goes with it. After 60 halvings the group rests:
    nothing is accepted and the rate stays as it was, since the next direction may be a better one. It rests too when
    halving ends in a step so small that the likelihood is the same to the last bit: accepted, such a step would leave
    a rate from which it takes hundreds of steps to recover. As the first trial it is accepted, and the rate grows.
    """
    trial_rate = rate
    for rejected in range(MOST_HALVINGS + 1):
        value, trial = attempt(trial_rate)
        if value > log_likelihood or (value == log_likelihood > -np.inf and rejected == 0):
            return Outcome(trial_rate * GROWTH, trial_rate, rejected), value, trial
        if value == log_likelihood > -np.inf:
            break
        trial_rate *= SHRINKAGE
    return Outcome(rate, 0.0, rejected + 1), log_likelihood, None


@dataclass(frozen=True)
class WritingProposal:
    """A direction for the writing weights."""

    direction: np.ndarray

    def at(self, rate: float, params: Params) -> Params:
        """The parameters at a rate."""
        return params.replace(w=params.w + rate * self.direction)


@dataclass(frozen=True)
class TransitionProposal:
    """A direction for the transitions and the start values, and how it was found."""

    found: TransitionStep
    notes: list[str] = field(default_factory=list)

    def at(self, rate: float, params: Params) -> Params:
        """The parameters at a rate."""
        return params.replace(theta=params.theta + rate * self.found.step, V0=params.V0 + rate * self.found.start)


class Proposer(Protocol):
    """Whoever proposes the two updates of a step."""

    @property
    def method(self) -> TransitionMethod:
        """The method whose evidence `transition` wants."""
        ...

    def writing(self, engine: Engine, current: Forward) -> WritingProposal:
        """A direction for the writing weights at the current pass."""
        ...

    def transition(self, engine: Engine, current: Forward, evidence: Any, progress: Progress) -> TransitionProposal:
        """A direction for transitions and start values; `evidence` as `Engine.derivatives` takes it."""
        ...


@dataclass(frozen=True)
class DataPasses:
    """Passes over the data of an engine, for directions that ask for some."""

    engine: Engine
    params: Params
    step: int = 0
    remembered: np.ndarray | None = None

    @property
    def weights(self) -> np.ndarray:
        """The weight of each predicted position."""
        return np.concatenate([stretch.weight for stretch in self.engine.corpus.stretches])

    def log_likelihoods(self, step: np.ndarray | None = None, start: np.ndarray | None = None) -> np.ndarray:
        """log π_t(x_t) at every predicted position, with transitions and start values moved by so much."""
        params = self.params
        if step is not None:
            params = params.replace(theta=params.theta + step)
        if start is not None:
            params = params.replace(V0=params.V0 + start)
        return self.engine.log_likelihoods(params)


@dataclass(frozen=True)
class MetricProposer:
    """The directions of a training method and of a writing method, with damping ε."""

    method: TransitionMethod
    writing_direction: WritingDirection
    damping: float

    def writing(self, engine: Engine, current: Forward) -> WritingProposal:
        """From W, h_ii and h_0i; what is not finite stays where it is."""
        statistics = engine.writing_statistics(current)
        direction = self.writing_direction(*statistics, hessian_damping(engine.corpus.counts))
        return WritingProposal(np.where(np.isfinite(direction), direction, 0.0))

    def transition(self, engine: Engine, current: Forward, evidence: Any, progress: Progress) -> TransitionProposal:
        """From G and M̃; what is not finite stays where it is."""
        derivatives = engine.derivatives(current, self.method, evidence)
        corpus, passes = engine.corpus, DataPasses(engine, current.params, progress.step, progress.coherence)
        scales = Scales(self.damping, corpus.frequencies, corpus.length, passes)
        found = self.method.direction(derivatives.statistics, engine.layout, scales).finite()
        return TransitionProposal(found, [] if derivatives.failure is None else [str(derivatives.failure)])
