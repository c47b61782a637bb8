"""Memory that does not grow past a bound: what is seldom met is forgotten first, and of the history what is oldest.

Tables double while they may. A table that may not and is full keeps the better half of what it has: contexts by how
often the last symbol came in a row, those of many followers before those of one; decisions by how often they were met;
places by how late. The history is a ring. Spread over the symbols that filled a table, this takes constant time.
"""

from __future__ import annotations

import numpy as np

from glnn.contexts.mixing_hashing import doubled, enter
from glnn.contexts.mixing_memory import CONTEXTS, DECISIONS, MANY, PLACES, SYMBOLS, Memory
from glnn.sequences import InputError

# Slots of each table, 16 bytes each, and symbols of the history, 4 bytes each: some 52 MB in all.
MOST = 1 << 20
# The same for what is read once and kept: some 440 MB in all, which some million symbols fill.
LARGEST = 1 << 23
# A history that is a ring always has room.
_ANY = -(1 << 62)


def bounded(memory: Memory, room: np.ndarray, most: int) -> Memory:
    """The same memory with room for one more symbol, no table of more than `most` slots."""
    history = memory.history
    while memory.filled[SYMBOLS] + room[SYMBOLS] > history.size and history.size < most:
        history = np.concatenate([history, np.zeros_like(history)])
    tables = [memory.contexts, memory.decisions, memory.places]
    for which, counter in enumerate((CONTEXTS, DECISIONS, PLACES)):
        while memory.filled[counter] + room[counter] > tables[which].size // 4 * 3:
            if tables[which].size < most:
                tables[which] = doubled(tables[which])
                continue
            tables[which] = _better_half(tables[which], room[counter])
            memory.filled[counter] = np.count_nonzero(tables[which]["key"])
    return memory._replace(history=history, contexts=tables[0], decisions=tables[1], places=tables[2])


def room_within(memory: Memory, room: np.ndarray, most: int) -> np.ndarray:
    """What one more symbol can take of such a memory."""
    if memory.history.size < most:
        return room
    ring = room.copy()
    ring[SYMBOLS] = _ANY
    return ring


def _better_half(table: np.ndarray, wanted: int) -> np.ndarray:
    """The entries of the greatest worth that take half of the slots, entered in a table of the same size."""
    half = table.size // 2
    if half + wanted > table.size // 4 * 3:
        raise InputError(f"tables of {table.size:,} slots are too small for {wanted:,} entries per symbol: allow more")
    names, used = table.dtype.names or (), np.flatnonzero(table["key"])
    if "at" in names:
        worth = table["at"][used]
    else:
        worth = table["run" if "kind" in names else "count"][used].astype(np.int64)
        if "kind" in names:
            worth += np.where(table["kind"][used] == MANY, 1 << 20, 0)
        # Among equals those with the greater key, which is as good as random.
        worth = (worth << 40) | (table["key"][used] >> np.uint64(24)).astype(np.int64)
    kept = used[worth >= np.partition(worth, worth.size - half)[worth.size - half]]
    same = np.zeros_like(table)
    enter(table[kept], same)
    return same
