"""n-grams that go on counting. Their file is the symbols read.

On streams without end, tables that are full are counted anew from the younger half of what was read.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from glnn.contexts.counted import CountedLearner
from glnn.contexts.ngram import NGramModel, NGramReader, NGramState
from glnn.contexts.ngram_counts import Counts
from glnn.contexts.read_again import checked_history, younger_half


class _Beside(NGramReader):
    """Reads with the counts that a learner has at the time, in a context of its own."""

    def __init__(self, learner: NGramLearner, model: NGramModel) -> None:
        self._learner, self.model, self.context = learner, model, model.padding()

    @property
    def counts(self) -> Counts:  # type: ignore[override]
        """The learner's."""
        return self._learner.counts


class Most(NamedTuple):
    """How many contexts, how many counts, and how many symbols are kept of a stream."""

    contexts: int
    events: int
    symbols: int


# With their places in the tables 40 and 24 bytes each, and 4 a symbol.
MOST = Most(contexts=1 << 21, events=1 << 21, symbols=1 << 20)


class _Bounded(NGramReader):
    """Forgets the older half of what it read when there is no room for more.

    When that happens depends only on what was read: arrays never exceed their bound.
    """

    def __init__(self, model: NGramModel, counts: Counts, context: np.ndarray, most: Most) -> None:
        super().__init__(model, counts.within(most), context)
        self._most = most

    def make_room(self) -> None:
        """Let the counts take at least one more symbol."""
        order = self.model.order
        self.counts = self.counts.grown(order, self._most)
        while not self.counts.has_room(order):
            young = younger_half(self.counts.read_so_far(), len(self.model.alphabet))
            self.counts = self.model.from_history(young).counts.within(self._most).grown(order, self._most)


class NGramLearner(CountedLearner):
    """Counts of their own, begun as a copy."""

    def __init__(self, model: NGramModel) -> None:
        self._model = replace(model, learning="frozen", counts=model.counts.copy())
        self._reader = self._reading(self._model.counts)

    def _reading(self, counts: Counts) -> NGramReader:
        return NGramReader(self._model, counts, self._model.padding())

    @property
    def counts(self) -> Counts:
        """The counts as they are now."""
        return self._reader.counts

    def begin(self) -> NGramState:
        """The state at the start of a sequence; it predicts by what is learned so far."""
        return NGramState(_Beside(self, self._model), at_start=True, learn=False)

    def begin_learning(self) -> NGramState:
        """The state at the start of a sequence that is learned as it is read."""
        self._reader = self._reading(self._reader.counts)
        return NGramState(self._reader, at_start=True, learn=True, owner=True)

    def learned(self) -> NGramModel:
        """The model with the counts as they are now."""
        return replace(self._model, counts=self._reader.counts.copy())

    def memory(self) -> dict[str, np.ndarray]:
        """The symbols read."""
        return {"history": self.counts.read_so_far().copy()}

    def recall(self, memory: dict[str, np.ndarray]) -> None:
        """Read what another of the same has read."""
        history = checked_history(memory, len(self.alphabet))
        self._reader = self._reading(self._model.from_history(history).counts)

    def _now(self) -> NGramModel:
        return replace(self._model, counts=self._reader.counts)


class NGramStreamLearner(NGramLearner):
    """The same in a memory of bounded size: twice what the counts had at first, or some 130 MB if that is more."""

    def __init__(self, model: NGramModel, most: Most = MOST) -> None:
        contexts, symbols, events = (2 * int(count) for count in model.counts.used)
        self._most = Most(max(most.contexts, contexts), max(most.events, events), max(most.symbols, symbols))
        super().__init__(model)

    def _reading(self, counts: Counts) -> NGramReader:
        return _Bounded(self._model, counts, self._model.padding(), self._most)
