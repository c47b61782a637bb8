"""Encode and decode with context tree weighting: a symbol is coded as its bits down the decomposition.

Each bit costs the chain of its contexts once, where the distribution over all symbols would cost A such chains. An
escape is one more bit, in front. Learning online goes on from sequence to sequence, as in the scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

import numpy as np

from glnn.baselines.ctw_kernels import NODE, _bit_probability, _descend, _learn_bit
from glnn.coding.quantised import known_counts
from glnn.coding.range_coder import CODE, SPAN, TOTAL, decode, encode, has_bytes, has_room, part
from glnn.numeric.kernel import kernel

if TYPE_CHECKING:
    from glnn.baselines.ctw import ContextTreeWeighting


class ContextTreeSteps:
    """Context trees, which learn from what is coded unless they are frozen."""

    portable = True

    def __init__(self, model: ContextTreeWeighting, escape: float | None) -> None:
        settings, decomposition = model.settings, model.decomposition
        self._model, self._M = model, known_counts(escape)
        self._learn = model.learning == "online"
        self._forest = model.forest.copy() if self._learn else model.forest
        self._context: np.ndarray | None = None
        self._longest = int(decomposition.codes[2].max())
        self.margin = 8 * (self._longest + 1)
        self._tree = (decomposition.children, *decomposition.codes)
        self._rules = (
            settings.estimator == "zero_redundancy",
            2.0**settings.weight_limit,
            settings.count_limit,
            settings.max_nodes,
            self._learn,
        )

    def restart(self) -> None:
        """The context before a sequence; only the first one can continue the training data."""
        model = self._model
        if self._context is None and model.opening == "tail":
            self._context = model.tail.copy()
        else:
            self._context = np.full_like(model.tail, len(model.alphabet))

    def encode(self, codes: np.ndarray, coder: np.ndarray, out: np.ndarray) -> int:
        """Encode symbols; gives how many `out` had room for."""
        done = 0
        while done < codes.size:
            self._make_room()
            now = encode_bits(codes[done:], *self._arguments(coder, out))
            done += now
            if now == 0 or not has_room(coder, out, self.margin):
                break
        return done

    def encode_escape(self, coder: np.ndarray, out: np.ndarray) -> None:
        """An escape leaves trees and context as they are."""
        encode(self._M, TOTAL, coder, out)

    def decode(self, codes: np.ndarray, end: int, coder: np.ndarray, source: np.ndarray) -> int:
        """Decode symbols; gives how many."""
        done = 0
        while done < codes.size:
            self._make_room()
            now = decode_bits(codes[done:], end, *self._arguments(coder, source))
            done += now
            stopped = done > 0 and codes[done - 1] in (end, len(self._model.alphabet))
            if now == 0 or stopped or not has_bytes(coder, source, self.margin):
                break
        return done

    def identity(self) -> Iterator[Any]:
        """Trees, settings and the two modes."""
        yield repr((astuple(self._model.settings), self._model.learning, self._model.opening))
        used = self._model.forest.nodes[: self._model.forest.used[0]]
        for name in NODE.names or ():
            yield np.ascontiguousarray(used[name])
        yield self._model.decomposition.children
        yield self._model.tail
        yield self._M

    def place(self) -> np.ndarray:
        """The weights of the first nodes, and the context."""
        weights = self._forest.nodes["ratio"][: min(int(self._forest.used[0]), 1 << 12)]
        return np.concatenate([weights, [] if self._context is None else self._context])

    def _make_room(self) -> None:
        """Room in the pool for the longest way of a symbol, so that the loops can go on."""
        roots, most = len(self._model.decomposition.children), self._model.settings.max_nodes
        needed = self._longest * self._model.tail.size
        while self._learn and self._forest.nodes.size < min(most, int(self._forest.used[0]) + needed):
            self._forest = self._forest.grown(roots, most)

    def _arguments(self, coder: np.ndarray, code: np.ndarray) -> tuple[Any, ...]:
        forest = (self._forest.slots, self._forest.nodes, self._forest.used)
        return (self._context, *self._tree, *self._rules, *forest, self._M, self.margin, coder, code)


@kernel()
def _pool_is_short(longest: int, depth: int, capacity: int, learn: bool, nodes: np.ndarray, used: np.ndarray) -> bool:
    return learn and nodes.size < min(capacity, used[0] + longest * depth)


@kernel()
def _zero_counts(p: float) -> np.uint64:
    """The counts of a 0 that has probability p."""
    zeros = np.int64(p * 4294967296.0)
    return np.uint64(min(max(zeros, np.int64(1)), np.int64(4294967295)))


@kernel()
def _push(context: np.ndarray, y: int) -> None:
    for d in range(context.size - 1, 0, -1):
        context[d] = context[d - 1]
    if context.size > 0:
        context[0] = y


@kernel()
def encode_bits(
    codes: np.ndarray,
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
    M: np.uint64,
    margin: int,
    coder: np.ndarray,
    out: np.ndarray,
) -> int:
    """Encode symbols; gives how many there was room for, in `out` and in the pool of nodes."""
    depth, base, longest = context.size, code_lengths.size + 1, code_lengths.max()
    path = np.empty(depth + 1, np.int64)
    estimates, weighted = np.empty(depth + 1), np.empty(depth + 1)
    for t in range(codes.size):
        if not has_room(coder, out, margin) or _pool_is_short(longest, depth, capacity, learn, nodes, used):
            return t
        y = codes[t]
        if M < TOTAL:
            encode(np.uint64(0), M, coder, out)
        for k in range(code_lengths[y]):
            length = _descend(code_nodes[y, k], context, base, slots, nodes, used, learn, path)
            full = used[0] == capacity
            p = _bit_probability(0, path, length, depth, full, zero_redundancy, nodes, estimates, weighted)
            zeros = _zero_counts(p)
            if code_bits[y, k]:
                encode(zeros, TOTAL, coder, out)
                if learn:
                    _bit_probability(1, path, length, depth, full, zero_redundancy, nodes, estimates, weighted)
                    _learn_bit(1, path, length, limit, most, nodes, estimates, weighted)
            else:
                encode(np.uint64(0), zeros, coder, out)
                if learn:
                    _learn_bit(0, path, length, limit, most, nodes, estimates, weighted)
        _push(context, y)
    return codes.size


@kernel()
def decode_bits(
    codes: np.ndarray,
    end: int,
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
    M: np.uint64,
    margin: int,
    coder: np.ndarray,
    source: np.ndarray,
) -> int:
    """Fill `codes` until `end`, an escape (the code A), or the end of `source` or of the pool; gives how many."""
    depth, base, longest = context.size, code_lengths.size + 1, code_lengths.max()
    path = np.empty(depth + 1, np.int64)
    estimates, weighted = np.empty(depth + 1), np.empty(depth + 1)
    for t in range(codes.size):
        if not has_bytes(coder, source, margin) or _pool_is_short(longest, depth, capacity, learn, nodes, used):
            return t
        if M < TOTAL:
            if part(coder[SPAN], M) <= coder[CODE]:
                decode(M, TOTAL, coder, source)
                codes[t] = code_lengths.size
                return t + 1
            decode(np.uint64(0), M, coder, source)
        child = 0
        while child >= 0:
            branching = child
            length = _descend(branching, context, base, slots, nodes, used, learn, path)
            full = used[0] == capacity
            p = _bit_probability(0, path, length, depth, full, zero_redundancy, nodes, estimates, weighted)
            zeros = _zero_counts(p)
            if part(coder[SPAN], zeros) <= coder[CODE]:
                decode(zeros, TOTAL, coder, source)
                child = children[branching, 1]
                if learn:
                    _bit_probability(1, path, length, depth, full, zero_redundancy, nodes, estimates, weighted)
                    _learn_bit(1, path, length, limit, most, nodes, estimates, weighted)
            else:
                decode(np.uint64(0), zeros, coder, source)
                child = children[branching, 0]
                if learn:
                    _learn_bit(0, path, length, limit, most, nodes, estimates, weighted)
        y = -child - 1
        codes[t] = y
        _push(context, y)
        if y == end:
            return t + 1
    return codes.size
