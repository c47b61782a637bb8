"""What goes on learning: from whole sequences, or from each symbol of a stream as it is read.

A learner is a copy of the predictor that made it, so that a model stays as it is while its streams learn.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

import numpy as np

from glnn.predictors.protocol import Predictor, State
from glnn.sequences import InputError


@runtime_checkable
class Learner(Predictor, Protocol):
    """A predictor that goes on learning, from whole sequences or from what its own state reads.

    It is a copy of the predictor that made it, which stays as it was.
    """

    def begin_learning(self) -> State:
        """The state at the start of a sequence of which every symbol is learned as it is read; one at a time."""
        ...

    def learn(self, codes: np.ndarray) -> None:
        """A whole sequence, its end included where ends are learned."""
        ...

    def learned(self) -> Predictor:
        """A predictor like the one that it was made from, with all that was learned."""
        ...


@runtime_checkable
class Learnable(Predictor, Protocol):
    """A predictor that can go on learning."""

    def learner(self) -> Learner:
        """A copy that learns."""
        ...


@runtime_checkable
class KeptLearner(Learner, Protocol):
    """A learner that can write down what it knows by now, of a size that does not depend on how much it learned from.

    So it need not keep the symbols that it read, as one must whose file is those symbols.
    """

    def memory(self) -> dict[str, np.ndarray]:
        """All that it knows beyond the predictor that it was made from."""
        ...

    def recall(self, memory: dict[str, np.ndarray]) -> None:
        """Take over what another of the same predictor knew; the memory of another predictor is an InputError."""
        ...


@runtime_checkable
class StreamLearnable(Predictor, Protocol):
    """A predictor with a learner made for streams without end."""

    def stream_learner(self) -> KeptLearner:
        """A copy that learns."""
        ...


def stream_learner_of(predictor: Predictor) -> Learner:
    """A learner for a stream without end where there is one, else any."""
    return predictor.stream_learner() if isinstance(predictor, StreamLearnable) else learner_of(predictor)


def part_of(memory: dict[str, np.ndarray], own: str) -> dict[str, np.ndarray]:
    """The arrays whose names begin so, under the rest of their names."""
    return {name.removeprefix(own): array for name, array in memory.items() if name.startswith(own)}


def learner_of(predictor: Predictor) -> Learner:
    """A copy of a predictor that goes on learning, if it can."""
    if not isinstance(predictor, Learnable):
        raise InputError(
            "a model of this kind cannot go on learning symbol by symbol: use learning='frozen' (no --learn), or "
            "partial_fit with more data"
        )
    return predictor.learner()


def learned_from(predictor: Predictor, sequences: Iterable[np.ndarray]) -> Predictor:
    """What a predictor becomes by learning the sequences one after the other."""
    learner = learner_of(predictor)
    for codes in sequences:
        learner.learn(codes)
    return learner.learned()
