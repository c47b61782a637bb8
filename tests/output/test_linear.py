"""The linear output: a linear GNN with it is the forward pass of a hidden Markov model, at any length."""

from __future__ import annotations

import numpy as np
import pytest

from glnn.models import GLNN, GNN
from glnn.network import random_graph
from glnn.output import linear
from tests import naive


def hidden_markov_model(
    states: int, symbols: int, seed: int = 0, sharpness: float = 1.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    start = generator.dirichlet(np.ones(states))
    transition = generator.dirichlet(np.full(states, sharpness), states)
    emission = generator.dirichlet(np.full(symbols, sharpness), states)
    return start, transition, emission


def as_gnn(
    start: np.ndarray, transition: np.ndarray, emission: np.ndarray
) -> tuple[GNN, np.ndarray, np.ndarray, np.ndarray]:
    """The linear GNN that the oracle says is this model: network, w, θ, V⁰."""
    states, symbols = emission.shape
    graph = random_graph(states, states)
    net = naive.Network("gnn", graph.in_ptr, graph.sources, "linear")
    params = naive.hmm_as_gnn(net, start, transition, emission)
    params["w"][0] = np.nan  # the constant unit has no part in the linear output
    return GNN(graph, symbols, activation="linear"), params["w"], params["tau"].ravel(), params["V0"]


def logged(pi: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.log(pi[np.arange(len(x)), x])


def starts(length: int, *others: int) -> np.ndarray:
    first = np.zeros(length, bool)
    first[[0, *others]] = True
    return first


@pytest.mark.small
def test_a_linear_gnn_is_the_hidden_markov_model() -> None:
    model = hidden_markov_model(4, 3)
    network, w, theta, V0 = as_gnn(*model)
    x = np.random.default_rng(1).integers(0, 3, 50, np.int32)
    expected = naive.hmm_probabilities(*model, list(x))
    rows, a = next(linear.scaled_activities(network, theta, V0, x, starts(50)))
    assert rows == slice(0, 50)
    np.testing.assert_allclose(linear.distributions(a, w), expected, rtol=1e-12)
    np.testing.assert_allclose(linear.symbol_log_likelihoods(a, x, w), logged(expected, x), rtol=1e-12)


def scaled_hmm(start: np.ndarray, transition: np.ndarray, emission: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The forward pass with the state made to sum to 1 at every step: log P(x_t | x_0 … x_{t−1})."""
    state, out = np.array(start), np.empty(len(x))
    for t, symbol in enumerate(x):
        seen = state * emission[:, symbol]
        out[t] = np.log(seen.sum() / state.sum())
        state = seen @ transition
        state /= state.sum()
    return out


@pytest.mark.parametrize("sharpness", [1.0, 0.02])
def test_ten_thousand_steps(sharpness: float) -> None:
    """With sharp emissions single steps lose up to a hundred orders of magnitude: fixed blocks would underflow."""
    start, transition, emission = hidden_markov_model(5, 4, sharpness=sharpness)
    transition, emission = np.maximum(transition, 1e-90), np.maximum(emission, 1e-90)
    network, w, theta, V0 = as_gnn(start, transition, emission)
    x = np.random.default_rng(2).integers(0, 4, 10_000, np.int32)
    expected = scaled_hmm(start, transition, emission, x)
    assert expected.sum() < -10_000
    found = linear.log_likelihoods(network, w, theta, V0, x, starts(len(x)))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.small
def test_several_sequences_begin_anew() -> None:
    network, w, theta, V0 = as_gnn(*hidden_markov_model(3, 3))
    x = np.random.default_rng(3).integers(0, 3, 200, np.int32)
    found = linear.log_likelihoods(network, w, theta, V0, x, starts(200, 130, 131))
    for begin, end in ((0, 130), (130, 131), (131, 200)):
        alone = linear.log_likelihoods(network, w, theta, V0, x[begin:end], starts(end - begin))
        np.testing.assert_allclose(found[begin:end], alone, rtol=1e-12)


@pytest.mark.small
def test_the_scale_of_the_state_does_not_matter_and_growth_is_held_too() -> None:
    """A leak that multiplies the state by about 1.5 a step would overflow after 2000 steps."""
    generator = np.random.default_rng(4)
    network = GLNN(random_graph(3, 3), 2, activation="linear")
    tau = generator.random((2, 9)) / 6.0
    theta, V0 = network.join(tau, np.zeros((2, 3))), generator.random(3)
    w = np.concatenate([np.full((1, 2), np.nan), generator.dirichlet(np.ones(2), 3)])
    x = generator.integers(0, 2, 3_000, np.int32)
    found = linear.log_likelihoods(network, w, theta, V0, x, starts(len(x)))
    assert np.isfinite(found).all()
    np.testing.assert_allclose(linear.log_likelihoods(network, w, theta, 1e9 * V0, x, starts(len(x))), found, rtol=1e-9)
    V, pi = V0.copy(), np.empty(len(x))
    for t, symbol in enumerate(x):
        pi[t] = V @ w[1:, symbol] / V.sum()
        V = V + V @ network.weights(theta).D[symbol, :, :3]
        V /= V.sum()
    np.testing.assert_allclose(found, np.log(pi), rtol=1e-9)


@pytest.mark.small
def test_a_symbol_that_cannot_occur() -> None:
    start, transition, emission = hidden_markov_model(3, 3)
    emission[:, 2] = 0.0
    network, w, theta, V0 = as_gnn(start, transition, emission)
    x = np.array([0, 1, 2, 0, 1])
    last = linear.log_likelihoods(network, w, theta, V0, x[:3], starts(3))
    assert np.isfinite(last[:2]).all() and last[2] == -np.inf
    again = linear.log_likelihoods(network, w, theta, V0, x, starts(5, 3))
    assert again[2] == -np.inf and np.isfinite(again[3:]).all()
    with pytest.raises(ValueError, match=r"after position 2 sum to 0.*probability 0"):
        linear.log_likelihoods(network, w, theta, V0, x, starts(5))


@pytest.mark.small
def test_what_cannot_be_scaled() -> None:
    network, w, theta, V0 = as_gnn(*hidden_markov_model(3, 2))
    x, first = np.zeros(4, int), starts(4)
    with pytest.raises(ValueError, match="the activation is 'tanh'"):
        linear.log_likelihoods(GNN(network.graph, 2), w, theta, V0, x, first)
    theta = theta.copy()
    theta[network.ptr[1]] = 0.1
    with pytest.raises(ValueError, match="set every τ_0j to 0"):
        linear.log_likelihoods(network, w, theta, V0, x, first)
