"""What is to be trained and how, and what follows from it for this much data: how many members, in turns or in a race.

Parameters were checked before; sizes may still be "auto".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from glnn.models import Model
from glnn.network import Graph
from glnn.sequences import TrainingData
from glnn.training import short
from glnn.training.budget import Budget
from glnn.training.settings import Settings
from glnn.training.sizes import MANY_UNITS, is_long, members_for
from glnn.training.trainer import Trainer


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
    """CPU time of a step relative to that of a GLNN of the same size."""
    members: int | str = 1
    """How many starts are trained to the end, to predict together; "auto" for as many as there is time for."""
    sizes_for: Budget | None = None
    """The budget that sizes are chosen for; None for the same."""
    cores: int = 1
    """Networks that are trained side by side."""
    gated: bool = True
    """Whether each symbol has a matrix of its own."""
    full: int = MANY_UNITS
    """Units in stochastic training where all symbols share a matrix."""
    full_of_long: int = 128
    """The same where data are long."""
    trainer: Callable[..., Trainer] = Trainer
    """What trains one start, called like `Trainer`."""
    folds: bool = False
    """Whether members hold out different parts of the data, where these were not given for it."""
    refit: bool = False
    """Whether the networks that are kept go on over training and validation data together at last."""
    rival: Settings | None = None
    """Other settings, of batch training, that race against these with a smaller share of the budget."""


def for_long_data(plan: Plan, symbols: int) -> Plan:
    """One larger network instead of several, where nothing else is asked for and data are long enough."""
    left_open = plan.units == plan.degree == plan.restarts == plan.members == "auto"
    if plan.gated or not left_open or plan.settings.training == "batch":
        return plan
    if not is_long(plan.sizes_for or plan.budget, symbols):
        return plan
    return replace(plan, units=plan.full_of_long, restarts=1, members=1)


def is_short(plan: Plan) -> bool:
    """Whether the budget is one of a few seconds."""
    return short.is_short(plan.settings, plan.sizes_for or plan.budget)


def reads_long_data_alone(plan: Plan, symbols: int) -> bool:
    """Whether one network has all the time, and much to read."""
    return plan.members == 1 and in_chunks(plan) and is_long(plan.sizes_for or plan.budget, symbols)


def where_looks_are_dear(plan: Plan, symbols: int) -> Plan:
    """Short budgets, and one large network on long data: looks are charged, and time is kept for choices."""
    if not (is_short(plan) or reads_long_data_alone(plan, symbols)):
        return plan
    rival = None if plan.rival is None else replace(plan.rival, all_counts=True)
    sizes_for, budget = plan.sizes_for or plan.budget, short.to_train(plan.budget)
    settings = replace(plan.settings, all_counts=True)
    return replace(plan, settings=settings, rival=rival, budget=budget, sizes_for=sizes_for)


def where_time_is_enough(plan: Plan) -> Plan:
    """Steps may be shorter within a budget of seconds that is not short; a number of steps has to do as it is."""
    if not in_chunks(plan) or is_short(plan):
        return plan
    return replace(plan, settings=replace(plan.settings, unhurried=True))


def judged_by(plan: Plan, parts: TrainingData) -> TrainingData:
    """The data with as much to validate on as there is time for."""
    if reads_long_data_alone(plan, parts.train.codes.size):
        return short.judged(parts, short.JUDGED_OF_LONG)
    return short.judged(parts, short.most_judged(plan.sizes_for or plan.budget)) if is_short(plan) else parts


def in_chunks(plan: Plan) -> bool:
    """Whether training is stochastic, for a budget of seconds."""
    return plan.settings.training == "stochastic" and plan.budget.seconds is not None


def members_of(plan: Plan, symbols: int) -> int:
    """How many networks predict together, at the most, where data have this many symbols."""
    if not isinstance(plan.members, str):
        return plan.members
    if plan.settings.training == "batch":
        return 1
    if isinstance(plan.restarts, int):
        found = plan.restarts
    else:
        found = members_for(plan.sizes_for or plan.budget, symbols, plan.gated)
    return found if plan.budget.seconds is not None else 1


def in_turns(plan: Plan, symbols: int) -> bool:
    """Whether teams compete in turns, for members that predict together; else random starts race for one budget."""
    return in_chunks(plan) and (members_of(plan, symbols) > 1 or (is_short(plan) and plan.rival is not None))
