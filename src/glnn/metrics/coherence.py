"""How far the effects of a unit add up over time, which the metrics leave out, and steps shortened by that.

M̃ sums squares over time, as if a parameter's effects at different times had nothing to do with each other. In a unit
that remembers they add up: its step δ changes the data by Σ_t (∂_δ log π_t)², the Fisher length of δ, where the metric
expects δᵀ(M̃ + ε)δ = G·δ. The quotient is about the number of times that act together, 1 for a unit without memory and
tens of thousands for one that integrates over a long time; with one learning rate for all, the longest memory decides
how little each unit may move. Here each unit's step is divided by its own quotient. Both lengths are free of
coordinates, so what was invariant stays so.

Not in the paper: a direction on top of another one. A measurement takes a pass over the data for each unit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from glnn.metrics.statistics import Layout, Statistics
from glnn.metrics.transition import Direction, Passes, Scales, TransitionMethod, TransitionStep

# Length of the trial steps of the finite differences: above rounding, below where likelihoods bend.
_LENGTH = 1e-7


@dataclass(frozen=True)
class Coherent:
    """The steps of another direction, each unit's divided by its quotient, which is measured every few steps."""

    inner: Direction
    every: int

    @property
    def invariant(self) -> bool:
        """As the inner direction."""
        return self.inner.invariant

    def __call__(self, statistics: Statistics, layout: Layout, scales: Scales) -> TransitionStep:
        """The inner step, shortened."""
        found = self.inner(statistics, layout, scales).finite()
        divisors = self._divisors(found, statistics, layout, scales)
        return shortened(found, divisors, layout)

    def dense(self, statistics: Statistics, layout: Layout, scales: Scales) -> np.ndarray:
        """The inner metric, each unit's part multiplied by its quotient."""
        found = self.inner(statistics, layout, scales).finite()
        divisors = self._divisors(found, statistics, layout, scales)
        of_each = np.concatenate([divisors[layout.unit_of], np.full(statistics.start_gradient.size, divisors[-1])])
        return self.inner.dense(statistics, layout, scales) * of_each

    def _divisors(self, found: TransitionStep, statistics: Statistics, layout: Layout, scales: Scales) -> np.ndarray:
        """The quotients of all units, remembered or measured; no step becomes longer than the metric makes it."""
        passes = scales.passes
        if passes is None:
            raise ValueError("how far effects add up is measured on the data: give scales that have passes over them")
        known = passes.remembered
        if known is not None and passes.step % self.every and len(known) == layout.units + 1:
            return known
        return np.maximum(1.0, quotients(passes, statistics, layout, found))


def coherent(method: TransitionMethod, every: int) -> TransitionMethod:
    """A method whose steps are shortened; measured every few steps."""
    return replace(method, direction=Coherent(method.direction, every))


def quotients(passes: Passes, statistics: Statistics, layout: Layout, found: TransitionStep) -> np.ndarray:
    """The quotient of each unit, 1 where there is no step; the last one is that of the start values."""
    units, weights = layout.units, passes.weights
    before = passes.log_likelihoods()
    quotients = np.ones(units + 1)
    for group in range(units + 1):
        step = np.where(layout.unit_of == group, found.step, 0.0)
        start = found.start if group == units else np.zeros_like(found.start)
        expected = statistics.gradient @ step + statistics.start_gradient @ start
        length = float(np.hypot(np.linalg.norm(step), np.linalg.norm(start)))
        if not expected > 0.0 or not np.isfinite(length):
            continue
        h = _LENGTH / length
        slopes = (passes.log_likelihoods(h * step, h * start) - before) / h
        quotient = float(weights @ slopes**2) / expected
        if np.isfinite(quotient):
            quotients[group] = quotient
    return quotients


def shortened(found: TransitionStep, divisors: np.ndarray, layout: Layout) -> TransitionStep:
    """Each unit's step, and that of the start values, divided by its quotient, which is remembered."""
    step, start = found.step / divisors[layout.unit_of], found.start / divisors[-1]
    return found._replace(step=step, start=start, remembered=divisors)
