"""A model brings its own step; one that changes a pass and not the step is stepped through its forward pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from glnn.codec import compress, decompress, encoded_bits
from glnn.models import GLNN, GNN, LSTM, RNN, Params
from glnn.models.linear import Gated
from glnn.network import random_graph
from glnn.predictors.network import NetworkPredictor
from glnn.sequences import Alphabet, encode

LETTERS = "abcd"
TEXT = "".join(np.random.default_rng(0).choice(list(LETTERS), 600))


class Clipped(GLNN):
    """Another forward pass: V stays between −1 and 1."""

    def forward(self, weights: Any, V0: Any, x: Any, first: Any, state: Any, trace: Any) -> None:
        for t in range(len(x)):
            super().forward(weights, V0, x[t : t + 1], first[t : t + 1], state, trace[t : t + 1])
            np.clip(state, -1.0, 1.0, out=state)


class Squared(GNN):
    """The output reads other activities."""

    def activities(self, trace: np.ndarray) -> np.ndarray:
        return np.square(trace)


class Stronger(RNN):
    """The recurrences get other weights."""

    def arrange(self, tau: np.ndarray, bias: np.ndarray) -> Any:
        return super().arrange(2.0 * tau, bias)


class ClippedCells(LSTM):
    """Another forward pass of the LSTM."""

    def forward(self, weights: Any, V0: Any, x: Any, first: Any, state: Any, trace: Any) -> None:
        for t in range(len(x)):
            super().forward(weights, V0, x[t : t + 1], first[t : t + 1], state, trace[t : t + 1])
            np.clip(state, -0.2, 0.2, out=state)


class Mixin:
    """A forward pass that comes from the side."""

    def forward(self, weights: Any, V0: Any, x: Any, first: Any, state: Any, trace: Any) -> None:
        for t in range(len(x)):
            super().forward(weights, V0, x[t : t + 1], first[t : t + 1], state, trace[t : t + 1])  # type: ignore[misc]
            np.clip(state, -1.0, 1.0, out=state)


class Mixed(Mixin, GLNN):
    """Nothing of its own."""


class Fading(Gated):
    """Another leak, which the compiled step reads from the model."""

    leak = 0.7
    initial = GNN.initial


def predictor(kind: Any) -> NetworkPredictor:
    generator = np.random.default_rng(1)
    model = kind(random_graph(5, 3, generator), len(LETTERS))
    start = model.initial(*np.ones((2, len(LETTERS))), generator)
    params = Params(*(part + 0.8 * generator.standard_normal(part.shape) for part in vars(start).values()))
    return NetworkPredictor(model, params, Alphabet(LETTERS))


@pytest.mark.parametrize("kind", [Clipped, Squared, Stronger, ClippedCells, Mixed, Fading, GLNN, RNN, GNN, LSTM])
def test_steps_are_those_of_the_forward_pass(kind: Any) -> None:
    model = predictor(kind)
    data = encode(TEXT, model.alphabet)
    rows = np.concatenate(list(model.distributions(data)))
    state = model.begin()
    for row, code in zip(rows, data.codes, strict=True):
        np.testing.assert_allclose(state.probabilities(), row, rtol=1e-10)
        state.advance(int(code))
    np.testing.assert_allclose(model.begin().run(data.codes), rows, rtol=1e-10)


@pytest.mark.parametrize("kind", [Clipped, Squared, Stronger, ClippedCells, Mixed, Fading])
def test_they_are_compressed_with_their_own_probabilities(kind: Any) -> None:
    model = predictor(kind)
    blob = compress(model, TEXT)
    own = -model.log_likelihoods(encode(TEXT, model.alphabet)).sum() / np.log(2.0)
    assert encoded_bits(blob) == pytest.approx(own, abs=40)
    assert decompress(model, blob) == TEXT


@pytest.mark.small
def test_only_compiled_steps_call_themselves_portable() -> None:
    for kind, compiled in ((GLNN, True), (LSTM, True), (Fading, True), (Clipped, False), (Mixed, False)):
        model = predictor(kind)
        assert model.model.stepper(model.params).portable == compiled
        assert (model.coding_steps(None) is not None) == compiled


class Bolder(Clipped):
    """A class that brings a step again is taken at its word."""

    def stepper(self, params: Params) -> Any:
        return GLNN.stepper(self, params)


@pytest.mark.small
def test_a_step_of_its_own_is_taken() -> None:
    assert predictor(Bolder).model.stepper(predictor(Bolder).params).portable


class Sharpened(NetworkPredictor):
    """A predictor that changes the states of another, and not the coding steps that it inherits."""

    def begin(self) -> Any:
        state = super().begin()
        state.probabilities = lambda: _sharper(type(state).probabilities(state))  # type: ignore[method-assign]
        return state

    def log_likelihoods(self, data: Any) -> np.ndarray:
        rows = _sharper(np.concatenate(list(self.distributions(data))))
        return np.log(rows[np.arange(len(rows)), data.codes])


def _sharper(pi: np.ndarray) -> np.ndarray:
    return pi**2 / (pi**2).sum(axis=-1, keepdims=True)


def test_a_predictor_with_other_states_is_not_coded_with_the_steps_it_inherits() -> None:
    network = predictor(GLNN)
    model = Sharpened(network.model, network.params, network.alphabet)
    own = -model.log_likelihoods(encode(TEXT, model.alphabet)).sum() / np.log(2.0)
    blob = compress(model, TEXT)
    assert encoded_bits(blob) == pytest.approx(own, abs=40) and abs(encoded_bits(compress(network, TEXT)) - own) > 100
    assert decompress(model, blob) == TEXT
