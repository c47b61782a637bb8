"""Members that hold out different parts of the data, so that together they learn from all of it.

A network that holds out the end never sees what came last, which is often most like what comes next. So every third
member holds out the end, and the others parts inside. Those that held out the end are as surprised by it as all of them
will be by what follows the data: they alone say how sure predictions may be (`predictors/combination.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from glnn.sequences import Encoded, TrainingData
from glnn.training.all_data import joined

KEEP_THE_END = 3
"""Of so many members one holds out the end of the data."""
MOST_FOLDS, MOST_COPIED = 9, 4_000_000
"""How many other parts are held out at the most, and how many symbols they may copy together."""
_GOLDEN = 0.6180339887498949


def elsewhere(parts: TrainingData) -> list[TrainingData]:
    """The same with other parts of the same size held out, far from each other.

    None where validation data were given, where data are very long, and where the tail of one sequence of several is
    held out.
    """
    if parts.validation is None or not parts.held_out:
        return []
    data, several = joined(parts), not parts.continues
    if not several and len(data) != 1:
        return []
    length = len(parts.validation) if several else parts.held_out
    count = (len(data) if several else data.codes.size) // length
    # Golden steps: wherever one stops, the parts lie evenly.
    blocks = sorted(range(1, min(count, MOST_FOLDS + 1)), key=lambda block: block * _GOLDEN % 1.0)
    found = [_inside(data, length, block, several) for block in blocks[: MOST_COPIED // data.codes.size]]
    return [
        replace(parts, train=train, validation=held, continues=False, held_out=held.codes.size, inside=first)
        for train, held, first in found
        if train.mask.any() and held.mask.any()
    ]


def of_member(folds: Sequence[TrainingData], number: int) -> TrainingData | None:
    """What a member trains and validates on; None for the end held out."""
    if number % KEEP_THE_END == 0:
        return None
    return folds[(number - number // KEEP_THE_END - 1) % len(folds)]


def _inside(data: Encoded, length: int, block: int, several: bool) -> tuple[Encoded, Encoded, int | None]:
    """So many sequences, or positions of a single one, held out so many times their number before the end.

    With the first of these sequences.
    """
    end = (len(data) if several else data.codes.size) - block * length
    begin = end - length
    if several:
        order = np.arange(len(data))
        return data.select(np.concatenate([order[:begin], order[end:]])), data.select(order[begin:end]), begin
    codes, mask = (np.concatenate([part[:begin], part[end:]]) for part in (data.codes, data.mask))
    # What comes after is a sequence of its own.
    starts = np.unique(np.array([0, begin, codes.size], data.starts.dtype))
    own = np.array([0, length], data.starts.dtype)
    held = replace(data, codes=data.codes[begin:end], mask=data.mask[begin:end], starts=own)
    return replace(data, codes=codes, mask=mask, starts=starts), held, None
