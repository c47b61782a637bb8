"""Several predictors, each with a fixed share in the prediction: p(y) = Σ_k w_k p_k(y), with Σ_k w_k = 1.

Unlike a product, a sum costs at most log2(1 / w_k) bits more than predictor k on all of the data, however wrong the
others are. What is scored online is learned by copies, as each of the predictors does it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from glnn.contexts.ngram import NGramModel
from glnn.contexts.tree import ContextTreeWeighting
from glnn.predictors.mixture import MixturePredictor, rows_along
from glnn.predictors.protocol import Predictor, State, move_to, place_of
from glnn.predictors.shares_coding import SharesSteps, weighted
from glnn.sequences import Alphabet, Encoded


@dataclass(frozen=True)
class Shares:
    """A mixture of contexts and networks, and beside it a context tree, an n-gram model or both."""

    mixture: MixturePredictor
    beside: tuple[ContextTreeWeighting | NGramModel, ...]
    weights: tuple[float, ...]
    """The mixture's first."""

    @property
    def alphabet(self) -> Alphabet:
        """The symbols that all of them know."""
        return self.mixture.alphabet

    @property
    def _all(self) -> tuple[Predictor, ...]:
        return (self.mixture, *self.beside)

    def with_learning(self, online: bool) -> Shares:
        """The same, learning from what it scores or not."""
        beside = tuple(model.with_learning("online" if online else "frozen") for model in self.beside)
        return Shares(self.mixture.with_learning(online), beside, self.weights)

    def frozen(self) -> Shares:
        """The same, learning nothing from what it scores."""
        return self.with_learning(False)

    def learner(self) -> SharesLearner:
        """A copy that goes on learning."""
        return SharesLearner(self)

    def begin(self) -> SharesState:
        """The state at the start of a sequence."""
        return SharesState([model.begin() for model in self._all], self.weights)

    def coding_steps(self, escape: float | None, share: float = 0.0) -> SharesSteps | None:
        """Steps for the coder, where no network has a say."""
        if self.mixture.members or share != 0.0:
            return None
        return SharesSteps(self.mixture.contexts, self.beside, self.weights, escape, self.mixture.identity)

    def distributions(self, data: Encoded, block: int = 4096) -> Iterator[np.ndarray]:
        """Next-symbol distributions along the data, in blocks of at most `block` rows."""
        # A mixture that has networks ends its blocks where sequences end: rows are taken as they come.
        beside = [_rows(model, data) for model in self.beside]
        for own in self.mixture.distributions(data, block):
            others = [np.array([next(rows) for _ in range(len(own))]) for rows in beside]
            yield weighted([own, *others], self.weights)

    def log_likelihoods(self, data: Encoded) -> np.ndarray:
        """log π_t(x_t) at every position."""
        return np.log(weighted([np.exp(model.log_likelihoods(data)) for model in self._all], self.weights))

    def arrays(self) -> dict[str, np.ndarray]:
        """What tells it from others, for a hash."""
        own = {f"mixture/{name}": array for name, array in self.mixture.arrays().items()}
        return {**own, "shares": np.array(self.weights)}


class SharesState:
    """Where all of them stand inside a sequence."""

    def __init__(self, states: Sequence[State], weights: tuple[float, ...]) -> None:
        self._states, self._weights = list(states), weights

    def probabilities(self) -> np.ndarray:
        """The distribution of the next symbol."""
        return weighted([state.probabilities() for state in self._states], self._weights)

    def advance(self, code: int) -> None:
        """Read the next symbol."""
        for state in self._states:
            state.advance(code)

    def run(self, codes: np.ndarray) -> np.ndarray:
        """Read several symbols; row t holds the distribution before codes[t]."""
        return weighted([rows_along(state, codes) for state in self._states], self._weights)

    def place(self) -> dict[str, np.ndarray]:
        """Those of all, each under its number."""
        return {f"{k}:{name}": part for k, state in enumerate(self._states) for name, part in place_of(state).items()}

    def move(self, place: dict[str, np.ndarray]) -> None:
        """Stand where others stood."""
        for k, state in enumerate(self._states):
            own = f"{k}:"
            move_to(state, {name.removeprefix(own): part for name, part in place.items() if name.startswith(own)})

    def copy(self) -> SharesState:
        """An independent state at the same place."""
        return SharesState([state.copy() for state in self._states], self._weights)


class SharesLearner:
    """Learners side by side; the shares stay as they are."""

    def __init__(self, model: Shares) -> None:
        self._mixture = model.mixture.learner()
        self._beside = [one.learner() for one in model.beside]
        self._weights = model.weights

    @property
    def alphabet(self) -> Alphabet:
        """The symbols it knows."""
        return self._mixture.alphabet

    @property
    def _all(self) -> list[Any]:
        return [self._mixture, *self._beside]

    def begin(self) -> SharesState:
        """The state at the start of a sequence; it predicts by what is learned so far."""
        return SharesState([learner.begin() for learner in self._all], self._weights)

    def begin_learning(self) -> SharesState:
        """The state at the start of a sequence that is learned as it is read."""
        return SharesState([learner.begin_learning() for learner in self._all], self._weights)

    def learn(self, codes: np.ndarray) -> None:
        """Read a whole sequence."""
        for learner in self._all:
            learner.learn(codes)

    def learned(self) -> Shares:
        """The same shares of what all have become."""
        return Shares(self._mixture.learned(), tuple(one.learned() for one in self._beside), self._weights)

    def distributions(self, data: Encoded, block: int = 4096) -> Iterator[np.ndarray]:
        """Next-symbol distributions along the data; nothing is learned."""
        return self.learned().distributions(data, block)

    def log_likelihoods(self, data: Encoded) -> np.ndarray:
        """log π_t(x_t) at every position; nothing is learned."""
        return self.learned().log_likelihoods(data)


def _rows(model: Predictor, data: Encoded) -> Iterator[np.ndarray]:
    for rows in model.distributions(data):
        yield from rows
