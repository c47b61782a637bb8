"""Encode and decode with context tree weighting: a symbol is coded as its bits down the decomposition.

Each bit costs the chain of its contexts once, where the distribution over all symbols would cost A such chains. An
escape is one more bit, in front. Learning online goes on from sequence to sequence, as in the scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

import numpy as np

from glnn.coding.quantised import known_counts
from glnn.coding.range_coder import CODE, SPAN, TOTAL, decode, encode, has_bytes, has_room, part
from glnn.contexts.history import push
from glnn.contexts.tree_kernels import descend, is_full, learn_bit, zero_probability
from glnn.contexts.tree_kernels import has_room as pool_has_room
from glnn.contexts.tree_reader import Reader
from glnn.contexts.tree_reading import BETA, CAPACITY, LIMIT, LONGEST, MOST, PRIOR, RATE
from glnn.numeric.kernel import kernel

if TYPE_CHECKING:
    from glnn.contexts.tree import ContextTreeWeighting


class ContextTreeSteps:
    """Context trees, which learn from what is coded unless they are frozen."""

    portable = True

    def __init__(self, model: ContextTreeWeighting, escape: float | None) -> None:
        self._model, self._M = model, known_counts(escape)
        self._learn = model.learning == "online"
        self._reader = Reader(model, model.forest.copy() if self._learn else model.forest, model.first_context())
        self._begun = False
        self.margin = 8 * (int(model.rules[LONGEST]) + 1)

    def restart(self) -> None:
        """The context before a sequence; only the first one can continue the training data."""
        if self._begun or self._model.opening == "padding":
            self._reader.begin_sequence(self._learn)
        self._begun = True

    def encode(self, codes: np.ndarray, coder: np.ndarray, out: np.ndarray) -> int:
        """Encode symbols; gives how many `out` had room for."""
        done = 0
        while done < codes.size:
            if self._learn:
                self._reader.make_room()
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
            if self._learn:
                self._reader.make_room()
            now = decode_bits(codes[done:], end, *self._arguments(coder, source))
            done += now
            stopped = done > 0 and codes[done - 1] in (end, len(self._model.alphabet))
            if now == 0 or stopped or not has_bytes(coder, source, self.margin):
                break
        return done

    def identity(self) -> Iterator[Any]:
        """The symbols read in training, which say all about the trees; settings and the two modes."""
        yield repr((astuple(self._model.settings), self._model.learning, self._model.opening))
        for name, array in sorted(self._model.arrays().items()):
            yield name
            yield array
        yield self._M

    def place(self) -> np.ndarray:
        """The weights of the first nodes, and the context."""
        return np.concatenate([self._reader.forest.taken()["ratio"][: 1 << 12], self._reader.context])

    def _arguments(self, coder: np.ndarray, code: np.ndarray) -> tuple[Any, ...]:
        forest, decomposition = self._reader.forest, self._model.decomposition
        tree = (decomposition.children, *decomposition.codes, self._model.rules, self._learn)
        pool = (forest.slots, forest.nodes, forest.used, forest.history)
        return (self._reader.context, *tree, *pool, self._M, self.margin, coder, code)


@kernel()
def _zero_counts(p: float) -> np.uint64:
    """The counts of a 0 that has probability p."""
    zeros = np.int64(p * 4294967296.0)
    return np.uint64(min(max(zeros, np.int64(1)), np.int64(4294967295)))


@kernel()
def encode_bits(
    codes: np.ndarray,
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
    M: np.uint64,
    margin: int,
    coder: np.ndarray,
    out: np.ndarray,
) -> int:
    """Encode symbols; gives how many there was room for, in `out` and in the pool of nodes."""
    depth, base = context.size, code_lengths.size + 1
    beta, prior, rate, limit, most = rules[BETA], rules[PRIOR], rules[RATE], rules[LIMIT], int(rules[MOST])
    path = np.empty(depth + 1, np.int64)
    estimates, weighted = np.empty(depth + 1), np.empty(depth + 1)
    for t in range(codes.size):
        full = is_full(rules[LONGEST], depth, rules[CAPACITY], used)
        room = not learn or pool_has_room(rules[LONGEST], depth, nodes, used, history, full)
        if not room or not has_room(coder, out, margin):
            return t
        create = learn and not full
        y = codes[t]
        if M < TOTAL:
            encode(np.uint64(0), M, coder, out)
        for k in range(code_lengths[y]):
            root = code_nodes[y, k]
            length, complete = descend(root, context, base, beta, create, slots, nodes, used, history, path)
            p = zero_probability(path, length, complete, full, prior, nodes, estimates, weighted)
            zeros = _zero_counts(p)
            if code_bits[y, k]:
                encode(zeros, TOTAL, coder, out)
                if learn:
                    learn_bit(1, path, length, rate, limit, most, nodes, estimates, weighted)
            else:
                encode(np.uint64(0), zeros, coder, out)
                if learn:
                    learn_bit(0, path, length, rate, limit, most, nodes, estimates, weighted)
        push(y, context, learn, used, history)
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
    rules: np.ndarray,
    learn: bool,
    slots: np.ndarray,
    nodes: np.ndarray,
    used: np.ndarray,
    history: np.ndarray,
    M: np.uint64,
    margin: int,
    coder: np.ndarray,
    source: np.ndarray,
) -> int:
    """Fill `codes` until `end`, an escape (the code A), or the end of `source` or of the pool; gives how many."""
    depth, base = context.size, code_lengths.size + 1
    beta, prior, rate, limit, most = rules[BETA], rules[PRIOR], rules[RATE], rules[LIMIT], int(rules[MOST])
    path = np.empty(depth + 1, np.int64)
    estimates, weighted = np.empty(depth + 1), np.empty(depth + 1)
    for t in range(codes.size):
        full = is_full(rules[LONGEST], depth, rules[CAPACITY], used)
        room = not learn or pool_has_room(rules[LONGEST], depth, nodes, used, history, full)
        if not room or not has_bytes(coder, source, margin):
            return t
        create = learn and not full
        if M < TOTAL:
            if part(coder[SPAN], M) <= coder[CODE]:
                decode(M, TOTAL, coder, source)
                codes[t] = code_lengths.size
                return t + 1
            decode(np.uint64(0), M, coder, source)
        child = 0
        while child >= 0:
            branching = child
            length, complete = descend(branching, context, base, beta, create, slots, nodes, used, history, path)
            p = zero_probability(path, length, complete, full, prior, nodes, estimates, weighted)
            zeros = _zero_counts(p)
            if part(coder[SPAN], zeros) <= coder[CODE]:
                decode(zeros, TOTAL, coder, source)
                child = children[branching, 1]
                if learn:
                    learn_bit(1, path, length, rate, limit, most, nodes, estimates, weighted)
            else:
                decode(np.uint64(0), zeros, coder, source)
                child = children[branching, 0]
                if learn:
                    learn_bit(0, path, length, rate, limit, most, nodes, estimates, weighted)
        y = -child - 1
        codes[t] = y
        push(y, context, learn, used, history)
        if y == end:
            return t + 1
    return codes.size
