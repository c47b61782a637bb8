"""The oracle's initial parameters, invariance and training, and its identity with the HMM."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import naive
from naive.example import SYMBOLS, UNITS

MODELS = ["rnn", "gnn", "glnn"]
TRANSITION_METHODS = ["plain", "fb", "rms", "ruop", "rbpm", "qdruop", "qdrbpm"]


# --- initial parameters, tanh and logistic ---------------------------------------------------------------


def started(model, activation="tanh", unseen=0):
    """An example network with the paper's initial parameters instead of random ones."""
    net, _, data = naive.example(model, activation, lengths=(20, 15))
    u = np.random.default_rng(1).random((UNITS, SYMBOLS + unseen))
    nu, predicted = naive.predicted_frequencies(data, SYMBOLS + unseen)
    nu_tilde = naive.frequencies(data, SYMBOLS + unseen)
    return net, naive.initial_parameters(net, u, nu, nu_tilde, predicted), data, u


@pytest.mark.parametrize("model", ["rnn", "gnn", "glnn"])
def test_initial_model_is_independent_symbols_with_the_frequencies_to_be_predicted(model):
    net, params, data, _ = started(model)
    kept = np.concatenate([np.asarray(x)[chi] for x, chi in zip(data.sequences, data.masks, strict=True)])
    for sequence in naive.each_sequence(data):
        for pi in naive.probabilities(net, params, sequence):
            assert pi == pytest.approx([np.mean(kept == y) for y in range(SYMBOLS)], abs=1e-14)


def test_initial_w_gives_half_a_count_to_a_symbol_never_predicted():
    _, params, data, _ = started("glnn", unseen=1)
    predicted = sum(int(np.sum(mask)) for mask in data.masks)
    assert params["w"][0, SYMBOLS] == pytest.approx(math.log(0.5 / predicted), abs=1e-15)


def test_initial_glnn_has_its_fixed_point_its_time_scale_and_no_drift():
    """Appendix A: a = β/α stays, the linearised rate there is 1 - μ_j, the readings average to 0."""
    net, params, data, _ = started("glnn")
    nu_tilde = naive.frequencies(data, SYMBOLS)
    assert naive.time_scales(UNITS) == pytest.approx([1 / 2, 1 / 3, 1 / 4])
    for j, mu in enumerate(naive.time_scales(UNITS)):
        constant, *others = [(i, params["tau"][:, e]) for e, (i, target) in enumerate(naive.edges(net)) if target == j]
        beta = float(np.dot(nu_tilde, constant[1]))
        V = float(params["V0"][j])
        assert beta == pytest.approx(-math.sqrt(0.5 * (0.5 - mu)), abs=1e-14)
        assert V - 0.5 * math.tanh(V) + beta == pytest.approx(V, abs=1e-14)
        assert 0.5 * naive.s_prime(V, "tanh") == pytest.approx(mu, abs=1e-14)
        assert np.ptp(constant[1]) < mu / 4
        for i, tau in others:
            assert tau.tolist() == [-0.5 if i == 1 + j else 0.0] * SYMBOLS


@pytest.mark.parametrize("model", ["rnn", "gnn"])
def test_initial_rnn_and_gnn(model):
    net, params, data, u = started(model)
    read = 0.5 * (u - (u @ naive.frequencies(data, SYMBOLS))[:, None])
    assert not params["V0"].any()
    if model == "rnn":
        for p, (kind, index, j) in enumerate(naive.rnn_parameters(net, SYMBOLS)):
            loop = 1 - 1 / (1 + j) if index == 1 + j else 0.0
            expected = read[j, index] if kind == "rho" else loop
            assert params["theta"][0, p] == pytest.approx(expected, abs=1e-15)
    else:
        for e, (i, j) in enumerate(naive.edges(net)):
            expected = read[j] if i == 0 else [1 - 1 / (1 + j) if i == 1 + j else 0.0] * SYMBOLS
            assert params["tau"][:, e] == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("model", ["rnn", "gnn", "glnn"])
def test_tanh_to_logistic_keeps_every_state_and_output(model):
    net, params, data = naive.example(model)
    other, changed = net._replace(activation="logistic"), naive.tanh_to_logistic(params, net)
    for sequence in naive.each_sequence(data):
        (V, a), (V_other, a_other) = (
            naive.forward(net, params, sequence),
            naive.forward(other, changed, sequence),
        )
        np.testing.assert_allclose(V_other, 2 * V, atol=1e-12)
        np.testing.assert_allclose(a_other[:, 1:], (a[:, 1:] + 1) / 2, atol=1e-13)
        np.testing.assert_allclose(
            naive.probabilities(other, changed, sequence),
            naive.probabilities(net, params, sequence),
            atol=1e-13,
        )


def test_initial_logistic_glnn_has_the_feedback_of_the_appendix():
    """α = 1/(2 sup s') is 2 for the logistic function, whose derivative is at most 1/4."""
    net, params, _, _ = started("glnn", "logistic")
    for e, (i, j) in enumerate(naive.edges(net)):
        if i == 1 + j:
            assert params["tau"][:, e].tolist() == [-2.0] * SYMBOLS


@pytest.mark.parametrize(
    ("model", "method"),
    [(model, method) for model in ("gnn", "glnn") for method in TRANSITION_METHODS]
    # Not the full metrics of the RNN: its redundant constant makes them singular as ε → 0.
    + [("rnn", method) for method in TRANSITION_METHODS if method not in ("ruop", "rbpm")],
)
def test_only_the_invariant_directions_agree_between_tanh_and_logistic(model, method):
    net, params, data = naive.example(model, lengths=(30, 20))
    other, changed = net._replace(activation="logistic"), naive.tanh_to_logistic(params, net)
    key, damping = naive.transition_key(params), 1e-11
    direction = naive.transition_direction(net, params, data, method, damping)
    expected = naive.tanh_to_logistic(params | direction, net)  # linear: it changes a step as it does a parameter
    found = naive.transition_direction(other, changed, data, method, damping)
    invariant = method in ("ruop", "rbpm", "qdruop", "qdrbpm")
    for name in (key, "V0"):
        error = np.abs(found[name] - expected[name]).max() / np.abs(expected[name]).max()
        assert error < 1e-6 if invariant else error > 1e-2


def test_undamped_quasi_diagonal_hessian_agrees_between_tanh_and_logistic():
    net, params, data = naive.example("glnn", lengths=(30, 20))
    directions = {"qdh": [], "dh": []}
    for activation, parameters in (("tanh", params), ("logistic", naive.tanh_to_logistic(params, net))):
        there = net._replace(activation=activation)
        W = naive.gradient_w(there, parameters, data)
        h_ii, h_0i = naive.hessian(there, parameters, data)
        h_ii = h_ii - np.array(naive.damping_w(data, SYMBOLS))
        directions["qdh"].append(naive.quasi_diagonal_hessian(W, h_ii, h_0i))
        directions["dh"].append(naive.diagonal_hessian(W, h_ii))
    for method, (direction, found) in directions.items():
        expected = naive.tanh_to_logistic(params | {"w": direction}, net)["w"]
        error = np.abs(found - expected).max() / np.abs(expected).max()
        assert error < 1e-9 if method == "qdh" else error > 1e-2


# --- training --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", TRANSITION_METHODS)
@pytest.mark.parametrize("model", MODELS)
def test_training_is_the_alternation_with_controlled_rates(model, method):
    net, params, data = naive.example(model)
    writing = {"plain": "plain", "fb": "dh", "rms": "dh"}.get(method, "qdh")
    trained, records = naive.train(net, params, data, 3, writing, method)
    current, rate_w, rate_tau = naive.log_likelihood(net, params, data), 1 / UNITS, 1 / UNITS
    for record in records:
        rate_w, rate_tau = rate_w / 2**record.rejected_w, rate_tau / 2**record.rejected_tau
        direction = naive.writing_direction(net, params, data, writing)
        params = params | {"w": params["w"] + rate_w * direction["w"]}
        assert record.log_likelihood_w == pytest.approx(naive.log_likelihood(net, params, data), abs=1e-12)
        direction = naive.transition_direction(net, params, data, method)
        params = params | {key: params[key] + rate_tau * value for key, value in direction.items()}
        assert record.log_likelihood_tau == pytest.approx(naive.log_likelihood(net, params, data), abs=1e-12)
        assert current <= record.log_likelihood_w <= record.log_likelihood_tau
        rate_w, rate_tau, current = rate_w * 1.1, rate_tau * 1.1, record.log_likelihood_tau
        assert (record.rate_w, record.rate_tau) == (pytest.approx(rate_w), pytest.approx(rate_tau))
    for key in params:
        np.testing.assert_allclose(trained[key], params[key], rtol=1e-12)


def test_a_rejected_trial_was_worse_and_the_next_is_half_of_it():
    net, params, data = naive.example("glnn")
    before = naive.log_likelihood(net, params, data)
    direction = naive.transition_direction(net, params, data, "plain")
    update = naive.controlled_update(net, params, data, direction, 64.0, before)
    assert update.rejected > 0
    for halvings in range(update.rejected + 1):
        trial = naive.moved(params, direction, 64.0 / 2**halvings)
        worse = naive.log_likelihood(net, trial, data) < before
        assert worse == (halvings < update.rejected)
    assert update.rate == pytest.approx(1.1 * 64.0 / 2**update.rejected)


def test_a_group_rests_after_sixty_halvings():
    net, params, data = naive.example("glnn")
    before = naive.log_likelihood(net, params, data)
    out_of_reach = naive.controlled_update(net, params, data, {"w": params["w"] * 0}, 1.0, before + 1)
    not_a_number = naive.controlled_update(net, params, data, {"w": params["w"] * math.nan}, 1.0, before)
    for update in (out_of_reach, not_a_number):
        assert update.params is params
        assert (update.rejected, update.rate) == (61, 2.0**-60)
    unchanged = naive.controlled_update(net, params, data, {"w": params["w"] * 0}, 1.0, before)
    assert (unchanged.rejected, unchanged.rate, unchanged.log_likelihood) == (0, 1.1, before)


# --- hidden Markov models --------------------------------------------------------------------------------


def hidden_markov_model(states=3, symbols=3):
    generator = np.random.default_rng(2)
    start, transition, emission = (
        generator.dirichlet(np.ones(size[-1]), size[:-1] or None)
        for size in ((states,), (states, states), (states, symbols))
    )
    return start, transition, emission


def test_hmm_recursion_sums_over_all_paths():
    start, transition, emission = hidden_markov_model()
    x = [0, 2, 1, 1]
    joint = 0.0
    for z in itertools.product(range(3), repeat=len(x)):
        path = start[z[0]] * emission[z[0], x[0]]
        for t in range(1, len(x)):
            path *= transition[z[t - 1], z[t]] * emission[z[t], x[t]]
        joint += path
    predicted = naive.hmm_probabilities(start, transition, emission, x)
    assert math.prod(predicted[t, x[t]] for t in range(len(x))) == pytest.approx(joint, rel=1e-13)


def test_linear_gnn_with_linear_output_is_the_hidden_markov_model():
    start, transition, emission = hidden_markov_model()
    net = naive.Network("gnn", np.array([0, 3, 6, 9]), np.tile(np.arange(3), 3), "linear")
    params = naive.hmm_as_gnn(net, start, transition, emission)
    data = naive.Data([[0, 2, 1, 1, 0, 2, 2, 1]], [[1, 0, 1, 1, 1, 0, 1, 1]], [1.5])
    sequence = naive.each_sequence(data)[0]
    predicted = naive.hmm_probabilities(start, transition, emission, sequence.x)
    np.testing.assert_allclose(naive.linear_probabilities(net, params, sequence), predicted, rtol=1e-13)
    expected = 1.5 * sum(math.log(predicted[t, sequence.x[t]]) for t in range(8) if sequence.chi[t])
    assert naive.linear_log_likelihood(net, params, data) == pytest.approx(expected, rel=1e-13)
