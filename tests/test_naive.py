"""The oracle checked against what shares none of its derivations: finite differences and definitions.

`naive.unfolded_metric_blocks` is M̃ by its definition on the time-unfolded network, so that M̃ is not compared
with another copy of its formula.
"""

from __future__ import annotations

import ast
import itertools
import math
from pathlib import Path

import naive
import numpy as np
import pytest
from naive.example import SYMBOLS, UNITS

MODELS = ["rnn", "gnn", "glnn"]
ACTIVATIONS = ["tanh", "logistic", "linear"]
TRANSITION_METHODS = ["plain", "fb", "rms", "ruop", "rbpm", "qdruop", "qdrbpm"]
STEP = 1e-5


def test_imports_nothing_of_the_package():
    allowed = {"__future__", "collections", "itertools", "math", "numpy", "typing"}
    for path in (Path(__file__).parent / "naive").glob("*.py"):
        if path.name.startswith("test_"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert {alias.name.split(".")[0] for alias in node.names} <= allowed, path.name
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                assert node.module.split(".")[0] in allowed, path.name


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_activation_derivative_and_inverse(activation):
    for V in (-3.0, -0.4, 0.0, 0.7, 2.5):
        slope = (naive.s(V + STEP, activation) - naive.s(V - STEP, activation)) / (2 * STEP)
        assert naive.s_prime(V, activation) == pytest.approx(slope, abs=1e-9)
        assert naive.s_inverse(naive.s(V, activation), activation) == pytest.approx(V, abs=1e-12)


@pytest.mark.parametrize("model", ["rnn", "gnn", "glnn"])
def test_evolution_equations_by_hand(model):
    """One unit, its loop and the constant: `eq:rnn`, `eq:cnn`, `def:glnn` written out."""
    net = naive.Network(model, np.array([0, 1]), np.array([0]), "tanh")
    params = {"w": np.zeros((2, 2)), "V0": np.array([0.3]), "tau": np.array([[0.1, 0.2], [0.5, -0.4]])}
    if model == "rnn":
        params = {"w": np.zeros((2, 2)), "V0": np.array([0.3]), "theta": np.array([[0.1, 0.2, 0.7, -0.6]])}
    expected = {
        "rnn": -0.6 + 0.1 + 0.2 * math.tanh(0.3),
        "gnn": 0.5 - 0.4 * math.tanh(0.3),
        "glnn": 0.3 + 0.5 - 0.4 * math.tanh(0.3),
    }
    V, a = naive.forward(net, params, naive.each_sequence(naive.Data([[1]]))[0])
    assert V[1, 0] == pytest.approx(expected[model], abs=1e-15)
    assert a[1].tolist() == pytest.approx([1.0, math.tanh(expected[model])], abs=1e-15)


@pytest.mark.parametrize("model", MODELS)
def test_probabilities_sum_to_one(model):
    net, params, data = naive.example(model)
    for sequence in naive.each_sequence(data):
        pi = naive.probabilities(net, params, sequence)
        assert pi.shape == (len(sequence.x), SYMBOLS)
        assert pi.min() > 0
        np.testing.assert_allclose(pi.sum(axis=1), 1, atol=1e-14)


@pytest.mark.parametrize("model", ["rnn", "gnn", "glnn"])
def test_sequences_of_one_length_have_total_probability_one(model):
    net, params, _ = naive.example(model)
    total = 0.0
    for x in itertools.product(range(SYMBOLS), repeat=4):
        total += math.exp(naive.log_likelihood(net, params, naive.Data([x])))
    assert total == pytest.approx(1, abs=1e-13)


def test_mask_and_weights_in_the_likelihood():
    net, params, data = naive.example("glnn")
    expected = 0.0
    for sequence in naive.each_sequence(data):
        pi = naive.probabilities(net, params, sequence)
        log_pi = [math.log(pi[t, sequence.x[t]]) for t in range(len(sequence.x)) if sequence.chi[t]]
        assert 0 < len(log_pi) < len(sequence.x)
        expected += sequence.weight * sum(log_pi)
    assert naive.log_likelihood(net, params, data) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("model", MODELS)
def test_gradients_are_finite_differences(model, activation):
    net, params, data = naive.example(model, activation)
    key = naive.transition_key(params)

    def likelihood(changed):
        return naive.log_likelihood(net, changed, data)

    for name, gradient in [
        ("w", naive.gradient_w(net, params, data)),
        (key, naive.gradient_transition(net, params, data)),
        ("V0", naive.gradient_start(net, params, data)),
    ]:
        expected = naive.finite_difference(likelihood, params, name)
        assert np.abs(expected).max() > 1e-3
        np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-7 * (1 + np.abs(expected).max()))


@pytest.mark.parametrize("model", MODELS)
def test_backward_is_the_derivative_in_every_state(model):
    """B_i^t for every t: the likelihood of what follows when V^t is displaced."""
    net, params, data = naive.example(model)
    for sequence in naive.each_sequence(data):
        V, _ = naive.forward(net, params, sequence)
        B = naive.backward(net, params, sequence)
        T = len(sequence.x)
        assert not B[T].any()
        for t, i in itertools.product(range(T), range(UNITS)):
            rest = naive.Data([sequence.x[t:]], [sequence.chi[t:]])
            value = {}
            for amount in (STEP, -STEP):
                start = V[t].copy()
                start[i] += amount
                value[amount] = naive.log_likelihood(net, params | {"V0": start}, rest)
            slope = (value[STEP] - value[-STEP]) / (2 * STEP)
            assert B[t, i] == pytest.approx(slope, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("model", MODELS)
def test_hessian_terms_are_second_derivatives(model):
    net, params, data = naive.example(model)
    h_ii, h_0i = naive.hessian(net, params, data)
    epsilon = naive.damping_w(data, SYMBOLS)
    for i, y in np.ndindex(UNITS + 1, SYMBOLS):
        up, down = (naive.gradient_w(net, naive.displaced(params, "w", (i, y), d), data) for d in (STEP, -STEP))
        second = -(up - down) / (2 * STEP)
        assert h_ii[i, y] == pytest.approx(second[i, y] + epsilon[y], rel=1e-6)
        if i != 0:
            assert h_0i[i, y] == pytest.approx(second[0, y], rel=1e-6, abs=1e-8)


def test_damping_of_w_is_the_frequency_over_all_symbols():
    data = naive.Data([[0, 0, 1], [0]], [[0, 0, 1], [1]], [5.0, 1.0])
    # Exactly: the machine epsilon is all there is for a symbol that does not occur.
    assert naive.damping_w(data, 3) == [3 / 4 + 2**-52, 1 / 4 + 2**-52, 2**-52]


@pytest.mark.parametrize("metric", ["ruop", "rbpm"])
@pytest.mark.parametrize(
    ("model", "activation"), [(m, "tanh") for m in MODELS] + [("glnn", "logistic"), ("gnn", "linear")]
)
def test_metric_is_that_of_the_unfolded_network(model, activation, metric):
    net, params, data = naive.example(model, activation, lengths=(5, 3))
    M = naive.metric_blocks(net, params, data, metric)
    expected = naive.unfolded_metric_blocks(net, params, data, metric)
    reached = 0
    for j in range(UNITS):
        for b in range(len(M[j])):
            tolerance = 1e-7 * (1 + expected[j][b].max())
            np.testing.assert_allclose(M[j][b], expected[j][b], rtol=1e-6, atol=tolerance)
            reached += bool(M[j][b].any())
    assert reached >= UNITS


@pytest.mark.parametrize("model", MODELS)
def test_blocks_hold_every_parameter_once_and_other_symbols_do_not_meet(model):
    """Different units, and for gated networks different symbols, are orthogonal: nothing is left out of M̃."""
    net, params, data = naive.example(model)
    key = naive.transition_key(params)
    blocks = [block for j in range(UNITS) for block in naive.parameters_into(net, params, j)]
    assert sorted(place for block in blocks for place in block) == sorted(np.ndindex(*params[key].shape))
    if key == "tau":
        for gradient in naive.dummy_gradients(net, params, naive.each_sequence(data)[0]):
            assert sum(bool(row.any()) for row in gradient) <= 1


def test_explicit_equations_of_the_glnn():
    """`eq:explicitbpmod` and `eq:tildeM` as printed."""
    net, params, data = naive.example("glnn")
    tau = np.zeros((UNITS + 1, UNITS, SYMBOLS))
    for e, (i, j) in enumerate(naive.edges(net)):
        tau[i, j] = params["tau"][:, e]
    w, M = params["w"], naive.metric_blocks(net, params, data, "rbpm")
    expected = [[np.zeros(block.shape) for block in of_unit] for of_unit in M]
    for sequence in naive.each_sequence(data):
        _, a = naive.forward(net, params, sequence)
        T = len(sequence.x)
        m = np.zeros((T + 1, UNITS))
        for t in reversed(range(T)):
            pi, x, slope = naive.output(w, a[t]), sequence.x[t], 1 - a[t] ** 2
            for i in range(UNITS):
                mean = sum(pi[y] * w[1 + i, y] for y in range(SYMBOLS))
                mean_square = sum(pi[y] * w[1 + i, y] ** 2 for y in range(SYMBOLS))
                others = sum(tau[1 + i, j, x] ** 2 * m[t + 1, j] for j in range(UNITS) if j != i)
                m[t, i] = slope[1 + i] ** 2 * (sequence.chi[t] * (mean_square - mean**2) + others)
                m[t, i] += (1 + tau[1 + i, i, x] * slope[1 + i]) ** 2 * m[t + 1, i]
            for j in range(UNITS):
                into = naive.signals_into(net, j)
                for (p, i), (q, k) in itertools.product(enumerate(into), enumerate(into)):
                    expected[j][x][p, q] += sequence.weight * a[t, i] * a[t, k] * m[t + 1, j]
        np.testing.assert_allclose(naive.modulus_rbpm(net, params, sequence), m, rtol=1e-12)
    for j, y in np.ndindex(UNITS, SYMBOLS):
        np.testing.assert_allclose(M[j][y], expected[j][y], rtol=1e-12)


# --- the methods -----------------------------------------------------------------------------------------


def random_block(size, seed):
    generator = np.random.default_rng(seed)
    r = generator.normal(size=(20, size))
    return generator.normal(size=size), r.T @ r + np.eye(size)


def test_quasi_diagonal_equals_the_full_solve_with_one_input():
    G, M = random_block(2, 0)
    np.testing.assert_allclose(naive.quasi_diagonal(G, M), naive.full_solve(G, M), rtol=1e-12)
    G, M = random_block(4, 0)
    assert np.abs(naive.quasi_diagonal(G, M) - naive.full_solve(G, M)).max() > 1e-4
    # Inputs orthogonal once their mean is taken out are what the reduction assumes: then it is exact again.
    for p, q in itertools.permutations(range(1, 4), 2):
        M[p, q] = M[0, p] * M[0, q] / M[0, 0]
    np.testing.assert_allclose(naive.quasi_diagonal(G, M), naive.full_solve(G, M), rtol=1e-11)


def test_writing_quasi_diagonal_is_that_of_each_symbol():
    net, params, data = naive.example("glnn")
    W = naive.gradient_w(net, params, data)
    h_ii, h_0i = naive.hessian(net, params, data)
    qdh = naive.writing_direction(net, params, data, "qdh")["w"]
    dh = naive.writing_direction(net, params, data, "dh")["w"]
    for y in range(SYMBOLS):
        M = np.diag(h_ii[:, y])
        M[0, 1:] = M[1:, 0] = h_0i[1:, y]
        np.testing.assert_allclose(qdh[:, y], naive.quasi_diagonal(W[:, y], M), rtol=1e-12)
        np.testing.assert_allclose(dh[:, y], W[:, y] / np.diag(M), rtol=1e-12)
    np.testing.assert_array_equal(naive.writing_direction(net, params, data, "plain")["w"], W)


@pytest.mark.parametrize("model", MODELS)
def test_frequency_adjusted_divides_by_how_often_a_symbol_is_read(model):
    net, params, data = naive.example(model)
    key = naive.transition_key(params)
    plain = naive.transition_direction(net, params, data, "plain")
    adjusted = naive.transition_direction(net, params, data, "fb")
    read = np.concatenate([np.asarray(x) for x in data.sequences])
    share = [float(np.mean(read == y)) for y in range(SYMBOLS)]
    if model == "rnn":
        divisor = [share[index] if kind == "rho" else 1.0 for kind, index, _ in naive.rnn_parameters(net, SYMBOLS)]
    else:
        divisor = np.array(share)[:, None]
    np.testing.assert_allclose(adjusted[key] * divisor, plain[key], rtol=1e-12)
    np.testing.assert_array_equal(adjusted["V0"], plain["V0"])


@pytest.mark.parametrize("model", MODELS)
def test_root_mean_square_is_over_the_dummy_gradients(model):
    net, params, data = naive.example(model)
    key = naive.transition_key(params)
    G, squares, times = np.zeros(params[key].shape), np.zeros(params[key].shape), 0
    for sequence in naive.each_sequence(data):
        for g in naive.dummy_gradients(net, params, sequence):
            G += sequence.weight * g
            squares += sequence.weight * g**2
            times += 1
    direction = naive.transition_direction(net, params, data, "rms")[key]
    nonzero = squares > 1e-12
    assert nonzero.any()
    np.testing.assert_allclose(direction[nonzero], (G / np.sqrt(squares / times + (~nonzero)))[nonzero], rtol=1e-4)
    assert not direction[~nonzero].any()


@pytest.mark.parametrize("method", ["ruop", "rbpm", "qdruop", "qdrbpm"])
@pytest.mark.parametrize("model", MODELS)
def test_invariant_directions_solve_the_damped_metric(model, method):
    net, params, data = naive.example(model)
    damping = 0.3
    direction = naive.transition_direction(net, params, data, method, damping)
    key, metric = naive.transition_key(params), method.removeprefix("qd")
    G = naive.gradient_transition(net, params, data)
    M = naive.metric_blocks(net, params, data, metric)
    for j in range(UNITS):
        for b, block in enumerate(naive.parameters_into(net, params, j)):
            g, d = (np.array([values[place] for place in block]) for values in (G, direction[key]))
            M_damped = M[j][b] + damping * np.eye(len(block))
            if method.startswith("qd"):
                np.testing.assert_allclose(d, naive.quasi_diagonal(g, M_damped), rtol=1e-11, atol=1e-14)
            else:
                np.testing.assert_allclose(M_damped @ d, g, rtol=1e-10, atol=1e-12)
    m_0, B_0 = np.zeros(UNITS), np.zeros(UNITS)
    for sequence in naive.each_sequence(data):
        B = naive.backward(net, params, sequence)[0]
        B_0 += sequence.weight * B
        m_0 += sequence.weight * (B**2 if metric == "ruop" else naive.modulus_rbpm(net, params, sequence)[0])
    np.testing.assert_allclose(direction["V0"], B_0 / (m_0 + damping), rtol=1e-12)


@pytest.mark.parametrize("method", TRANSITION_METHODS)
@pytest.mark.parametrize("model", ["rnn", "gnn", "glnn"])
def test_a_symbol_that_never_occurs_takes_no_step(model, method):
    net, params, data = naive.example(model, unseen=1)
    direction = naive.transition_direction(net, params, data, method)
    if model == "rnn":
        places = naive.rnn_parameters(net, SYMBOLS + 1)
        unread = [p for p, (kind, index, _) in enumerate(places) if kind == "rho" and index == SYMBOLS]
        assert not direction["theta"][0, unread].any()
        assert direction["theta"].any()
    else:
        assert not direction["tau"][SYMBOLS].any()
        assert direction["tau"].any()


@pytest.mark.parametrize("model", MODELS)
def test_a_weight_of_two_is_the_sequence_twice(model):
    net, params, data = naive.example(model)
    weighted = data._replace(weights=[2.0, 1.0])
    order = [0, 0, 1]
    twice = naive.Data([data.sequences[k] for k in order], [data.masks[k] for k in order])
    for statistic in (
        naive.log_likelihood,
        naive.gradient_w,
        naive.gradient_transition,
        naive.gradient_start,
    ):
        np.testing.assert_allclose(statistic(net, params, weighted), statistic(net, params, twice), rtol=1e-12)
    for metric in ("ruop", "rbpm"):
        one, other = (naive.metric_blocks(net, params, each, metric) for each in (weighted, twice))
        for j in range(UNITS):
            for M, expected in zip(one[j], other[j], strict=True):
                np.testing.assert_allclose(M, expected, rtol=1e-12)
        m_one, m_other = (naive.modulus_start(net, params, each, metric) for each in (weighted, twice))
        np.testing.assert_allclose(m_one, m_other, rtol=1e-12)
