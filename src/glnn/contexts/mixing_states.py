"""Bit histories: how often 0 and 1 were seen in a context, the old ones discounted, as one small number.

A state is (zeros, ones, last bit). Seeing a bit adds one to its count; if the other count is above 2, half of the rest
of it is forgotten, since things have changed. What a state *means* is learned: every context has a probability
for each state, which is corrected whenever a decision finds the context in that state.
Where old and new count alike, a state is instead a class of (probability, number of observations).
"""

from __future__ import annotations

import numpy as np

from glnn.contexts.mixing_logistic import squash, stretch
from glnn.numeric.kernel import kernel

# The largest count of one bit, by the count of the other.
_MOST = (48, 40, 24, 14, 10, 8, 7)
_AFTER_CHANGE = 6

State = tuple[int, int, int]


def _after(state: State, bit: int) -> State:
    counts = [state[0], state[1]]
    counts[bit] += 1
    other = counts[1 - bit]
    if other > 2:
        counts[1 - bit] = min((other + 2) // 2, _AFTER_CHANGE)
    while not (min(counts) < len(_MOST) and max(counts) <= _MOST[min(counts)]):
        counts[int(counts[1] > counts[0])] -= 1
    zeros, ones = counts
    return zeros, ones, bit


def _all_states() -> tuple[np.ndarray, np.ndarray]:
    order: list[State] = [(0, 0, 0)]
    number = {order[0]: 0}
    following = []
    for state in order:
        for bit in (0, 1):
            after = _after(state, bit)
            if after not in number:
                number[after] = len(order)
                order.append(after)
        following.append([number[_after(state, bit)] for bit in (0, 1)])
    zeros, ones = np.array(order, np.float64)[:, :2].T
    return np.array(following, np.int64), (ones + 0.3) / (zeros + ones + 0.6)


NEXT_STATE, FIRST_CHANCE = _all_states()

# Classes of log-odds from −8 to 8, and of counts.
_ODDS_CLASSES, _COUNT_CLASSES = 24, 12
_ODDS_EDGE = 8.0


@kernel(_nrt=False, forceinline=True)
def class_of(chance: float, count: int) -> int:
    """The class of a probability that rests on this many observations."""
    odds = min(max(stretch(chance), -_ODDS_EDGE), _ODDS_EDGE)
    place = min(int((odds + _ODDS_EDGE) * (_ODDS_CLASSES / (2.0 * _ODDS_EDGE))), _ODDS_CLASSES - 1)
    size = 0
    while count > 1 and size < _COUNT_CLASSES - 1:
        count >>= 1
        size += 1
    return size * _ODDS_CLASSES + place


_CENTRES = (np.arange(_ODDS_CLASSES) + 0.5) * (2.0 * _ODDS_EDGE / _ODDS_CLASSES) - _ODDS_EDGE
CLASS_CHANCE = np.tile([squash(float(centre)) for centre in _CENTRES], _COUNT_CLASSES)
