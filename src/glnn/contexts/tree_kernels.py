"""Context trees as compiled loops over a pool of nodes: for every bit, the chain of its contexts.

At a node, β = P(its own estimate) / P(longer contexts) given what was read: the next bit has probability
(β p_e + p_child) / (β + 1). As a mixture (Willems, Shtarkov, Tjalkens 1995) β ← β p_e / p_child; with switching
(Veness, Ng, Hutter, Bowling 2012) the share a = rate / (n + 2) of either side goes over to the other after n visits.
A context is a leaf until it was met after two different longer ones; its `text` says where the longer one stands.
"""

from __future__ import annotations

import numpy as np

from glnn.contexts.hash_table import EMPTY, slot
from glnn.contexts.history import SYMBOLS
from glnn.numeric.kernel import kernel

# A node is found by `key`, its parent's number × (A + 1) + the symbol that leads to it from there. As a mixture,
# β is `ratio` · 2^(256 `exponent`): it never overflows, and without logarithms every machine finds the same bits.
NODE = np.dtype(
    [
        ("key", np.int64),
        ("ratio", np.float64),
        ("zeros", np.int32),
        ("ones", np.int32),
        ("exponent", np.int32),
        ("text", np.int32),
        ("symbol", np.int32),
        ("child", np.int32),
    ],
    align=True,
)
# What a file of the first version holds of each node.
STORED = ("key", "ratio", "zeros", "ones", "exponent")
# `child` is the longer context that was met last, and `symbol` what leads to it: most often it is met again, without a
# look at the table. Neither is part of what was learned.
NO_CHILD = -1
# `text` of a node with longer contexts below it, and of one that was never visited; else a place in the history.
BRANCHED, FRESH = -1, -2
# What is counted in the array `used`, beside the symbols of the history.
NODES = 0

_STEP = 2.0**256
# The probability that a fair mixture of coins (KT) gives to a run of n equal bits, Π (i + ½) / (i + 1).
_RUNS = np.cumprod(np.concatenate([[1.0], (np.arange(1023) + 0.5) / np.arange(1, 1024)]))


@kernel(_nrt=False)
def _run(n: int) -> float:
    """The KT probability of n equal bits, Γ(n + ½) / (√π n!); beyond the table its series, to 1e-15."""
    if n < 1024:
        return _RUNS[n]
    s = 1.0 / n
    return (1.0 - s * (0.125 - s * (0.0078125 + s * 0.0048828125))) / np.sqrt(np.pi * n)


@kernel(_nrt=False)
def _estimate(same: int, other: int, prior: float) -> float:
    """The probability of a bit that was seen `same` times here while its opposite was seen `other` times.

    (same + prior) / (same + other + 2 prior), Krichevsky and Trofimov's (KT) with a prior of ½. A prior of 0 stands for
    zero redundancy: half of KT and a quarter each for "always 0" and "always 1", as long as one of these can be true.
    """
    if prior > 0.0:
        return (same + prior) / (same + other + 2.0 * prior)
    if same + other > 0:
        if other == 0:
            return (0.5 * _run(same + 1) + 0.25) / (0.5 * _run(same) + 0.25)
        if same == 0:
            return 0.5 * _run(other) * (0.5 / (other + 1.0)) / (0.5 * _run(other) + 0.25)
    return (same + 0.5) / (same + other + 1.0)


@kernel(_nrt=False)
def node_beta(ratio: float, exponent: int) -> float:
    """β as one number; beyond 2^±512 the child or the estimate alone decides, whatever the number."""
    if exponent == 0:
        return ratio
    if exponent > 0:
        return ratio * _STEP if exponent == 1 else ratio * _STEP * _STEP
    return ratio / _STEP if exponent == -1 else ratio / _STEP / _STEP


@kernel(_nrt=False)
def _common(place: int, begin: int, context: np.ndarray, padding: int, history: np.ndarray) -> int:
    """How many symbols of the context agree with those before a place of the history, `begin` known to."""
    for d in range(begin, context.size):
        # Before a sequence there is nothing but padding, of which the history has one symbol.
        if d > 0 and context[d - 1] == padding:
            return context.size
        if history[place - 1 - d] != context[d]:
            return d
    return context.size


@kernel(_nrt=False)
def _add(key: int, place: int, beta: float, slots: np.ndarray, nodes: np.ndarray, used: np.ndarray) -> int:
    """Enter a new node at a place of the table."""
    node = used[NODES]
    nodes[node]["key"] = key
    nodes[node]["ratio"] = beta
    nodes[node]["zeros"] = 0
    nodes[node]["ones"] = 0
    nodes[node]["exponent"] = 0
    nodes[node]["text"] = FRESH
    nodes[node]["symbol"] = NO_CHILD
    slots[place] = node
    used[NODES] += 1
    return node


@kernel(_nrt=False)
def _branch(
    leaf: int,
    begin: int,
    end: int,
    base: int,
    beta: float,
    slots: np.ndarray,
    nodes: np.ndarray,
    used: np.ndarray,
    history: np.ndarray,
) -> None:
    """Turn a leaf of length `begin` into the contexts of lengths begin … end + 1 that it stood for.

    All of them were met at the same times, so their counts are those of the leaf.
    """
    text, node = nodes[leaf]["text"], leaf
    for d in range(begin, end + 1):
        symbol = history[text - 1 - d]
        key = node * base + symbol
        nodes[node]["text"] = BRANCHED
        nodes[node]["symbol"] = symbol
        nodes[node]["child"] = used[NODES]
        node = _add(key, slot(key, slots, nodes), beta, slots, nodes, used)
        nodes[node]["zeros"] = nodes[leaf]["zeros"]
        nodes[node]["ones"] = nodes[leaf]["ones"]
    nodes[node]["text"] = text


@kernel(_nrt=False)
def descend(
    root: int,
    context: np.ndarray,
    base: int,
    beta: float,
    create: bool,
    slots: np.ndarray,
    nodes: np.ndarray,
    used: np.ndarray,
    history: np.ndarray,
    path: np.ndarray,
) -> tuple[int, bool]:
    """Fill `path` with the nodes of the context, the empty one (the root) first; returns how many.

    Also whether the last one speaks for all longer contexts; if not, the next longer one was never met here. Without
    `create`, a leaf that must branch is repeated for each of the contexts that it stands for.
    """
    path[0] = root
    depth = context.size
    for d in range(depth):
        node = path[d]
        text = nodes[node]["text"]
        if text == FRESH:
            if create:
                nodes[node]["text"] = used[SYMBOLS]
            return d + 1, True
        if text >= 0:
            common = _common(text, d, context, base - 1, history)
            if common == depth:
                return d + 1, True
            if not create:
                for longer in range(d + 1, common + 1):
                    path[longer] = node
                return common + 1, False
            _branch(node, d, common, base, beta, slots, nodes, used, history)
        if nodes[node]["symbol"] == context[d]:
            path[d + 1] = nodes[node]["child"]
            continue
        key = node * base + context[d]
        place = slot(key, slots, nodes)
        if slots[place] == EMPTY:
            if not create:
                return d + 1, False
            _add(key, place, beta, slots, nodes, used)
        path[d + 1] = slots[place]
        if create:
            nodes[node]["symbol"] = context[d]
            nodes[node]["child"] = slots[place]
    return depth + 1, True


@kernel(_nrt=False)
def zero_probability(
    path: np.ndarray,
    length: int,
    complete: bool,
    full: bool,
    prior: float,
    nodes: np.ndarray,
    estimates: np.ndarray,
    weighted: np.ndarray,
) -> float:
    """Fill what p_e and P_w say of a 0 at every node of the path, from the deepest up; returns the root's P_w.

    A 1 has what is left to 1, everywhere.
    """
    for d in range(length - 1, -1, -1):
        node = nodes[path[d]]
        estimates[d] = _estimate(node["zeros"], node["ones"], prior)
        if complete and d == length - 1:
            weighted[d] = estimates[d]
            continue
        # A context not met before says ½; when there is no room for new ones, its shorter one speaks.
        unknown = estimates[d] if full else 0.5
        below = weighted[d + 1] if d < length - 1 else unknown
        beta = node_beta(node["ratio"], node["exponent"])
        weighted[d] = (beta * estimates[d] + below) / (beta + 1.0)
    return weighted[0]


@kernel(_nrt=False)
def learn_bit(
    bit: int,
    path: np.ndarray,
    length: int,
    rate: float,
    limit: float,
    most: int,
    nodes: np.ndarray,
    estimates: np.ndarray,
    weighted: np.ndarray,
) -> None:
    """Count a bit at every node of the path and move the weights β by what each prediction was worth.

    A `rate` of 0 is the mixture. A leaf that the path repeats, for want of room, counts once.
    """
    for d in range(length):
        if d > 0 and path[d] == path[d - 1]:
            return
        node = nodes[path[d]]
        if d < length - 1 and path[d + 1] != path[d]:
            estimate, below = estimates[d], weighted[d + 1]
            if bit:
                estimate, below = 1.0 - estimate, 1.0 - below
            if rate > 0.0:
                own = node["ratio"] * estimate
                a = rate / (node["zeros"] + node["ones"] + 2.0)
                moved = a * (own + below)
                node["ratio"] = (moved + (1.0 - 2.0 * a) * own) / (moved + (1.0 - 2.0 * a) * below)
            else:
                ratio, exponent = node["ratio"] * (estimate / below), node["exponent"]
                if ratio > _STEP:
                    ratio, exponent = ratio / _STEP, exponent + 1
                elif ratio < 1.0 / _STEP:
                    ratio, exponent = ratio * _STEP, exponent - 1
                if limit < _STEP:
                    ratio = min(max(ratio, 1.0 / limit), limit)
                node["ratio"] = ratio
                node["exponent"] = exponent
        zeros, ones = node["zeros"] + (1 - bit), node["ones"] + bit
        if max(zeros, ones) > most:
            zeros, ones = (zeros + 1) // 2, (ones + 1) // 2
        node["zeros"] = zeros
        node["ones"] = ones


@kernel(_nrt=False)
def is_full(longest: int, depth: int, capacity: int, used: np.ndarray) -> bool:
    """Whether a symbol of the longest code could need more nodes than are allowed: then none is added any more.

    Each bit makes one leaf into at most `depth` contexts, and one more beside the last.
    """
    return used[NODES] + longest * (depth + 1) > capacity


@kernel(_nrt=False)
def has_room(longest: int, depth: int, nodes: np.ndarray, used: np.ndarray, history: np.ndarray, full: bool) -> bool:
    """Whether the arrays can take one more symbol; else they have to grow."""
    return used[SYMBOLS] + 2 <= history.size and (full or used[NODES] + longest * (depth + 1) <= nodes.size)
