"""Several predictors, each with a share in the prediction: p(y) = Σ_k w_k p_k(y) + u / A, with Σ_k w_k + u = 1.

A sum is never spoiled by one of its parts, and u bounds what one surprise can cost. Frozen, the shares are the same at
the start of every sequence, and may follow the symbols inside it; online, they are odds that learn with every symbol
(`odds`), and the predictors learn too, all of them as copies; networks stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from glnn.contexts.mixing import firsts
from glnn.contexts.ngram import NGramModel
from glnn.contexts.tree import ContextTreeWeighting
from glnn.predictors.ends import Ends
from glnn.predictors.learning import learner_of, part_of
from glnn.predictors.members import finish
from glnn.predictors.mixture import MixturePredictor
from glnn.predictors.odds import Odds, RunningOdds, chances_of, combined, with_uniform
from glnn.predictors.protocol import (
    Predictor,
    State,
    placed,
    rows_along,
)
from glnn.predictors.shares_coding import SharesSteps
from glnn.predictors.shares_state import SharesState
from glnn.sequences import Alphabet, Encoded, InputError


@dataclass(frozen=True)
class Shares:
    """A mixture of contexts, and next to it a context tree, an n-gram model and networks, all over the same codes."""

    mixture: MixturePredictor
    beside: tuple[ContextTreeWeighting | NGramModel, ...]
    networks: tuple[Predictor, ...]
    odds: Odds
    """The mixture's first, then those of the predictors next to it, then the networks', then the uniform
    distribution's.
    """
    inside: float = 0.0
    """How fast shares that follow the symbols of a sequence go back to what they are; 0 where they stay."""

    @property
    def alphabet(self) -> Alphabet:
        """The symbols that all of them know."""
        return self.mixture.alphabet

    @property
    def _all(self) -> tuple[Predictor, ...]:
        return (self.mixture, *self.beside, *self.networks)

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
        return SharesState([model.begin() for model in self._all], self.running(), len(self.alphabet))

    def coding_steps(self, escape: float | None, share: float = 0.0) -> SharesSteps | None:
        """Steps for the coder."""
        if share != 0.0:
            return None
        return SharesSteps(self.mixture, self.beside, self.networks, self.running(), escape)

    def distributions(self, data: Encoded, block: int = 4096) -> Iterator[np.ndarray]:
        """Next-symbol distributions along the data, in blocks of at most `block` rows."""
        # A mixture that has networks ends its blocks where sequences end: rows are taken as they come.
        beside = [_rows(model, data) for model in self._all[1:]]
        running, first, place = self.running(), firsts(data.starts), 0
        for own in self.mixture.distributions(data, block):
            parts = [own, *(np.array([next(rows) for _ in range(len(own))]) for rows in beside)]
            now = slice(place, place + len(own))
            yield combined(parts, running.along(chances_of(parts, data.codes[now]), first[now]))
            place += len(own)

    def log_likelihoods(self, data: Encoded) -> np.ndarray:
        """log π_t(x_t) at every position."""
        said = [np.exp(model.log_likelihoods(_for(model, data))) for model in self._all]
        chances = with_uniform(said, len(self.alphabet))
        return np.log((self.running().along(chances, firsts(data.starts)) * chances).sum(1))

    def arrays(self) -> dict[str, np.ndarray]:
        """What identifies it, for a hash."""
        own = {f"mixture/{name}": array for name, array in self.mixture.arrays().items()}
        found = {**own, "trust": self.odds.trust, "shares": self.odds.rows}
        return {**found, "inside": np.array([self.inside])} if self.inside > 0.0 else found

    def running(self, learns: bool | None = None) -> RunningOdds:
        """The odds at the start of a sequence, to learn or not; as the contexts do if nothing is said."""
        # Ends and the uniform distribution insure.
        insured = 1 + sum(isinstance(network, Ends) for network in self.networks)
        return RunningOdds(self.odds, self.mixture.contexts.online if learns is None else learns, self.inside, insured)


class SharesLearner:
    """Learners side by side, and their odds; the networks stay as they are."""

    def __init__(self, model: Shares) -> None:
        self._mixture = self._learner(model.mixture)
        self._beside = [self._counter(one) for one in model.beside]
        self._model, self._odds = model, model.running(learns=True)

    def _learner(self, mixture: MixturePredictor) -> Any:
        return mixture.learner()

    def _counter(self, one: ContextTreeWeighting | NGramModel) -> Any:
        return one.learner()

    @property
    def alphabet(self) -> Alphabet:
        """The symbols it knows."""
        return self._mixture.alphabet

    @property
    def _learners(self) -> list[Any]:
        return [self._mixture, *self._beside]

    def begin(self) -> SharesState:
        """The state at the start of a sequence; it predicts by what is learned so far."""
        return SharesState(self._states("begin"), self._odds.begun(), len(self.alphabet), learns=False)

    def begin_learning(self) -> SharesState:
        """The state at the start of a sequence that is learned as it is read."""
        return SharesState(self._states("begin_learning"), self._odds.begun(), len(self.alphabet))

    def learn(self, codes: np.ndarray) -> None:
        """Read a whole sequence."""
        if len(codes):
            said = [learner.read(codes) for learner in (self._mixture, *self._beside)]
            self._odds.begun().along(with_uniform([*said, *self._networks_read(codes)], len(self.alphabet)))

    def learned(self) -> Shares:
        """What all have become."""
        beside = tuple(one.learned() for one in self._beside)
        return replace(self._model, mixture=self._mixture.learned(), beside=beside, odds=self._odds.copy().odds)

    def distributions(self, data: Encoded, block: int = 4096) -> Iterator[np.ndarray]:
        """Next-symbol distributions along the data; nothing is learned."""
        return self.learned().distributions(data, block)

    def log_likelihoods(self, data: Encoded) -> np.ndarray:
        """log π_t(x_t) at every position; nothing is learned."""
        return self.learned().log_likelihoods(data)

    def _states(self, begin: str) -> list[State]:
        own = [getattr(learner, begin)() for learner in self._learners]
        return [*own, *(network.begin() for network in self._model.networks)]

    def _networks_read(self, codes: np.ndarray) -> list[np.ndarray]:
        """What networks say of a whole sequence."""
        places = np.arange(len(codes))
        return [rows_along(network.begin(), codes)[places, codes] for network in self._model.networks]


class SharesStreamLearner(SharesLearner):
    """The same for streams, on which the networks learn too, all of them in a memory of bounded size."""

    def __init__(self, model: Shares) -> None:
        super().__init__(model)
        self._networks = [learner_of(network) for network in model.networks]

    def _learner(self, mixture: MixturePredictor) -> Any:
        return mixture.stream_learner()

    def _counter(self, one: ContextTreeWeighting | NGramModel) -> Any:
        return one.stream_learner()

    @property
    def _learners(self) -> list[Any]:
        return [self._mixture, *self._beside, *self._networks]

    def learned(self) -> Shares:
        """What all have become."""
        return replace(super().learned(), networks=tuple(network.learned() for network in self._networks))

    def memory(self) -> dict[str, np.ndarray]:
        """What all have become, and the odds between them."""
        odds = self._odds.copy().odds
        found = {
            f"{k}:{name}": part for k, learner in enumerate(self._learners) for name, part in learner.memory().items()
        }
        return {**found, "odds:trust": odds.trust, "odds:rows": odds.rows}

    def recall(self, memory: dict[str, np.ndarray]) -> None:
        """Know what others knew."""
        own = part_of(memory, "odds:")
        odds = Odds(*(placed(own, name, like) for name, like in self._odds.odds._asdict().items()))
        if not odds.fine:
            raise InputError("the odds of a stream do not fit this model: use a file of the same model")
        for k, learner in enumerate(self._learners):
            learner.recall(part_of(memory, f"{k}:"))
        self._odds = replace(self._model, odds=odds).running(learns=True)

    def _states(self, begin: str) -> list[State]:
        return [getattr(learner, begin)() for learner in self._learners]

    def _networks_read(self, codes: np.ndarray) -> list[np.ndarray]:
        found = []
        for network in self._networks:
            found.append(rows_along(network.begin_learning(), codes)[np.arange(len(codes)), codes])
            finish(network)
        return found


def _rows(model: Predictor, data: Encoded) -> Iterator[np.ndarray]:
    for rows in model.distributions(_for(model, data)):
        yield from rows


def _for(model: Predictor, data: Encoded) -> Encoded:
    """The data under the names that a predictor has for the codes."""
    return data if model.alphabet == data.alphabet else replace(data, alphabet=model.alphabet)
