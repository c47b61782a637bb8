"""A trained network as a predictor: π_t(y) = softmax(w_0y + Σ_i w_iy a_i^t), whole data in blocks or step by step.

A share δ of the uniform distribution, (1 − δ) π + δ / A, bounds what a network that is too sure of itself can lose.
Scores of whole data take the passes that training takes. The state steps in a fixed order instead, with the same bits
on every machine, since compression relies on it; both agree up to rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from glnn.coding.steps import Steps, both_shares
from glnn.models import Model, Params
from glnn.models.stepping import Stepper
from glnn.numeric.packed import unpack_array
from glnn.output import softmax
from glnn.output.uniform import log_mixed, mixed
from glnn.predictors.protocol import placed
from glnn.sequences import Alphabet, Encoded, InputError
from glnn.training.corpus import prepare, stretch_length
from glnn.training.engine import Engine
from glnn.training.parallel import Workers, single_threaded_blas

if TYPE_CHECKING:
    from glnn.predictors.network_learner import NetworkLearner


class NetworkState:
    """Where a network stands inside a sequence."""

    def __init__(self, steps: Stepper, state: np.ndarray, share: float = 0.0) -> None:
        self._steps, self._state, self._share = steps, state, share

    def probabilities(self) -> np.ndarray:
        """The distribution of the next symbol."""
        return mixed(self._steps.probabilities(self._state), self._share)

    def advance(self, code: int) -> None:
        """Read the next symbol."""
        self._steps.advance(self._state, code)

    def run(self, codes: np.ndarray) -> np.ndarray:
        """Read several symbols; row t holds the distribution before codes[t], to the bit that of `probabilities`."""
        return mixed(self._steps.run(self._state, codes), self._share)

    def place(self) -> dict[str, np.ndarray]:
        """The pre-activations."""
        return {"state": self._state.copy()}

    def move(self, place: dict[str, np.ndarray]) -> None:
        """Stand where another stood."""
        self._state[:] = placed(place, "state", self._state)

    def pack(self) -> bytes:
        """The pre-activations as bytes."""
        return self._state.tobytes()

    def unpack(self, packed: bytes, at: int = 0) -> int:
        """Stand where another stood."""
        return unpack_array(self._state, packed, at)

    def copy(self) -> NetworkState:
        """An independent state at the same place."""
        return NetworkState(self._steps, self._state.copy(), self._share)


class NetworkPredictor:
    """A network with its parameters and the alphabet of its codes; `share` is δ.

    `running` is the metric of one that went on learning from streams, to learn on with.
    """

    def __init__(
        self,
        model: Model,
        params: Params,
        alphabet: Alphabet,
        threads: int = 1,
        share: float = 0.0,
        running: dict[str, np.ndarray] | None = None,
    ) -> None:
        if len(alphabet) != model.alphabet_size:
            raise ValueError(f"the alphabet has {len(alphabet)} symbols, the network {model.alphabet_size}")
        self.model, self.params, self.alphabet, self.threads = model, params, alphabet, threads
        self.share, self.running = share, running

    @cached_property
    def stepper(self) -> Stepper:
        """The network one step at a time."""
        return self.model.stepper(self.params)

    def begin(self) -> NetworkState:
        """The state at the start of a sequence."""
        return NetworkState(self.stepper, self.stepper.begin(), self.share)

    def learner(self) -> NetworkLearner:
        """A copy that goes on learning."""
        from glnn.predictors.network_learner import NetworkLearner

        return NetworkLearner(self)

    def stream_learner(self) -> NetworkLearner:
        """A copy that goes on learning for ever."""
        return self.learner()

    def coding_steps(self, escape: float | None, share: float = 0.0) -> Steps | None:
        """Compiled loops for the coder, where the network has them."""
        return self.stepper.coding_steps(escape, both_shares(self.share, share))

    def distributions(self, data: Encoded, block: int = 4096) -> Iterator[np.ndarray]:
        """Next-symbol distributions along the data, in blocks of at most `block` rows."""
        for a in self.activities(data, block):
            with single_threaded_blas():
                rows = softmax.distributions(a, self.params.w)
            yield mixed(rows, self.share)

    def log_likelihoods(self, data: Encoded) -> np.ndarray:
        """log π_t(x_t) at every position."""
        self._check(data)
        every = replace(data, mask=np.ones(len(data.codes), bool))
        corpus = prepare(every, stretch_length(self.model.units))
        with single_threaded_blas():
            own = Engine(self.model, corpus, Workers(self.threads), memory=0).log_likelihoods(self.params)
        return log_mixed(own, self.share, len(self.alphabet))

    def without_share(self) -> NetworkPredictor:
        """The network alone."""
        return NetworkPredictor(self.model, self.params, self.alphabet, self.threads)

    def activities(self, data: Encoded, block: int = 4096) -> Iterator[np.ndarray]:
        """The activities a^t along the data, in blocks of at most `block` rows of N."""
        self._check(data)
        model, V0 = self.model, self.params.V0
        weights, state = model.weights(self.params.theta), model.begin(V0)
        codes = np.ascontiguousarray(data.codes, np.int32)
        first = data.first
        for begin in range(0, len(codes), block):
            x = codes[begin : begin + block]
            trace = np.empty((len(x), model.trace_width))
            model.forward(weights, V0, x, first[begin : begin + block], state, trace)
            yield model.activities(trace)

    def _check(self, data: Encoded) -> None:
        if data.alphabet != self.alphabet:
            raise InputError(f"the data have {data.alphabet!r}, the model {self.alphabet!r}: encode with alphabet=")
