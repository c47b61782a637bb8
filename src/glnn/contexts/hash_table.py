"""A table that finds records by their key: places of an array, the next free one where two keys want the same."""

from __future__ import annotations

import numpy as np

from glnn.numeric.kernel import kernel

EMPTY = -1


@kernel(_nrt=False)
def slot(key: int, slots: np.ndarray, records: np.ndarray) -> int:
    """Where the record of a key is entered in the table, or the empty place where it belongs."""
    mask = slots.size - 1
    # The product of two 31-bit numbers stays inside 63 bits; its middle bits depend on all those of the key.
    place = ((((key ^ (key >> 31)) & 0x7FFFFFFF) * 0x9E3779B1) >> 24) & mask
    while slots[place] != EMPTY and records[slots[place]]["key"] != key:
        place = (place + 1) & mask
    return place


@kernel(_nrt=False)
def enter(first: int, count: int, slots: np.ndarray, records: np.ndarray) -> None:
    """Enter the records first … count − 1 in an empty table."""
    for record in range(first, count):
        slots[slot(records[record]["key"], slots, records)] = record
