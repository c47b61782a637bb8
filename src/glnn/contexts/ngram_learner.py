"""n-grams that go on counting, for all the sequences that arrive side by side.

A file of n-grams is the symbols read, sequence after sequence: one is counted symbol by symbol when it is the only one,
and as a whole, when it ends, when there are several.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from glnn.contexts.ngram import Counts, NGramModel, NGramReader, NGramState
from glnn.contexts.read_again import checked_history
from glnn.sequences import Alphabet, Encoded


class _Beside(NGramReader):
    """Reads with the counts that a learner has at the time, in a context of its own."""

    def __init__(self, learner: NGramLearner, model: NGramModel) -> None:
        self._learner, self.model, self.context = learner, model, model.padding()

    @property
    def counts(self) -> Counts:  # type: ignore[override]
        """The learner's."""
        return self._learner.counts


class NGramLearner:
    """Counts of their own, begun as a copy."""

    def __init__(self, model: NGramModel) -> None:
        self._model = replace(model, learning="frozen", counts=model.counts.copy())
        self._reader = NGramReader(self._model, self._model.counts, model.padding())

    @property
    def counts(self) -> Counts:
        """The counts as they are now."""
        return self._reader.counts

    @property
    def alphabet(self) -> Alphabet:
        """The symbols it knows."""
        return self._model.alphabet

    def begin(self) -> NGramState:
        """The state at the start of a sequence; it predicts by what is learned so far."""
        return NGramState(_Beside(self, self._model), at_start=True, learn=False)

    def begin_learning(self) -> NGramState:
        """The state at the start of a sequence that is learned as it is read."""
        self._reader = NGramReader(self._model, self._reader.counts, self._model.padding())
        return NGramState(self._reader, at_start=True, learn=True, owner=True)

    def learn(self, codes: np.ndarray) -> None:
        """Count a whole sequence."""
        if len(codes):
            self.read(codes)

    def read(self, codes: np.ndarray) -> np.ndarray:
        """The same; gives the probability of each symbol before it was learned."""
        first = np.zeros(len(codes), bool)
        first[0] = True
        return np.exp(self._reader.read(np.ascontiguousarray(codes, np.int32), first, learn=True)[0])

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

    def distributions(self, data: Encoded, block: int = 4096) -> Iterator[np.ndarray]:
        """Next-symbol distributions along the data; nothing is learned."""
        return self._now().distributions(data, block)

    def log_likelihoods(self, data: Encoded) -> np.ndarray:
        """log π_t(x_t) at every position; nothing is learned."""
        return self._now().log_likelihoods(data)

    def _now(self) -> NGramModel:
        return replace(self._model, counts=self._reader.counts)
