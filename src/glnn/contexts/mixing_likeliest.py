"""The likeliest next symbols, found best first without the rest of the distribution.

Of all branchings and symbols that were reached, the one that can still be likeliest is next; a branching is decided, a
symbol is reported. What others say beside is counted in: a symbol has w m + Σ_k w_k p_k, added in this order as in
`glnn.predictors.odds`, and below a branching there is at most w m and the largest rest of its symbols. Masses m are
products in the order of the path, as in `mixing_reading`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from glnn.contexts.mixing_memory import Cursor, Memory, Work
from glnn.contexts.mixing_plan import Plan
from glnn.contexts.mixing_predicting import predict_in
from glnn.numeric.kernel import kernel

_ABOVE = 1.0 + 1e-12


class Said(NamedTuple):
    """What others say of the next symbol beside the contexts: the contexts' own weight, rows (K, A), and theirs.

    `rest` is added to every symbol at last.
    """

    own: float
    rows: np.ndarray
    weights: np.ndarray
    rest: float


NOBODY = Said(1.0, np.empty((0, 0)), np.empty(0), 0.0)


@kernel(_nrt=False)
def find_likeliest(
    asked: int,
    plan: Plan,
    memory: Memory,
    cursor: Cursor,
    work: Work,
    said: Said,
    largest: np.ndarray,
    likeliest: np.ndarray,
) -> None:
    """Rows (code, probability) into `likeliest`; `largest` is scratch, a number for each branching.

    What was predicted on the path of the symbol asked for stays in the scratch, to be learned from.
    """
    for node in range(largest.size - 1, -1, -1):
        largest[node] = 0.0
        for bit in range(2):
            child = plan.children[node, bit]
            below = largest[child] if child >= 0 else _with_others(0.0, -1 - child, said)
            largest[node] = max(largest[node], below)
    waiting, mass, most, spare = work.waiting, work.reached, work.most, work.x.shape[0] - 1
    length = plan.lengths[asked] if asked >= 0 else 0
    waiting[0] = 0
    mass[0] = 1.0
    most[0] = np.inf
    size, found = 1, 0
    while size > 0 and found < likeliest.shape[0]:
        best = 0
        for k in range(1, size):
            if most[k] > most[best] or (most[k] == most[best] and waiting[k] > waiting[best]):
                best = k
        node, whole, value = waiting[best], mass[best], most[best]
        size -= 1
        waiting[best], mass[best], most[best] = waiting[size], mass[size], most[size]
        if node < 0:
            likeliest[found, 0] = -1 - node
            likeliest[found, 1] = value
            found += 1
            continue
        depth = plan.depth[node]
        on_path = depth < length and plan.branchings[asked, depth] == node
        one = work.ones[depth] if on_path else predict_in(spare, node, plan, memory, cursor, work)
        for bit in range(2):
            child = plan.children[node, bit]
            waiting[size] = child
            mass[size] = whole * (one if bit else 1.0 - one)
            if child >= 0:
                # Not less than any symbol below, whatever the rounding.
                most[size] = (said.own * mass[size] + largest[child]) * _ABOVE
            else:
                most[size] = _with_others(mass[size], -1 - child, said)
            size += 1
    for k in range(found, likeliest.shape[0]):
        likeliest[k, 0] = -1.0


@kernel(_nrt=False)
def _with_others(mass: float, symbol: int, said: Said) -> float:
    total = said.own * mass
    for k in range(said.weights.size):
        total += said.weights[k] * said.rows[k, symbol]
    return total + said.rest
