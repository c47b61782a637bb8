"""How networks are fitted: build them, compile, let teams or random starts compete for the budget.

Knows codes and networks only; what the user gave and gets is the business of the estimators.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from glnn.network import random_graph
from glnn.progress import Display
from glnn.sequences import Encoded, TrainingData
from glnn.training import all_data, folds, short
from glnn.training.budget import Budget
from glnn.training.cluster import on_cluster
from glnn.training.compiling import beginning, compiling, wait_for_beside
from glnn.training.heats import Team, compete, turn_of
from glnn.training.observer import Observer, closing, fraction_spent, line_of_step, opening
from glnn.training.plan import (
    Plan,
    for_long_data,
    in_turns,
    is_short,
    judged_by,
    members_of,
    reads_long_data_alone,
    where_looks_are_dear,
    where_time_is_enough,
)
from glnn.training.quasi_newton import QuasiNewtonTrainer
from glnn.training.race import Run, Together, Training, race, seeds, side_by_side
from glnn.training.records import Replay, StepInfo, furthest
from glnn.training.settings import Settings
from glnn.training.sizes import (
    LEAST_RIVAL_STEPS,
    Size,
    bearable,
    choose_size,
    rival_size,
    sizes_for_chunks,
    starts_for_chunks,
)
from glnn.training.trainer import Callback, Trainer
from glnn.training.validation import Validation

RIVAL_PART, RIVALS_IN_HEAT, RIVAL_MEMBERS = 0.15, 4, 5
"""Of batch training: a start's part of a turn in the heat, how many are in it, how many predict together in the end.

Of networks that count, some fail on a line longer than any they have seen, and each on another: several are safe."""
RIVAL_NEAR = 1.1
"""Members of theirs cost at most so many times what the best one does."""
RIVAL_WEIGHT = 0.3
"""And its share where it races with the others for one budget."""
LEAST_FOR_SIZES = 4
"""Members without whom there is no time to try several sizes."""


def train(
    plan: Plan,
    parts: TrainingData,
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
    plan = where_time_is_enough(where_looks_are_dear(for_long_data(plan, data.codes.size), data.codes.size))
    judged, alone = judged_by(plan, parts), reads_long_data_alone(plan, data.codes.size)
    whole, refit = plan.budget, plan.refit and all_data.teaches(parts, plan.budget, few=alone)
    if refit:
        # All of them learn from all data then.
        plan = replace(plan, folds=False, budget=all_data.before(whole), sizes_for=plan.sizes_for or whole)
    several = members_of(plan, data.codes.size) > 1
    if several:
        # Several train side by side instead, each on one thread.
        plan = replace(plan, settings=replace(plan.settings, threads=1))
    teams = make_teams(plan, parts)
    runs = [run for team in teams for run in team.runs]
    members, near = [team.members for team in teams], [team.near for team in teams]
    read = short.READ_OF_LONG if alone else short.most_read(plan.sizes_for or plan.budget) if is_short(plan) else None
    training = Training(runs, teams[0].size, parts, members, finish, near, judged, read)
    if display.verbose:
        display.say(opening(plan.name, *teams[0].size, whole, parts))
    with compiling(display):
        wait_for_beside()
        for team in teams:
            if team is teams[0] or team.halving:
                _warm_up(team.runs[0], plan, data)
    if observer is not None:
        observer.begin(training)

    # Where networks train side by side, an observer must find none of them between two states.
    changing = threading.RLock()

    def given_to(run: Run) -> tuple[Callable[..., Trainer], tuple[Any, ...]]:
        kind, settings = run.trainer or plan.trainer, run.settings or plan.settings
        own = run.data or (data if run.own is None else run.own.train)
        return kind, (run.model, own, run.params, settings, run.validation, run.seed, run.progress)

    def trainer(run: Run) -> Trainer:
        kind, given = given_to(run)
        made = kind(*given)
        made.most_seconds = plan.budget.seconds
        if observer is not None and run.data is None:
            made.recorder = Replay(observer.recorded(run), partial(observer.step, run), changing)
        return made

    def listen(run: Run, info: StepInfo, source: Trainer) -> bool:
        if display.verbose:
            text = line_of_step(run, info, runs, parts) if run.data is None else "going on over all data"
            display.update(fraction_spent(whole, training), text)
        return any([callback(info, source) for callback in callbacks])

    def told(run: Run, info: StepInfo, source: Trainer) -> None:
        if observer is not None and run.data is None:
            observer.step(run, info, source)

    together: Together | None = None
    if cluster is not None:
        together = on_cluster(cluster, given_to, None if observer is None else told)
    elif plan.cores > 1 and (several or (plan.settings.threads == 1 and plan.budget.seconds is not None)):
        # Steps are counted: who has the last one must not depend on who is ready first.
        together = partial(side_by_side, threads=plan.cores)
    try:
        if in_turns(plan, data.codes.size):
            more = all_data.left_for_batches(whole) if refit else 0.0
            best = compete(teams, plan.budget, trainer, listen, together, more, 1 if together is None else plan.cores)
        else:
            best = race(runs, plan.budget, trainer, listen, teams[0].members, together)
        if refit:
            all_data.go_on(training, whole, trainer, listen, together)
    finally:
        display.close()
        if observer is not None:
            for run in runs:
                run.progress = furthest(run.progress, observer.recorded(run))
    if display.verbose:
        display.say(closing(best, runs, len(training.kept())))
    return training


def make_teams(plan: Plan, parts: TrainingData) -> list[Team]:
    """Everything that may be trained, the most likely team first; most of it is never begun."""
    symbols, kinds = parts.train.codes.size, len(parts.train.alphabet)
    members = members_of(plan, symbols)
    if in_turns(plan, symbols):
        # Some end early, and leave time for others.
        spare = members // 2 if plan.members == plan.restarts == "auto" else 0
        sizes = sizes_for_chunks(plan.units, plan.degree, members + spare, kinds, plan.gated, plan.full)
        if isinstance(plan.members, str):
            sizes = [bearable(size, kinds, plan.gated) for size in sizes]
        # Without validation, nothing says which size is better.
        sizes = sizes if parts.validation is not None and members >= LEAST_FOR_SIZES else sizes[:1]
    else:
        size = _one_size(plan, parts.train)
        sizes = [size._replace(restarts=max(size.restarts, members))]
    several = plan.folds and in_turns(plan, symbols) and members > 1
    others = [judged_by(plan, one) for one in folds.elsewhere(parts)] if several else []
    parts = judged_by(plan, parts)
    teams = []
    for size in sizes:
        runs = [
            _start(plan, size, parts, seed, own=folds.of_member(others, k) if others else None)
            for k, seed in enumerate(seeds(plan.seed, size.restarts))
        ]
        of_these = len(runs) if in_turns(plan, symbols) else min(members, len(runs))
        teams.append(Team(runs, size, of_these, planned=min(members, of_these)))
    if plan.rival is not None and parts.validation is not None:
        rivals = _rivals(plan, parts, turn_of(plan.budget, teams), teams[0].planned)
        teams += [] if rivals is None else [rivals]
    for number, team in enumerate(teams):
        for run in team.runs:
            run.team = number
    return teams


def _one_size(plan: Plan, data: Encoded) -> Size:
    budget = plan.sizes_for or plan.budget
    if plan.settings.training == "stochastic":
        starts = plan.restarts if isinstance(plan.restarts, int) else starts_for_chunks(budget, data.codes.size)
        return sizes_for_chunks(plan.units, plan.degree, starts, len(data.alphabet), plan.gated, plan.full)[0]
    asked = (plan.units, plan.degree, plan.restarts)
    return choose_size(*asked, data.codes.size, len(data.alphabet), budget, plan.cost)


def _start(
    plan: Plan,
    size: Size,
    parts: TrainingData,
    seed: int,
    settings: Settings | None = None,
    own: TrainingData | None = None,
) -> Run:
    generator = np.random.default_rng(seed)
    parts = own or parts
    data = parts.train
    model = plan.build(random_graph(size.units, size.degree, generator), len(data.alphabet))
    counts = np.bincount(data.codes, minlength=len(data.alphabet)).astype(float)
    predicted = np.bincount(data.codes[data.mask], minlength=len(data.alphabet)).astype(float)
    validation = None
    if parts.validation is not None:
        validation = Validation(model, parts.validation, parts.continues, plan.settings.threads)
    settings = settings or plan.settings
    initial = model.initial_for_chunks if settings.training == "stochastic" else model.initial
    return Run(seed, model, initial(predicted, counts, generator), validation, settings=settings, own=own)


def _rivals(plan: Plan, parts: TrainingData, turn: float, planned: int) -> Team | None:
    """Small networks that are trained on all data at once, for where noise and short chunks hide what is to be learned.

    Most starts find nothing, so many race. None where data are too many for them to get anywhere.
    """
    data, hurry = parts.train, is_short(plan)
    asked = (plan.units, plan.degree, data.codes.size, len(data.alphabet))
    of_each = planned * short.RIVAL_PART if hurry else RIVAL_PART
    heats = short.RIVALS_IN_HEAT if hurry else {RIVALS_IN_HEAT: LEAST_RIVAL_STEPS}
    for in_heat, steps in heats.items():
        part = of_each * RIVALS_IN_HEAT / in_heat
        size = rival_size(*asked, part * turn / plan.cost, steps)
        if size is not None:
            break
    else:
        return None
    turns = in_turns(plan, data.codes.size)
    runs = []
    for seed in seeds(plan.seed, 1 + (size.restarts if turns else in_heat))[1:]:
        run = _start(plan, size, parts, seed, plan.rival)
        run.trainer, run.weight = QuasiNewtonTrainer, part if turns else RIVAL_WEIGHT
        runs.append(run)
    members = RIVAL_MEMBERS if turns and isinstance(plan.members, str) else members_of(plan, data.codes.size)
    return Team(runs, size, members, halving=True, in_heat=in_heat, near=RIVAL_NEAR)


def _warm_up(run: Run, plan: Plan, data: Encoded) -> None:
    """Two steps on the first few symbols compile everything that training and validating call."""
    few, settings, kind = beginning(data), run.settings or plan.settings, run.trainer or plan.trainer
    if not data.mask.all():
        # Where positions are masked, other kernels are called.
        few = replace(few, mask=np.arange(few.codes.size) > 0)
    validation = Validation(run.model, few, threads=settings.threads)
    trainer = kind(run.model, few, run.params, replace(settings, batch_size=None), validation)
    if trainer.run(Budget(steps=2)).reason == "interrupted":
        # There is no model to keep yet.
        raise KeyboardInterrupt
