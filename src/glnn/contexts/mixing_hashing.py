"""Tables found by 64-bit keys: open addressing with the whole key in the slot, so that no context is taken for another.

A table's size is a power of two and it is at most three quarters full; a key is never 0, which marks a free slot.
"""

from __future__ import annotations

import numpy as np

from glnn.numeric.kernel import kernel
from glnn.numeric.prefetch import prefetch

_FIRST = np.uint64(0x9E3779B97F4A7C15)
_SECOND = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)
_SHIFT = np.uint64(29)
ZERO = np.uint64(0)
ONE = np.uint64(1)


@kernel(_nrt=False, forceinline=True)
def combined(first: np.uint64, second: np.uint64) -> np.uint64:
    """Two numbers mixed into one."""
    h = ((first + _FIRST) * _SECOND) ^ ((second + ONE) * _FIRST)
    h = (h ^ (h >> _HALF)) * _SECOND
    return h ^ (h >> _SHIFT)


@kernel(_nrt=False, forceinline=True)
def find(key: np.uint64, table: np.ndarray) -> int:
    """The slot of a key, or −1 minus the free slot where it belongs."""
    mask = table.size - 1
    place: int = np.int64(key & np.uint64(mask))  # type: ignore[assignment]
    while True:
        here = table[place]["key"]
        if here == key:
            return place
        if here == ZERO:
            return -1 - place
        place = (place + 1) & mask


@kernel(_nrt=False, forceinline=True)
def fetch(key: np.uint64, table: np.ndarray) -> None:
    """Have the first slot fetched where `find` will look: finding mostly waits for memory."""
    place: int = np.int64(key & np.uint64(table.size - 1))  # type: ignore[assignment]
    prefetch(table, place)


@kernel(_nrt=False, forceinline=True)
def enter(old: np.ndarray, new: np.ndarray) -> None:
    """Enter all slots of a table in a larger, empty one."""
    for place in range(old.size):
        key = old[place]["key"]
        if key != ZERO:
            new[-1 - find(key, new)] = old[place]


def doubled(table: np.ndarray) -> np.ndarray:
    """The same table with twice the room."""
    larger = np.zeros(2 * table.size, table.dtype)
    enter(table, larger)
    return larger
