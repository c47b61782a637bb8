"""How much of long data a mixture can read within its budget, told from how fast it reads their beginning.

A reading of T symbols takes T r seconds. If the budget lasts for several, networks and ways of reading are tried on the
end of the data; if for one, the data are only read; else as much of them is read as it lasts for.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from glnn.predictors.mixture_recipe import Recipe
from glnn.sequences import Encoded
from glnn.training.budget import Budget

# What is shorter than this is read in a moment.
_LONG = 50_000
_MEASURED = (2_000, 10_000)
# Trials read the data about so often, one sequence or several.
_READINGS, _READINGS_OF_SEVERAL = 3.0, 6.0
# A network that trains for less than this learns nothing, and compiling it would take longer than all the rest.
_SHORTEST_BUDGET = 5.0


class Within(NamedTuple):
    """What can be done within a budget."""

    data: Encoded
    networks: int | str
    trials: bool
    """Whether ways of reading are compared."""


def within(data: Encoded, networks: int | str, budget: Budget) -> Within:
    """What of the data to read and how many networks to try; what was asked for is not changed by a short budget."""
    if budget.seconds is None:
        return Within(data, networks, True)
    if networks == "auto" and not lasts_for_networks(budget):
        networks = 0
    if data.codes.size < _LONG:
        return Within(data, networks, True)
    readings = budget.seconds / (data.codes.size * _seconds_a_symbol(data))
    if readings < 1.0:
        data = first_symbols(data, int(readings * data.codes.size))
    enough = readings >= (_READINGS if len(data) == 1 else _READINGS_OF_SEVERAL)
    return Within(data, networks if enough or networks != "auto" else 0, enough)


def lasts_for_networks(budget: Budget) -> bool:
    """Whether a network could learn anything."""
    return budget.seconds is None or budget.seconds >= _SHORTEST_BUDGET


def first_symbols(data: Encoded, symbols: int) -> Encoded:
    """About this many symbols of the beginning: of several sequences whole ones, at least one."""
    if len(data) > 1:
        symbols = int(data.starts[max(int(np.searchsorted(data.starts, symbols, side="right")) - 1, 1)])
    symbols = min(max(symbols, 1), data.codes.size)
    starts = np.append(data.starts[data.starts < symbols], symbols)
    return Encoded(data.codes[:symbols], starts, data.mask[:symbols], data.alphabet)


def _seconds_a_symbol(data: Encoded) -> float:
    """From two beginnings: what a reading costs however short it is cancels."""
    sizes, seconds = [], []
    for symbols in _MEASURED:
        part = first_symbols(data, symbols)
        begin = time.process_time()
        Recipe(part.codes, part.starts, part.codes.size, False).read(part.alphabet, (), True)
        seconds.append(time.process_time() - begin)
        sizes.append(part.codes.size)
    return max(seconds[1] - seconds[0], 1e-9) / max(sizes[1] - sizes[0], 1)
