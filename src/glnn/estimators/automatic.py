"""Sizes left to `fit`: units, edges from each unit, random starts, from the data and the budget.

Nothing is timed here, so that the same data and budget give the same network on every machine.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from glnn.training.budget import Budget


class Size(NamedTuple):
    """How large a network is and how often it is started."""

    units: int
    degree: int
    restarts: int


def choose_size(
    units: int | str, degree: int | str, restarts: int | str, symbols: int, alphabet_size: int, budget: Budget
) -> Size:
    """Fill in what is "auto": `symbols` is the length of the training data."""
    if not isinstance(units, int):
        units = 16
    if not isinstance(degree, int):
        degree = math.ceil(math.sqrt(2 * alphabet_size))
    if not isinstance(restarts, int):
        restarts = 1
    return Size(units, min(degree, units), restarts)
