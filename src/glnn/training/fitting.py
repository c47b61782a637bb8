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
from glnn.output.uniform import best_share
from glnn.progress import Display
from glnn.sequences import Encoded
from glnn.training.budget import Budget
from glnn.training.cluster_race import on_cluster
from glnn.training.compiling import compiling
from glnn.training.corpus import prepare, stretch_length
from glnn.training.engine import Engine
from glnn.training.narration import closing, fraction_spent, line_of_step, opening
from glnn.training.observer import Observer, Training
from glnn.training.parallel import single_threaded_blas
from glnn.training.race import Run, Together, race, seeds, side_by_side
from glnn.training.recorded import recorded_trainer
from glnn.training.records import StepInfo
from glnn.training.settings import Settings
from glnn.training.sizes import Size, choose_size, held_out_fraction, size_for_chunks
from glnn.training.trainer import Callback, Trainer
from glnn.training.validation import Validation, hold_out

RIVAL_WEIGHT = 0.3
MOST_RIVALS = 4
_WARM_UP = 64


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


@dataclass(frozen=True)
class Split:
    """Data for training and for validation; `continues` says that the second continues where the first ends."""

    train: Encoded
    validation: Encoded | None
    continues: bool
    held_out: int
    """How many symbols of the given data were held out."""


def split(data: Encoded, validation: Encoded | None, fraction: float | str) -> Split:
    """The given validation data, or the end of the data; nothing when there is too little to hold out."""
    if validation is not None or fraction == 0.0:
        return Split(data, validation, False, 0)
    if isinstance(fraction, str):
        fraction = held_out_fraction(data)
    try:
        train, tail, continues = hold_out(data, fraction)
    except ValueError:
        return Split(data, None, False, 0)
    return Split(train, tail, continues, tail.codes.size)


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
        if observer is None:
            return kind(*given)
        watched = recorded_trainer(kind)
        return watched(*given, recorded=observer.recorded(run), listener=partial(observer.step, run))

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


def share_of_uniform(training: Training) -> float:
    """The share that suits the validation data best; at least 1/(T + 2), where the paper's own ends after T symbols."""
    best, parts = training.best, training.split
    least = 1.0 / (parts.train.codes.size + 2.0)
    if best.validation is None or best.progress is None:
        return least
    params, state = best.progress.best, None
    with single_threaded_blas():
        if parts.continues:
            corpus = prepare(parts.train, stretch_length(best.model.units))
            state = Engine(best.model, corpus, memory=0).forward(params).state
        values = best.validation.log_likelihoods(params, state)
    return best_share(values, len(parts.train.alphabet), least)


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


def beginning(data: Encoded) -> Encoded:
    """The first few symbols, to compile with."""
    codes = data.codes[:_WARM_UP]
    return Encoded(codes, np.array([0, codes.size], np.int64), np.ones(codes.size, bool), data.alphabet)
