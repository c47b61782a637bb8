"""Context trees that go on learning. Leaves point into what was read, where a sequence must stand in one piece."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from glnn.contexts.counted import CountedLearner
from glnn.contexts.forest import Forest
from glnn.contexts.read_again import checked_history
from glnn.contexts.tree_reader import Reader

if TYPE_CHECKING:
    from glnn.contexts.tree import ContextTreeState, ContextTreeWeighting


class _Beside(Reader):
    """Reads with the trees that a learner has at the time, in a context of its own."""

    def __init__(self, learner: TreeLearner, trees: ContextTreeWeighting) -> None:
        self._learner, self.model, self.context = learner, trees, trees.first_context()

    @property
    def forest(self) -> Forest:  # type: ignore[override]
        """The learner's."""
        return self._learner.forest


class TreeLearner(CountedLearner):
    """Trees of their own, begun as a copy."""

    def __init__(self, trees: ContextTreeWeighting) -> None:
        self._model = replace(trees, learning="frozen", forest=trees.forest.copy())
        self._reader = Reader(self._model, self._model.forest, trees.first_context())

    @property
    def forest(self) -> Forest:
        """The trees as they are now."""
        return self._reader.forest

    def begin(self) -> ContextTreeState:
        """The state at the start of a sequence; it predicts by what is learned so far."""
        return self._model.state_of(_Beside(self, self._model), learn=False)

    def begin_learning(self) -> ContextTreeState:
        """The state at the start of a sequence that is learned as it is read."""
        self._reader = Reader(self._model, self._reader.forest, self._model.first_context())
        return self._model.state_of(self._reader, learn=True, owner=True)

    def learned(self) -> ContextTreeWeighting:
        """The trees as they are now."""
        return replace(self._model, forest=self._reader.forest.copy(), tail=self._reader.context.copy())

    def memory(self) -> dict[str, np.ndarray]:
        """The symbols read."""
        return {"history": self.forest.read_so_far().copy()}

    def recall(self, memory: dict[str, np.ndarray]) -> None:
        """Read what another of the same has read."""
        trees = self._model
        arrays = {"children": trees.decomposition.children, "history": checked_history(memory, len(self.alphabet))}
        again = type(trees).from_arrays(trees.alphabet, trees.settings, arrays)
        self._reader = Reader(self._model, again.forest, again.tail.copy())

    def _now(self) -> ContextTreeWeighting:
        return replace(self._model, forest=self._reader.forest)
