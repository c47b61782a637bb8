"""Proposals: a direction for one group of parameters, to be tried at some rate η, θ + η δ.

The paper's: the writing weights by a reduction of the softmax Hessian, transitions and start values by a training
method of `glnn.metrics`. Whoever has the two methods of `Proposer` can stand in.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from glnn.metrics import Scales, TransitionMethod, TransitionStep, WritingDirection, hessian_damping
from glnn.models import Params
from glnn.training.engine import Engine, Forward
from glnn.training.records import Progress


@dataclass(frozen=True)
class WritingProposal:
    """A direction for the writing weights."""

    direction: np.ndarray

    def at(self, rate: float, params: Params) -> Params:
        """The parameters at a rate."""
        return params.replace(w=params.w + rate * self.direction)

    @property
    def size(self) -> float:
        """Its Euclidean length."""
        return float(np.linalg.norm(self.direction))


@dataclass(frozen=True)
class TransitionProposal:
    """A direction for the transitions and the start values, and how it was found."""

    found: TransitionStep
    notes: list[str] = field(default_factory=list)

    def at(self, rate: float, params: Params) -> Params:
        """The parameters at a rate."""
        return params.replace(theta=params.theta + rate * self.found.step, V0=params.V0 + rate * self.found.start)

    @property
    def size(self) -> float:
        """Its Euclidean length."""
        return float(np.hypot(np.linalg.norm(self.found.step), np.linalg.norm(self.found.start)))


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
