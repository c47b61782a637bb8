"""Any predictor with a share of the uniform distribution: π'(y) = (1 − δ) π(y) + δ / A.

A hidden Markov model thinks symbols impossible that it has not met; then no score and no code would be left. With
δ = 1/(T + 2) this is the paper's regularisation of validation scores, taken at the end of the T symbols of training.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from glnn.coding.steps import Steps, both_shares, offered_steps
from glnn.output.uniform import log_mixed, mixed
from glnn.predictors.protocol import AroundState, Predictor, State
from glnn.sequences import Alphabet, Encoded


class SmoothedState(AroundState):
    """Where a smoothed predictor stands inside a sequence."""

    def __init__(self, state: State, share: float) -> None:
        self._state, self._share = state, share

    def probabilities(self) -> np.ndarray:
        """The distribution of the next symbol."""
        return mixed(self._state.probabilities(), self._share)

    def copy(self) -> SmoothedState:
        """An independent state at the same place."""
        return SmoothedState(self._state.copy(), self._share)


class Smoothed:
    """A predictor with the share δ of the uniform distribution."""

    def __init__(self, inner: Predictor, share: float) -> None:
        self.inner, self.share = inner, share

    @property
    def alphabet(self) -> Alphabet:
        """The symbols it knows."""
        return self.inner.alphabet

    def begin(self) -> SmoothedState:
        """The state at the start of a sequence."""
        return SmoothedState(self.inner.begin(), self.share)

    def coding_steps(self, escape: float | None, share: float = 0.0) -> Steps | None:
        """The compiled loops of the predictor itself, if it has some."""
        return offered_steps(self.inner, escape, both_shares(self.share, share))

    def distributions(self, data: Encoded, block: int = 4096) -> Iterator[np.ndarray]:
        """Next-symbol distributions along the data, in blocks of at most `block` rows."""
        for rows in self.inner.distributions(data, block):
            yield mixed(rows, self.share)

    def log_likelihoods(self, data: Encoded) -> np.ndarray:
        """log π_t(x_t) at every position."""
        return log_mixed(self.inner.log_likelihoods(data), self.share, len(self.alphabet))
