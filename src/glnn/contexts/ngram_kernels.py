"""Interpolated modified Kneser-Ney as compiled loops over two tables, one of contexts and one of what followed them.

p_k(w) = max(n − D(n), 0) / N + γ p_{k−1}(w), with γ = (D₁ N₁ + D₂ N₂ + D₃ N₃₊) / N in each context of k symbols and
p_{−1} = 1 / A; n counts occurrences in the longest context and different older symbols in shorter ones (Chen and
Goodman 1999). The discounts D come from how many counts of each length are 1, 2, 3 and 4. Additions, products and
divisions only: every machine finds the same probabilities.
"""

from __future__ import annotations

import numpy as np

from glnn.contexts.hash_table import EMPTY, slot
from glnn.contexts.history import SYMBOLS, begin_sequence, push
from glnn.numeric.kernel import kernel

# A context is found by the number of the context without its oldest symbol × (A + 1) + that symbol.
CONTEXT = np.dtype(
    [
        ("key", np.int64),
        ("total", np.int64),
        ("ones", np.int32),
        ("twos", np.int32),
        ("more", np.int32),
        ("head", np.int32),
    ],
    align=True,
)
# What followed a context is found by the number of the context × (A + 1) + the symbol, and leads to the next of it.
EVENT = np.dtype([("key", np.int64), ("count", np.int32), ("next", np.int32)], align=True)
# What is counted in the array `used`, beside the symbols of the history.
CONTEXTS, EVENTS = 0, 2

# A discount of 0 would make the unseen impossible.
_LEAST_DISCOUNT = 0.05


@kernel(_nrt=False)
def discounts(kinds: np.ndarray, D: np.ndarray) -> None:
    """D[k, i] for a count of i = 1, 2, 3 or more after contexts of k symbols, from kinds[k], how many counts are 1 … 4.

    D_i = i − (i + 1) Y n_{i+1} / n_i with Y = n₁ / (n₁ + 2 n₂); where one of these is missing, Y for all three.
    """
    for k in range(kinds.shape[0]):
        n1, n2, n3, n4 = kinds[k, 0], kinds[k, 1], kinds[k, 2], kinds[k, 3]
        Y = n1 / (n1 + 2.0 * n2) if n1 + n2 > 0 else 0.0
        D[k, 0] = 0.0
        whole = n1 > 0 and n2 > 0 and n3 > 0 and n4 > 0
        D[k, 1] = 1.0 - 2.0 * Y * n2 / n1 if whole else Y
        D[k, 2] = 2.0 - 3.0 * Y * n3 / n2 if whole else Y
        D[k, 3] = 3.0 - 4.0 * Y * n4 / n3 if whole else Y
        for i in range(1, 4):
            D[k, i] = min(max(D[k, i], _LEAST_DISCOUNT), i - _LEAST_DISCOUNT)


@kernel(_nrt=False)
def find(context: np.ndarray, base: int, slots: np.ndarray, contexts: np.ndarray, path: np.ndarray) -> int:
    """Fill `path` with the contexts that were met, the empty one first; returns how many."""
    path[0] = 0
    for d in range(context.size):
        place = slot(path[d] * base + context[d], slots, contexts)
        if slots[place] == EMPTY:
            return d + 1
        path[d + 1] = slots[place]
    return context.size + 1


@kernel(_nrt=False)
def add_contexts(
    context: np.ndarray,
    base: int,
    length: int,
    slots: np.ndarray,
    contexts: np.ndarray,
    used: np.ndarray,
    path: np.ndarray,
) -> None:
    """Enter the contexts that `find` did not find."""
    for d in range(length - 1, context.size):
        key, record = path[d] * base + context[d], used[CONTEXTS]
        contexts[record]["key"] = key
        contexts[record]["total"] = 0
        contexts[record]["ones"] = 0
        contexts[record]["twos"] = 0
        contexts[record]["more"] = 0
        contexts[record]["head"] = EMPTY
        slots[slot(key, slots, contexts)] = record
        used[CONTEXTS] += 1
        path[d + 1] = record


@kernel(_nrt=False)
def _left_over(record: np.ndarray, D: np.ndarray) -> float:
    """γ N: what the discounts take off the counts of a context."""
    return D[1] * record["ones"] + D[2] * record["twos"] + D[3] * record["more"]


@kernel(_nrt=False)
def probability(
    w: int,
    base: int,
    path: np.ndarray,
    length: int,
    D: np.ndarray,
    contexts: np.ndarray,
    event_slots: np.ndarray,
    events: np.ndarray,
) -> float:
    """p(w), from the empty context to the longest that was met."""
    p = 1.0 / (base - 1)
    for k in range(length):
        record = contexts[path[k]]
        if record["total"] > 0:
            place = slot(path[k] * base + w, event_slots, events)
            n = 0 if event_slots[place] == EMPTY else events[event_slots[place]]["count"]
            p = (n - D[k, min(n, 3)] + _left_over(record, D[k]) * p) / record["total"]
    return p


@kernel(_nrt=False)
def probability_as_distributed(
    w: int,
    base: int,
    path: np.ndarray,
    length: int,
    D: np.ndarray,
    contexts: np.ndarray,
    event_slots: np.ndarray,
    events: np.ndarray,
) -> float:
    """p(w) from the longest context to the empty one: to the last bit what `distribution` says of w."""
    p, left = 0.0, 1.0
    for k in range(length - 1, -1, -1):
        record = contexts[path[k]]
        if record["total"] == 0:
            continue
        place = slot(path[k] * base + w, event_slots, events)
        if event_slots[place] != EMPTY:
            n = events[event_slots[place]]["count"]
            p += left * (n - D[k, min(n, 3)]) / record["total"]
        left *= _left_over(record, D[k]) / record["total"]
    return p + left / (base - 1)


@kernel(_nrt=False)
def distribution(
    path: np.ndarray,
    length: int,
    base: int,
    D: np.ndarray,
    contexts: np.ndarray,
    events: np.ndarray,
    pi: np.ndarray,
) -> None:
    """The same for every symbol: each context adds what it knows, weighted by what longer ones left over."""
    for w in range(pi.size):
        pi[w] = 0.0
    left = 1.0
    for k in range(length - 1, -1, -1):
        record = contexts[path[k]]
        if record["total"] == 0:
            continue
        event = record["head"]
        while event != EMPTY:
            n = events[event]["count"]
            pi[events[event]["key"] - path[k] * base] += left * (n - D[k, min(n, 3)]) / record["total"]
            event = events[event]["next"]
        left *= _left_over(record, D[k]) / record["total"]
    for w in range(pi.size):
        pi[w] += left / pi.size


@kernel(_nrt=False)
def learn(
    w: int,
    base: int,
    path: np.ndarray,
    length: int,
    contexts: np.ndarray,
    event_slots: np.ndarray,
    events: np.ndarray,
    used: np.ndarray,
    kinds: np.ndarray,
) -> None:
    """Count w after the longest context; where it is new there, the next shorter one has met one more older symbol."""
    for k in range(length - 1, -1, -1):
        record = contexts[path[k]]
        key = path[k] * base + w
        place = slot(key, event_slots, events)
        if event_slots[place] == EMPTY:
            event = used[EVENTS]
            events[event]["key"] = key
            events[event]["count"] = 0
            events[event]["next"] = record["head"]
            record["head"] = event
            event_slots[place] = event
            used[EVENTS] += 1
        event = event_slots[place]
        n = events[event]["count"]
        events[event]["count"] = n + 1
        record["total"] += 1
        if n == 0:
            record["ones"] += 1
        elif n == 1:
            record["ones"] -= 1
            record["twos"] += 1
        elif n == 2:
            record["twos"] -= 1
            record["more"] += 1
        if 0 < n <= 4:
            kinds[k, n - 1] -= 1
        if n < 4:
            kinds[k, n] += 1
        if n > 0:
            return


@kernel(_nrt=False)
def has_room(order: int, contexts: np.ndarray, events: np.ndarray, used: np.ndarray, history: np.ndarray) -> bool:
    """Whether the arrays can take one more symbol; else they have to grow."""
    room = used[CONTEXTS] + order <= contexts.size and used[EVENTS] + order <= events.size
    return room and used[SYMBOLS] + 2 <= history.size


@kernel()
def read(
    x: np.ndarray,
    first: np.ndarray,
    base: int,
    context: np.ndarray,
    learning: bool,
    context_slots: np.ndarray,
    contexts: np.ndarray,
    event_slots: np.ndarray,
    events: np.ndarray,
    used: np.ndarray,
    kinds: np.ndarray,
    history: np.ndarray,
    log_likelihoods: np.ndarray,
    pi: np.ndarray,
) -> int:
    """Predict symbol after symbol, learning or not; returns how many were read. `pi` has a row for each or none.

    Reading stops where the arrays might not hold what a symbol adds: make them larger.
    """
    order = context.size + 1
    path, D = np.empty(order, np.int64), np.empty((order, 4))
    discounts(kinds, D)
    for t in range(x.size):
        if learning and not has_room(order, contexts, events, used, history):
            return t
        if first[t]:
            begin_sequence(context, base, learning, used, history)
        length = find(context, base, context_slots, contexts, path)
        if pi.shape[0] > 0:
            distribution(path, length, base, D, contexts, events, pi[t])
        log_likelihoods[t] = np.log(probability(x[t], base, path, length, D, contexts, event_slots, events))
        if learning:
            add_contexts(context, base, length, context_slots, contexts, used, path)
            learn(x[t], base, path, order, contexts, event_slots, events, used, kinds)
            discounts(kinds, D)
        push(x[t], context, learning, used, history)
    return x.size
