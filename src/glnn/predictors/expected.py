"""What was expected where something else came: the likeliest symbol at some positions, next to the actual one.

y* = argmax_y π_t(y),   π_t(y*),   π_t(x_t)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from glnn.predictors.protocol import Predictor
from glnn.sequences import Encoded


class Expected(NamedTuple):
    """The likeliest symbol at a position, its probability, and that of what came."""

    code: int
    probability: float
    given: float


def expected_at(predictor: Predictor, data: Encoded, positions: Iterable[int]) -> dict[int, Expected]:
    """What the predictor expected at these positions of the data, counted over all sequences.

    The whole data are read once more, block by block, since a predictor may learn from what it reads.
    """
    wanted = np.unique(np.fromiter(positions, np.int64))
    if not wanted.size:
        return {}
    escape = predictor.alphabet.escape
    found: dict[int, Expected] = {}
    full = data.kept(np.ones(data.codes.size, bool))
    begin = 0
    for rows in predictor.distributions(full):
        inside = wanted[(wanted >= begin) & (wanted < begin + len(rows))]
        for position in inside.tolist():
            pi = rows[position - begin]
            likely = pi.copy()
            if escape is not None:
                likely[escape] = 0.0
            code = int(np.argmax(likely))
            found[position] = Expected(code, float(pi[code]), float(pi[full.codes[position]]))
        begin += len(rows)
        if begin > wanted[-1]:
            break
    return found
