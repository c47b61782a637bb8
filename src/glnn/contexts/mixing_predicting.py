"""One decision predicted: log-odds of every context, match and predictor from outside, mixed twice, then corrected.

With inputs x_i = ln(p_i / (1 − p_i)), weight set s says p_s = σ(Σ_i w_si x_i); the second layer says
p = σ(Σ_s v_s ln(p_s / (1 − p_s))). Each set has rows of weights, and what is known of the place chooses the row. The
result is averaged with what came true after such a result at this decision (three tables, interpolated).
"""

from __future__ import annotations

import numpy as np

from glnn.contexts.match import bucket
from glnn.contexts.mixing_hashing import ONE, combined, fetch, find
from glnn.contexts.mixing_logistic import squash, stretch
from glnn.contexts.mixing_memory import (
    BUCKETS,
    CONFIDENCES,
    EDGE,
    MANY,
    MISSES,
    MOST_SETS,
    NODES,
    PAIRS,
    PER_CONTEXT,
    PER_MATCH,
    RUNS,
    SINGLE,
    Cursor,
    Memory,
    Work,
)
from glnn.contexts.mixing_plan import Plan
from glnn.numeric.dot import dot
from glnn.numeric.kernel import kernel

# No decision is ever taken for surer than this.
LEAST = 2.0**-24
_BOUND = 16.0
_HALF_CORRECTED = 0.5
_CONFIDENCE = 4.0
_BIAS = 0.3
_LEAST_OUTSIDE = 2.0**-20


@kernel(_nrt=False, forceinline=True)
def take_outside(outside: np.ndarray, plan: Plan, work: Work) -> None:
    """Before a symbol: the mass of every branching and symbol under the predictors from outside, shape (E, A).

    Where they have no rows (0, 0), they say nothing.
    """
    size, nodes = plan.lengths.size, plan.children.shape[0]
    for e in range(plan.outside):
        mass = work.mass[e]
        if outside.shape[0] == 0:
            mass[:] = 0.0
            work.confidence[0] = 0
            continue
        largest = 0.0
        for symbol in range(size):
            mass[nodes + symbol] = outside[e, symbol]
            largest = max(largest, outside[e, symbol])
        for node in range(nodes - 1, -1, -1):
            total = 0.0
            for bit in range(2):
                child = plan.children[node, bit]
                total += mass[child] if child >= 0 else mass[nodes - 1 - child]
            mass[node] = total
        if e == 0:
            sure = stretch(min(max(largest, _LEAST_OUTSIDE), 1.0 - _LEAST_OUTSIDE))
            work.confidence[0] = min(max(int(1.5 * (sure + 4.0)), 1), CONFIDENCES - 1)


@kernel(_nrt=False, forceinline=True)
def predict(node: int, plan: Plan, memory: Memory, cursor: Cursor, work: Work) -> float:
    """The probability that the decision at a branching is 1; changes nothing but the scratch, at its depth."""
    return predict_in(plan.depth[node], node, plan, memory, cursor, work)


@kernel(_nrt=False, forceinline=True)
def predict_in(at: int, node: int, plan: Plan, memory: Memory, cursor: Cursor, work: Work) -> float:
    """The same at a given row of the scratch."""
    work.heard[:] = 0.5
    work.sign[:] = 1.0
    work.x[at, :] = 0.0
    _hear_contexts(at, node, plan, memory, work)
    longest = _hear_matches(at, node, plan, memory, cursor, work)
    _hear_outside(at, node, plan, work)
    _take_log_odds(work.heard, work.sign, work.x[at])
    _choose_rows(at, node, longest, plan, cursor, work)
    log_odds = _mixed(at, node, memory, work)
    work.numbers[at, 0] = squash(log_odds)
    p = _corrected(at, node, log_odds, memory, cursor, work)
    return min(max(p, LEAST), 1.0 - LEAST)


@kernel(_nrt=False, forceinline=True)
def _hear_contexts(at: int, node: int, plan: Plan, memory: Memory, work: Work) -> None:
    depth, heard, state, runs = plan.depth[node], work.heard, work.state[at], work.run[at]
    for i in range(plan.kinds.size):
        if work.slot[i] >= 0 and memory.contexts[work.slot[i]]["kind"] == MANY:
            fetch(combined(work.keys[i], np.uint64(node)) | ONE, memory.decisions)
    for i in range(plan.kinds.size):
        first = PER_CONTEXT * i
        state[i] = -1
        runs[i] = -1
        if work.slot[i] < 0:
            continue
        slot = memory.contexts[work.slot[i]]
        symbol = slot["symbol"]
        if depth < plan.lengths[symbol] and plan.branchings[symbol, depth] == node:
            sign = 1.0 if plan.bits[symbol, depth] else -1.0
            run: int = min(np.int64(slot["run"]), RUNS - 1)  # type: ignore[assignment]
            p = memory.run_chance[i, slot["kind"] - SINGLE, run, 0]
            if slot["kind"] == SINGLE:
                heard[first] = p
                work.sign[first] = sign
                work.x[at, first + 1] = sign * (p - 0.5) * _CONFIDENCE
            elif not plan.stationary:
                heard[first + 2] = p
                work.sign[first + 2] = sign
            runs[i] = run
            work.expected[at, i] = plan.bits[symbol, depth]
        if slot["kind"] == MANY:
            place = find(combined(work.keys[i], np.uint64(node)) | ONE, memory.decisions)
            work.decision[at, i] = place
            if place >= 0:
                decision = memory.decisions[place]
                state[i] = decision["state"]
                heard[first] = memory.state_chance[i, decision["state"], 0]
                heard[first + 1] = np.float64(decision["chance"])


@kernel(_nrt=False, forceinline=True)
def _hear_matches(at: int, node: int, plan: Plan, memory: Memory, cursor: Cursor, work: Work) -> int:
    """Gives the class of the longest match that has a say, from 1, or 0."""
    depth, longest = plan.depth[node], 0
    for m in range(plan.match_lengths.size):
        first = PER_CONTEXT * plan.kinds.size + PER_MATCH * m
        work.match[at, m, 0] = -1
        if cursor.pointer[m] < 0:
            continue
        symbol = memory.history[cursor.pointer[m] & (memory.history.size - 1)]
        if depth < plan.lengths[symbol] and plan.branchings[symbol, depth] == node:
            sign = 1.0 if plan.bits[symbol, depth] else -1.0
            length, misses = bucket(cursor.length[m]), min(cursor.misses[m], MISSES - 1)
            p = memory.match_chance[m, length, misses, 0]
            work.heard[first] = p
            work.sign[first] = sign
            work.x[at, first + 1] = sign * (p - 0.5) * _CONFIDENCE
            work.match[at, m, 0] = length
            work.match[at, m, 1] = misses
            work.expected[at, plan.kinds.size + m] = plan.bits[symbol, depth]
            longest = max(longest, 1 + length)
    return longest


@kernel(_nrt=False, forceinline=True)
def _hear_outside(at: int, node: int, plan: Plan, work: Work) -> None:
    nodes = plan.children.shape[0]
    first = PER_CONTEXT * plan.kinds.size + PER_MATCH * plan.match_lengths.size
    child = plan.children[node, 1]
    place = child if child >= 0 else nodes - 1 - child
    for e in range(plan.outside):
        whole, one = work.mass[e, node], work.mass[e, place]
        if whole > 0.0:
            work.heard[first + e] = min(max(one / whole, _LEAST_OUTSIDE), 1.0 - _LEAST_OUTSIDE)
    work.x[at, first + plan.outside] = _BIAS


@kernel(_nrt=False)
def _take_log_odds(heard: np.ndarray, sign: np.ndarray, x: np.ndarray) -> None:
    """Of all that was heard at once, which takes a fraction of the time; even chances, which say nothing, have 0."""
    for i in range(x.size):
        x[i] += sign[i] * stretch(heard[i])


@kernel(_nrt=False, forceinline=True)
def _choose_rows(at: int, node: int, longest: int, plan: Plan, cursor: Cursor, work: Work) -> None:
    row, base, stage = work.row[at], work.base, min(plan.depth[node], 2)
    row[0] = base[0] + min(node, NODES - 1)
    row[1] = base[1] + 3 * work.known[0] + stage
    row[2] = base[2] + 3 * longest + stage
    for k in range(2):
        last = cursor.recent[k]
        row[3 + k] = base[3 + k] + (min(plan.rank[last], NODES - 1) if last < plan.lengths.size else NODES)
    if plan.pairs:
        pair = combined(np.uint64(cursor.recent[0]), np.uint64(cursor.recent[1])) & np.uint64(PAIRS - 1)
        row[5] = base[5] + np.int64(pair)
    if plan.outside > 0:
        row[-1] = base[-2] + work.confidence[0]


@kernel(_nrt=False, forceinline=True)
def _mixed(at: int, node: int, memory: Memory, work: Work) -> float:
    """Both layers; returns the log-odds."""
    x, row = work.x[at], work.row[at]
    final = memory.final_weights[min(node, NODES - 1)]
    result = 0.0
    for s in range(row.size):
        total = min(max(dot(memory.weights[row[s]], x), -_BOUND), _BOUND)
        work.log_odds[at, s] = total
        result += final[s] * total
    _take_chances(work.log_odds[at], work.chance[at])
    return min(max(result, -_BOUND), _BOUND)


@kernel(_nrt=False)
def _take_chances(log_odds: np.ndarray, chance: np.ndarray) -> None:
    """Of all sets at once, in as many numbers as registers are filled with: there are never more sets."""
    for s in range(MOST_SETS):
        chance[s] = squash(log_odds[s])


@kernel(_nrt=False, forceinline=True)
def _corrected(at: int, node: int, log_odds: float, memory: Memory, cursor: Cursor, work: Work) -> float:
    tables, corrected = memory.corrections, work.corrected[at]
    place = (min(max(log_odds, -EDGE), EDGE) + EDGE) * ((BUCKETS - 1) / (2.0 * EDGE))
    low = min(int(place), BUCKETS - 2)
    share = place - low
    corrected[0] = low
    work.numbers[at, 1] = share
    rows = tables.shape[1]
    key = np.uint64(node)
    corrected[1] = min(node, rows - 1)
    for k in range(1, tables.shape[0]):
        key = combined(key, np.uint64(cursor.recent[k - 1] + 1))
        corrected[1 + k] = np.int64(key & np.uint64(rows - 1))
    total = 0.0
    for k in range(tables.shape[0]):
        table = tables[k, corrected[1 + k]]
        total += table[low] * (1.0 - share) + table[low + 1] * share
    return work.numbers[at, 0] * (1.0 - _HALF_CORRECTED) + _HALF_CORRECTED * total / tables.shape[0]
