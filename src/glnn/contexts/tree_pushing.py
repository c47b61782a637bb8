"""One symbol after the context of a tree: its probability, and learning it, along its own path of branchings only.

The probability is to the last bit that of the distribution over all symbols. Trees and scratch are bound once for many
calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from glnn.contexts.history import begin_sequence, push
from glnn.contexts.tree_kernels import NODE, descend, has_room, is_full, learn_bit, zero_probability
from glnn.contexts.tree_read_kernels import BETA, CAPACITY, LIMIT, LONGEST, MOST, PRIOR, RATE, distribution
from glnn.numeric.frame import COMPILED, loading, new_frame, storing
from glnn.numeric.kernel import kernel

if TYPE_CHECKING:
    from glnn.contexts.forest import Forest
    from glnn.contexts.tree import ContextTreeWeighting

Arrays = tuple[np.ndarray, ...]


def _example() -> Arrays:
    whole, number, code = np.zeros(1, np.int64), np.zeros(1), np.zeros((1, 1), np.int64)
    slots, history = np.zeros(1, np.int32), np.zeros(1, np.int32)
    forest = (slots, np.zeros(1, NODE), whole, history)
    return code, code, code, whole, number, *forest, whole, number, number, number


_store = storing()
_load = loading(_example())


class Frame:
    """Trees, their rules, and scratch."""

    def __init__(self, trees: ContextTreeWeighting, forest: Forest) -> None:
        deep, children = trees.settings.depth + 1, trees.decomposition.children
        ways = (np.ascontiguousarray(part) for part in (children, *trees.decomposition.codes))
        scratch = (np.empty(deep, np.int64), np.empty(deep), np.empty(deep), np.empty(len(children)))
        self._arrays = (*ways, trees.rules, forest.slots, forest.nodes, forest.used, forest.history, *scratch)
        if COMPILED:
            self._bytes = new_frame()
            _bind(self._bytes, self._arrays)

    def ask(self, symbol: int, context: np.ndarray) -> float:
        """The probability of a symbol after a context."""
        if COMPILED:
            return _ask_bound(self._bytes, symbol, context)
        return _ask(self._arrays, symbol, context)

    def look(self, context: np.ndarray, pi: np.ndarray) -> None:
        """Fill the distribution after a context."""
        if COMPILED:
            _look_bound(self._bytes, context, pi)
        else:
            _look(self._arrays, context, pi)

    def learn(self, symbol: int, context: np.ndarray, first: bool) -> float:
        """The same, and it is learned, and the context moves on; −1 if there is no room, and nothing happened."""
        if COMPILED:
            return _learn_bound(self._bytes, symbol, context, first)
        return _learn(self._arrays, symbol, context, first)


@kernel(_nrt=False)
def _bind(frame: np.ndarray, arrays: Arrays) -> None:
    _store(frame, arrays)


@kernel(_nrt=False)
def _ask_bound(frame: np.ndarray, symbol: int, context: np.ndarray) -> float:
    return _ask(_load(frame), symbol, context)  # type: ignore[no-any-return]


@kernel(_nrt=False)
def _look_bound(frame: np.ndarray, context: np.ndarray, pi: np.ndarray) -> None:
    _look(_load(frame), context, pi)


@kernel(_nrt=False)
def _learn_bound(frame: np.ndarray, symbol: int, context: np.ndarray, first: bool) -> float:
    return _learn(_load(frame), symbol, context, first)  # type: ignore[no-any-return]


@kernel(_nrt=False)
def _ask(arrays: Arrays, symbol: int, context: np.ndarray) -> float:
    _children, branchings, bits, lengths, rules, slots, nodes, used, history, path, estimates, weighted, _mass = arrays
    base, p = lengths.size + 1, 1.0
    full = is_full(rules[LONGEST], context.size, rules[CAPACITY], used)
    for k in range(lengths[symbol]):
        root = branchings[symbol, k]
        length, complete = descend(root, context, base, rules[BETA], False, slots, nodes, used, history, path)
        zero = zero_probability(path, length, complete, full, rules[PRIOR], nodes, estimates, weighted)
        p *= 1.0 - zero if bits[symbol, k] else zero
    return p


@kernel(_nrt=False)
def _look(arrays: Arrays, context: np.ndarray, pi: np.ndarray) -> None:
    children, _branchings, _bits, _lengths, rules, slots, nodes, used, history, path, estimates, weighted, mass = arrays
    distribution(context, children, rules, slots, nodes, used, history, path, estimates, weighted, mass, pi)


@kernel(_nrt=False)
def _learn(arrays: Arrays, symbol: int, context: np.ndarray, first: bool) -> float:
    _children, branchings, bits, lengths, rules, slots, nodes, used, history, path, estimates, weighted, _mass = arrays
    base, depth, p = lengths.size + 1, context.size, 1.0
    full = is_full(rules[LONGEST], depth, rules[CAPACITY], used)
    if not has_room(rules[LONGEST], depth, nodes, used, history, full):
        return -1.0
    if first:
        begin_sequence(context, base, True, used, history)
    for k in range(lengths[symbol]):
        bit, root = bits[symbol, k], branchings[symbol, k]
        length, complete = descend(root, context, base, rules[BETA], not full, slots, nodes, used, history, path)
        zero = zero_probability(path, length, complete, full, rules[PRIOR], nodes, estimates, weighted)
        p *= 1.0 - zero if bit else zero
        learn_bit(bit, path, length, rules[RATE], rules[LIMIT], int(rules[MOST]), nodes, estimates, weighted)
    push(symbol, context, True, used, history)
    return p
