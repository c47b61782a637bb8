"""A forest that reads: it moves on with the context, learns or not, and gets more room when it needs some."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from glnn.contexts import tree_read_kernels
from glnn.contexts.forest import Forest
from glnn.contexts.history import SYMBOLS, begin_sequence, move
from glnn.contexts.tree_kernels import has_room, is_full
from glnn.contexts.tree_pushing import Frame

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

    def ask(self, code: int) -> float:
        """The probability of the next symbol; nothing moves."""
        return self._frame().ask(code, self.context)

    def look(self) -> np.ndarray:
        """The distribution of the next symbol."""
        pi = np.empty(len(self.model.alphabet))
        self._frame().look(self.context, pi)
        return pi

    def push(self, code: int, first: bool, learn: bool) -> float:
        """The same, and it is read; where it is the first, the context is padding."""
        if not learn:
            if first:
                self.context[:] = len(self.model.alphabet)
            given = self._frame().ask(code, self.context)
            move(code, 0, self.context, False)
            return given
        given = self._frame().learn(code, self.context, first)
        if given < 0.0:
            self.make_room()
            given = self._frame().learn(code, self.context, first)
        return given

    def advance(self, code: int, first: bool, learn: bool) -> None:
        """Read the next symbol."""
        if learn:
            self.push(code, first, learn)
        else:
            move(code, len(self.model.alphabet) + 1, self.context, first)

    def _frame(self) -> Frame:
        found: Frame | None = self.forest.bound.frame
        if found is None:
            found = self.forest.bound.frame = Frame(self.model, self.forest)
        return found

    def make_room(self) -> None:
        """Let the forest take at least one more symbol."""
        model = self.model
        self.forest = self.forest.grown(len(model.decomposition.children), model.settings.max_nodes, self.wanted)

    def has_room(self) -> bool:
        """Whether the forest takes one more symbol."""
        forest, rules, depth = self.forest, self.model.rules, self.model.settings.depth
        longest = int(rules[tree_read_kernels.LONGEST])
        full = is_full(longest, depth, rules[tree_read_kernels.CAPACITY], forest.used)
        return bool(has_room(longest, depth, forest.nodes, forest.used, forest.history, full))

    @property
    def wanted(self) -> int:
        """The most nodes that one symbol can add."""
        return int(self.model.rules[tree_read_kernels.LONGEST]) * (self.model.settings.depth + 1)

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
