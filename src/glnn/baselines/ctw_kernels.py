"""Context tree weighting as compiled loops over a pool of nodes: for every bit, the chain of its contexts.

At a node, P_w = ½ P_e + ½ Π P_w(children), and P_w = P_e at full depth. Only β = P_e / Π P_w(children) is kept:
the next bit has probability (β p_e + p_child) / (β + 1), and then β ← β p_e / p_child. β is `ratio` ·
2^(256 `exponent`): it never overflows, and without logarithms every machine finds the same probabilities.
"""

from __future__ import annotations

import numpy as np

from glnn.numeric.kernel import kernel

# A node is found by `key`, its parent's number × (A + 1) + the symbol that leads to it from there.
NODE = np.dtype(
    [
        ("key", np.int64),
        ("ratio", np.float64),
        ("zeros", np.int32),
        ("ones", np.int32),
        ("exponent", np.int32),
    ],
    align=True,
)
EMPTY = -1

_STEP = 2.0**256
# The probability that a fair mixture of coins (KT) gives to a run of n equal bits, Π (i + ½) / (i + 1).
_RUNS = np.cumprod(np.concatenate([[1.0], (np.arange(1023) + 0.5) / np.arange(1, 1024)]))


@kernel()
def _slot(key: int, slots: np.ndarray, nodes: np.ndarray) -> int:
    """Where the node of a key is entered in the table, or the empty place where it belongs."""
    mask = slots.size - 1
    # The product of two 31-bit numbers stays inside 63 bits; its middle bits depend on all those of the key.
    place = ((((key ^ (key >> 31)) & 0x7FFFFFFF) * 0x9E3779B1) >> 24) & mask
    while slots[place] != EMPTY and nodes[slots[place]]["key"] != key:
        place = (place + 1) & mask
    return place


@kernel()
def enter(first: int, count: int, slots: np.ndarray, nodes: np.ndarray) -> None:
    """Enter the nodes first … count − 1 in an empty table."""
    for node in range(first, count):
        slots[_slot(nodes[node]["key"], slots, nodes)] = node


@kernel()
def _run(n: int) -> float:
    """The KT probability of n equal bits, Γ(n + ½) / (√π n!); beyond the table its series, to 1e-15."""
    if n < 1024:
        return _RUNS[n]
    s = 1.0 / n
    return (1.0 - s * (0.125 - s * (0.0078125 + s * 0.0048828125))) / np.sqrt(np.pi * n)


@kernel()
def _estimate(same: int, other: int, zero_redundancy: bool) -> float:
    """The probability of a bit that was seen `same` times here while its opposite was seen `other` times.

    Krichevsky-Trofimov, (same + ½) / (same + other + 1); with zero redundancy, half of it and a quarter each
    for "always 0" and "always 1", as long as one of these can be true.
    """
    if zero_redundancy and same + other > 0:
        if other == 0:
            return (0.5 * _run(same + 1) + 0.25) / (0.5 * _run(same) + 0.25)
        if same == 0:
            return 0.5 * _run(other) * (0.5 / (other + 1.0)) / (0.5 * _run(other) + 0.25)
    return (same + 0.5) / (same + other + 1.0)


@kernel()
def _beta(ratio: float, exponent: int) -> float:
    """β as one number; beyond 2^±512 the child or the estimate alone decides, whatever the number."""
    if exponent == 0:
        return ratio
    if exponent > 0:
        return ratio * _STEP if exponent == 1 else ratio * _STEP * _STEP
    return ratio / _STEP if exponent == -1 else ratio / _STEP / _STEP


@kernel()
def _descend(
    root: int,
    context: np.ndarray,
    base: int,
    slots: np.ndarray,
    nodes: np.ndarray,
    used: np.ndarray,
    create: bool,
    path: np.ndarray,
) -> int:
    """Fill `path` with the nodes of the context, the empty one (the root) first; gives how many exist."""
    path[0] = root
    for d in range(context.size):
        key = path[d] * base + context[d]
        place = _slot(key, slots, nodes)
        if slots[place] == EMPTY:
            if not create or used[0] == nodes.size:
                return d + 1
            node = used[0]
            nodes[node]["key"] = key
            nodes[node]["ratio"] = 1.0
            nodes[node]["zeros"] = 0
            nodes[node]["ones"] = 0
            nodes[node]["exponent"] = 0
            slots[place] = node
            used[0] += 1
        path[d + 1] = slots[place]
    return context.size + 1


@kernel()
def _bit_probability(
    bit: int,
    path: np.ndarray,
    length: int,
    depth: int,
    full: bool,
    zero_redundancy: bool,
    nodes: np.ndarray,
    estimates: np.ndarray,
    weighted: np.ndarray,
) -> float:
    """Fill what p_e and P_w say of a bit at every node of the path, from the deepest up; gives the root's P_w."""
    for d in range(length - 1, -1, -1):
        node = nodes[path[d]]
        same, other = (node["ones"], node["zeros"]) if bit else (node["zeros"], node["ones"])
        estimates[d] = _estimate(same, other, zero_redundancy)
        if d == depth:
            weighted[d] = estimates[d]
            continue
        # A context not met before says ½; when there is no room for new ones, its shorter one speaks.
        unknown = estimates[d] if full else 0.5
        below = weighted[d + 1] if d < length - 1 else unknown
        beta = _beta(node["ratio"], node["exponent"])
        weighted[d] = (beta * estimates[d] + below) / (beta + 1.0)
    return weighted[0]


@kernel()
def _learn_bit(
    bit: int,
    path: np.ndarray,
    length: int,
    limit: float,
    most: int,
    nodes: np.ndarray,
    estimates: np.ndarray,
    weighted: np.ndarray,
) -> None:
    """Count a bit at every node of the path and move the weights β by what each prediction was worth."""
    for d in range(length):
        node = nodes[path[d]]
        if d < length - 1:
            ratio, exponent = node["ratio"] * (estimates[d] / weighted[d + 1]), node["exponent"]
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


@kernel()
def distribution(
    context: np.ndarray,
    children: np.ndarray,
    zero_redundancy: bool,
    full: bool,
    slots: np.ndarray,
    nodes: np.ndarray,
    used: np.ndarray,
    pi: np.ndarray,
) -> None:
    """The distribution of the next symbol: products of bits down the decomposition; nothing is learned."""
    depth, base = context.size, children.shape[0] + 2
    path = np.empty(depth + 1, np.int64)
    estimates, weighted = np.empty(depth + 1), np.empty(depth + 1)
    mass = np.empty(children.shape[0])
    mass[0] = 1.0
    for branching in range(children.shape[0]):
        length = _descend(branching, context, base, slots, nodes, used, False, path)
        for bit in range(2):
            p = _bit_probability(bit, path, length, depth, full, zero_redundancy, nodes, estimates, weighted)
            child = children[branching, bit]
            if child >= 0:
                mass[child] = mass[branching] * p
            else:
                pi[-child - 1] = mass[branching] * p


@kernel()
def context_weights(
    x: np.ndarray,
    first: np.ndarray,
    context: np.ndarray,
    children: np.ndarray,
    zero_redundancy: bool,
    full: bool,
    slots: np.ndarray,
    nodes: np.ndarray,
    used: np.ndarray,
    out: np.ndarray,
) -> None:
    """Before each symbol, the weight in the mixture of contexts of every length; nothing is learned.

    At a node of weight β the estimate of its own context has β / (β + 1) of what has come down to it, and the longer
    ones share the rest. Branchings count by the probability of coming to them.
    """
    depth, base = context.size, children.shape[0] + 2
    path = np.empty(depth + 1, np.int64)
    estimates, weighted = np.empty(depth + 1), np.empty(depth + 1)
    mass = np.empty(children.shape[0])
    for t in range(x.size):
        if first[t]:
            for d in range(depth):
                context[d] = base - 1
        mass[0] = 1.0
        total = 0.0
        out[t, :] = 0.0
        for branching in range(children.shape[0]):
            length = _descend(branching, context, base, slots, nodes, used, False, path)
            total += mass[branching]
            rest = mass[branching]
            for d in range(length):
                beta = _beta(nodes[path[d]]["ratio"], nodes[path[d]]["exponent"])
                own = rest if d == length - 1 else rest * (beta / (beta + 1.0))
                out[t, d] += own
                rest -= own
            for bit in range(2):
                p = _bit_probability(bit, path, length, depth, full, zero_redundancy, nodes, estimates, weighted)
                if children[branching, bit] >= 0:
                    mass[children[branching, bit]] = mass[branching] * p
        for d in range(depth + 1):
            out[t, d] /= total
        for d in range(depth - 1, 0, -1):
            context[d] = context[d - 1]
        if depth > 0:
            context[0] = x[t]


@kernel()
def read(
    x: np.ndarray,
    first: np.ndarray,
    context: np.ndarray,
    children: np.ndarray,
    code_nodes: np.ndarray,
    code_bits: np.ndarray,
    code_lengths: np.ndarray,
    zero_redundancy: bool,
    limit: float,
    most: int,
    capacity: int,
    learn: bool,
    slots: np.ndarray,
    nodes: np.ndarray,
    used: np.ndarray,
    log_likelihoods: np.ndarray,
    pi: np.ndarray,
) -> int:
    """Predict symbol after symbol, learning or not; gives how many were read. `pi` has a row for each or none.

    A symbol y is written as its way down the decomposition, bit code_bits[y, k] at code_nodes[y, k]. Reading
    stops where the pool might not hold a symbol's nodes though `capacity` is not reached: make it larger.
    """
    depth, base = context.size, code_lengths.size + 1
    path = np.empty(depth + 1, np.int64)
    estimates, weighted = np.empty(depth + 1), np.empty(depth + 1)
    for t in range(x.size):
        y = x[t]
        if learn and nodes.size < capacity and used[0] + code_lengths[y] * depth > nodes.size:
            return t
        if first[t]:
            for d in range(depth):
                context[d] = base - 1
        if pi.shape[0] > 0:
            distribution(context, children, zero_redundancy, used[0] == capacity, slots, nodes, used, pi[t])
        total = 0.0
        for k in range(code_lengths[y]):
            bit = code_bits[y, k]
            length = _descend(code_nodes[y, k], context, base, slots, nodes, used, learn, path)
            full = used[0] == capacity
            p = _bit_probability(bit, path, length, depth, full, zero_redundancy, nodes, estimates, weighted)
            total += np.log(p)
            if learn:
                _learn_bit(bit, path, length, limit, most, nodes, estimates, weighted)
        log_likelihoods[t] = total
        for d in range(depth - 1, 0, -1):
            context[d] = context[d - 1]
        if depth > 0:
            context[0] = y
    return x.size
