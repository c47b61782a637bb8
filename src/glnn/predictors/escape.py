"""An escape next to any predictor: π'(y) = (1 − ε) π(y) for the symbols it knows, ε for any other.

ε is estimated from the training data (`glnn.sequences.reader`). It is no parameter of the network, since
training would drive the probability of what never occurs to 0. Reading an escape leaves the state as it was.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from glnn.predictors.learning import KeptLearner, Learner, learner_of, stream_learner_of
from glnn.predictors.protocol import (
    AroundState,
    Predictor,
    PushableState,
    State,
    StepwisePredictor,
    frozen,
    without_share,
)
from glnn.sequences import Alphabet, Encoded


class EscapeState(AroundState):
    """Where a predictor with an escape stands inside a sequence; an escape leaves no trace."""

    def __init__(self, state: State, probability: float, escape: int) -> None:
        self._state, self._probability, self._escape = state, probability, escape

    def probabilities(self) -> np.ndarray:
        """The distribution of the next symbol, the escape last."""
        return np.append((1.0 - self._probability) * self._state.probabilities(), self._probability)

    def advance(self, code: int) -> None:
        """Read the next symbol."""
        if code != self._escape:
            self._state.advance(code)

    def copy(self) -> EscapeState:
        """An independent state at the same place."""
        return type(self)(self._state.copy(), self._probability, self._escape)


class PushableEscapeState(EscapeState):
    """The same where the state inside can push."""

    _state: PushableState

    def ask(self, code: int) -> float:
        """The probability of the next symbol."""
        if code == self._escape:
            return self._probability
        return (1.0 - self._probability) * self._state.ask(code)

    def push(self, code: int) -> float:
        """The same, and it is read."""
        if code == self._escape:
            return self._probability
        return (1.0 - self._probability) * self._state.push(code)

    def likeliest(self, top: int) -> np.ndarray:
        """Rows (code, probability) of the likeliest next symbols."""
        found = [[code, (1.0 - self._probability) * chance] for code, chance in self._state.likeliest(top).tolist()]
        # The escape is the last code, so that equals come before it.
        before = sum(code >= 0 and chance >= self._probability for code, chance in found)
        if before < top:
            found[before:] = [[self._escape, self._probability], *found[before:-1]]
        return np.array(found)


def _with_escape(state: State, probability: float, escape: int) -> EscapeState:
    if isinstance(state, PushableState):
        return PushableEscapeState(state, probability, escape)
    return EscapeState(state, probability, escape)


class WithEscape(StepwisePredictor):
    """A predictor over `alphabet`, which is that of `inner` with the escape after it."""

    def __init__(self, inner: Predictor, alphabet: Alphabet, probability: float) -> None:
        if len(alphabet) != len(inner.alphabet) + 1 or not 0.0 < probability < 1.0:
            raise ValueError(
                f"{len(alphabet)} symbols over {len(inner.alphabet)} and an escape of probability {probability}: one "
                "symbol more and a probability between 0 and 1 were expected"
            )
        self.inner, self.alphabet, self.probability = inner, alphabet, probability

    def begin(self) -> EscapeState:
        """The state at the start of a sequence."""
        return _with_escape(self.inner.begin(), self.probability, len(self.alphabet) - 1)

    def learner(self) -> EscapeLearner:
        """A copy that goes on learning, if the predictor itself can."""
        return EscapeLearner(learner_of(self.inner), self.alphabet, self.probability)

    def without_share(self) -> WithEscape:
        """The escape stays; the predictor beside it has no share of the uniform distribution."""
        return WithEscape(without_share(self.inner), self.alphabet, self.probability)

    def frozen(self) -> WithEscape:
        """The escape beside a predictor that learns nothing from what it scores."""
        return WithEscape(frozen(self.inner), self.alphabet, self.probability)

    def stream_learner(self) -> Learner:
        """A copy that goes on learning for ever, as the predictor itself does."""
        inner = stream_learner_of(self.inner)
        kind = KeptEscapeLearner if isinstance(inner, KeptLearner) else EscapeLearner
        return kind(inner, self.alphabet, self.probability)

    def distributions(self, data: Encoded, block: int = 4096) -> Iterator[np.ndarray]:
        """Next-symbol distributions along the data, in blocks of at most `block` rows."""
        known = data.codes < len(self.alphabet) - 1
        if not known.all():
            yield from super().distributions(data, block)
            return
        for rows in self.inner.distributions(self._inner_data(data, known), block):
            escape = np.full((len(rows), 1), self.probability)
            yield np.hstack([(1.0 - self.probability) * rows, escape])

    def log_likelihoods(self, data: Encoded) -> np.ndarray:
        """log π_t(x_t) at every position."""
        known = data.codes < len(self.alphabet) - 1
        values = np.full(data.codes.size, np.log(self.probability))
        if known.any():
            values[known] = self.inner.log_likelihoods(self._inner_data(data, known)) + np.log1p(-self.probability)
        return values

    def _inner_data(self, data: Encoded, known: np.ndarray) -> Encoded:
        kept = data.kept(known)
        return Encoded(kept.codes, kept.starts, kept.mask, self.inner.alphabet)


class EscapeLearner(WithEscape):
    """One that goes on learning; escapes teach it nothing."""

    inner: Learner

    def begin_learning(self) -> EscapeState:
        """The state at the start of a sequence that is learned as it is read."""
        return _with_escape(self.inner.begin_learning(), self.probability, len(self.alphabet) - 1)

    def learn(self, codes: np.ndarray) -> None:
        """A whole sequence."""
        self.inner.learn(codes[codes != len(self.alphabet) - 1])

    def learned(self) -> WithEscape:
        """The predictor with all that was learned."""
        return WithEscape(self.inner.learned(), self.alphabet, self.probability)


class KeptEscapeLearner(EscapeLearner):
    """One that writes down what it knows."""

    inner: KeptLearner

    def memory(self) -> dict[str, np.ndarray]:
        """That of the predictor itself."""
        return self.inner.memory()

    def recall(self, memory: dict[str, np.ndarray]) -> None:
        """Know what another knew."""
        self.inner.recall(memory)
