"""One decision learned, and one symbol: weights by the gradient of the code length, tables by counting.

A set's weights move by w ← w + η (y − p_s) x, with η = max(η₀ / √(1 + n/50), η_min) after n uses of the row; a
probability moves by (y − p) / (n + 3/2), n bounded. A context is a single slot while it has one follower only; the
second makes it a tree of decisions, into which what was counted before is entered.
"""

from __future__ import annotations

import numpy as np

from glnn.contexts.mixing_hashing import ONE, combined, find
from glnn.contexts.mixing_memory import CONTEXTS, DECISIONS, MANY, NODES, SINGLE, SYMBOL_BITS, Memory, Work
from glnn.contexts.mixing_plan import Plan
from glnn.contexts.mixing_states import class_of
from glnn.numeric.kernel import kernel

_RATE = 0.04
_FALL = 0.02
_LEAST_RATE, _LEAST_STEADY_RATE = 0.002, 0.0003
_CORRECTION_RATE, _STEADY_CORRECTION_RATE = 0.02, 0.005
_MOST_TIMES = 255.0
_MOST_COUNTED = 250
_LONGEST_RUN = 65535
# A run is entered in the tree of decisions as at most this many observations.
_MOST_ENTERED = 60
_TWO_SYMBOLS = (1 << 2 * SYMBOL_BITS) - 1


@kernel(_nrt=False, forceinline=True)
def learn_mixing(node: int, bit: int, plan: Plan, memory: Memory, work: Work) -> None:
    """After `predict`: weights, corrections, and what states, runs and matches mean."""
    y, depth = np.float64(bit), plan.depth[node]
    corrected, state, run = work.corrected[depth], work.state[depth], work.run[depth]
    low = corrected[0] + (1 if work.numbers[depth, 1] > 0.5 else 0)
    for k in range(memory.corrections.shape[0]):
        table = memory.corrections[k, corrected[1 + k]]
        table[low] += (y - table[low]) * (_STEADY_CORRECTION_RATE if plan.stationary else _CORRECTION_RATE)
    _learn_weights(node, depth, y, plan, memory, work)
    contexts = plan.kinds.size
    for i in range(contexts):
        if work.slot[i] < 0:
            continue
        if run[i] >= 0:
            many = memory.contexts[work.slot[i]]["kind"] - SINGLE
            _adapt(memory.run_chance[i, many, run[i]], 1.0 if work.expected[depth, i] == bit else 0.0)
        if state[i] >= 0:
            _adapt(memory.state_chance[i, state[i]], y)
    for m in range(plan.match_lengths.size):
        if work.match[depth, m, 0] >= 0:
            right = 1.0 if work.expected[depth, contexts + m] == bit else 0.0
            _adapt(memory.match_chance[m, work.match[depth, m, 0], work.match[depth, m, 1]], right)


@kernel(_nrt=False, forceinline=True)
def _learn_weights(node: int, depth: int, y: float, plan: Plan, memory: Memory, work: Work) -> None:
    x, rows, row = work.x[depth], work.row[depth], min(node, NODES - 1)
    least = _LEAST_STEADY_RATE if plan.stationary else _LEAST_RATE
    memory.final_uses[row] += 1.0
    rate = max(plan.final_rate / np.sqrt(1.0 + _FALL * memory.final_uses[row]), least)
    step = rate * (y - work.numbers[depth, 0])
    for s in range(rows.size):
        memory.final_weights[row, s] += step * work.log_odds[depth, s]
    for s in range(rows.size):
        row = rows[s]
        memory.uses[row] += 1.0
        rate = max(_RATE / np.sqrt(1.0 + _FALL * memory.uses[row]), least)
        step = rate * (y - work.chance[depth, s])
        w = memory.weights[row]
        for i in range(x.size):
            w[i] += step * x[i]


@kernel(_nrt=False, forceinline=True)
def _adapt(pair: np.ndarray, y: float) -> None:
    """A probability and how often it was corrected."""
    pair[0] += (y - pair[0]) / (pair[1] + 1.5)
    pair[1] = min(pair[1] + 1.0, _MOST_TIMES)


@kernel(_nrt=False, forceinline=True)
def count_decision(node: int, bit: int, plan: Plan, memory: Memory, work: Work) -> None:
    """After `predict`: enter a decision in all contexts that have trees of them."""
    for i in range(plan.kinds.size):
        if work.slot[i] >= 0 and memory.contexts[work.slot[i]]["kind"] == MANY:
            place = work.decision[plan.depth[node], i]
            if place < 0:
                place = _opened(work.keys[i], node, memory)
            _count(place, bit, plan, memory)


@kernel(_nrt=False, forceinline=True)
def count_symbol(symbol: int, plan: Plan, memory: Memory, work: Work) -> None:
    """After all its decisions: enter a symbol in all contexts."""
    if memory.followed.size > 0:
        for k in range(2):
            place = work.followed[k]
            memory.followed[place] = ((memory.followed[place] << SYMBOL_BITS) | (symbol + 1)) & _TWO_SYMBOLS
    for i in range(plan.kinds.size):
        key = work.keys[i]
        if work.slot[i] < 0:
            # Another context may have taken the free slot in the meantime.
            slot = memory.contexts[-1 - find(key, memory.contexts)]
            slot["key"] = key
            slot["symbol"] = symbol
            slot["run"] = 1
            slot["kind"] = SINGLE
            memory.filled[CONTEXTS] += 1
            continue
        slot = memory.contexts[work.slot[i]]
        former = slot["symbol"]
        if former == symbol:
            if slot["run"] < _LONGEST_RUN:
                slot["run"] += 1
            continue
        if slot["kind"] == SINGLE:
            slot["kind"] = MANY
            times: int = min(np.int64(slot["run"]), _MOST_ENTERED)  # type: ignore[assignment]
            _enter(key, former, times, plan, memory)
            _enter(key, symbol, 1, plan, memory)
        slot["symbol"] = symbol
        slot["run"] = 1


@kernel(_nrt=False, forceinline=True)
def _enter(key: np.uint64, symbol: int, times: int, plan: Plan, memory: Memory) -> None:
    for depth in range(plan.lengths[symbol]):
        place = _opened(key, plan.branchings[symbol, depth], memory)
        for _ in range(times):
            _count(place, plan.bits[symbol, depth], plan, memory)


@kernel(_nrt=False, forceinline=True)
def _opened(key: np.uint64, node: int, memory: Memory) -> int:
    """The slot of a decision, taken if it is new."""
    key = combined(key, np.uint64(node)) | ONE
    place = find(key, memory.decisions)
    if place >= 0:
        return place
    place = -1 - place
    slot = memory.decisions[place]
    slot["key"] = key
    slot["chance"] = np.float32(0.5)
    slot["state"] = 0
    slot["count"] = 0
    memory.filled[DECISIONS] += 1
    return place


@kernel(_nrt=False, forceinline=True)
def _count(place: int, bit: int, plan: Plan, memory: Memory) -> None:
    slot = memory.decisions[place]
    count: int = np.int64(slot["count"])  # type: ignore[assignment]
    chance = np.float64(slot["chance"])
    slot["chance"] = np.float32(chance + (bit - chance) / (count + 1.5))
    if plan.stationary:
        slot["count"] = min(count + 1, _LONGEST_RUN)
        slot["state"] = class_of(np.float64(slot["chance"]), count + 1)
    else:
        slot["count"] = min(count + 1, _MOST_COUNTED)
        slot["state"] = plan.next_state[slot["state"], bit]
