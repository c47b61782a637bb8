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
from glnn.coding.range_coder import CODE, SPAN, TOTAL, code, decode, fits, part
from glnn.contexts.counted import CountedSteps
from glnn.contexts.history import push
from glnn.contexts.tree_kernels import descend, is_full, learn_bit, zero_probability
from glnn.contexts.tree_kernels import has_room as pool_has_room
from glnn.contexts.tree_read_kernels import BETA, CAPACITY, LIMIT, LONGEST, MOST, PRIOR, RATE
from glnn.contexts.tree_reader import Reader
from glnn.numeric.kernel import kernel

if TYPE_CHECKING:
    from glnn.contexts.tree import ContextTreeWeighting


class ContextTreeSteps(CountedSteps):
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

    def _code(self, decoding: bool, codes: np.ndarray, end: int, coder: np.ndarray, buffer: np.ndarray) -> int:
        done = 0
        while done < codes.size:
            if self._learn:
                self._reader.make_room()
            now = code_bits(decoding, codes[done:], end, *self._arguments(coder, buffer))
            done += now
            stopped = done > 0 and codes[done - 1] in (end, len(self._model.alphabet))
            if now == 0 or stopped or not fits(decoding, coder, buffer, self.margin):
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
        _, bits, lengths = decomposition.codes
        tree = (decomposition.children, bits, lengths, self._model.rules, self._learn)
        pool = (forest.slots, forest.nodes, forest.used, forest.history)
        return (self._reader.context, *tree, *pool, self._M, self.margin, coder, code)


@kernel()
def _zero_counts(p: float) -> np.uint64:
    """The counts of a 0 that has probability p."""
    zeros = np.int64(p * 4294967296.0)
    return np.uint64(min(max(zeros, np.int64(1)), np.int64(4294967295)))


@kernel()
def code_bits(
    decoding: bool,
    codes: np.ndarray,
    end: int,
    context: np.ndarray,
    children: np.ndarray,
    bits: np.ndarray,
    lengths: np.ndarray,
    rules: np.ndarray,
    learn: bool,
    slots: np.ndarray,
    nodes: np.ndarray,
    used: np.ndarray,
    history: np.ndarray,
    M: np.uint64,
    margin: int,
    coder: np.ndarray,
    buffer: np.ndarray,
) -> int:
    """Code symbols until `end`, an escape (the code A), or the end of the buffer or of the pool; returns how many."""
    depth, base = context.size, lengths.size + 1
    beta, prior, rate, limit, most = rules[BETA], rules[PRIOR], rules[RATE], rules[LIMIT], int(rules[MOST])
    path = np.empty(depth + 1, np.int64)
    estimates, weighted = np.empty(depth + 1), np.empty(depth + 1)
    for t in range(codes.size):
        full = is_full(rules[LONGEST], depth, rules[CAPACITY], used)
        room = not learn or pool_has_room(rules[LONGEST], depth, nodes, used, history, full)
        if not room or not fits(decoding, coder, buffer, margin):
            return t
        create = learn and not full
        if M < TOTAL:
            if decoding and part(coder[SPAN], M) <= coder[CODE]:
                decode(M, TOTAL, coder, buffer)
                codes[t] = lengths.size
                return t + 1
            code(decoding, np.uint64(0), M, coder, buffer)
        child, k = 0, 0
        while child >= 0:
            branching = child
            length, complete = descend(branching, context, base, beta, create, slots, nodes, used, history, path)
            p = zero_probability(path, length, complete, full, prior, nodes, estimates, weighted)
            zeros = _zero_counts(p)
            one = part(coder[SPAN], zeros) <= coder[CODE] if decoding else bits[codes[t], k] != 0
            if one:
                code(decoding, zeros, TOTAL, coder, buffer)
                child = children[branching, 1]
                if learn:
                    learn_bit(1, path, length, rate, limit, most, nodes, estimates, weighted)
            else:
                code(decoding, np.uint64(0), zeros, coder, buffer)
                child = children[branching, 0]
                if learn:
                    learn_bit(0, path, length, rate, limit, most, nodes, estimates, weighted)
            k += 1
        y = -child - 1
        codes[t] = y
        push(y, context, learn, used, history)
        if y == end:
            return t + 1
    return codes.size
