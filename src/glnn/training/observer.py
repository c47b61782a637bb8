"""Who watches a training from outside: `fit(…, observer=…)`, for what must be shown or survive it.

Nothing that an observer does changes what is learned or is charged to the budget. It can also bring what an earlier
training did: the steps of such a record are read instead of computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from glnn.sequences import Encoded, TrainingData
from glnn.training.budget import Budget

if TYPE_CHECKING:
    from glnn.training.race import Run, Training
    from glnn.training.records import Progress, StepInfo
    from glnn.training.trainer import Trainer


class Observer:
    """Sees a training from inside; every method does nothing until it is overridden."""

    def begin(self, training: Training) -> None:
        """Before the first step of a network, when everything is compiled."""

    def ready(self) -> None:
        """The same of a model that does not train by such steps: trees, n-grams, mixtures, hidden Markov models."""

    def advance(self, part: float, text: str) -> None:
        """How much of the work of such a model is done, and what is known then."""

    def recorded(self, run: Run) -> Progress | None:
        """Where an earlier training of this start stood; None starts again."""

    def step(self, run: Run, info: StepInfo, trainer: Trainer) -> None:
        """After every step that was computed, not after those that were read from a record."""


_BITS = 1.0 / np.log(2.0)


def opening(name: str, units: int, degree: int, restarts: int, budget: Budget, parts: TrainingData) -> str:
    """What is going to be trained, and on what."""
    starts = f", up to {restarts} random starts" if restarts > 1 else ""
    if parts.held_out:
        held = f"the last {parts.held_out:,} are held out for validation"
    else:
        held = "nothing validates" if parts.validation is None else "validation data are given"
    symbols = parts.train.codes.size + parts.held_out
    return (
        f"{name}: {units} units, {degree} edges from each{starts}, budget {budget}; "
        f"{symbols:,} symbols of {len(parts.train.alphabet)} kinds, {held}"
    )


def line_of_step(run: Run, info: StepInfo, runs: Sequence[Run], parts: TrainingData) -> str:
    """Where a training stands after a step of one of its starts."""
    start = f"start {runs.index(run) + 1}, " if len(runs) > 1 else ""
    parts = run.own or parts
    learned = _per_symbol(info.log_likelihood, parts.train)
    text = f"{start}step {info.step}, {sum(r.used('seconds') for r in runs):.0f} s, {learned:.4f} bits per symbol"
    if info.validation is not None and parts.validation is not None and run.progress is not None:
        now, best = (_per_symbol(value, parts.validation) for value in (info.validation, run.progress.best_score))
        text += f", validation {now:.4f} (best {best:.4f} at step {run.progress.best_step})"
    return text


def closing(best: Run, runs: Sequence[Run], members: int = 1) -> str:
    """Why the training ended, and what is kept."""
    assert best.progress is not None
    seconds = sum(run.used("seconds") for run in runs)
    begun = sum(run.progress is not None for run in runs)
    text = f"stopped ({best.progress.reason or 'budget'}) after {seconds:.1f} CPU seconds; "
    text += f"kept step {best.progress.best_step} of {best.progress.step}"
    text += f" from start {runs.index(best) + 1}, of {begun} that were tried" if begun > 1 else ""
    return text + (f" as the first of {members} members" if members > 1 else "")


def fraction_spent(budget: Budget, training: Training) -> float:
    """How much of the budget is spent."""
    return max(training.used(what) / limit for what, limit in vars(budget).items() if limit is not None)


def _per_symbol(log_likelihood: float, data: Encoded) -> float:
    return -log_likelihood * _BITS / max(int(data.mask.sum()), 1)
