"""What a training says of itself: before the first step, after each, and at the end. Built only where it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from glnn.sequences import Encoded
from glnn.training.budget import Budget
from glnn.training.observer import Training
from glnn.training.race import Run
from glnn.training.records import StepInfo

if TYPE_CHECKING:
    from glnn.training.fitting import Split

_BITS = 1.0 / np.log(2.0)


def opening(name: str, units: int, degree: int, restarts: int, budget: Budget, parts: Split) -> str:
    """What is going to be trained, and on what."""
    starts = f", {restarts} random starts" if restarts > 1 else ""
    if parts.held_out:
        held = f"the last {parts.held_out:,} are held out for validation"
    else:
        held = "nothing validates" if parts.validation is None else "validation data are given"
    symbols = parts.train.codes.size + parts.held_out
    return (
        f"{name}: {units} units, {degree} edges from each{starts}, budget {budget}; "
        f"{symbols:,} symbols of {len(parts.train.alphabet)} kinds, {held}"
    )


def line_of_step(run: Run, info: StepInfo, runs: Sequence[Run], parts: Split) -> str:
    """Where a training stands after a step of one of its starts."""
    start = f"start {runs.index(run) + 1}/{len(runs)}, " if len(runs) > 1 else ""
    learned = _per_symbol(info.log_likelihood, parts.train)
    text = f"{start}step {info.step}, {sum(r.used('seconds') for r in runs):.0f} s, {learned:.4f} bits a symbol"
    if info.validation is not None and parts.validation is not None and run.progress is not None:
        now, best = (_per_symbol(value, parts.validation) for value in (info.validation, run.progress.best_score))
        text += f", validation {now:.4f} (best {best:.4f} at step {run.progress.best_step})"
    return text


def closing(best: Run, runs: Sequence[Run], members: int = 1) -> str:
    """Why the training ended, and what is kept."""
    assert best.progress is not None
    seconds = sum(run.used("seconds") for run in runs)
    text = f"stopped ({best.progress.reason or 'budget'}) after {seconds:.1f} CPU seconds; "
    text += f"kept step {best.progress.best_step} of {best.progress.step}"
    text += f" from start {runs.index(best) + 1} of {len(runs)}" if len(runs) > 1 else ""
    return text + (f" as the first of {members} members" if members > 1 else "")


def fraction_spent(budget: Budget, training: Training) -> float:
    """How much of the budget is spent."""
    return max(training.used(what) / limit for what, limit in vars(budget).items() if limit is not None)


def _per_symbol(log_likelihood: float, data: Encoded) -> float:
    return -log_likelihood * _BITS / max(int(data.mask.sum()), 1)
