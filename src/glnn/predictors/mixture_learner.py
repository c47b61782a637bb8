"""Mixtures that go on learning from more data; their networks stay as they are (`mixture_stream` has those that learn).

What was read is remembered, sequence after sequence, since a file of a mixture is the symbols it learned from: one is
learned symbol by symbol when it is the only one, and as a whole, when it ends, when there are several.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from glnn.contexts.mixing import Reader
from glnn.contexts.mixing_likeliest import NOBODY, Said
from glnn.contexts.mixing_memory import Memory, new_cursor
from glnn.contexts.mixing_reading import ALL, NOTHING
from glnn.numeric.frame import PerThread
from glnn.predictors.mixture import MixturePredictor, MixtureState, pieces
from glnn.predictors.protocol import State
from glnn.sequences import Alphabet, Encoded


class _Beside(MixtureState):
    """Predicts with the memory that a learner has at the time, in a place of its own."""

    def __init__(self, learner: MixtureLearner) -> None:
        self._learner = learner
        model = learner.model
        plan = model.contexts.plan
        reader = Reader(plan, learner.tables, new_cursor(plan), NOTHING, benches=learner.benches)
        super().__init__(reader, learner.begin_members(learning=False))

    def probabilities(self) -> np.ndarray:
        """The distribution of the next symbol."""
        self._reader.memory = self._learner.tables
        return super().probabilities()

    def advance(self, code: int) -> None:
        """Read the next symbol."""
        self._reader.memory = self._learner.tables
        super().advance(code)

    def ask(self, code: int) -> float:
        """The probability of the next symbol."""
        self._reader.memory = self._learner.tables
        return super().ask(code)

    def push(self, code: int) -> float:
        """The same, and it is read."""
        self._reader.memory = self._learner.tables
        return super().push(code)

    def likeliest(self, top: int, said: Said = NOBODY) -> np.ndarray:
        """The likeliest next symbols."""
        self._reader.memory = self._learner.tables
        return super().likeliest(top, said)


class _Learning(MixtureState):
    """Learns every symbol that it reads, in the memory of its learner."""

    def __init__(self, learner: MixtureLearner, reader: Reader) -> None:
        self._learner, self._begins = learner, True
        super().__init__(reader, learner.begin_members(learning=True))

    def advance(self, code: int) -> None:
        """Read the next symbol."""
        super().advance(code)
        self._remember(code)

    def push(self, code: int) -> float:
        """The probability of the next symbol, which is read."""
        given = super().push(code)
        self._remember(code)
        return given

    def _remember(self, code: int) -> None:
        self._learner.remember(code, self._begins)
        self._begins = False

    def place(self) -> dict[str, np.ndarray]:
        """Whether the sequence has begun, and the place in it."""
        return {**super().place(), "begins": np.array([self._begins])}

    def move(self, place: dict[str, np.ndarray]) -> None:
        """Stand where another stood."""
        super().move(place)
        self._begins = bool(place.get("begins", np.zeros(1))[0])


class MixtureLearner:
    """A memory of its own, begun as a copy."""

    most: int | None = None
    """The most slots of a table, where memory is bounded."""

    def __init__(self, model: MixturePredictor) -> None:
        self.model = model.with_learning(False)
        contexts = model.contexts
        self._reader = Reader(contexts.plan, contexts.memory.copy(), new_cursor(contexts.plan), ALL, True, self.most)
        self.benches = PerThread()
        self._codes: list[int] = []
        self._starts: list[int] = []

    @property
    def tables(self) -> Memory:
        """What is learned so far."""
        return self._reader.memory

    @property
    def alphabet(self) -> Alphabet:
        """The symbols it knows."""
        return self.model.alphabet

    def begin(self) -> MixtureState:
        """The state at the start of a sequence; it predicts by what is learned so far."""
        return _Beside(self)

    def begin_learning(self) -> MixtureState:
        """The state at the start of a sequence that is learned as it is read."""
        self._reader.restart()
        return _Learning(self, self._reader)

    def learn(self, codes: np.ndarray) -> None:
        """Read a whole sequence."""
        if len(codes):
            self.read(codes)

    def read(self, codes: np.ndarray) -> np.ndarray:
        """The same; returns the probability of each symbol before it was learned."""
        self._reader.restart()
        codes, size = np.ascontiguousarray(codes, np.int64), len(codes)
        data = Encoded(codes, np.array([0, size], np.int64), np.ones(size, np.bool_), self.alphabet)
        said = [
            self._reader.read(codes[part], np.zeros(part.stop - part.start, np.bool_), outside)
            for part, outside in pieces(self.model.members, data, 1 << 15)
        ]
        self._starts.append(len(self._codes))
        self._codes.extend(codes.tolist())
        return np.concatenate(said)

    def begin_members(self, learning: bool) -> list[State]:
        """The networks at the start of a sequence, to learn from it or not; here they never do."""
        return [member.begin() for member in self.model.members]

    def learned(self) -> MixturePredictor:
        """The mixture with all that was learned."""
        model = self.model
        contexts = replace(model.contexts, memory=self.tables.copy(), tail=self._reader.cursor.copy())
        codes, starts, *rest = model.identity
        inner = [len(codes) + start for start in self._starts]
        starts = np.array([*starts[:-1].tolist(), *inner, len(codes) + len(self._codes)], np.int64)
        codes = np.concatenate([codes, np.array(self._codes, np.int64)])
        return replace(model, contexts=contexts, identity=(codes, starts, *rest))

    def remember(self, code: int, begins: bool) -> None:
        """A symbol was learned; whether a sequence begins with it."""
        if begins:
            self._starts.append(len(self._codes))
        self._codes.append(code)

    def distributions(self, data: Encoded, block: int = 4096) -> Iterator[np.ndarray]:
        """Next-symbol distributions along the data; nothing is learned."""
        return self._now().distributions(data, block)

    def log_likelihoods(self, data: Encoded) -> np.ndarray:
        """log π_t(x_t) at every position; nothing is learned."""
        return self._now().log_likelihoods(data)

    def _now(self) -> MixturePredictor:
        return replace(self.model, contexts=replace(self.model.contexts, memory=self.tables))
