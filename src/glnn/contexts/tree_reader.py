"""A forest that reads: it moves on with the context, learns or not, and gets more room when it needs some."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from glnn.contexts import tree_read_kernels
from glnn.contexts.forest import Forest
from glnn.contexts.history import SYMBOLS, begin_sequence

if TYPE_CHECKING:
    from glnn.contexts.tree import ContextTreeWeighting


class Reader:
    """A forest and the context it stands in, both of which move on as symbols are read."""

    def __init__(self, model: ContextTreeWeighting, forest: Forest, context: np.ndarray) -> None:
        self.model = model
        self.forest = forest
        self.context = context

    def read(
        self, codes: np.ndarray, first: np.ndarray, learn: bool, with_rows: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """log π_t(x_t), and the distributions if wanted; where `first`, the context is padding."""
        decomposition = self.model.decomposition
        log_likelihoods = np.empty(codes.size)
        rows = np.empty((codes.size if with_rows else 0, len(self.model.alphabet)))
        done = 0
        while done < codes.size:
            done += tree_read_kernels.read(
                codes[done:],
                first[done:],
                self.context,
                decomposition.children,
                *decomposition.codes,
                self.model.rules,
                learn,
                self.forest.slots,
                self.forest.nodes,
                self.forest.used,
                self.forest.history,
                log_likelihoods[done:],
                rows[done:],
            )
            if done < codes.size:
                self.make_room()
        return log_likelihoods, rows

    def make_room(self) -> None:
        """Let the forest take at least one more symbol."""
        model = self.model
        wanted = int(model.rules[tree_read_kernels.LONGEST]) * (model.settings.depth + 1)
        self.forest = self.forest.grown(len(model.decomposition.children), model.settings.max_nodes, wanted)

    def begin_sequence(self, learn: bool) -> None:
        """Go to the start of a new sequence."""
        if learn:
            self.make_room()
        base = len(self.model.alphabet) + 1
        begin_sequence(self.context, base, learn, self.forest.used, self.forest.history)

    def remember_context(self) -> None:
        """Enter the context into the history, which leaves point to, after a jump to another place."""
        for code in self.context[::-1]:
            self.make_room()
            history, used = self.forest.history, self.forest.used
            history[used[SYMBOLS]] = code
            used[SYMBOLS] += 1
