"""A probabilistic automaton, unfolded as it is walked: the true model of a source, as a predictor.

What a source will write depends on its past only through a state s, so that
log P(x_0 … x_{T−1}) = Σ_t log p(x_t | s_t) with s_{t+1} = next(s_t, x_t). States are explored when first
met, because a source may have far more of them than one text visits.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from threading import Lock

import numpy as np

# What may be written next: symbol → (probability, the state that follows). Left out means impossible.
Branches = Mapping[str, tuple[float, Hashable]]

# Rows are appended in several steps; one lock for all automata keeps the automaton itself picklable.
_EXPLORING = Lock()
_UNEXPLORED = -1


class Automaton:
    """Numbers the states of a source and keeps their probabilities and successors in flat tables.

    A state is known by where its row of `width` entries begins, one entry per symbol and a last one for
    symbols foreign to the source; `state + code` is the entry of a step. The dead state follows every
    impossible symbol: nothing is known from there on, so its distribution is uniform.
    """

    def __init__(self, symbols: Sequence[str], start: Hashable, branches: Callable[[Hashable], Branches]) -> None:
        self.width = len(symbols) + 1
        self.foreign = len(symbols)
        self.dead = 0
        self._codes = {symbol: code for code, symbol in enumerate(symbols)}
        self._branches = branches
        self._keys: list[Hashable] = [None]
        self._states: dict[Hashable, int] = {}
        self._next = [self.dead] * self.width
        self._probabilities = [1.0 / len(symbols)] * len(symbols) + [0.0]
        self._table: np.ndarray | None = None
        self.start = self._number(start)

    def step(self, state: int, code: int) -> int:
        """The state after writing `code` in `state`."""
        if self._next[state] == _UNEXPLORED:
            self._explore(state)
        return self._next[state + code]

    def row(self, state: int) -> np.ndarray:
        """The distribution of the next symbol in `state`."""
        if self._next[state] == _UNEXPLORED:
            self._explore(state)
        return np.array(self._probabilities[state : state + self.foreign])

    def walk(self, codes: Iterable[int]) -> np.ndarray:
        """The entry `state + code` of every step of a sequence, from the start state."""
        following = self._next
        state = self.start
        entries: list[int] = []
        append = entries.append
        for code in codes:
            entry = state + code
            state = following[entry]
            if state < 0:
                self._explore(entry - code)
                state = following[entry]
            append(entry)
        return np.array(entries, np.int64)

    def probabilities(self) -> np.ndarray:
        """The probability of every entry explored so far, flat."""
        table = self._table
        if table is None:
            self._table = table = np.array(self._probabilities)
        return table

    def _number(self, key: Hashable) -> int:
        state = self._states.get(key)
        if state is None:
            state = len(self._next)
            self._states[key] = state
            self._keys.append(key)
            self._next += [_UNEXPLORED] * self.width
            self._probabilities += [0.0] * self.width
        return state

    def _explore(self, state: int) -> None:
        with _EXPLORING:
            if self._next[state] != _UNEXPLORED:
                return
            self._table = None
            successors = [self.dead] * self.width
            for symbol, (probability, key) in self._branches(self._keys[state // self.width]).items():
                if probability > 0.0:
                    successors[self._codes[symbol]] = self._number(key)
                    self._probabilities[state + self._codes[symbol]] = probability
            self._next[state : state + self.width] = successors
