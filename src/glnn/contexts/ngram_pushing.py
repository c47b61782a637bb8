"""One symbol after an n-gram context: its probability, and counting it, without the distribution of all the others.

The probability is to the last bit that of the distribution. Tables and scratch are bound once for many calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from glnn.contexts.history import begin_sequence, push
from glnn.contexts.ngram_kernels import (
    CONTEXT,
    EVENT,
    add_contexts,
    discounts,
    distribution,
    find,
    has_room,
    learn,
    probability_as_distributed,
)
from glnn.numeric.frame import COMPILED, loading, new_frame, storing
from glnn.numeric.kernel import kernel

if TYPE_CHECKING:
    from glnn.contexts.ngram_counts import Counts

Arrays = tuple[np.ndarray, ...]


def _example() -> Arrays:
    slots, whole, history = np.zeros(1, np.int32), np.zeros(1, np.int64), np.zeros(1, np.int32)
    kinds, D = np.zeros((1, 4), np.int64), np.zeros((1, 4))
    return slots, np.zeros(1, CONTEXT), slots, np.zeros(1, EVENT), whole, kinds, history, whole, D


_store = storing()
_load = loading(_example())


class Frame:
    """The tables of some counts, and scratch."""

    def __init__(self, counts: Counts) -> None:
        order = len(counts.kinds)
        self._arrays = (*counts.arrays(), np.empty(order, np.int64), np.empty((order, 4)))
        if COMPILED:
            self._bytes = new_frame()
            _bind(self._bytes, self._arrays)

    def ask(self, symbol: int, base: int, context: np.ndarray) -> float:
        """The probability of a symbol after a context."""
        if COMPILED:
            return _ask_bound(self._bytes, symbol, base, context)
        return _ask(self._arrays, symbol, base, context)

    def look(self, context: np.ndarray, pi: np.ndarray) -> None:
        """Fill the distribution after a context."""
        if COMPILED:
            _look_bound(self._bytes, context, pi)
        else:
            _look(self._arrays, context, pi)

    def count(self, symbol: int, base: int, context: np.ndarray, first: bool) -> bool:
        """Count a symbol after a context, which moves on; False if there is no room, and nothing happened."""
        if COMPILED:
            return _count_bound(self._bytes, symbol, base, context, first)
        return _count(self._arrays, symbol, base, context, first)


@kernel(_nrt=False)
def _bind(frame: np.ndarray, arrays: Arrays) -> None:
    _store(frame, arrays)


@kernel(_nrt=False)
def _ask_bound(frame: np.ndarray, symbol: int, base: int, context: np.ndarray) -> float:
    return _ask(_load(frame), symbol, base, context)  # type: ignore[no-any-return]


@kernel(_nrt=False)
def _look_bound(frame: np.ndarray, context: np.ndarray, pi: np.ndarray) -> None:
    _look(_load(frame), context, pi)


@kernel(_nrt=False)
def _count_bound(frame: np.ndarray, symbol: int, base: int, context: np.ndarray, first: bool) -> bool:
    return _count(_load(frame), symbol, base, context, first)  # type: ignore[no-any-return]


@kernel(_nrt=False)
def _ask(arrays: Arrays, symbol: int, base: int, context: np.ndarray) -> float:
    context_slots, contexts, event_slots, events, _used, kinds, _history, path, D = arrays
    discounts(kinds, D)
    length = find(context, base, context_slots, contexts, path)
    return probability_as_distributed(symbol, base, path, length, D, contexts, event_slots, events)  # type: ignore[no-any-return]


@kernel(_nrt=False)
def _look(arrays: Arrays, context: np.ndarray, pi: np.ndarray) -> None:
    context_slots, contexts, _event_slots, events, _used, kinds, _history, path, D = arrays
    discounts(kinds, D)
    length = find(context, pi.size + 1, context_slots, contexts, path)
    distribution(path, length, pi.size + 1, D, contexts, events, pi)


@kernel(_nrt=False)
def _count(arrays: Arrays, symbol: int, base: int, context: np.ndarray, first: bool) -> bool:
    context_slots, contexts, event_slots, events, used, kinds, history, path, _D = arrays
    order = context.size + 1
    if not has_room(order, contexts, events, used, history):
        return False
    if first:
        begin_sequence(context, base, True, used, history)
    length = find(context, base, context_slots, contexts, path)
    add_contexts(context, base, length, context_slots, contexts, used, path)
    learn(symbol, base, path, order, contexts, event_slots, events, used, kinds)
    push(symbol, context, True, used, history)
    return True
