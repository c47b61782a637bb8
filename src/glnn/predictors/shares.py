"""Several predictors, each with a fixed share in the prediction: p(y) = Σ_k w_k p_k(y) + u / A, with Σ_k w_k + u = 1.

Unlike a product, a sum costs at most log2(1 / w_k) bits more than predictor k on all of the data, however wrong the
others are; u bounds what one surprise can cost. What is scored online is learned by copies, as each of the predictors
does it; networks stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from glnn.contexts.ngram import NGramModel
from glnn.contexts.tree import ContextTreeWeighting
from glnn.predictors.mixture import MixturePredictor
from glnn.predictors.protocol import Predictor, State, learner_of, move_to, part_of, place_of, rows_along
from glnn.predictors.shares_coding import SharesSteps, weighted
from glnn.sequences import Alphabet, Encoded


@dataclass(frozen=True)
class Shares:
    """A mixture of contexts, and beside it a context tree, an n-gram model, networks: all speak of the same codes."""

    mixture: MixturePredictor
    beside: tuple[ContextTreeWeighting | NGramModel, ...]
    networks: tuple[Predictor, ...]
    weights: tuple[float, ...]
    """The mixture's first, then those of what stands beside it, then the networks'."""
    uniform: float = 0.0
    """What is left for the uniform distribution."""

    @property
    def alphabet(self) -> Alphabet:
        """The symbols that all of them know."""
        return self.mixture.alphabet

    @property
    def _all(self) -> tuple[Predictor, ...]:
        return (self.mixture, *self.beside, *self.networks)

    @property
    def floor(self) -> float:
        """u / A."""
        return self.uniform / len(self.alphabet)

    def with_learning(self, online: bool) -> Shares:
        """The same, learning from what it scores or not."""
        beside = tuple(model.with_learning("online" if online else "frozen") for model in self.beside)
        return replace(self, mixture=self.mixture.with_learning(online), beside=beside)

    def frozen(self) -> Shares:
        """The same, learning nothing from what it scores."""
        return self.with_learning(False)

    def learner(self) -> SharesLearner:
        """A copy that goes on learning."""
        return SharesLearner(self)

    def stream_learner(self) -> SharesStreamLearner:
        """A copy that goes on learning for ever, networks included."""
        return SharesStreamLearner(self)

    def begin(self) -> SharesState:
        """The state at the start of a sequence."""
        return SharesState([model.begin() for model in self._all], self.weights, self.floor)

    def coding_steps(self, escape: float | None, share: float = 0.0) -> SharesSteps | None:
        """Steps for the coder."""
        if share != 0.0:
            return None
        return SharesSteps(self.mixture, self.beside, self.networks, self.weights, self.uniform, escape)

    def distributions(self, data: Encoded, block: int = 4096) -> Iterator[np.ndarray]:
        """Next-symbol distributions along the data, in blocks of at most `block` rows."""
        # A mixture that has networks ends its blocks where sequences end: rows are taken as they come.
        beside = [_rows(model, data) for model in self._all[1:]]
        for own in self.mixture.distributions(data, block):
            others = [np.array([next(rows) for _ in range(len(own))]) for rows in beside]
            yield weighted([own, *others], self.weights, self.floor)

    def log_likelihoods(self, data: Encoded) -> np.ndarray:
        """log π_t(x_t) at every position."""
        chances = [np.exp(model.log_likelihoods(_for(model, data))) for model in self._all]
        return np.log(weighted(chances, self.weights, self.floor))

    def arrays(self) -> dict[str, np.ndarray]:
        """What tells it from others, for a hash."""
        own = {f"mixture/{name}": array for name, array in self.mixture.arrays().items()}
        return {**own, "shares": np.array(self.weights)}


class SharesState:
    """Where all of them stand inside a sequence."""

    def __init__(self, states: Sequence[State], weights: tuple[float, ...], floor: float) -> None:
        self._states, self._weights, self._floor = list(states), weights, floor

    def probabilities(self) -> np.ndarray:
        """The distribution of the next symbol."""
        return weighted([state.probabilities() for state in self._states], self._weights, self._floor)

    def advance(self, code: int) -> None:
        """Read the next symbol."""
        for state in self._states:
            state.advance(code)

    def run(self, codes: np.ndarray) -> np.ndarray:
        """Read several symbols; row t holds the distribution before codes[t]."""
        return weighted([rows_along(state, codes) for state in self._states], self._weights, self._floor)

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
        return SharesState([state.copy() for state in self._states], self._weights, self._floor)


class SharesLearner:
    """Learners side by side; the shares and the networks stay as they are."""

    def __init__(self, model: Shares) -> None:
        self._mixture = self._learner(model.mixture)
        self._beside = [one.learner() for one in model.beside]
        self._model = model

    def _learner(self, mixture: MixturePredictor) -> Any:
        return mixture.learner()

    @property
    def alphabet(self) -> Alphabet:
        """The symbols it knows."""
        return self._mixture.alphabet

    @property
    def _learners(self) -> list[Any]:
        return [self._mixture, *self._beside]

    def begin(self) -> SharesState:
        """The state at the start of a sequence; it predicts by what is learned so far."""
        return self._state([learner.begin() for learner in self._learners])

    def begin_learning(self) -> SharesState:
        """The state at the start of a sequence that is learned as it is read."""
        return self._state([learner.begin_learning() for learner in self._learners])

    def learn(self, codes: np.ndarray) -> None:
        """Read a whole sequence."""
        for learner in self._learners:
            learner.learn(codes)

    def learned(self) -> Shares:
        """The same shares of what all have become."""
        beside = tuple(one.learned() for one in self._beside)
        return replace(self._model, mixture=self._mixture.learned(), beside=beside)

    def distributions(self, data: Encoded, block: int = 4096) -> Iterator[np.ndarray]:
        """Next-symbol distributions along the data; nothing is learned."""
        return self.learned().distributions(data, block)

    def log_likelihoods(self, data: Encoded) -> np.ndarray:
        """log π_t(x_t) at every position; nothing is learned."""
        return self.learned().log_likelihoods(data)

    def _state(self, states: list[State]) -> SharesState:
        networks = [network.begin() for network in self._model.networks]
        return SharesState([*states, *networks], self._model.weights, self._model.floor)


class SharesStreamLearner(SharesLearner):
    """The same for streams, on which the networks learn too. Trees and n-grams keep the symbols read, 4 bytes each."""

    def __init__(self, model: Shares) -> None:
        super().__init__(model)
        self._networks = [learner_of(network) for network in model.networks]

    def _learner(self, mixture: MixturePredictor) -> Any:
        return mixture.stream_learner()

    @property
    def _learners(self) -> list[Any]:
        return [self._mixture, *self._beside, *self._networks]

    def learned(self) -> Shares:
        """The same shares of what all have become."""
        return replace(super().learned(), networks=tuple(network.learned() for network in self._networks))

    def memory(self) -> dict[str, np.ndarray]:
        """What all have become."""
        return {
            f"{k}:{name}": part for k, learner in enumerate(self._learners) for name, part in learner.memory().items()
        }

    def recall(self, memory: dict[str, np.ndarray]) -> None:
        """Know what others knew."""
        for k, learner in enumerate(self._learners):
            learner.recall(part_of(memory, f"{k}:"))

    def _state(self, states: list[State]) -> SharesState:
        return SharesState(states, self._model.weights, self._model.floor)


def _rows(model: Predictor, data: Encoded) -> Iterator[np.ndarray]:
    for rows in model.distributions(_for(model, data)):
        yield from rows


def _for(model: Predictor, data: Encoded) -> Encoded:
    """The data under the names that a predictor has for the codes."""
    return data if model.alphabet == data.alphabet else replace(data, alphabet=model.alphabet)
