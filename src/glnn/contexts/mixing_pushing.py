"""One symbol as it arrives: its probability, the likeliest symbols before it, and learning it, each a call of its own.

What was predicted on the symbol's path stays in the scratch until the symbol is learned, so that the likeliest can be
asked for in between, or not at all (`mixing_likeliest`).
"""

from __future__ import annotations

import numpy as np

from glnn.contexts.mixing_likeliest import Said, find_likeliest
from glnn.contexts.mixing_memory import Cursor, Memory, Work, new_cursor, new_memory, new_work
from glnn.contexts.mixing_packing import pack, unpack
from glnn.contexts.mixing_plan import Plan, make_plan
from glnn.contexts.mixing_predicting import predict
from glnn.contexts.mixing_reading import COUNTS, conclude, distribute, has_room, prepare
from glnn.numeric.frame import COMPILED, loading, new_frame, storing
from glnn.numeric.kernel import kernel

NO_ROOM = -1.0


def _example() -> tuple[Plan, Memory, Work]:
    plan = make_plan(np.ones(2, np.int64))
    return plan, new_memory(plan), new_work(plan)


_store = storing()
_load = loading(_example())
_store_cursor = storing()
_load_cursor = loading(new_cursor(_example()[0]))


class Frame:
    """Plan, memory, scratch and the cursor that was used last, bound for many calls; kept alive here."""

    def __init__(self, plan: Plan, memory: Memory, work: Work) -> None:
        self.plan, self.memory, self.work = plan, memory, work
        self.asked_by: object = None
        """Whose symbol the scratch is of."""
        self._cursor: Cursor | None = None
        if COMPILED:
            self._bytes, self._cursor_bytes = new_frame(), new_frame()
            _bind(self._bytes, (plan, memory, work))

    def _bound(self, cursor: Cursor) -> np.ndarray:
        if cursor is not self._cursor:
            self._cursor = cursor
            _bind_cursor(self._cursor_bytes, cursor)
        return self._cursor_bytes

    def push(self, symbol: int, outside: np.ndarray, changes: int, room: np.ndarray, cursor: Cursor) -> float:
        """The probability of a symbol, which is then read; `NO_ROOM` if the tables have none, and nothing happened."""
        if COMPILED:
            return _push_bound(self._bytes, self._bound(cursor), symbol, outside, changes, room)
        return _push(self.plan, self.memory, self.work, symbol, outside, changes, room, cursor)

    def ask(self, symbol: int, outside: np.ndarray, changes: int, room: np.ndarray, cursor: Cursor) -> float:
        """The same without reading it: that is for `conclude`."""
        if COMPILED:
            return _ask_bound(self._bytes, self._bound(cursor), symbol, outside, changes, room)
        return _ask(self.plan, self.memory, self.work, symbol, outside, changes, room, cursor)

    def conclude(self, symbol: int, changes: int, cursor: Cursor) -> None:
        """Read the symbol that was asked for."""
        if COMPILED:
            _conclude_bound(self._bytes, self._bound(cursor), symbol, changes)
        else:
            conclude(symbol, changes, self.plan, self.memory, cursor, self.work)

    def find(self, asked: int, outside: np.ndarray, cursor: Cursor, said: Said, likeliest: np.ndarray) -> None:
        """Fill rows (symbol, probability), the likeliest first; the symbol is −1 where none is left.

        `asked` is the symbol that was asked for last, or −1 where the scratch is of another place.
        """
        largest = np.empty(self.plan.children.shape[0])
        if COMPILED:
            _find_bound(self._bytes, self._bound(cursor), asked, outside, said, largest, likeliest)
        else:
            _find(self.plan, self.memory, self.work, asked, outside, cursor, said, largest, likeliest)

    def look(self, asked: int, outside: np.ndarray, cursor: Cursor, out: np.ndarray) -> None:
        """Fill the distribution of the next symbol; the cursor stays as it is."""
        if COMPILED:
            _look_bound(self._bytes, self._bound(cursor), asked, outside, out)
        else:
            _look(self.plan, self.memory, self.work, asked, outside, cursor, out)

    def pack(self, cursor: Cursor, out: np.ndarray) -> int:
        """Write a place as bytes; returns how many."""
        return _pack_bound(self._bound(cursor), out) if COMPILED else pack(cursor, out)

    def unpack(self, cursor: Cursor, given: np.ndarray) -> int:
        """Move the cursor to a place; returns how many bytes that was."""
        return _unpack_bound(self._bound(cursor), given) if COMPILED else unpack(cursor, given)


@kernel(_nrt=False)
def _bind(frame: np.ndarray, given: tuple[Plan, Memory, Work]) -> None:
    _store(frame, given)


@kernel(_nrt=False)
def _bind_cursor(frame: np.ndarray, cursor: Cursor) -> None:
    _store_cursor(frame, cursor)


@kernel(_nrt=False)
def _push_bound(
    frame: np.ndarray, at: np.ndarray, symbol: int, outside: np.ndarray, changes: int, room: np.ndarray
) -> float:
    plan, memory, work = _load(frame)
    return _push(plan, memory, work, symbol, outside, changes, room, _load_cursor(at))  # type: ignore[no-any-return]


@kernel(_nrt=False)
def _ask_bound(
    frame: np.ndarray, at: np.ndarray, symbol: int, outside: np.ndarray, changes: int, room: np.ndarray
) -> float:
    plan, memory, work = _load(frame)
    return _ask(plan, memory, work, symbol, outside, changes, room, _load_cursor(at))  # type: ignore[no-any-return]


@kernel(_nrt=False)
def _conclude_bound(frame: np.ndarray, at: np.ndarray, symbol: int, changes: int) -> None:
    plan, memory, work = _load(frame)
    conclude(symbol, changes, plan, memory, _load_cursor(at), work)


@kernel(_nrt=False)
def _find_bound(
    frame: np.ndarray,
    at: np.ndarray,
    asked: int,
    outside: np.ndarray,
    said: Said,
    largest: np.ndarray,
    likeliest: np.ndarray,
) -> None:
    plan, memory, work = _load(frame)
    _find(plan, memory, work, asked, outside, _load_cursor(at), said, largest, likeliest)


@kernel(_nrt=False)
def _look_bound(frame: np.ndarray, at: np.ndarray, asked: int, outside: np.ndarray, out: np.ndarray) -> None:
    plan, memory, work = _load(frame)
    _look(plan, memory, work, asked, outside, _load_cursor(at), out)


@kernel(_nrt=False)
def _pack_bound(at: np.ndarray, out: np.ndarray) -> int:
    return pack(_load_cursor(at), out)  # type: ignore[no-any-return]


@kernel(_nrt=False)
def _unpack_bound(at: np.ndarray, given: np.ndarray) -> int:
    return unpack(_load_cursor(at), given)  # type: ignore[no-any-return]


@kernel(_nrt=False)
def _ask(
    plan: Plan,
    memory: Memory,
    work: Work,
    symbol: int,
    outside: np.ndarray,
    changes: int,
    room: np.ndarray,
    cursor: Cursor,
) -> float:
    if changes & COUNTS and not has_room(room, memory):
        return NO_ROOM
    prepare(outside, changes, plan, memory, cursor, work)
    return _predict_path(symbol, plan, memory, cursor, work)  # type: ignore[no-any-return]


@kernel(_nrt=False)
def _predict_path(symbol: int, plan: Plan, memory: Memory, cursor: Cursor, work: Work) -> float:
    product = 1.0
    for depth in range(plan.lengths[symbol]):
        one = predict(plan.branchings[symbol, depth], plan, memory, cursor, work)
        work.ones[depth] = one
        product *= one if plan.bits[symbol, depth] else 1.0 - one
    return product


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
) -> float:
    product = _ask(plan, memory, work, symbol, outside, changes, room, cursor)
    if product != NO_ROOM:
        conclude(symbol, changes, plan, memory, cursor, work)
    return product  # type: ignore[no-any-return]


@kernel(_nrt=False)
def _find(
    plan: Plan,
    memory: Memory,
    work: Work,
    asked: int,
    outside: np.ndarray,
    cursor: Cursor,
    said: Said,
    largest: np.ndarray,
    likeliest: np.ndarray,
) -> None:
    if asked < 0:
        _keep_matches(cursor, work)
        prepare(outside, 0, plan, memory, cursor, work)
    find_likeliest(asked, plan, memory, cursor, work, said, largest, likeliest)
    if asked < 0:
        _put_matches_back(cursor, work)


@kernel(_nrt=False)
def _look(
    plan: Plan, memory: Memory, work: Work, asked: int, outside: np.ndarray, cursor: Cursor, out: np.ndarray
) -> None:
    if asked >= 0:
        distribute(plan, memory, cursor, work, out)
        # It took the scratch of the path.
        _predict_path(asked, plan, memory, cursor, work)
        return
    _keep_matches(cursor, work)
    prepare(outside, 0, plan, memory, cursor, work)
    distribute(plan, memory, cursor, work, out)
    _put_matches_back(cursor, work)


@kernel(_nrt=False)
def _keep_matches(cursor: Cursor, work: Work) -> None:
    """Looking for matches moves the cursor."""
    kept = work.kept
    for m in range(kept.shape[1]):
        kept[0, m], kept[1, m], kept[2, m] = cursor.pointer[m], cursor.length[m], cursor.misses[m]


@kernel(_nrt=False)
def _put_matches_back(cursor: Cursor, work: Work) -> None:
    kept = work.kept
    for m in range(kept.shape[1]):
        cursor.pointer[m], cursor.length[m], cursor.misses[m] = kept[0, m], kept[1, m], kept[2, m]
