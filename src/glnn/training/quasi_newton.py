"""Batch training that remembers how gradients change: quasi-Newton steps (L-BFGS) that begin from the paper's metric.

One step for all parameters x = (w, θ, V⁰). With pairs s = x' − x, y = g − g' of the last steps, the two-loop recursion
turns the gradient into a direction; where it asks for a first guess of the inverse Hessian it gets γ M⁻¹, M the metric
at the current point and γ = s·y / y·M⁻¹y. Where a unit's effects add up over thousands of symbols, as when it counts,
M alone allows only tiny rates for all units; the pairs tell these directions apart. The paper's steps come first: they
find out what to count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from glnn.metrics import Scales, Statistics, TransitionStep, hessian_damping
from glnn.models import Params
from glnn.output.softmax import WritingStatistics
from glnn.training.budget import Clock
from glnn.training.proposals import SHRINKAGE, MetricProposer
from glnn.training.records import Outcome, StepInfo, Update
from glnn.training.results import Forward
from glnn.training.trainer import Trainer

FIRST_STEPS = 60
"""So many steps of the paper's come first."""
PAIRS = 30
_MOST_HALVINGS = 20
_ENOUGH = 1e-4
"""What part of the promised gain a step must bring."""
_LEAST_CURVATURE = 1e-10

Pairs = tuple[np.ndarray, np.ndarray]


class QuasiNewtonTrainer(Trainer):
    """Used like `Trainer`, for one batch of all data without noise; what it remembers is in `progress.memory`."""

    first_steps = FIRST_STEPS
    """At which step the paper's steps end."""

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def step(self, clock: Clock | None = None) -> StepInfo:
        """One step of all parameters; one of the paper's at first, and where no direction leads up."""
        clock = clock or Clock(self.progress.seconds)
        plain = self._batched or self._noisy or not isinstance(self.proposer, MetricProposer)
        if plain or self.progress.step < self.first_steps:
            return super().step(clock)
        current = self._begin_step()
        engine, progress = self._engine, self.progress
        writing, sums = engine.writing_statistics(current), engine.derivatives(current, self.proposer.method).statistics
        gradient = _flat(writing.gradient, sums.gradient, sums.start_gradient)
        if current.failure is not None or not np.isfinite(gradient).all():
            return super().step(clock)
        point = _flat(current.params.w, current.params.theta, current.params.V0)
        pairs = _remembered(progress.memory, point, gradient)
        found = TransitionStep(np.empty(0), np.empty(0))

        def inverse(q: np.ndarray) -> np.ndarray:
            nonlocal found
            direction, found = self._by_metric(q, writing, sums)
            return direction

        if len(pairs[0]):
            direction = two_loops(gradient, pairs, inverse)
        else:
            # Nothing is known of the curvature yet: as far as the paper's rates go.
            w, theta, V0 = _parts(inverse(gradient), current.params)
            direction = _flat(progress.writing_rate * w, *(progress.transition_rate * part for part in (theta, V0)))
        accepted, outcome = self._along(current, point, direction, float(gradient @ direction))
        # All pairs are forgotten after a direction that did not lead up.
        steps, changes = pairs if accepted is not None else (pairs[0][:0], pairs[1][:0])
        self._to_remember = {"point": point, "gradient": gradient, "steps": steps, "changes": changes}
        if accepted is None:
            return super().step(clock)
        self._current = accepted
        sizes = [float(np.linalg.norm(part)) for part in _parts(direction, current.params)]
        of_writing = Update(outcome._replace(rate=progress.writing_rate), sizes[0])
        of_transition = Update(outcome._replace(rate=progress.transition_rate), float(np.hypot(sizes[1], sizes[2])))
        return self._keep(accepted, (of_writing, of_transition), found, [], clock)

    def _by_metric(
        self, q: np.ndarray, writing: WritingStatistics, sums: Statistics
    ) -> tuple[np.ndarray, TransitionStep]:
        """M⁻¹ q, by the methods for w and for the transitions."""
        proposer, corpus = self.proposer, self._engine.corpus
        assert isinstance(proposer, MetricProposer)
        w, theta, V0 = _parts(q, self.progress.params)
        scales = Scales(proposer.damping, corpus.frequencies, corpus.length)
        asked = replace(sums, gradient=np.ascontiguousarray(theta), start_gradient=np.ascontiguousarray(V0))
        found = proposer.method.direction(asked, self._engine.layout, scales).finite()
        of_w = proposer.writing_direction(w, writing.diagonal, writing.cross, hessian_damping(corpus.counts))
        return _flat(np.where(np.isfinite(of_w), of_w, 0.0), found.step, found.start), found

    def _along(
        self, current: Forward, point: np.ndarray, direction: np.ndarray, slope: float
    ) -> tuple[Forward | None, Outcome]:
        """The pass at the first of 1, ½, ¼, … of the direction that brings enough; None where none does."""
        rate, spare = 1.0, self._spare
        if not np.isfinite(direction).all() or not slope > 0.0:
            return None, Outcome(0.0, 0.0, 0)
        for rejected in range(_MOST_HALVINGS):
            params = Params(*_parts(point + rate * direction, current.params))
            spare = self._engine.forward(params, reuse=spare)
            if spare.log_likelihood > current.log_likelihood + _ENOUGH * rate * slope:
                self._spare = current
                return spare, Outcome(0.0, rate, rejected)
            rate *= SHRINKAGE
        self._spare = spare
        return None, Outcome(0.0, 0.0, _MOST_HALVINGS)


def two_loops(gradient: np.ndarray, pairs: Pairs, inverse: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """The direction of L-BFGS from pairs (s, y), the latest last; `inverse` is the first guess, up to a factor."""
    steps, changes = pairs
    weights = 1.0 / np.einsum("kn,kn->k", steps, changes)
    q, alphas = gradient.copy(), np.empty(len(steps))
    for k in reversed(range(len(steps))):
        alphas[k] = weights[k] * (steps[k] @ q)
        q -= alphas[k] * changes[k]
    of_change = inverse(changes[-1])
    direction = (steps[-1] @ changes[-1]) / (changes[-1] @ of_change) * inverse(q)
    for k in range(len(steps)):
        direction += (alphas[k] - weights[k] * (changes[k] @ direction)) * steps[k]
    return direction


def _remembered(memory: dict[str, np.ndarray], point: np.ndarray, gradient: np.ndarray) -> Pairs:
    """The pairs, with that of the last step if the likelihood is concave along it."""
    if "point" not in memory:
        return np.empty((0, point.size)), np.empty((0, point.size))
    steps, changes = memory["steps"], memory["changes"]
    step, change = point - memory["point"], memory["gradient"] - gradient
    if step @ change > _LEAST_CURVATURE * np.linalg.norm(step) * np.linalg.norm(change):
        steps, changes = np.vstack([steps, step])[-PAIRS:], np.vstack([changes, change])[-PAIRS:]
    return steps, changes


def _flat(*parts: np.ndarray) -> np.ndarray:
    return np.concatenate([part.ravel() for part in parts])


def _parts(flat: np.ndarray, like: Params) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The parts of w, of the transitions and of the start values."""
    w, theta, V0 = np.split(flat, [like.w.size, like.w.size + like.theta.size])
    return w.reshape(like.w.shape), theta, V0
