"""What a pass over the data finds, and where on its way a number stopped being finite."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from glnn.metrics import Statistics
from glnn.models import Params
from glnn.output import softmax
from glnn.training.corpus import Stretch


@dataclass(frozen=True)
class NotFinite:
    """A number that stopped being finite, and where."""

    what: str
    unit: int | None
    time: int

    def __str__(self) -> str:
        where = f"time {self.time}" if self.unit is None else f"unit {self.unit}, time {self.time}"
        return f"{self.what} is not finite at {where}"


@dataclass
class Forward:
    """The result of a forward pass. `traces[k]` is None where activities are to be computed again."""

    params: Params
    weights: Any
    checkpoints: np.ndarray
    traces: list[np.ndarray | None]
    state: np.ndarray
    log_likelihood: float
    failure: NotFinite | None = None
    writing: softmax.WritingStatistics | None = None
    """The statistics of w, where a pass had them at hand."""


class Rewritten(NamedTuple):
    """The data with other writing weights, and what the way back from there will want of the output."""

    log_likelihood: float
    evidence: Any
    """For `Engine.derivatives` at these weights; None where it has to be computed again."""


@dataclass(frozen=True)
class Derivatives:
    """The statistics of a backward pass."""

    statistics: Statistics
    failure: NotFinite | None = None

    @property
    def start_gradient(self) -> np.ndarray:
        """B⁰, summed over the sequences."""
        return self.statistics.start_gradient

    @property
    def start_modulus(self) -> np.ndarray:
        """m⁰, summed over the sequences."""
        return self.statistics.start_modulus


@dataclass(frozen=True)
class Sweep:
    """All that one pass over the data finds, forth and back, and the state after it."""

    log_likelihood: float
    writing: softmax.WritingStatistics
    transition: Statistics
    state: np.ndarray
    failure: NotFinite | None = None


def born_forwards(stretch: Stretch, trace: np.ndarray, state: np.ndarray) -> NotFinite:
    """Where an activity, or the output of finite activities, was first not finite."""
    bad = np.argwhere(~np.isfinite(trace))
    if len(bad):
        return NotFinite("the activity", int(bad[0, 1]), stretch.begin + int(bad[0, 0]))
    if not np.isfinite(state).all():
        return NotFinite("the activity", int(np.argmax(~np.isfinite(state))), stretch.end)
    return NotFinite("the output", None, stretch.begin + int(stretch.predicted[0]))


def born_backwards(
    what: str, stretch: Stretch, following: np.ndarray, start: np.ndarray, carry: np.ndarray
) -> NotFinite:
    """Where B or m̃ was first not finite on the way back; `following[t]` is its value at t + 1."""
    later, begun = np.argwhere(~np.isfinite(following)), np.argwhere(~np.isfinite(start))
    places = [(0, int(np.argmax(~np.isfinite(carry))))]
    if len(later):
        places.append((int(later[-1, 0]) + 1, int(later[-1, 1])))
    if len(begun):
        places.append((int(np.flatnonzero(stretch.first)[begun[-1, 0]]), int(begun[-1, 1])))
    time, unit = max(places)
    return NotFinite(what, unit, stretch.begin + time)
