"""How far the effects of a unit add up over time, which the metrics leave out, and steps shortened by that.

M̃ sums squares over time, as if a parameter's effects at different times had nothing to do with each other. In a unit
that remembers they add up: its step δ changes the data by Σ_t (∂_δ log π_t)², the Fisher length of δ, where the metric
expects δᵀ(M̃ + ε)δ = G·δ. The quotient is about the number of times that act together, 1 for a unit without memory and
ten thousands for one that integrates over a long time; with one learning rate for all, the longest memory decides how
little every unit may move. Here each unit's step is divided by its own quotient. Both lengths are free of coordinates,
so what was invariant stays so.

Not in the paper; an option of `Settings`. A measurement takes a forward pass for each unit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from glnn.metrics import Layout
from glnn.models import Params
from glnn.training.engine import Derivatives, Engine

# Length of the trial steps of the finite differences: above rounding, below where likelihoods bend.
_LENGTH = 1e-7


class Step(NamedTuple):
    """A proposed step of the transitions and of the start values."""

    transitions: np.ndarray
    start: np.ndarray

    def only(self, chosen: np.ndarray, start: bool) -> Step:
        """The step of some of the transitions, and of the start values or not."""
        return Step(np.where(chosen, self.transitions, 0.0), self.start if start else np.zeros_like(self.start))


def coherence(engine: Engine, params: Params, derivatives: Derivatives, step: Step) -> np.ndarray:
    """The quotient of each unit, 1 where there is no step; the last one is that of the start values."""
    unit_of = engine.layout.unit_of
    units = engine.layout.units
    weights = np.concatenate([stretch.weight for stretch in engine.corpus.stretches])
    before = engine.log_likelihoods(params)
    found = np.ones(units + 1)
    for group in range(units + 1):
        part = step.only(unit_of == group, group == units)
        expected = derivatives.statistics.gradient @ part.transitions + derivatives.start_gradient @ part.start
        length = float(np.hypot(np.linalg.norm(part.transitions), np.linalg.norm(part.start)))
        if not expected > 0.0 or not np.isfinite(length):
            continue
        h = _LENGTH / length
        moved = params.replace(theta=params.theta + h * part.transitions, V0=params.V0 + h * part.start)
        slopes = (engine.log_likelihoods(moved) - before) / h
        quotient = float(weights @ slopes**2) / expected
        if np.isfinite(quotient):
            found[group] = quotient
    return found


def shortened(step: Step, quotients: np.ndarray, layout: Layout) -> Step:
    """Each unit's step, and that of the start values, divided by its quotient."""
    return Step(step.transitions / quotients[layout.unit_of], step.start / quotients[-1])
