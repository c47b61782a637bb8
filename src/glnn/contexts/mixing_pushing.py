"""One symbol as it arrives, in one call: its probability, the likeliest symbols before it, and learning it.

The likeliest are found best first: of all branchings and symbols that were reached, the one of the largest mass is
next; a branching is decided, a symbol is told. A symbol's mass is at most that of any branching above it, so they come
in order, and what is unlikely is never looked at. Masses are products in the order of the path, as in `mixing_reading`.
"""

from __future__ import annotations

import numpy as np

from glnn.contexts.mixing_memory import Cursor, Memory, Work, new_memory, new_work
from glnn.contexts.mixing_plan import Plan, make_plan
from glnn.contexts.mixing_predicting import predict, predict_in
from glnn.contexts.mixing_reading import COUNTS, conclude, distribute, has_room, prepare
from glnn.numeric.frame import COMPILED, loading, new_frame, storing
from glnn.numeric.kernel import kernel

NO_ROOM = -1.0


def _example() -> tuple[Plan, Memory, Work]:
    plan = make_plan(np.ones(2, np.int64))
    return plan, new_memory(plan), new_work(plan)


_store = storing()
_load = loading(_example())


class Frame:
    """Plan, memory and scratch, bound for many calls; kept alive here."""

    def __init__(self, plan: Plan, memory: Memory, work: Work) -> None:
        self.plan, self.memory, self.work = plan, memory, work
        if COMPILED:
            self._bytes = new_frame()
            _bind(self._bytes, (plan, memory, work))

    def push(
        self, symbol: int, outside: np.ndarray, changes: int, room: np.ndarray, cursor: Cursor, likeliest: np.ndarray
    ) -> float:
        """The probability of a symbol, which is then read; `NO_ROOM` if the tables have none, and nothing happened.

        `likeliest` is filled with rows (symbol, probability), the likeliest first; the symbol is −1 where none is left.
        """
        if COMPILED:
            return _push_bound(self._bytes, symbol, outside, changes, room, cursor, likeliest)
        return _push(self.plan, self.memory, self.work, symbol, outside, changes, room, cursor, likeliest)

    def look(self, outside: np.ndarray, cursor: Cursor, out: np.ndarray) -> None:
        """Fill the distribution of the next symbol; the cursor stays as it is."""
        if COMPILED:
            _look_bound(self._bytes, outside, cursor, out)
        else:
            _look(self.plan, self.memory, self.work, outside, cursor, out)


@kernel(_nrt=False)
def _bind(frame: np.ndarray, given: tuple[Plan, Memory, Work]) -> None:
    _store(frame, given)


@kernel(_nrt=False)
def _push_bound(
    frame: np.ndarray,
    symbol: int,
    outside: np.ndarray,
    changes: int,
    room: np.ndarray,
    cursor: Cursor,
    likeliest: np.ndarray,
) -> float:
    plan, memory, work = _load(frame)
    return _push(plan, memory, work, symbol, outside, changes, room, cursor, likeliest)  # type: ignore[no-any-return]


@kernel(_nrt=False)
def _look_bound(frame: np.ndarray, outside: np.ndarray, cursor: Cursor, out: np.ndarray) -> None:
    plan, memory, work = _load(frame)
    _look(plan, memory, work, outside, cursor, out)


@kernel(_nrt=False)
def _push(
    plan: Plan,
    memory: Memory,
    work: Work,
    symbol: int,
    outside: np.ndarray,
    changes: int,
    room: np.ndarray,
    cursor: Cursor,
    likeliest: np.ndarray,
) -> float:
    if changes & COUNTS and not has_room(room, memory):
        return NO_ROOM
    prepare(outside, changes, plan, memory, cursor, work)
    product = 1.0
    for depth in range(plan.lengths[symbol]):
        one = predict(plan.branchings[symbol, depth], plan, memory, cursor, work)
        work.ones[depth] = one
        product *= one if plan.bits[symbol, depth] else 1.0 - one
    if likeliest.shape[0] > 0:
        _find_likeliest(symbol, plan, memory, cursor, work, likeliest)
    conclude(symbol, changes, plan, memory, cursor, work)
    return product


@kernel(_nrt=False)
def _find_likeliest(symbol: int, plan: Plan, memory: Memory, cursor: Cursor, work: Work, likeliest: np.ndarray) -> None:
    """Best first; what was predicted on the path of `symbol` stays in the scratch, to be learned from."""
    waiting, mass, spare = work.waiting, work.reached, work.x.shape[0] - 1
    waiting[0] = 0
    mass[0] = 1.0
    size, found = 1, 0
    while size > 0 and found < likeliest.shape[0]:
        best = 0
        for k in range(1, size):
            if mass[k] > mass[best] or (mass[k] == mass[best] and waiting[k] > waiting[best]):
                best = k
        node, whole = waiting[best], mass[best]
        size -= 1
        waiting[best], mass[best] = waiting[size], mass[size]
        if node < 0:
            likeliest[found, 0] = -1 - node
            likeliest[found, 1] = whole
            found += 1
            continue
        depth = plan.depth[node]
        on_path = depth < plan.lengths[symbol] and plan.branchings[symbol, depth] == node
        one = work.ones[depth] if on_path else predict_in(spare, node, plan, memory, cursor, work)
        for bit in range(2):
            waiting[size] = plan.children[node, bit]
            mass[size] = whole * (one if bit else 1.0 - one)
            size += 1
    for k in range(found, likeliest.shape[0]):
        likeliest[k, 0] = -1.0


@kernel(_nrt=False)
def _look(plan: Plan, memory: Memory, work: Work, outside: np.ndarray, cursor: Cursor, out: np.ndarray) -> None:
    kept = work.kept
    # Looking for matches moves the cursor: they are put back.
    for m in range(kept.shape[1]):
        kept[0, m], kept[1, m], kept[2, m] = cursor.pointer[m], cursor.length[m], cursor.misses[m]
    prepare(outside, 0, plan, memory, cursor, work)
    distribute(plan, memory, cursor, work, out)
    for m in range(kept.shape[1]):
        cursor.pointer[m], cursor.length[m], cursor.misses[m] = kept[0, m], kept[1, m], kept[2, m]
