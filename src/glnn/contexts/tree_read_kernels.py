"""What is asked of a context tree, as compiled loops: read symbols, predict one, say which contexts had a say.

A symbol y is written as its way down the decomposition, bit code_bits[y, k] at the branching code_nodes[y, k]. The
settings of a tree come as one array of numbers, `rules`, in the order of `RULES`.
"""

from __future__ import annotations

import numpy as np

from glnn.contexts.history import begin_sequence, push
from glnn.contexts.tree_kernels import descend, has_room, is_full, learn_bit, node_beta, zero_probability
from glnn.numeric.kernel import kernel

# How often each bit is thought to have occurred before; β of a new context; switching rate; largest β; largest count;
# most nodes; longest code of a symbol.
RULES = ("prior", "beta", "rate", "limit", "most", "capacity", "longest")
PRIOR, BETA, RATE, LIMIT, MOST, CAPACITY, LONGEST = range(7)


@kernel(_nrt=False)
def distribution(
    context: np.ndarray,
    children: np.ndarray,
    rules: np.ndarray,
    slots: np.ndarray,
    nodes: np.ndarray,
    used: np.ndarray,
    history: np.ndarray,
    path: np.ndarray,
    estimates: np.ndarray,
    weighted: np.ndarray,
    mass: np.ndarray,
    pi: np.ndarray,
) -> None:
    """The distribution of the next symbol: products of bits down the decomposition; nothing is learned."""
    base = children.shape[0] + 2
    full = is_full(rules[LONGEST], context.size, rules[CAPACITY], used)
    mass[0] = 1.0
    for branching in range(children.shape[0]):
        length, complete = descend(branching, context, base, 1.0, False, slots, nodes, used, history, path)
        zero = zero_probability(path, length, complete, full, rules[PRIOR], nodes, estimates, weighted)
        for bit in range(2):
            p = 1.0 - zero if bit else zero
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
    rules: np.ndarray,
    slots: np.ndarray,
    nodes: np.ndarray,
    used: np.ndarray,
    history: np.ndarray,
    out: np.ndarray,
) -> None:
    """Before each symbol, the weight in the mixture of contexts of every length; nothing is learned.

    At a node of weight β the estimate of its own context has β / (β + 1) of what has come down to it, and the longer
    ones share the rest. Branchings count by the probability of coming to them.
    """
    depth, base = context.size, children.shape[0] + 2
    full = is_full(rules[LONGEST], depth, rules[CAPACITY], used)
    path = np.empty(depth + 1, np.int64)
    estimates, weighted = np.empty(depth + 1), np.empty(depth + 1)
    mass = np.empty(children.shape[0])
    for t in range(x.size):
        if first[t]:
            begin_sequence(context, base, False, used, history)
        mass[0] = 1.0
        total = 0.0
        out[t, :] = 0.0
        for branching in range(children.shape[0]):
            length, complete = descend(branching, context, base, 1.0, False, slots, nodes, used, history, path)
            total += mass[branching]
            rest = mass[branching]
            for d in range(length):
                beta = node_beta(nodes[path[d]]["ratio"], nodes[path[d]]["exponent"])
                own = rest if d == length - 1 else rest * (beta / (beta + 1.0))
                out[t, d] += own
                rest -= own
            zero = zero_probability(path, length, complete, full, rules[PRIOR], nodes, estimates, weighted)
            for bit in range(2):
                if children[branching, bit] >= 0:
                    mass[children[branching, bit]] = mass[branching] * (1.0 - zero if bit else zero)
        for d in range(depth + 1):
            out[t, d] /= total
        push(x[t], context, False, used, history)


@kernel()
def read(
    x: np.ndarray,
    first: np.ndarray,
    context: np.ndarray,
    children: np.ndarray,
    code_nodes: np.ndarray,
    code_bits: np.ndarray,
    code_lengths: np.ndarray,
    rules: np.ndarray,
    learn: bool,
    slots: np.ndarray,
    nodes: np.ndarray,
    used: np.ndarray,
    history: np.ndarray,
    log_likelihoods: np.ndarray,
    pi: np.ndarray,
) -> int:
    """Predict symbol after symbol, learning or not; returns how many were read. `pi` has a row for each or none.

    Reading stops where the arrays might not hold what a symbol adds: make them larger.
    """
    depth, base = context.size, code_lengths.size + 1
    path = np.empty(depth + 1, np.int64)
    estimates, weighted, mass = np.empty(depth + 1), np.empty(depth + 1), np.empty(children.shape[0])
    prior, most = rules[PRIOR], int(rules[MOST])
    for t in range(x.size):
        y = x[t]
        full = is_full(rules[LONGEST], depth, rules[CAPACITY], used)
        if learn and not has_room(rules[LONGEST], depth, nodes, used, history, full):
            return t
        if first[t]:
            begin_sequence(context, base, learn, used, history)
        if pi.shape[0] > 0:
            distribution(context, children, rules, slots, nodes, used, history, path, estimates, weighted, mass, pi[t])
        total = 0.0
        for k in range(code_lengths[y]):
            bit, root = code_bits[y, k], code_nodes[y, k]
            create = learn and not full
            length, complete = descend(root, context, base, rules[BETA], create, slots, nodes, used, history, path)
            zero = zero_probability(path, length, complete, full, prior, nodes, estimates, weighted)
            total += np.log(1.0 - zero if bit else zero)
            if learn:
                learn_bit(bit, path, length, rules[RATE], rules[LIMIT], most, nodes, estimates, weighted)
        log_likelihoods[t] = total
        push(y, context, learn, used, history)
    return x.size
