"""What an n-gram model has counted: contexts and events in two tables that grow, and the symbols themselves.

Tables are hashed, at most half full, and twice as large whenever they fill; a stream without end gives them a bound.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from glnn.contexts import ngram_kernels as kernels
from glnn.contexts.hash_table import EMPTY, enter
from glnn.contexts.history import SYMBOLS
from glnn.contexts.ngram_pushing import Frame
from glnn.numeric.frame import PerThread

if TYPE_CHECKING:
    from glnn.contexts.ngram_learner import Most

_LEAST_ROOM = 1 << 10


@dataclass
class Counts:
    """The two tables, the counts of counts of each order, and the symbols read, one padding before each sequence."""

    contexts: np.ndarray
    events: np.ndarray
    used: np.ndarray
    kinds: np.ndarray
    history: np.ndarray
    context_slots: np.ndarray = field(init=False)
    event_slots: np.ndarray = field(init=False)
    bound: PerThread = field(default_factory=PerThread, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.context_slots = _table(self.contexts, 1, int(self.used[kernels.CONTEXTS]))
        self.event_slots = _table(self.events, 0, int(self.used[kernels.EVENTS]))

    @classmethod
    def empty(cls, order: int) -> Counts:
        """Nothing but the empty context."""
        contexts = np.zeros(_LEAST_ROOM, kernels.CONTEXT)
        contexts[0]["key"], contexts[0]["head"] = EMPTY, EMPTY
        used, kinds = np.array([1, 0, 0], np.int64), np.zeros((order, 4), np.int64)
        return cls(contexts, np.zeros(_LEAST_ROOM, kernels.EVENT), used, kinds, np.zeros(_LEAST_ROOM, np.int32))

    def arrays(self) -> tuple[np.ndarray, ...]:
        """As the compiled loops take them."""
        return (
            self.context_slots, self.contexts, self.event_slots, self.events, self.used, self.kinds, self.history,
        )  # fmt: skip

    @property
    def frame(self) -> Frame:
        """The same, bound for calls with one symbol."""
        found: Frame | None = self.bound.frame
        if found is None:
            found = self.bound.frame = Frame(self)
        return found

    @property
    def number(self) -> int:
        """How many counts there are."""
        return int(self.used[kernels.EVENTS])

    def read_so_far(self) -> np.ndarray:
        """The symbols read."""
        return self.history[: self.used[SYMBOLS]]

    def has_room(self, order: int) -> bool:
        """Whether one more symbol fits in."""
        return bool(kernels.has_room(order, self.contexts, self.events, self.used, self.history))

    def grown(self, wanted: int, most: Most | None = None) -> Counts:
        """The same counts with room for this many more of each, up to the bound."""
        number = self.used.tolist()
        if self.has_room(wanted):
            return self
        return Counts(
            _longer(self.contexts, number[kernels.CONTEXTS], wanted, most and most.contexts),
            _longer(self.events, number[kernels.EVENTS], wanted, most and most.events),
            self.used,
            self.kinds,
            _longer(self.history, number[SYMBOLS], 2, most and most.symbols),
        )

    def within(self, most: Most) -> Counts:
        """The same counts, with no room beyond this many."""
        arrays = (self.contexts, self.events, self.history)
        bounds = (most.contexts, most.events, most.symbols)
        if all(array.size <= bound for array, bound in zip(arrays, bounds, strict=True)):
            return self
        contexts, events, history = (array[:bound].copy() for array, bound in zip(arrays, bounds, strict=True))
        return Counts(contexts, events, self.used, self.kinds, history)

    def copy(self) -> Counts:
        """Independent counts."""
        arrays = (self.contexts, self.events, self.used, self.kinds, self.history)
        return Counts(*(array.copy() for array in arrays))


def _table(records: np.ndarray, first: int, number: int) -> np.ndarray:
    """Places of a hash table, at most half full."""
    slots = np.full(1 << (2 * records.size - 1).bit_length(), EMPTY, np.int32)
    enter(first, number, slots, records)
    return slots


def _longer(array: np.ndarray, number: int, wanted: int, most: int | None) -> np.ndarray:
    """The array, or one of twice the size where fewer than `wanted` places are free; at most of `most` places."""
    size = 2 * array.size + wanted
    if most is not None:
        size = max(array.size, min(size, most))
    if number + wanted <= array.size or size == array.size:
        return array
    longer = np.empty(size, array.dtype)
    longer[:number] = array[:number]
    return longer
