"""What a direction is: from the sums over time to a step of the transitions and of the start values.

It may depend on a few numbers of the data, and may ask for passes over the data at other parameters (`Passes`).
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from glnn.metrics.statistics import Layout, Statistics


class Passes(Protocol):
    """The data at the current parameters, for a direction that wants to look at more than the sums."""

    @property
    def step(self) -> int:
        """How many steps were made before this one."""
        ...

    @property
    def remembered(self) -> np.ndarray | None:
        """What the direction left in `TransitionStep.remembered` at the last step, also after a run is resumed."""
        ...

    @property
    def weights(self) -> np.ndarray:
        """The weight of each predicted position."""
        ...

    def log_likelihoods(self, step: np.ndarray | None = None, start: np.ndarray | None = None) -> np.ndarray:
        """log π_t(x_t) at every predicted position, with transitions and start values moved by so much."""
        ...


class Scales(NamedTuple):
    """What directions depend on besides the sums: numbers of the data and the settings, and passes over the data."""

    damping: float
    frequencies: np.ndarray
    """Fraction n_y / T of each symbol in the training data."""
    length: int
    """Number T of positions."""
    passes: Passes | None = None
    """None where there is no data to go back to."""


class TransitionStep(NamedTuple):
    """A direction for the transition parameters and the start values, with a record of how it was found."""

    step: np.ndarray
    start: np.ndarray
    conditioning: float = 1.0
    retries: int = 0
    quasi_diagonal: int = 0
    resting: int = 0
    remembered: np.ndarray | None = None
    """What the direction wants to get back at the next step."""

    def finite(self) -> TransitionStep:
        """The same, with 0 for what is not finite."""
        step, start = (np.where(np.isfinite(part), part, 0.0) for part in (self.step, self.start))
        return self._replace(step=step, start=start)


class Direction(Protocol):
    """One way to make a step of the sums."""

    @property
    def invariant(self) -> bool:
        """Whether it claims not to depend on how activities are written down."""
        ...

    def __call__(self, statistics: Statistics, layout: Layout, scales: Scales) -> TransitionStep:
        """The step δ of the transitions, flat as G is, and that of the start values."""
        ...

    def dense(self, statistics: Statistics, layout: Layout, scales: Scales) -> np.ndarray:
        """The metric as a matrix over (θ, V⁰): solved with their gradients it gives the step, where all are regular."""
        ...


def start_by_modulus(statistics: Statistics, scales: Scales) -> np.ndarray:
    """V⁰ in its own diagonal metric: B⁰ / (m⁰ + ε), 0 where that is 0."""
    numerator, denominator = statistics.start_gradient, statistics.start_modulus + scales.damping
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator != 0)
