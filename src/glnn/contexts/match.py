"""The match model: where the last symbols were seen before, what followed them there is expected again.

For each of a few lengths the last place is kept at which that many symbols stood. A match is followed for as long as it
is right; after a miss it goes on from there, for what differs is often one symbol, until a better one is found.
Places count from the first symbol on. A bounded history is a ring, and what it no longer holds is no match.
"""

from __future__ import annotations

import numpy as np

from glnn.contexts.mixing_hashing import ONE, combined, find
from glnn.contexts.mixing_memory import PLACES, SYMBOLS, Cursor, Memory
from glnn.contexts.mixing_plan import Plan
from glnn.numeric.kernel import kernel

_MOST_MISSES = 8
# After this many right symbols, a miss is forgotten.
_RECOVERED = 16


@kernel(_nrt=False, forceinline=True)
def bucket(length: int) -> int:
    """A length as one of 16 classes, wider as it grows."""
    if length < 8:
        return length
    if length < 16:
        return 8 + (length >= 12)
    if length < 32:
        return 10 + (length >= 24)
    if length < 128:
        return 12 + (length >= 64)
    return 14 + (length >= 512)


@kernel(_nrt=False, forceinline=True)
def seek(plan: Plan, memory: Memory, cursor: Cursor, learning: bool) -> None:
    """Look for a match where there is none or a short one, and, when learning, enter this place."""
    recent, before = cursor.recent, plan.lengths.size
    ring = memory.history.size - 1
    oldest = max(0, memory.filled[SYMBOLS] - memory.history.size)
    for m in range(plan.match_lengths.size):
        least = plan.match_lengths[m]
        if 0 <= cursor.pointer[m] < oldest:
            cursor.pointer[m] = -1
            cursor.length[m] = 0
        if not learning and cursor.length[m] >= least:
            continue
        key = np.uint64(m + 1)
        for k in range(least):
            key = combined(key, np.uint64(recent[k] + 1))
        key |= ONE
        place = find(key, memory.places)
        if place >= 0 and cursor.length[m] < least and memory.places[place]["at"] >= oldest:
            at = memory.places[place]["at"]
            length = 0
            while length < min(recent.size, at - oldest) and recent[length] == memory.history[(at - 1 - length) & ring]:
                length += 1
            # The beginning of a sequence is a match as well, of whatever length it has.
            if length >= least or recent[length] == before:
                cursor.pointer[m] = at
                cursor.length[m] = length
                if length >= _RECOVERED:
                    cursor.misses[m] = 0
        if learning:
            if place < 0:
                place = -1 - place
                memory.places[place]["key"] = key
                memory.filled[PLACES] += 1
            memory.places[place]["at"] = memory.filled[SYMBOLS]


@kernel(_nrt=False, forceinline=True)
def follow(symbol: int, memory: Memory, cursor: Cursor) -> None:
    """Move every match past a symbol, and see whether it was right."""
    for m in range(cursor.pointer.size):
        at = cursor.pointer[m]
        if at < 0:
            continue
        if memory.history[at & (memory.history.size - 1)] == symbol:
            cursor.length[m] += 1
            if cursor.length[m] >= _RECOVERED:
                cursor.misses[m] = 0
        else:
            cursor.length[m] = 0
            cursor.misses[m] += 1
        cursor.pointer[m] = at + 1
        if at + 1 >= memory.filled[SYMBOLS] or cursor.misses[m] > _MOST_MISSES:
            cursor.pointer[m] = -1
            cursor.length[m] = 0
