"""The loops over data: score each symbol and learn from it or not, or give whole distributions.

A symbol's probability is the product of its decisions' probabilities, in the order of the path; a distribution
multiplies the same numbers in the same order, so both agree to the last bit.
"""

from __future__ import annotations

import numpy as np

from glnn.contexts.mixing_history import advance, look_up, restart
from glnn.contexts.mixing_learning import count_decision, count_symbol, learn_mixing
from glnn.contexts.mixing_memory import Cursor, Memory, Work
from glnn.contexts.mixing_plan import Plan
from glnn.contexts.mixing_predicting import predict, take_outside
from glnn.numeric.kernel import kernel

# What a reading changes: nothing, only the mixing (not what is counted), only what is counted, all.
NOTHING, MIXING, COUNTS, ALL = range(4)


@kernel(_nrt=False, forceinline=True)
def has_room(room: np.ndarray, memory: Memory) -> bool:
    """Whether the tables take one more symbol."""
    return (
        memory.filled[0] + room[0] <= memory.history.size
        and memory.filled[1] + room[1] <= memory.contexts.size // 4 * 3
        and memory.filled[2] + room[2] <= memory.decisions.size // 4 * 3
        and memory.filled[3] + room[3] <= memory.places.size // 4 * 3
    )


@kernel(_nrt=False, forceinline=True)
def prepare(outside: np.ndarray, changes: int, plan: Plan, memory: Memory, cursor: Cursor, work: Work) -> None:
    """Before a symbol."""
    look_up(plan, memory, cursor, work, changes >= COUNTS)
    take_outside(outside, plan, work)


@kernel(_nrt=False, forceinline=True)
def conclude(symbol: int, changes: int, plan: Plan, memory: Memory, cursor: Cursor, work: Work) -> None:
    """After all decisions of a symbol were predicted: learn them and move past it."""
    for depth in range(plan.lengths[symbol]):
        node, bit = plan.branchings[symbol, depth], plan.bits[symbol, depth]
        if changes & MIXING:
            learn_mixing(node, bit, plan, memory, work)
        if changes & COUNTS:
            count_decision(node, bit, plan, memory, work)
    if changes & COUNTS:
        count_symbol(symbol, plan, memory, work)
    advance(symbol, plan, memory, cursor, changes >= COUNTS)


@kernel(_nrt=False)
def read(
    codes: np.ndarray,
    first: np.ndarray,
    begin: int,
    outside: np.ndarray,
    changes: int,
    room: np.ndarray,
    plan: Plan,
    memory: Memory,
    cursor: Cursor,
    work: Work,
    rows: np.ndarray,
    probability: np.ndarray,
) -> int:
    """Fill the probability of each symbol from `begin` on; returns where it had to stop for want of room, or the end.

    `rows` has a row for each symbol, to be filled with the whole distribution, or none.
    """
    for t in range(begin, codes.size):
        if changes & COUNTS and not has_room(room, memory):
            return t
        if first[t]:
            restart(plan, cursor)
        prepare(outside[t], changes, plan, memory, cursor, work)
        if rows.shape[0] > 0:
            distribute(plan, memory, cursor, work, rows[t])
        symbol, product = codes[t], 1.0
        for depth in range(plan.lengths[symbol]):
            node, bit = plan.branchings[symbol, depth], plan.bits[symbol, depth]
            one = predict(node, plan, memory, cursor, work)
            product *= one if bit else 1.0 - one
        probability[t] = product
        conclude(symbol, changes, plan, memory, cursor, work)
    return codes.size


@kernel(_nrt=False, forceinline=True)
def distribute(plan: Plan, memory: Memory, cursor: Cursor, work: Work, out: np.ndarray) -> None:
    """Fill the distribution of the next symbol: a branching hands what reaches it to its two children."""
    nodes = plan.children.shape[0]
    reached = work.reached
    reached[0] = 1.0
    for node in range(nodes):
        one = predict(node, plan, memory, cursor, work)
        for bit in range(2):
            share = reached[node] * (one if bit else 1.0 - one)
            child = plan.children[node, bit]
            if child >= 0:
                reached[child] = share
            else:
                out[-1 - child] = share
