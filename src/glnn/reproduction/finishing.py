"""Distant XOR beyond the paper: quasi-Newton steps from the moment on when a run has left chance.

A run that has left chance knows what to remember, but often creeps: one unit's effects add up over many lines, the
metric takes each time for itself, and the one rate of all units falls to what that unit allows (`experiments/
reproduction.md`). L-BFGS with the metric as its first guess learns from the last steps how far effects add up. At
chance it would fit the noise of the lines, so the paper's steps come first.
"""

from __future__ import annotations

import math

from glnn.training.quasi_newton import QuasiNewtonTrainer

LEFT = 0.95
"""A run has left chance when its training data need less than this part of the bits of tossing a coin."""


class Finishing(QuasiNewtonTrainer):
    """The paper's steps while at chance, quasi-Newton steps after it."""

    def ready(self) -> bool:
        """Whether the last step has left chance."""
        history = self.progress.history
        return bool(history) and history[-1].log_likelihood > -LEFT * math.log(2.0) * self.corpus.predicted
