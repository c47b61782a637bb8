"""The contexts of a place: what came before it, each context as one key, and the slots where they are known.

A cursor is moved along the symbols: the last ones, the word so far, the symbols that the sequence had (how often each:
the bag; whether at all: the set), its position and its runs, in a text this line and the one above, and how its words
follow each other. At the start of a sequence all of it starts again.
"""

from __future__ import annotations

import numpy as np

from glnn.contexts.match import follow, seek
from glnn.contexts.mixing_hashing import ONE, ZERO, combined, fetch, find
from glnn.contexts.mixing_memory import (
    ABOVE_LENGTH,
    BAG_HASH,
    COLUMN,
    COLUMNS,
    DIFFERENT,
    FIRST_WORD,
    FOLDED_HASH,
    FOLLOWED,
    GAP_HASH,
    INDENT_HASH,
    LINE_ABOVE,
    MEASURES,
    POSITION,
    PREVIOUS_FOLDED,
    PREVIOUS_WORD,
    RUN_LENGTH,
    SET_HASH,
    SYMBOLS,
    THIS_LINE,
    WORD_BEFORE,
    WORD_HASH,
    Cursor,
    Memory,
    Work,
)
from glnn.contexts.mixing_plan import (
    ABOVE,
    AFTER_ONE,
    AFTER_TWO,
    ANY_CASE,
    BAG,
    GAP,
    INDENTED,
    LAST_WORD,
    LEAP,
    LINE,
    ORDER,
    PLACE,
    RUN,
    SET,
    TWO_OF_ANY_CASE,
    TWO_WORDS,
    UNDER,
    WORD,
    Plan,
)
from glnn.numeric.kernel import kernel

_LONGEST_RUN = 255
_LAST_POSITION = 1 << 20


@kernel(_nrt=False, forceinline=True)
def restart(plan: Plan, cursor: Cursor) -> None:
    """Go to the start of a sequence."""
    cursor.recent[:] = plan.lengths.size
    cursor.hashes[:] = ZERO
    cursor.numbers[:] = 0
    cursor.pointer[:] = -1
    cursor.length[:] = 0
    cursor.misses[:] = 0
    cursor.seen[:] = False
    cursor.lines[:] = 0


@kernel(_nrt=False, forceinline=True)
def look_up(plan: Plan, memory: Memory, cursor: Cursor, work: Work, learning: bool) -> None:
    """Before a symbol: matches, the keys of all contexts, and where they are known."""
    seek(plan, memory, cursor, learning)
    recent, hashes, numbers = cursor.recent, cursor.hashes, cursor.numbers
    if memory.followed.size > 0:
        pair = combined(np.uint64(recent[0]), np.uint64(recent[1])) & np.uint64(FOLLOWED - 1)
        work.followed[0] = recent[0] & (FOLLOWED - 1)
        work.followed[1] = FOLLOWED + np.int64(pair)
    order_key, order = ZERO, 0
    work.known[0] = 0
    for i in range(plan.kinds.size):
        kind, count, skip = plan.kinds[i], plan.counts[i], plan.skips[i]
        if kind == ORDER:
            while order < count:
                order_key = combined(order_key, np.uint64(recent[order] + 1))
                order += 1
            key = order_key
        else:
            key = np.uint64(kind)
            if kind == WORD:
                key = combined(key, hashes[WORD_HASH])
            elif kind == TWO_WORDS:
                key = combined(hashes[WORD_HASH], hashes[PREVIOUS_WORD])
            elif kind == BAG:
                key = combined(key, hashes[BAG_HASH])
            elif kind == SET:
                key = combined(key, hashes[SET_HASH])
            elif kind == RUN:
                key = combined(np.uint64(min(numbers[RUN_LENGTH], _LONGEST_RUN)), np.uint64(numbers[DIFFERENT]))
                key = combined(key, np.uint64(recent[0]))
            elif kind == PLACE:
                key = combined(key, np.uint64(min(numbers[POSITION], _LAST_POSITION)))
            elif kind == LAST_WORD:
                key = combined(key, hashes[PREVIOUS_WORD])
            elif kind == ABOVE:
                key = combined(key, np.uint64(_above(cursor.lines)))
            elif kind == LINE:
                key = combined(key, _beginning(cursor.lines))
            elif kind == AFTER_ONE:
                key = combined(key, np.uint64(memory.followed[work.followed[0]]))
            elif kind == AFTER_TWO:
                key = combined(key, np.uint64(memory.followed[work.followed[1]]))
            elif kind == ANY_CASE:
                key = combined(key, hashes[FOLDED_HASH])
            elif kind == TWO_OF_ANY_CASE:
                key = combined(combined(key, hashes[FOLDED_HASH]), hashes[PREVIOUS_FOLDED])
            elif kind == LEAP:
                key = combined(combined(key, hashes[WORD_HASH]), hashes[WORD_BEFORE])
            elif kind == GAP:
                key = combined(combined(key, hashes[WORD_HASH]), hashes[GAP_HASH])
            elif kind == INDENTED:
                key = combined(combined(key, hashes[WORD_HASH]), hashes[INDENT_HASH])
            elif kind == UNDER:
                key = combined(combined(key, hashes[WORD_HASH]), hashes[FIRST_WORD])
            for k in range(skip, skip + count):
                key = combined(key, np.uint64(recent[k] + 1))
        key = combined(key, np.uint64(i + 1)) | ONE
        work.keys[i] = key
        fetch(key, memory.contexts)
    for i in range(plan.kinds.size):
        work.slot[i] = find(work.keys[i], memory.contexts)
        if i < plan.orders and work.slot[i] >= 0:
            work.known[0] = i + 1


@kernel(_nrt=False, forceinline=True)
def _above(lines: np.ndarray) -> int:
    """The symbol above the next one, from 1 on, or 0."""
    column = lines[MEASURES, COLUMN]
    return lines[LINE_ABOVE, column] if column < min(lines[MEASURES, ABOVE_LENGTH], COLUMNS) else 0


@kernel(_nrt=False, forceinline=True)
def _beginning(lines: np.ndarray) -> np.uint64:
    """The first two symbols of the line, or as many as there are."""
    key = combined(np.uint64(lines[THIS_LINE, 0]), np.uint64(lines[THIS_LINE, 1]))
    return combined(key, np.uint64(min(lines[MEASURES, COLUMN], 2)))


@kernel(_nrt=False, forceinline=True)
def _advance_line(symbol: int, plan: Plan, lines: np.ndarray) -> None:
    measures = lines[MEASURES]
    column = measures[COLUMN]
    if symbol == plan.newline:
        for k in range(min(column, COLUMNS)):
            lines[LINE_ABOVE, k] = lines[THIS_LINE, k]
        measures[ABOVE_LENGTH] = column
        measures[COLUMN] = 0
        lines[THIS_LINE, 0] = 0
        lines[THIS_LINE, 1] = 0
        return
    if column < COLUMNS:
        lines[THIS_LINE, column] = symbol + 1
    measures[COLUMN] = column + 1


@kernel(_nrt=False, forceinline=True)
def _advance_words(symbol: int, plan: Plan, hashes: np.ndarray) -> None:
    """What the newer contexts of words ask for, before the word itself has the symbol."""
    code = np.uint64(symbol + 1)
    if plan.letter[symbol]:
        hashes[FOLDED_HASH] = combined(hashes[FOLDED_HASH], np.uint64(plan.folded[symbol] + 1))
        return
    if hashes[WORD_HASH] != ZERO:
        hashes[WORD_BEFORE] = hashes[PREVIOUS_WORD]
        hashes[PREVIOUS_FOLDED] = hashes[FOLDED_HASH]
        hashes[FOLDED_HASH] = ZERO
        hashes[GAP_HASH] = ZERO
        if hashes[FIRST_WORD] == ZERO:
            hashes[FIRST_WORD] = hashes[WORD_HASH]
    elif hashes[FIRST_WORD] == ZERO:
        hashes[INDENT_HASH] = combined(hashes[INDENT_HASH], code)
    hashes[GAP_HASH] = combined(hashes[GAP_HASH], code)
    if symbol == plan.newline:
        hashes[FIRST_WORD] = ZERO
        hashes[INDENT_HASH] = ZERO


@kernel(_nrt=False, forceinline=True)
def advance(symbol: int, plan: Plan, memory: Memory, cursor: Cursor, learning: bool) -> None:
    """Move past a symbol; when learning, it becomes part of the history."""
    follow(symbol, memory, cursor)
    recent, hashes, numbers = cursor.recent, cursor.hashes, cursor.numbers
    numbers[POSITION] += 1
    if recent[0] == symbol:
        numbers[RUN_LENGTH] += 1
    else:
        numbers[RUN_LENGTH] = 1
        numbers[DIFFERENT] = recent[0]
    for k in range(recent.size - 1, 0, -1):
        recent[k] = recent[k - 1]
    recent[0] = symbol
    code = np.uint64(symbol + 1)
    if plan.folded.size > 0:
        _advance_words(symbol, plan, hashes)
    if plan.letter[symbol]:
        hashes[WORD_HASH] = combined(hashes[WORD_HASH], code)
    elif hashes[WORD_HASH] != ZERO:
        hashes[PREVIOUS_WORD] = hashes[WORD_HASH]
        hashes[WORD_HASH] = ZERO
    hashes[BAG_HASH] += combined(ZERO, code)
    if not cursor.seen[symbol]:
        cursor.seen[symbol] = True
        hashes[SET_HASH] += combined(ONE, code)
    if plan.newline >= 0:
        _advance_line(symbol, plan, cursor.lines)
    if learning:
        memory.history[memory.filled[SYMBOLS] & (memory.history.size - 1)] = symbol
        memory.filled[SYMBOLS] += 1
