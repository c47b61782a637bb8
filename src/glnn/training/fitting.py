"""How a network is fitted: hold data out, build the networks, compile, race the random starts.

Knows codes and networks only; what the user gave and gets is the business of the estimators.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from glnn.models import Model
from glnn.network import Graph, random_graph
from glnn.progress import Display
from glnn.sequences import Encoded
from glnn.training.budget import Budget
from glnn.training.cluster import on_cluster
from glnn.training.compiling import beginning, compiling
from glnn.training.observer import Observer, Training, closing, fraction_spent, line_of_step, opening
from glnn.training.race import Run, Together, race, seeds, side_by_side
from glnn.training.records import Replay, StepInfo
from glnn.training.settings import Settings
from glnn.training.sizes import Size, choose_size, size_for_chunks
from glnn.training.trainer import Callback, Trainer
from glnn.training.validation import Split, Validation

RIVAL_WEIGHT = 0.3
MOST_RIVALS = 4


@dataclass(frozen=True)
class Plan:
    """What to train and how: parameters that were checked; sizes may be "auto"."""

    name: str
    build: Callable[[Graph, int], Model]
    units: int | str
    degree: int | str
    restarts: int | str
    budget: Budget
    settings: Settings
    seed: int
    validation_fraction: float | str
    cost: float
    """CPU time of a step beside that of a GLNN of the same size."""
    members: int = 1
    """How many starts are trained to the end, to predict together."""
    sizes_for: Budget | None = None
    """The budget that sizes are chosen for; None for the same."""
    gated: bool = True
    """Whether each symbol has a matrix of its own."""
    trainer: Callable[..., Trainer] = Trainer
    """What trains one start, called like `Trainer`."""
    rival: Settings | None = None
    """Other settings, of batch training, that race against these with a smaller share of the budget."""


def train(
    plan: Plan,
    parts: Split,
    callbacks: Sequence[Callback],
    display: Display,
    finish: Callable[[Training], Any],
    observer: Observer | None = None,
    cluster: Any = None,
) -> Training:
    """Train within the budget; the budget is not charged for compiling, for validating and for the observer.

    On a `cluster`, a `distributed.Client`, the members train at the same time.
    """
    data = parts.train
    asked = (plan.units, plan.degree, plan.restarts)
    if plan.settings.training == "stochastic":
        size = size_for_chunks(*asked, len(data.alphabet), plan.gated, plan.sizes_for or plan.budget)
    else:
        size = choose_size(*asked, data.codes.size, len(data.alphabet), plan.sizes_for or plan.budget, plan.cost)
    size = size._replace(restarts=max(size.restarts, plan.members))
    # Several members train side by side instead, each on one thread.
    threads = plan.settings.threads if plan.members > 1 else 1
    if threads > 1:
        plan = replace(plan, settings=replace(plan.settings, threads=1))
    runs = [_start(plan, size, parts, seed) for seed in seeds(plan.seed, size.restarts)]
    if plan.rival is not None and parts.validation is not None:
        runs += _rivals(plan, parts)
    training = Training(runs, size, parts, finish)
    if display.verbose:
        display.say(opening(plan.name, *size, plan.budget, parts))
    with compiling(display):
        _warm_up(runs[0], plan.settings, plan.trainer, data)
        if runs[-1].trainer is not None:
            _warm_up(runs[-1], runs[-1].settings or plan.settings, runs[-1].trainer, data)
    if observer is not None:
        observer.begin(training)

    def given_to(run: Run) -> tuple[Callable[..., Trainer], tuple[Any, ...]]:
        kind, settings = run.trainer or plan.trainer, run.settings or plan.settings
        return kind, (run.model, data, run.params, settings, run.validation, run.seed, run.progress)

    def trainer(run: Run) -> Trainer:
        kind, given = given_to(run)
        made = kind(*given)
        if observer is not None:
            made.recorder = Replay(observer.recorded(run), partial(observer.step, run))
        return made

    def listen(run: Run, info: StepInfo, source: Trainer) -> bool:
        if display.verbose:
            display.update(fraction_spent(plan.budget, training), line_of_step(run, info, runs, parts))
        return any([callback(info, source) for callback in callbacks])

    together: Together | None = None
    if cluster is not None:
        together = on_cluster(cluster, given_to, None if observer is None else observer.step)
    elif threads > 1:
        together = partial(side_by_side, threads=threads)
    try:
        best = race(runs, plan.budget, trainer, listen, plan.members, together)
    finally:
        display.close()
    if display.verbose:
        display.say(closing(best, runs, plan.members))
    return training


def _start(plan: Plan, size: Size, parts: Split, seed: int, settings: Settings | None = None) -> Run:
    generator = np.random.default_rng(seed)
    data = parts.train
    model = plan.build(random_graph(size.units, size.degree, generator), len(data.alphabet))
    counts = np.bincount(data.codes, minlength=len(data.alphabet)).astype(float)
    predicted = np.bincount(data.codes[data.mask], minlength=len(data.alphabet)).astype(float)
    validation = None
    if parts.validation is not None:
        validation = Validation(model, parts.validation, parts.continues, plan.settings.threads)
    settings = settings or plan.settings
    initial = model.initial_for_chunks if settings.training == "stochastic" else model.initial
    return Run(seed, model, initial(predicted, counts, generator), validation, settings=settings)


def _rivals(plan: Plan, parts: Split) -> list[Run]:
    """Networks that are trained on all data at once: where noise and short chunks hide what is to be learned.

    As many and as large as they would be by themselves, but a few at the most; each gets a smaller share than others.
    """
    data = parts.train
    asked = (plan.units, plan.degree, "auto")
    size = choose_size(*asked, data.codes.size, len(data.alphabet), plan.sizes_for or plan.budget, plan.cost)
    rivals = []
    for seed in seeds(plan.seed, 1 + min(size.restarts, MOST_RIVALS))[1:]:
        run = _start(plan, size, parts, seed, plan.rival)
        run.trainer, run.weight = Trainer, RIVAL_WEIGHT
        rivals.append(run)
    return rivals


def _warm_up(run: Run, settings: Settings, kind: Callable[..., Trainer], data: Encoded) -> None:
    """Two steps on the first few symbols compile everything that training and validating call."""
    few = beginning(data)
    validation = Validation(run.model, few, threads=settings.threads)
    trainer = kind(run.model, few, run.params, replace(settings, batch_size=None), validation)
    if trainer.run(Budget(steps=2)).reason == "interrupted":
        # There is no model to keep yet.
        raise KeyboardInterrupt
