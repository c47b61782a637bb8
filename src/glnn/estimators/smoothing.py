"""A share of the uniform distribution beside any predictor: π'(y) = (1 − δ) π(y) + δ / A.

A hidden Markov model thinks symbols impossible that it has not met; then no score and no code would be left. With
δ = 1/(T + 2) this is the paper's regularisation of validation scores, taken at the end of the T symbols of training.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from glnn.evaluation import Predictor, State
from glnn.sequences import Alphabet, Encoded


class SmoothedState:
    """Where a smoothed predictor stands inside a sequence."""

    def __init__(self, state: State, share: float) -> None:
        self._state, self._share = state, share

    def probabilities(self) -> np.ndarray:
        """The distribution of the next symbol."""
        pi = self._state.probabilities()
        return (1.0 - self._share) * pi + self._share / pi.size

    def advance(self, code: int) -> None:
        """Read the next symbol."""
        self._state.advance(code)

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

    def distributions(self, data: Encoded, block: int = 4096) -> Iterator[np.ndarray]:
        """Next-symbol distributions along the data, in blocks of at most `block` rows."""
        for rows in self.inner.distributions(data, block):
            yield (1.0 - self.share) * rows + self.share / rows.shape[1]

    def log_likelihoods(self, data: Encoded) -> np.ndarray:
        """log π_t(x_t) at every position."""
        own = self.inner.log_likelihoods(data)
        if self.share == 0.0:
            return own
        return np.logaddexp(np.log1p(-self.share) + own, np.log(self.share / len(self.alphabet)))
