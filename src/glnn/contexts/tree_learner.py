"""Context trees that go on learning, for all the sequences that arrive side by side.

Leaves point into the history of what was read, so a sequence must stand there in one piece: it is learned symbol by
symbol when it is the only one, and as a whole, when it ends, when there are several.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from glnn.contexts.forest import Forest
from glnn.contexts.read_again import checked_history
from glnn.contexts.tree_reader import Reader
from glnn.sequences import Alphabet, Encoded

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


class TreeLearner:
    """Trees of their own, begun as a copy."""

    def __init__(self, trees: ContextTreeWeighting) -> None:
        self._trees = replace(trees, learning="frozen", forest=trees.forest.copy())
        self._reader = Reader(self._trees, self._trees.forest, trees.first_context())

    @property
    def forest(self) -> Forest:
        """The trees as they are now."""
        return self._reader.forest

    @property
    def alphabet(self) -> Alphabet:
        """The symbols it knows."""
        return self._trees.alphabet

    def begin(self) -> ContextTreeState:
        """The state at the start of a sequence; it predicts by what is learned so far."""
        return self._trees.state_of(_Beside(self, self._trees), learn=False)

    def begin_learning(self) -> ContextTreeState:
        """The state at the start of a sequence that is learned as it is read."""
        self._reader = Reader(self._trees, self._reader.forest, self._trees.first_context())
        return self._trees.state_of(self._reader, learn=True, owner=True)

    def learn(self, codes: np.ndarray) -> None:
        """Read a whole sequence."""
        if len(codes):
            self.read(codes)

    def read(self, codes: np.ndarray) -> np.ndarray:
        """The same; gives the probability of each symbol before it was learned."""
        first = np.zeros(len(codes), bool)
        first[0] = True
        return np.exp(self._reader.read(np.ascontiguousarray(codes, np.int32), first, learn=True)[0])

    def learned(self) -> ContextTreeWeighting:
        """The trees as they are now."""
        return replace(self._trees, forest=self._reader.forest.copy(), tail=self._reader.context.copy())

    def memory(self) -> dict[str, np.ndarray]:
        """The symbols read."""
        return {"history": self.forest.read_so_far().copy()}

    def recall(self, memory: dict[str, np.ndarray]) -> None:
        """Read what another of the same has read."""
        trees = self._trees
        arrays = {"children": trees.decomposition.children, "history": checked_history(memory, len(self.alphabet))}
        again = type(trees).from_arrays(trees.alphabet, trees.settings, arrays)
        self._reader = Reader(self._trees, again.forest, again.tail.copy())

    def distributions(self, data: Encoded, block: int = 4096) -> Iterator[np.ndarray]:
        """Next-symbol distributions along the data; nothing is learned."""
        return self._now().distributions(data, block)

    def log_likelihoods(self, data: Encoded) -> np.ndarray:
        """log π_t(x_t) at every position; nothing is learned."""
        return self._now().log_likelihoods(data)

    def _now(self) -> ContextTreeWeighting:
        return replace(self._trees, forest=self._reader.forest)
