"""Encode and decode with n-grams: the distribution over all symbols, then one symbol of it.

Counts that learn online grow from symbol to symbol and from sequence to sequence, on both sides alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from glnn.coding.quantised import code_symbol, known_counts
from glnn.coding.range_coder import MARGIN, fits
from glnn.contexts.counted import CountedSteps
from glnn.contexts.history import begin_sequence, push
from glnn.contexts.ngram_kernels import add_contexts, discounts, distribution, find, has_room, learn
from glnn.numeric.kernel import kernel

if TYPE_CHECKING:
    from glnn.contexts.ngram import NGramModel


class NGramSteps(CountedSteps):
    """An n-gram model, whose counts grow with what is coded unless they are frozen."""

    portable = True
    margin = MARGIN

    def __init__(self, model: NGramModel, escape: float | None) -> None:
        self._model, self._M = model, known_counts(escape)
        self._learn = model.learning == "online"
        self._counts = model.counts.copy() if self._learn else model.counts
        self._context = model.padding()

    def restart(self) -> None:
        """The context before a sequence."""
        self._make_room()
        base = len(self._model.alphabet) + 1
        begin_sequence(self._context, base, self._learn, self._counts.used, self._counts.history)

    def _code(self, decoding: bool, codes: np.ndarray, end: int, coder: np.ndarray, buffer: np.ndarray) -> int:
        done, stops = 0, (end, len(self._model.alphabet))
        while done < codes.size and fits(decoding, coder, buffer, MARGIN):
            self._make_room()
            done += code_ngram(decoding, codes[done:], end, *self._arguments(coder, buffer))
            if done and codes[done - 1] in stops:
                break
        return done

    def identity(self) -> Iterator[Any]:
        """The symbols read in training, which say all about the counts."""
        yield f"ngram {self._model.order} {self._model.learning}"
        yield self._model.counts.read_so_far()
        yield self._M

    def place(self) -> np.ndarray:
        """The counts of counts, and the context."""
        return np.concatenate([self._counts.kinds.ravel(), self._context])

    def _make_room(self) -> None:
        if self._learn:
            self._counts = self._counts.grown(self._model.order)

    def _arguments(self, coder: np.ndarray, code: np.ndarray) -> tuple[Any, ...]:
        given = (len(self._model.alphabet), self._context, self._learn)
        return (*given, *self._counts.arrays(), self._M, coder, code)


@kernel()
def code_ngram(
    decoding: bool,
    codes: np.ndarray,
    end: int,
    A: int,
    context: np.ndarray,
    learning: bool,
    context_slots: np.ndarray,
    contexts: np.ndarray,
    event_slots: np.ndarray,
    events: np.ndarray,
    used: np.ndarray,
    kinds: np.ndarray,
    history: np.ndarray,
    M: np.uint64,
    coder: np.ndarray,
    buffer: np.ndarray,
) -> int:
    """Code symbols until `end`, an escape (the code A), or the end of the buffer or of the tables; returns how many."""
    order, base = context.size + 1, A + 1
    path, D, p, C = np.empty(order, np.int64), np.empty((order, 4)), np.empty(A), np.empty(A + 1)
    discounts(kinds, D)
    for t in range(codes.size):
        room = not learning or has_room(order, contexts, events, used, history)
        if not room or not fits(decoding, coder, buffer, MARGIN):
            return t
        length = find(context, base, context_slots, contexts, path)
        distribution(path, length, base, D, contexts, events, p)
        y = code_symbol(decoding, codes[t], p, C, M, coder, buffer)
        codes[t] = y
        if y == A:
            return t + 1
        if learning:
            add_contexts(context, base, length, context_slots, contexts, used, path)
            learn(y, base, path, order, contexts, event_slots, events, used, kinds)
            discounts(kinds, D)
        push(y, context, learning, used, history)
        if y == end:
            return t + 1
    return codes.size
