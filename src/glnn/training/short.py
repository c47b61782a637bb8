"""Budgets of a few seconds: everything counts there, looks at validation data and what is chosen at last as well.

Longer trainings are charged for neither, as both are a small part of them. Here they would be half of it. So looks are
charged, they and all choices read no more validation data than there is time for, and a part of the budget is kept for
the choices. What is not read still teaches at last, where networks go on over all data. The same holds for one large
network on long data, whose looks are dear.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from glnn.sequences import Encoded, TrainingData
from glnn.training.budget import Budget
from glnn.training.settings import Settings
from glnn.training.sizes import SHORT

JUDGED, READ = 4000.0, 3000.0
"""For every second: symbols of validation data that are read, and of training data by those who look for a start."""
JUDGED_OF_LONG, READ_OF_LONG = 10_000, 15_000
"""The same for one large network on long data, whatever the time."""
LEFT_TO_CHOOSE = 0.06
"""What part of the budget is kept for choices."""
RIVAL_PART = 0.12
"""A start's part of all members' turns where batch training competes."""
RIVALS_IN_HEAT = {4: 15, 1: 30}
"""How many starts compete, if there is time for so many steps of each; a single one has the time of all four."""


def is_short(settings: Settings, budget: Budget) -> bool:
    """Whether so little time is there, for training on chunks."""
    return settings.training == "stochastic" and budget.seconds is not None and budget.seconds < SHORT


def to_train(budget: Budget) -> Budget:
    """What is left for training."""
    assert budget.seconds is not None
    return replace(budget, seconds=(1.0 - LEFT_TO_CHOOSE) * budget.seconds)


def most_read(budget: Budget) -> int:
    """Symbols of training data that the search for a start state reads at most."""
    assert budget.seconds is not None
    return max(int(READ * budget.seconds), 1)


def most_judged(budget: Budget) -> int:
    """Symbols of validation data that are read."""
    assert budget.seconds is not None
    return max(int(JUDGED * budget.seconds), 1)


def judged(parts: TrainingData, most: int) -> TrainingData:
    """With no more validation data than so many symbols: the beginning of one sequence, or some of several."""
    held = parts.validation
    if held is None or held.codes.size <= most:
        return parts
    if len(held) > 1:
        count = max(1, round(len(held) * most / held.codes.size))
        found = held.select(np.arange(count) * len(held) // count)
        # A few long ones among many would still be too much.
        held = found if found.mask.any() else held
    held = beginning(held, most)
    return replace(parts, validation=held) if held.mask.any() else parts


def beginning(data: Encoded, symbols: int) -> Encoded:
    """The first symbols."""
    if data.codes.size <= symbols:
        return data
    starts = np.append(data.starts[:-1][data.starts[:-1] < symbols], symbols).astype(data.starts.dtype)
    return replace(data, codes=data.codes[:symbols], mask=data.mask[:symbols], starts=starts)
