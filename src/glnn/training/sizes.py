"""What is left to `fit`: units, edges from each unit, random starts, how much to hold out.

Chosen from the data and the budget by rules that `docs/estimators.md` gives with their reasons. Nothing is timed, so
that the same data and the same budget make the same network on every machine.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from glnn.sequences import Encoded
from glnn.training.budget import Budget

SECONDS = 60.0
"""What a budget in steps or passes counts as."""
FEWEST_STEPS = 120
STEPS_FOR_A_START = 250
MOST_STARTS = 6
UNITS = (24, 64)
FEW_UNITS, MANY_UNITS, WIDE = 32, 64, (256, 3)
CHUNK_DEGREE, MOST_CHUNK_DEGREE = 5, 8
FEW_SYMBOLS, MANY_SYMBOLS = 16, 256
MOST_PARAMETERS = 2**24
"""Of all members together, 8 bytes each."""
SECONDS_FOR_A_CHUNK_START, MOST_CHUNK_STARTS = 8.0, 4
SECONDS_FOR_A_MEMBER, MOST_MEMBERS = 10.0, 8
SHORT, SHORT_MEMBERS = 15.0, (6.0, 3)
"""Seconds under which a budget is short (`short.py`); from when on, there, so many gated networks predict together."""
SECONDS_FOR_A_SYMBOL = 1e-4
"""For stochastic training."""
LONG, SECONDS_FOR_A_LONG_SYMBOL = 200_000, 2e-4
"""For stochastic training on long data of networks where all symbols share a matrix: one that is larger."""
RIVAL_UNITS, RIVALS, LEAST_RIVAL_STEPS = 12, 24, 20
"""For the batch training next to it."""
LEAST_DEGREE = 3
PARAMETERS_FOR_A_SYMBOL = 0.3
"""Where there were more, fewer edges were better; see experiments/defaults.md."""
MOST_ENTRIES = 2**25
"""Of all matrices M̃ together, 8 bytes each."""
HELD_OUT = (0.1, 0.3)
HELD_OUT_BITS = 300.0
HELD_OUT_SYMBOLS = 50_000


class Size(NamedTuple):
    """How large a network is and how often it is started."""

    units: int
    degree: int
    restarts: int


def step_seconds(units: int, alphabet_size: int, symbols: int) -> float:
    """CPU seconds of a step, about: measured on one core of today, for degrees around √(2A)."""
    return 1e-9 * symbols * (200.0 + 16.0 * alphabet_size + units * (45.0 + 0.7 * alphabet_size))


def choose_size(
    units: int | str,
    degree: int | str,
    restarts: int | str,
    symbols: int,
    alphabet_size: int,
    budget: Budget,
    cost: float = 1.0,
) -> Size:
    """Fill in what is "auto", for training data of this many symbols; `cost` is that of a step relative to a GLNN's."""
    seconds = (SECONDS if budget.seconds is None else budget.seconds) / cost
    if not isinstance(units, int):
        units = min(max(UNITS[0], round(8.0 * math.sqrt(alphabet_size))), UNITS[1])
        while units > UNITS[0] and FEWEST_STEPS * step_seconds(units, alphabet_size, symbols) > seconds:
            units -= 1
    if not isinstance(degree, int):
        degree = _degree(units, symbols, alphabet_size)
    steps = seconds / step_seconds(units, alphabet_size, symbols)
    if not isinstance(restarts, int):
        restarts = 1 if budget.seconds is None else min(max(1, round(steps / STEPS_FOR_A_START)), MOST_STARTS)
    return Size(units, min(degree, units), restarts)


def members_for(budget: Budget, symbols: int, gated: bool) -> int:
    """How many networks are trained to predict together: one for every ten seconds of the budget, eight at the most.

    A gated network is given five seconds, since its steps take half as long. With ten it would take twice as many steps
    and begin to learn its data by heart; a second network is worth more than those steps (`experiments/learning.md`).
    On long data each gets enough time to read them several times. Fewer than three are not worth it: then all of the
    budget goes to one; but three gated ones share a short budget from six seconds on. Where some networks end early, up
    to half as many more are trained in the time that is left.
    """
    least = max(SHORT_MEMBERS[0], 2.0 * SECONDS_FOR_A_SYMBOL * symbols)
    if gated and least <= (budget.seconds or 0.0) < SHORT:
        return SHORT_MEMBERS[1]
    each = max(SECONDS_FOR_A_MEMBER, SECONDS_FOR_A_SYMBOL * symbols) / (2.0 if gated else 1.0)
    found = min(int((budget.seconds or 0.0) / each), MOST_MEMBERS)
    return found if found >= 3 else 1


def is_long(budget: Budget, symbols: int) -> bool:
    """Whether data are so long that one larger network is better than several, and there is time for it."""
    return symbols >= LONG and (budget.seconds or 0.0) >= SECONDS_FOR_A_LONG_SYMBOL * symbols


def starts_for_chunks(budget: Budget, symbols: int) -> int:
    """How many random starts of stochastic training race for one network."""
    each = max(SECONDS_FOR_A_CHUNK_START, SECONDS_FOR_A_SYMBOL * symbols)
    return min(max(1, int((budget.seconds or 0.0) / each)), MOST_CHUNK_STARTS)


def sizes_for_chunks(
    units: int | str, degree: int | str, restarts: int, alphabet_size: int, gated: bool, full: int = MANY_UNITS
) -> list[Size]:
    """The same for stochastic training: the most likely size first, then another that is worth a try.

    Where all symbols share a matrix the network is fully connected, with `full` units. Which gated networks are better
    no rule has told yet: texts, tunes and DNA that repeats itself want many units with few edges, what is half random
    or counts wants few units with more of them (`experiments/learning.md`).
    """
    edges = min(max(CHUNK_DEGREE, math.ceil(math.sqrt(2.0 * alphabet_size))), MOST_CHUNK_DEGREE)
    if not gated:
        shapes = [(full, full)]
    elif alphabet_size <= FEW_SYMBOLS:
        shapes = [(FEW_UNITS, edges), WIDE]
    elif alphabet_size <= MANY_SYMBOLS:
        shapes = [WIDE, (FEW_UNITS, CHUNK_DEGREE)]
    else:
        shapes = [(MANY_UNITS, edges), (FEW_UNITS, CHUNK_DEGREE)]
    if isinstance(units, int):
        shapes = [(units, edges if gated else units)]
    found = []
    for number, of_each in shapes:
        own = degree if isinstance(degree, int) else of_each
        found.append(Size(number, min(own, number), restarts))
    return found


def bearable(size: Size, alphabet_size: int, gated: bool) -> Size:
    """With as many starts as there is memory for."""
    parameters = size.units * alphabet_size * (size.degree + 2 if gated else 2)
    return size._replace(restarts=min(size.restarts, max(1, MOST_PARAMETERS // parameters)))


def rival_size(
    units: int | str,
    degree: int | str,
    symbols: int,
    alphabet_size: int,
    seconds: float,
    steps: int = LEAST_RIVAL_STEPS,
) -> Size | None:
    """Of networks trained on all data at once beside stochastic training; None if there is no time for `steps`.

    Small and fully connected: they count where larger ones do not (`experiments/learning.md`).
    """
    number = units if isinstance(units, int) else RIVAL_UNITS
    # Closer than `step_seconds`, which is three times too much for networks as small as these.
    of_each = 100.0 + 16.0 * alphabet_size + number * (12.0 + 0.7 * alphabet_size)
    if seconds < 1e-9 * symbols * steps * of_each:
        return None
    edges = degree if isinstance(degree, int) else number
    return Size(number, min(edges, number), RIVALS)


def _degree(units: int, symbols: int, alphabet_size: int) -> int:
    """The paper's √(2A); fewer, but at least 3, where data or memory are too small for that many parameters."""
    blocks = alphabet_size * units
    bearable = PARAMETERS_FOR_A_SYMBOL * symbols / blocks - 1.0
    storable = math.sqrt(MOST_ENTRIES / blocks) - 1.0
    wanted = math.ceil(math.sqrt(2.0 * alphabet_size))
    return max(LEAST_DEGREE, min(wanted, int(bearable), int(storable)))


def held_out_fraction(data: Encoded) -> float:
    """A tenth, more of data that tell little, less of very long ones.

    What data tell is measured in bits of a first-order model, Σ log2 n(x) / n(x, y) over the pairs of neighbours x y
    where y is to be predicted; a choice among parameters needs some hundreds.
    """
    A = len(data.alphabet)
    follows = np.ones(data.codes.size, bool)
    follows[data.starts[:-1]] = False
    follows &= data.mask
    places = np.flatnonzero(follows)
    pairs = data.codes[places - 1].astype(np.int64) * A + data.codes[places]
    counts = np.unique(pairs, return_counts=True)
    befores = np.bincount(counts[0] // A, counts[1], minlength=A)
    bits = max(float(np.sum(counts[1] * np.log2(befores[counts[0] // A] / counts[1]))), 1.0)
    least, most = HELD_OUT
    return min(max(least, min(HELD_OUT_BITS / bits, most)), max(HELD_OUT_SYMBOLS / data.codes.size, 1e-3))
