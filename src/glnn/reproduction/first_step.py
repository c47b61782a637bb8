"""The first step of methods without a metric: at 1/N, halved until it neither lowers the likelihood nor saturates.

The paper begins all rates at 1/N, which suits steps that a metric has made of order 1. A plain gradient is a sum over
T symbols: at 1/N the first step of an RNN has a length of thousands, drives nearly all activities to ±1, and is
accepted, since it raises the likelihood all the same. Saturated units learn no more; so such a first step is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from glnn.training.engine import Forward
from glnn.training.proposals import Outcome, climb
from glnn.training.trainer import Trainer

SATURATED = 0.99
# The part of all activities that the first step may drive beyond that.
MOST = 0.01


def saturated_part(trainer: Trainer, current: Forward) -> float:
    """The part of all activities beyond ±0.99."""
    saturated = total = 0
    for _, trace in trainer.engine.walk(current):
        activities = trainer.model.activities(trace)
        saturated += int(np.count_nonzero(np.abs(activities) > SATURATED))
        total += activities.size
    return saturated / total


class NoSaturatingFirstStep:
    """The paper's acceptance, which refuses in addition a first step of the transitions that saturates."""

    def __init__(self, trainer: Trainer) -> None:
        self.trainer = trainer
        self.refused = 0
        self._before: float | None = saturated_part(trainer, trainer.engine.forward(trainer.progress.params))

    def __call__(
        self, rate: float, log_likelihood: float, attempt: Callable[[float], tuple[float, Any]]
    ) -> tuple[Outcome, float, Any]:
        """Climb; trials that saturate count as worse until a step of the transitions has been accepted."""
        accepted = False

        def unsaturated(rate: float) -> tuple[float, Any]:
            nonlocal accepted
            value, trial = attempt(rate)
            accepted = isinstance(trial, Forward) and value > log_likelihood
            if accepted and self._before is not None and saturated_part(self.trainer, trial) > self._before + MOST:
                self.refused += 1
                return -np.inf, trial
            return value, trial

        found = climb(rate, log_likelihood, unsaturated if self._before is not None else attempt)
        if accepted and found[0].used > 0:
            self._before = None
        return found
