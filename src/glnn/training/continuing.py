"""Networks that go on learning from more data, with the parameters and the rates that they have.

The transitions and writing weights of a new symbol begin as the mean over the known symbols, so that the network does
with it what it does on average.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from glnn.models import Model, Params
from glnn.sequences import TrainingData
from glnn.training.budget import Budget
from glnn.training.plan import Plan
from glnn.training.records import Progress
from glnn.training.settings import Settings
from glnn.training.trainer import Trainer
from glnn.training.validation import Validation

PATIENCE_WITH_MORE = 20
"""Steps without a better validation score after which training on more data ends, in recipe "best"."""
_ERRORS = 2.0


def with_mean(values: np.ndarray, at: int, new: int, axis: int) -> np.ndarray:
    """Values for each symbol along an axis, with those of new symbols, the mean over the known, put in at a place."""
    mean = np.repeat(values.mean(axis=axis, keepdims=True), new, axis=axis)
    before, after = np.split(values, [at], axis=axis)
    return np.concatenate([before, mean, after], axis=axis)


def trained_on(
    plan: Plan,
    settings: Settings,
    parts: TrainingData,
    networks: list[tuple[Model, Params]],
    history: list[dict[str, Any]],
) -> list[Progress]:
    """Train each network on, within its share of the budget; the parameters that validate best are kept."""
    writing, transition = (_last_rate(history, name) for name in ("writing_rate", "transition_rate"))
    found = []
    for model, params in networks:
        rate = 1.0 / model.units
        progress = Progress(params, writing or rate, transition or rate, best=params)
        validation = None
        if parts.validation is not None:
            validation = Validation(model, parts.validation, parts.continues, settings.threads)
        trainer = Trainer(model, parts.train, params, settings, validation, plan.seed, progress)
        found.append(trainer.run(_share(plan.budget, len(networks))))
    return found


def with_symbols(model: Model, params: Params, at: int, new: int) -> Params:
    """Parameters for `new` more symbols, whose codes begin at `at`."""
    signals, A = model.signals, model.alphabet_size
    if signals.symbols == "gate":
        theta = with_mean(params.theta.reshape(A, -1), at, new, axis=0).ravel()
    else:
        # Flat by unit: its signals, then a number for each symbol.
        sizes = np.diff(signals.ptr) + A
        units = np.split(params.theta, np.cumsum(sizes)[:-1])
        grown = [np.concatenate([unit[:-A], with_mean(unit[-A:], at, new, axis=0)]) for unit in units]
        theta = np.concatenate(grown)
    return params.replace(w=with_mean(params.w, at, new, axis=1), theta=theta)


def clearly_better(log_likelihoods: np.ndarray, others: np.ndarray) -> bool:
    """Whether the same symbols are likelier by more than two standard errors of the sum."""
    gains = log_likelihoods - others
    return bool(gains.sum() > _ERRORS * gains.std() * math.sqrt(gains.size))


def _last_rate(history: list[dict[str, Any]], name: str) -> float | None:
    """The last rate that a step was accepted at."""
    rates = [row[name] for row in history if row.get(name)]
    return float(rates[-1]) if rates and math.isfinite(rates[-1]) else None


def _share(budget: Budget, number: int) -> Budget:
    seconds = None if budget.seconds is None else budget.seconds / number
    return Budget(seconds, budget.steps, budget.passes)
