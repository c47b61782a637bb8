"""Where a reading of contexts stands, as few bytes as it takes: for one of many streams that wait for their turn.

Whole numbers have seven bits a byte, the lowest first, and a high bit where more follow, so that small ones take one
byte. Which symbols were seen is written as the lengths of runs, not seen and seen in turn. What no context looks at any
more is left out: what stands before the sequence, and of lines what lies beyond their ends.
"""

from __future__ import annotations

import numpy as np

from glnn.contexts.mixing_memory import ABOVE_LENGTH, COLUMN, COLUMNS, LINE_ABOVE, MEASURES, THIS_LINE, Cursor
from glnn.numeric.kernel import kernel

_LONGEST = 10
_LOW = np.uint64(127)
_MORE = np.uint64(128)
_SEVEN = np.uint64(7)


def room_to_pack(cursor: Cursor) -> np.ndarray:
    """Bytes for any place of such a cursor."""
    return np.zeros(_LONGEST * (sum(array.size for array in cursor) + 2), np.uint8)


@kernel(_nrt=False)
def _put(out: np.ndarray, at: int, number: int) -> int:
    rest = np.uint64(number)
    while rest > _LOW:
        out[at] = np.uint8((rest & _LOW) | _MORE)
        rest >>= _SEVEN
        at += 1
    out[at] = np.uint8(rest)
    return at + 1


@kernel(_nrt=False)
def _get(given: np.ndarray, at: int) -> tuple[np.uint64, int]:
    number, shift = np.uint64(0), np.uint64(0)
    while given[at] >= 128:
        number |= (np.uint64(given[at]) & _LOW) << shift
        shift += _SEVEN
        at += 1
    return number | (np.uint64(given[at]) << shift), at + 1


@kernel(_nrt=False)
def pack(cursor: Cursor, out: np.ndarray) -> int:
    """Write the place; returns how many bytes it took."""
    recent, seen, lines, at = cursor.recent, cursor.seen, cursor.lines, 0
    for k in range(cursor.hashes.size):
        at = _put(out, at, cursor.hashes[k])
    for k in range(cursor.numbers.size):
        at = _put(out, at, cursor.numbers[k])
    for m in range(cursor.pointer.size):
        at = _put(out, at, cursor.pointer[m] + 1)
        at = _put(out, at, cursor.length[m])
        at = _put(out, at, cursor.misses[m])
    known = recent.size
    while known > 0 and recent[known - 1] == seen.size:
        known -= 1
    at = _put(out, at, known)
    for k in range(known):
        at = _put(out, at, recent[k])
    symbol, kind = 0, False
    while symbol < seen.size:
        begin = symbol
        while symbol < seen.size and seen[symbol] == kind:
            symbol += 1
        at = _put(out, at, symbol - begin)
        kind = not kind
    if lines.shape[1] > 0:
        for row, which in ((THIS_LINE, COLUMN), (LINE_ABOVE, ABOVE_LENGTH)):
            at = _put(out, at, lines[MEASURES, which])
            for k in range(min(lines[MEASURES, which], COLUMNS)):
                at = _put(out, at, lines[row, k])
    return at


@kernel(_nrt=False)
def unpack(cursor: Cursor, given: np.ndarray) -> int:
    """Move the cursor to a place; returns how many bytes that was."""
    recent, seen, lines, at = cursor.recent, cursor.seen, cursor.lines, 0
    for k in range(cursor.hashes.size):
        cursor.hashes[k], at = _get(given, at)
    for k in range(cursor.numbers.size):
        cursor.numbers[k], at = _get(given, at)
    for m in range(cursor.pointer.size):
        pointer, at = _get(given, at)
        cursor.pointer[m] = np.int64(pointer) - 1
        cursor.length[m], at = _get(given, at)
        cursor.misses[m], at = _get(given, at)
    known, at = _get(given, at)
    recent[:] = seen.size
    for k in range(np.int64(known)):
        recent[k], at = _get(given, at)
    symbol, kind = 0, False
    while symbol < seen.size:
        run, at = _get(given, at)
        for k in range(symbol, symbol + np.int64(run)):
            seen[k] = kind
        symbol += int(np.int64(run))
        kind = not kind
    if lines.shape[1] > 0:
        # The beginning of a line is looked at even where there is none yet.
        lines[THIS_LINE, 0] = 0
        lines[THIS_LINE, 1] = 0
        for row, which in ((THIS_LINE, COLUMN), (LINE_ABOVE, ABOVE_LENGTH)):
            lines[MEASURES, which], at = _get(given, at)
            for k in range(min(lines[MEASURES, which], COLUMNS)):
                lines[row, k], at = _get(given, at)
    return at
