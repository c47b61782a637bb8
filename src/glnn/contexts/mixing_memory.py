"""What a mixture of contexts has learned, where it stands in a sequence, and the scratch of one decision.

`Memory` is all that learning changes; a frozen model never writes to it. `Cursor` is small and belongs to one reading.
Tables grow with the data by doubling, up to a bound (`mixing_bounds`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from glnn.contexts.mixing_hashing import doubled
from glnn.contexts.mixing_plan import AFTER_ONE, REACH, Plan
from glnn.contexts.mixing_states import CLASS_CHANCE, FIRST_CHANCE

# A context: the symbol it was last followed by, how often in a row, and whether it was always that one.
CONTEXT = np.dtype([("key", np.uint64), ("symbol", np.int32), ("run", np.uint16), ("kind", np.uint16)], align=True)
SINGLE, MANY = 1, 2
# A decision in a context that was followed by several symbols.
DECISION = np.dtype(
    [("key", np.uint64), ("chance", np.float32), ("state", np.uint16), ("count", np.uint16)], align=True
)
# Where the symbols of a match were seen last.
PLACED = np.dtype([("key", np.uint64), ("at", np.int64)], align=True)

# Counters of Memory.filled
SYMBOLS, CONTEXTS, DECISIONS, PLACES = range(4)
# Numbers of Cursor
WORD_HASH, PREVIOUS_WORD, BAG_HASH, SET_HASH = range(4)
# What only the newer contexts of words ask for: two words back, this word and the last one in lower case, what stands
# before this word, how the line is indented, and its first word.
WORD_BEFORE, FOLDED_HASH, PREVIOUS_FOLDED, GAP_HASH, INDENT_HASH, FIRST_WORD = range(4, 10)
POSITION, RUN_LENGTH, DIFFERENT = range(3)

RUNS = 64
LENGTHS, MISSES = 16, 4
NODES = 256
MOST_SETS = 8
# Rows of the weight set that the last two symbols choose, by their hash.
PAIRS = 1 << 11
# What followed the last symbol, and the last two by their hash: two symbols each, of so many bits.
FOLLOWED, SYMBOL_BITS = 1 << 16, 24
# So much of a line is known when the next one is read; rows of Cursor.lines, and numbers in the last one.
COLUMNS = 128
THIS_LINE, LINE_ABOVE, MEASURES = range(3)
COLUMN, ABOVE_LENGTH = range(2)
CONFIDENCES = 24
CORRECTIONS, CORRECTION_ROWS, BUCKETS = 3, 1 << 12, 33
# Log-odds that the correction's first and last bucket stand for.
EDGE = 12.0
PER_CONTEXT, PER_MATCH = 3, 2
_INITIAL_WEIGHT = 0.2
_FIRST_SIZE = 1 << 12
_LENGTH_OF_BUCKET = (0, 1, 2, 3, 4, 5, 6, 7, 9, 13, 19, 27, 45, 90, 300, 1000)


class Memory(NamedTuple):
    """All that is learned."""

    history: np.ndarray
    filled: np.ndarray
    contexts: np.ndarray
    decisions: np.ndarray
    places: np.ndarray
    state_chance: np.ndarray
    """For each context and bit history the probability of a 1, and how often it was corrected."""
    run_chance: np.ndarray
    """For each context, whether it knows one symbol or many, and length of its run: that the run goes on."""
    match_chance: np.ndarray
    weights: np.ndarray
    uses: np.ndarray
    final_weights: np.ndarray
    final_uses: np.ndarray
    corrections: np.ndarray
    followed: np.ndarray
    """The last two symbols after each symbol, then after two; empty where no context asks."""

    def copy(self) -> Memory:
        """An independent memory."""
        return Memory(*(array.copy() for array in self))


class Cursor(NamedTuple):
    """Where a reading stands."""

    recent: np.ndarray
    """The last symbols, the newest first; before a sequence stands the number of symbols."""
    hashes: np.ndarray
    numbers: np.ndarray
    pointer: np.ndarray
    """Where in the history the next symbol of each match is, or −1."""
    length: np.ndarray
    misses: np.ndarray
    seen: np.ndarray
    """Which symbols the sequence had so far."""
    lines: np.ndarray
    """This line and the one above it, codes from 1 on, and how long they are; empty where there are no lines."""

    def copy(self) -> Cursor:
        """An independent cursor at the same place."""
        return Cursor(*(array.copy() for array in self))


class Work(NamedTuple):
    """Scratch: what was looked up before a symbol, and what the predictions on its path were made of.

    The second part has a row for each depth: all decisions of a symbol are predicted before any of them is learned, so
    that the distribution of the symbol is one and the same however it is asked for. The last row is for decisions off
    the symbol's path, which are looked at and not learned.
    """

    keys: np.ndarray
    slot: np.ndarray
    known: np.ndarray
    mass: np.ndarray
    confidence: np.ndarray
    base: np.ndarray
    reached: np.ndarray
    waiting: np.ndarray
    """Branchings, and symbols y as −1 − y, that were reached and are still to be looked at."""
    most: np.ndarray
    """The most that any symbol there can have."""
    kept: np.ndarray
    ones: np.ndarray
    decision: np.ndarray
    state: np.ndarray
    run: np.ndarray
    match: np.ndarray
    expected: np.ndarray
    heard: np.ndarray
    """The probabilities of which the mixer has the log-odds, each with a sign; ½ where nothing is said."""
    sign: np.ndarray
    x: np.ndarray
    row: np.ndarray
    log_odds: np.ndarray
    chance: np.ndarray
    numbers: np.ndarray
    corrected: np.ndarray
    followed: np.ndarray
    """Where in the memory stands what followed the last symbol, and the last two."""


def weight_rows(plan: Plan) -> np.ndarray:
    """Where each weight set's rows begin, and how many there are in all.

    A set's row is chosen by: the decision; the longest known order; the longest match; the last symbol; the one
    before it; in newer plans both of them; and, with predictors from outside, how sure the first of them is.
    """
    sizes = [NODES, 3 * (plan.orders + 1), 3 * (LENGTHS + 1), NODES + 1, NODES + 1]
    if plan.pairs:
        sizes.append(PAIRS)
    if plan.outside:
        sizes.append(CONFIDENCES)
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def inputs_of(plan: Plan) -> int:
    """The number of inputs of the mixer, a multiple of 4."""
    inputs = PER_CONTEXT * plan.kinds.size + PER_MATCH * plan.match_lengths.size + plan.outside + 1
    return inputs + -inputs % 4


def new_memory(plan: Plan) -> Memory:
    """A memory that has read nothing."""
    contexts, matches = plan.kinds.size, plan.match_lengths.size
    base = weight_rows(plan)
    sets = base.size - 1
    runs = np.arange(RUNS)
    run_chance = np.zeros((contexts, 2, RUNS, 2))
    run_chance[:, 0, :, 0] = (runs + 0.6) / (runs + 0.9)
    run_chance[:, 1, :, 0] = (runs + 0.6) / (runs + 1.2)
    lengths = np.array(_LENGTH_OF_BUCKET, np.float64)[:, None]
    match_chance = np.zeros((matches, LENGTHS, MISSES, 2))
    match_chance[..., 0] = (lengths + 1.0) / (lengths + 1.6 + np.arange(MISSES))
    first_chance = CLASS_CHANCE if plan.stationary else FIRST_CHANCE
    state_chance = np.zeros((contexts, first_chance.size, 2))
    state_chance[..., 0] = first_chance
    weights = np.zeros((base[-1], inputs_of(plan)))
    weights[:, : PER_CONTEXT * contexts : PER_CONTEXT] = _INITIAL_WEIGHT
    first = PER_CONTEXT * contexts
    weights[:, first : first + PER_MATCH * matches : PER_MATCH] = _INITIAL_WEIGHT
    first += PER_MATCH * matches
    weights[:, first : first + plan.outside] = _INITIAL_WEIGHT
    corrections = np.empty((CORRECTIONS, CORRECTION_ROWS, BUCKETS))
    corrections[:] = _squashed(np.linspace(-EDGE, EDGE, BUCKETS))
    return Memory(
        np.zeros(_FIRST_SIZE, np.int32),
        np.zeros(4, np.int64),
        np.zeros(_FIRST_SIZE, CONTEXT),
        np.zeros(_FIRST_SIZE, DECISION),
        np.zeros(_FIRST_SIZE, PLACED),
        state_chance,
        run_chance,
        match_chance,
        weights,
        np.zeros(base[-1]),
        np.full((NODES, sets), 1.0 / sets),
        np.zeros(NODES),
        corrections,
        np.zeros(2 * FOLLOWED if AFTER_ONE in plan.kinds else 0, np.int64),
    )


def new_cursor(plan: Plan) -> Cursor:
    """Before a sequence."""
    matches = plan.match_lengths.size
    return Cursor(
        np.full(REACH, plan.lengths.size, np.int64),
        np.zeros(FIRST_WORD + 1 if plan.folded.size else SET_HASH + 1, np.uint64),
        np.zeros(3, np.int64),
        np.full(matches, -1, np.int64),
        np.zeros(matches, np.int64),
        np.zeros(matches, np.int64),
        np.zeros(plan.lengths.size, np.bool_),
        np.zeros((3, COLUMNS if plan.newline >= 0 else 0), np.int64),
    )


def new_work(plan: Plan) -> Work:
    """Scratch for one reading."""
    contexts, matches = plan.kinds.size, plan.match_lengths.size
    base = weight_rows(plan)
    sets = base.size - 1
    depth = plan.branchings.shape[1] + 1
    decision, state, run = np.zeros((3, depth, contexts), np.int64)
    log_odds, chance = np.zeros((2, depth, MOST_SETS))
    heard, sign = np.zeros((2, inputs_of(plan)))
    return Work(
        np.zeros(contexts, np.uint64),
        np.zeros(contexts, np.int64),
        np.zeros(1, np.int64),
        np.zeros((plan.outside, 2 * plan.lengths.size - 1)),
        np.zeros(1, np.int64),
        base,
        np.zeros(len(plan.children) + 2),
        np.zeros(len(plan.children) + 2, np.int64),
        np.zeros(len(plan.children) + 2),
        np.zeros((3, matches), np.int64),
        np.zeros(depth),
        decision,
        state,
        run,
        np.zeros((depth, matches, 2), np.int64),
        np.zeros((depth, contexts + matches), np.int64),
        heard,
        sign,
        np.zeros((depth, inputs_of(plan))),
        np.zeros((depth, sets), np.int64),
        log_odds,
        chance,
        np.zeros((depth, 2)),
        np.zeros((depth, 1 + CORRECTIONS), np.int64),
        np.zeros(2, np.int64),
    )


def room_for_a_symbol(plan: Plan) -> np.ndarray:
    """How many slots reading one symbol can take, by the counters of `filled`."""
    contexts = plan.kinds.size
    return np.array([1, contexts, 2 * contexts * plan.branchings.shape[1], plan.match_lengths.size], np.int64)


def with_room(memory: Memory, room: np.ndarray) -> Memory:
    """The same memory, its full tables doubled until they take one more symbol."""
    history = memory.history
    while memory.filled[SYMBOLS] + room[SYMBOLS] > history.size:
        history = np.concatenate([history, np.zeros_like(history)])
    tables = [memory.contexts, memory.decisions, memory.places]
    for which, counter in enumerate((CONTEXTS, DECISIONS, PLACES)):
        while memory.filled[counter] + room[counter] > tables[which].size // 4 * 3:
            tables[which] = doubled(tables[which])
    return memory._replace(history=history, contexts=tables[0], decisions=tables[1], places=tables[2])


def _squashed(x: np.ndarray) -> np.ndarray:
    from glnn.contexts.mixing_logistic import squash

    return np.array([squash(float(value)) for value in x])
