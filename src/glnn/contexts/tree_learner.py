"""Context trees that go on learning. Leaves point into what was read, where a sequence must stand in one piece.

On streams without end, trees that are full are built anew from the younger half of what they read.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from glnn.contexts.counted import CountedLearner
from glnn.contexts.forest import Forest
from glnn.contexts.read_again import checked_history, younger_half
from glnn.contexts.tree_reader import Reader

if TYPE_CHECKING:
    from glnn.contexts.tree import ContextTreeState, ContextTreeWeighting


class Most(NamedTuple):
    """How many nodes and symbols are kept of a stream."""

    nodes: int
    symbols: int


# Some 40 bytes a node with its place in the table, 4 a symbol.
MOST = Most(nodes=1 << 21, symbols=1 << 20)


class _Beside(Reader):
    """Reads with the trees that a learner has at the time, in a context of its own."""

    def __init__(self, learner: TreeLearner, trees: ContextTreeWeighting) -> None:
        self._learner, self.model, self.context = learner, trees, trees.first_context()

    @property
    def forest(self) -> Forest:  # type: ignore[override]
        """The learner's."""
        return self._learner.forest


class _Bounded(Reader):
    """Forgets the older half of what it read when there is no room for more.

    When that happens depends only on what was read: arrays never exceed their bound.
    """

    def __init__(self, trees: ContextTreeWeighting, forest: Forest, context: np.ndarray, most: Most) -> None:
        super().__init__(trees, forest.within(*most), context)
        self._most = most

    def make_room(self) -> None:
        """Let the forest take at least one more symbol."""
        trees, most = self.model, self._most
        nodes = min(trees.settings.max_nodes, most.nodes)
        self.forest = self.forest.grown(len(trees.decomposition.children), nodes, self.wanted, most.symbols)
        while not self.has_room():
            young = younger_half(self.forest.read_so_far(), len(trees.alphabet))
            forest = trees.from_history(young).forest.within(*most)
            self.forest = forest.grown(len(trees.decomposition.children), nodes, self.wanted, most.symbols)


class TreeLearner(CountedLearner):
    """Trees of their own, begun as a copy."""

    def __init__(self, trees: ContextTreeWeighting) -> None:
        self._model = replace(trees, learning="frozen", forest=trees.forest.copy())
        self._reader = self._reading(self._model.forest, trees.first_context())

    def _reading(self, forest: Forest, context: np.ndarray) -> Reader:
        return Reader(self._model, forest, context)

    @property
    def forest(self) -> Forest:
        """The trees as they are now."""
        return self._reader.forest

    def begin(self) -> ContextTreeState:
        """The state at the start of a sequence; it predicts by what is learned so far."""
        return self._model.state_of(_Beside(self, self._model), learn=False)

    def begin_learning(self) -> ContextTreeState:
        """The state at the start of a sequence that is learned as it is read."""
        self._reader = self._reading(self._reader.forest, self._model.first_context())
        return self._model.state_of(self._reader, learn=True, owner=True)

    def learned(self) -> ContextTreeWeighting:
        """The trees as they are now."""
        return replace(self._model, forest=self._reader.forest.copy(), tail=self._reader.context.copy())

    def memory(self) -> dict[str, np.ndarray]:
        """The symbols read."""
        return {"history": self.forest.read_so_far().copy()}

    def recall(self, memory: dict[str, np.ndarray]) -> None:
        """Read what another of the same has read."""
        again = self._model.from_history(checked_history(memory, len(self.alphabet)))
        self._reader = self._reading(again.forest, again.tail.copy())

    def _now(self) -> ContextTreeWeighting:
        return replace(self._model, forest=self._reader.forest)


class TreeStreamLearner(TreeLearner):
    """The same in a memory of bounded size: twice what the trees had at first, or some 100 MB if that is more."""

    def __init__(self, trees: ContextTreeWeighting, most: Most = MOST) -> None:
        nodes, symbols = (2 * int(count) for count in trees.forest.used)
        self._most = Most(max(most.nodes, nodes), max(most.symbols, symbols))
        super().__init__(trees)

    def _reading(self, forest: Forest, context: np.ndarray) -> Reader:
        return _Bounded(self._model, forest, context, self._most)
