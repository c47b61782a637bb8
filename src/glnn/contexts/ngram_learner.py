"""n-grams that go on counting. Their file is the symbols read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from glnn.contexts.counted import CountedLearner
from glnn.contexts.ngram import Counts, NGramModel, NGramReader, NGramState
from glnn.contexts.read_again import checked_history


class _Beside(NGramReader):
    """Reads with the counts that a learner has at the time, in a context of its own."""

    def __init__(self, learner: NGramLearner, model: NGramModel) -> None:
        self._learner, self.model, self.context = learner, model, model.padding()

    @property
    def counts(self) -> Counts:  # type: ignore[override]
        """The learner's."""
        return self._learner.counts


class NGramLearner(CountedLearner):
    """Counts of their own, begun as a copy."""

    def __init__(self, model: NGramModel) -> None:
        self._model = replace(model, learning="frozen", counts=model.counts.copy())
        self._reader = NGramReader(self._model, self._model.counts, model.padding())

    @property
    def counts(self) -> Counts:
        """The counts as they are now."""
        return self._reader.counts

    def begin(self) -> NGramState:
        """The state at the start of a sequence; it predicts by what is learned so far."""
        return NGramState(_Beside(self, self._model), at_start=True, learn=False)

    def begin_learning(self) -> NGramState:
        """The state at the start of a sequence that is learned as it is read."""
        self._reader = NGramReader(self._model, self._reader.counts, self._model.padding())
        return NGramState(self._reader, at_start=True, learn=True, owner=True)

    def learned(self) -> NGramModel:
        """The model with the counts as they are now."""
        return replace(self._model, counts=self._reader.counts.copy())

    def memory(self) -> dict[str, np.ndarray]:
        """The symbols read."""
        return {"history": self.counts.read_so_far().copy()}

    def recall(self, memory: dict[str, np.ndarray]) -> None:
        """Read what another of the same has read."""
        model, history = self._model, checked_history(memory, len(self.alphabet))
        again = type(model).from_arrays(model.alphabet, model.order, {"history": history})
        self._reader = NGramReader(model, again.counts, model.padding())

    def _now(self) -> NGramModel:
        return replace(self._model, counts=self._reader.counts)
