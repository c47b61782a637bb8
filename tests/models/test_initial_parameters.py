"""Initial parameters against the oracle, and the parameters of a logistic network that behaves as a tanh one."""

from __future__ import annotations

import numpy as np
import pytest

from glnn.models import MODELS, Params
from glnn.network import random_graph
from glnn.sequences import encode
from glnn.training.corpus import prepare
from glnn.training.engine import Engine
from tests import naive
from tests.training.problems import oracle_params, problem

pytestmark = pytest.mark.small

UNITS, SYMBOLS = 5, 4


@pytest.mark.parametrize("activation", ["tanh", "logistic"])
@pytest.mark.parametrize("name", ["rnn", "gnn", "glnn"])
def test_against_the_oracle(name: str, activation: str) -> None:
    """Symbol 3 is read but never to be predicted, so that the floor of w_0y is met."""
    graph = random_graph(UNITS, 3, 1)
    x = np.random.default_rng(2).integers(0, SYMBOLS, 40)
    mask = x != 3
    data = encode(list(map(int, x)), alphabet=range(SYMBOLS), mask=mask)
    corpus = prepare(data, 100)
    model = MODELS[name](graph, SYMBOLS, activation=activation)
    found = oracle_params(model, model.initial(corpus.predicted_counts, corpus.counts, np.random.default_rng(3)))
    net = naive.Network(name, graph.in_ptr, graph.sources, activation)
    oracle_data = naive.Data([x], [mask])
    nu, predicted = naive.predicted_frequencies(oracle_data, SYMBOLS)
    u = np.random.default_rng(3).random((UNITS, SYMBOLS))
    expected = naive.initial_parameters(net, u, nu, naive.frequencies(oracle_data, SYMBOLS), predicted)
    for key, value in expected.items():
        np.testing.assert_allclose(found[key], value, rtol=1e-12, atol=1e-14, err_msg=key)


def test_alpha_and_time_scales_are_parameters() -> None:
    graph, mu = random_graph(UNITS, 3, 1), np.array([0.3, 0.2, 0.1, 0.05, 0.01])
    model = MODELS["glnn"](graph, SYMBOLS, alpha=0.4, time_scales=mu)
    params = model.initial(np.ones(SYMBOLS), np.ones(SYMBOLS), np.random.default_rng(0))
    tau, bias = model.split(params.theta)
    assert np.all(tau[:, model.loops] == -0.4)
    beta = bias.mean(axis=0)
    np.testing.assert_allclose(beta, -np.sqrt(0.4 * (0.4 - mu)), atol=1e-14)
    # Appendix A: a = β/α is a fixed point, left at the rate μ.
    np.testing.assert_allclose(np.tanh(params.V0), beta / 0.4, atol=1e-14)
    np.testing.assert_allclose(0.4 * (1 - np.tanh(params.V0) ** 2), mu, atol=1e-14)


@pytest.mark.parametrize(
    ("alpha", "mu", "message"),
    [
        (0.5, np.full(3, 0.1), r"time_scales has shape \(3,\): one μ for each of the 5 units"),
        (0.1, np.full(5, 0.2), "0 < μ ≤ α must hold"),
        (0.5, np.array([0.1, 0.1, 0.0, 0.1, 0.1]), "0 < μ ≤ α must hold"),
        (0.0, np.full(5, 0.1), "alpha is 0.0"),
    ],
)
def test_time_scales_that_cannot_be(alpha: float, mu: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MODELS["glnn"](random_graph(UNITS, 3), SYMBOLS, alpha=alpha, time_scales=mu)


def test_an_activation_that_is_not_there() -> None:
    with pytest.raises(ValueError, match="activation is 'relu': it must be one of tanh, logistic, linear"):
        MODELS["gnn"](random_graph(2, 1), 2, activation="relu")


@pytest.mark.parametrize("name", ["rnn", "gnn", "glnn"])
def test_the_logistic_network_computes_what_the_tanh_network_does(name: str) -> None:
    case = problem(name, lengths=(30,), noise=0.5)
    twin = problem(name, lengths=(30,), noise=0.5, activation="logistic").model
    corpus = prepare(case.data, 100)
    expected = Engine(case.model, corpus).log_likelihoods(case.params)
    changed = twin.from_tanh(case.params)
    np.testing.assert_allclose(Engine(twin, corpus).log_likelihoods(changed), expected, rtol=1e-12)
    assert np.abs(changed.w - case.params.w).max() > 0.1
    assert case.model.from_tanh(case.params) is case.params


@pytest.mark.parametrize("name", ["rnn", "gnn", "glnn"])
def test_the_first_model_prints_independent_symbols_with_their_frequencies(name: str) -> None:
    case = problem(name, lengths=(40,), masked=True, noise=0.0)
    corpus = prepare(case.data, 100)
    found = Engine(case.model, corpus).log_likelihoods(case.params)
    share = corpus.predicted_counts / corpus.predicted
    np.testing.assert_allclose(found, np.log(share[case.data.codes[case.data.mask]]), rtol=1e-12)


@pytest.mark.parametrize("name", ["rnn", "gnn"])
def test_join_undoes_split(name: str) -> None:
    case = problem(name)
    theta = np.random.default_rng(0).permutation(case.params.theta.size).astype(float)
    model = case.model
    if name == "rnn":
        joined = model.join(theta[model._constants], theta[model._edges], theta[model._inputs].T)
    else:
        joined = model.join(*model.split(theta))
    np.testing.assert_array_equal(joined, theta)


def test_params_are_exchanged_and_not_changed() -> None:
    params = problem("glnn").params
    other = params.replace(w=params.w + 1)
    assert isinstance(other, Params) and other.theta is params.theta and not np.array_equal(other.w, params.w)


def test_on_chunks_half_of_the_units_of_an_rnn_hear_the_others_from_the_start() -> None:
    model = MODELS["rnn"](random_graph(40, 40, 1), SYMBOLS)
    counts = np.ones(SYMBOLS)
    before = model.initial(counts, counts, np.random.default_rng(0))
    params = model.initial_for_chunks(counts, counts, np.random.default_rng(0))
    (tau, bias), (first_tau, first_bias) = model.split(params.theta), model.split(before.theta)
    np.testing.assert_array_equal(bias, first_bias)
    heard = (tau - first_tau)[0]
    hearing = model.graph.edge_targets < 20
    assert not heard[~hearing].any()
    # A length of 0.2 into each.
    assert np.square(heard[hearing]).sum() == pytest.approx(20 * 0.2**2, rel=0.2)
