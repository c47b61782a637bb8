"""The LSTM: finite differences, the oracle of plain loops, M̃ by its definition, invariance, threads."""

from __future__ import annotations

import math
from functools import cache

import numba
import numpy as np
import pytest

from glnn.metrics import TRANSITION_METHODS, WRITING_METHODS, Scales
from glnn.models import LSTM, Evidence, Flow, Params
from glnn.network import Graph, random_graph
from glnn.sequences import encode
from glnn.training import proposals
from glnn.training.corpus import prepare
from glnn.training.engine import Engine
from glnn.training.settings import Settings
from glnn.training.trainer import Trainer
from tests import naive
from tests.training.problems import Problem, problem

pytestmark = pytest.mark.small

LENGTHS = (8, 1, 6)
ACTIVATIONS = ["tanh", "logistic"]


def small(seed: int = 0, **options: object) -> Problem:
    return problem("lstm", **{"units": 3, "degree": 2, "lengths": LENGTHS, "masked": True, "seed": seed, **options})


def oracle(params: Params) -> naive.Parameters:
    return {"w": params.w, "theta": params.theta[None], "V0": params.V0}


@pytest.fixture(params=[True, False], ids=["dense", "sparse"])
def dense(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr(LSTM, "dense", property(lambda self: request.param))
    return request.param


# --- the network -----------------------------------------------------------------------------------------


def sigma(v: float) -> float:
    return 1 / (1 + math.exp(-v))


def test_one_cell_by_hand() -> None:
    """Graves's eqs 7–11 written out for two steps of one cell with its loop."""
    model = LSTM(Graph.from_edges(1, np.array([0]), np.array([0])), 2)
    # In each unit: constant, loop, peephole (not in the cell input), symbol 0, symbol 1.
    i = [0.1, 0.2, 0.3, 0.4, 0.5]
    f = [-0.6, 0.7, -0.8, 0.9, 1.0]
    o = [1.1, -1.2, 1.3, -1.4, 1.5]
    z = [0.25, -0.35, 0.45, 0.55]
    c, h, x = 0.7, -0.2, [1, 0]
    trace, state = np.empty((2, model.trace_width)), np.array([c, h])
    weights = model.weights(np.array(i + f + o + z))
    model.forward(weights, np.array([c, h]), np.array(x, np.int32), np.array([True, False]), state, trace)
    for t in range(2):
        assert model.activities(trace)[t].tolist() == pytest.approx([h], abs=1e-14)
        into = sigma(i[0] + i[1] * h + i[2] * c + i[3 + x[t]])
        keep = sigma(f[0] + f[1] * h + f[2] * c + f[3 + x[t]])
        new = keep * c + into * math.tanh(z[0] + z[1] * h + z[2 + x[t]])
        assert model.incoming(trace)[t].tolist() == pytest.approx([h, c, new], abs=1e-14)
        h, c = sigma(o[0] + o[1] * h + o[2] * new + o[3 + x[t]]) * math.tanh(new), new
    assert state.tolist() == pytest.approx([c, h], abs=1e-14)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_signals_and_activities_are_those_of_the_oracle(activation: str, dense: bool) -> None:
    case = small(units=4, degree=3, activation=activation)
    model, params = case.model, oracle(case.params)
    N = model.units
    for sequence in naive.each_sequence(case.oracle_data):
        _, c, a = naive.lstm_forward(case.net, params, sequence)
        T = len(sequence.x)
        first, state = np.zeros(T, bool), model.begin(case.params.V0)
        trace = np.empty((T, model.trace_width))
        model.forward(
            model.weights(case.params.theta), case.params.V0, np.array(sequence.x, np.int32), first, state, trace
        )
        np.testing.assert_allclose(model.activities(trace), a[:-1, 1:], rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(
            model.incoming(trace), np.hstack([a[:-1, 1:], c[:-1], c[1:]]), rtol=1e-12, atol=1e-14
        )
        np.testing.assert_allclose(state, np.concatenate([c[-1], a[-1, 1:]]), rtol=1e-12, atol=1e-14)
        assert np.abs(state[:N]).min() > 1e-3


def test_parameters_are_the_places_of_the_oracle() -> None:
    """Constant first in every unit, edges in the graph's order, the peephole, then the symbols."""
    case = small(units=4, degree=3)
    model, places = case.model, naive.lstm_places(case.net, 3)
    theta = np.arange(len(places), dtype=float)
    constants, edges, peepholes, inputs = model.split(theta)
    np.testing.assert_array_equal(model.join(constants, edges, peepholes, inputs), theta)
    gates = "ifoz"
    for p, (kind, index, gate, j) in enumerate(places):
        g = gates.index(gate)
        if kind == "x":
            assert inputs[index, j, g] == p
        elif kind == "c":
            assert peepholes[j, g] == p
        elif index == 0:
            assert constants[j, g] == p
        else:
            edge = np.flatnonzero((model.graph.edge_targets == j) & (model.graph.sources == index - 1))
            assert edges[edge, g] == p


def test_initial_parameters() -> None:
    model = LSTM(random_graph(8, 3, 0), 4)
    predicted, counts = np.array([3.0, 1.0, 0.0, 4.0]), np.array([3.0, 2.0, 1.0, 4.0])
    params = model.initial(predicted, counts, np.random.default_rng(0))
    assert np.abs(params.theta).max() <= 0.1
    assert params.theta.max() > 0.09 and params.theta.min() < -0.09 and abs(params.theta.mean()) < 0.01
    assert not params.V0.any() and not params.w[1:].any()
    assert params.w[0] == pytest.approx(np.log([3 / 8, 1 / 8, 0.5 / 8, 4 / 8]))
    other = LSTM(model.graph, 4, "logistic")
    logistic = other.initial(predicted, counts, np.random.default_rng(0))
    assert logistic.V0.tolist() == [0.0] * 8 + [0.5] * 8


def test_an_activation_that_is_not_there() -> None:
    with pytest.raises(ValueError, match=r"activation is .linear.: .* tanh, logistic"):
        LSTM(random_graph(2, 1, 0), 2, "linear")


# --- derivatives and metric ------------------------------------------------------------------------------


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_gradients_are_finite_differences(activation: str, dense: bool) -> None:
    """Every parameter: writing weights, constants, edges, peepholes, symbol inputs, start cells, start hidden."""
    case = small(activation=activation)
    engine = Engine(case.model, prepare(case.data, 4))
    current = engine.forward(case.params)
    derivatives = engine.derivatives(current, TRANSITION_METHODS["plain"])
    found = {
        "w": engine.writing_statistics(current)[0],
        "theta": derivatives.statistics.gradient,
        "V0": derivatives.start_gradient,
    }
    for key, gradient in found.items():
        base = getattr(case.params, key)
        for place in np.ndindex(*base.shape):
            value = {}
            for amount in (1e-5, -1e-5):
                moved = base.copy()
                moved[place] += amount
                value[amount] = engine.forward(case.params.replace(**{key: moved})).log_likelihood
            slope = (value[1e-5] - value[-1e-5]) / 2e-5
            assert gradient[place] == pytest.approx(slope, rel=1e-6, abs=2e-9), (key, place)
        assert np.abs(gradient).max() > 1e-2


@cache
def unfolded(metric: str, activation: str) -> tuple[Problem, list[np.ndarray], list[np.ndarray]]:
    """A small case with its metric by the definition and by the formula of the oracle."""
    case = small(units=2, lengths=(4, 3), activation=activation)
    params = oracle(case.params)
    expected = naive.lstm_unfolded_metric(case.net, params, case.oracle_data, metric)
    by_formula, _ = naive.lstm_metric(case.net, params, case.oracle_data, metric)
    return case, expected, by_formula


@pytest.mark.parametrize("metric", ["ruop", "rbpm"])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_metric_is_that_of_the_unfolded_network(metric: str, activation: str, dense: bool) -> None:
    """Engine and oracle against finite differences on the list of units and arrows."""
    case, expected, by_formula = unfolded(metric, activation)
    engine = Engine(case.model, prepare(case.data, 4))
    derivatives = engine.derivatives(engine.forward(case.params), TRANSITION_METHODS[metric])
    matrices, base = derivatives.statistics.matrices, 0
    assert len(expected) == 8
    for M, of_oracle in zip(expected, by_formula, strict=True):
        assert M.max() > 1e-7
        # Relative to the block: peepholes see small cells, and finite differences lose digits there.
        tolerance = 1e-6 * M.max()
        np.testing.assert_allclose(of_oracle, M, rtol=1e-5, atol=tolerance)
        found = matrices[base : base + M.size].reshape(M.shape)
        np.testing.assert_allclose(found, of_oracle, rtol=1e-10, atol=1e-10 * M.max())
        base += M.size
    assert base == matrices.size


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_start_modulus_is_that_of_the_unfolded_network(activation: str) -> None:
    case = small(units=2, lengths=(4, 3), activation=activation)
    expected = sum(
        naive.lstm_unfolded_start_modulus(case.net, oracle(case.params), sequence)
        for sequence in naive.each_sequence(case.oracle_data)
    )
    engine = Engine(case.model, prepare(case.data, 4))
    derivatives = engine.derivatives(engine.forward(case.params), TRANSITION_METHODS["rbpm"])
    assert expected.min() > 0
    np.testing.assert_allclose(derivatives.start_modulus, expected, rtol=1e-5)


def test_the_modulus_adds_squares_where_the_derivative_adds() -> None:
    """c' reaches h' directly and through the output gate: B sums both ways, the modulus sums their squares."""
    model = LSTM(Graph.from_edges(1, np.array([0]), np.array([0])), 1)
    i, f, o, z = [0.1, 0.0, 0.0, 0.0], [0.2, 0.0, 0.0, 0.0], [0.3, 0.0, 2.0, 0.0], [0.4, 0.0, 0.0]
    weights = model.weights(np.array(i + f + o + z))
    x, first, trace = np.zeros(2, np.int32), np.array([True, False]), np.empty((2, 8))
    model.forward(weights, np.array([0.5, 0.0]), x, first, model.begin(np.array([0.5, 0.0])), trace)
    # Only h^1 matters, with weight 1.
    given = Evidence(x, first, np.array([1], np.int32), np.ones((1, 1)), np.ones((1, 1)))
    B, m, start = np.empty((2, 4)), np.empty((2, 4)), np.empty((1, 2))
    model.backward_with_modulus(
        weights, trace, given, Flow(np.zeros(2), B, start), Flow(np.zeros(2), m, np.empty((1, 2)))
    )
    new = sigma(0.2) * 0.5 + sigma(0.1) * math.tanh(0.4)
    gate = sigma(0.3 + 2.0 * new)
    through_gate = 2.0 * gate * (1 - gate) * math.tanh(new)
    direct = gate * (1 - math.tanh(new) ** 2)
    by_z = sigma(0.1) * (1 - math.tanh(0.4) ** 2)
    assert B[0, 3] == pytest.approx(by_z * (direct + through_gate), rel=1e-12)
    assert m[0, 3] == pytest.approx(by_z**2 * (direct**2 + through_gate**2), rel=1e-12)
    assert not B[1].any() and not m[1].any()


# --- training --------------------------------------------------------------------------------------------


def compare(case: Problem, metric: str, output_metric: str = "qdh", iterations: int = 3, **settings: object) -> None:
    expected, records = naive.lstm_train(
        case.net, oracle(case.params), case.oracle_data, iterations, output_metric, metric
    )
    trainer = Trainer(case.model, case.data, case.params, Settings(metric, output_metric, **settings))
    for record in records:
        info = trainer.step()
        assert info.writing_rejected == record.rejected_w
        assert info.transition_rejected == record.rejected_tau
        assert info.log_likelihood == pytest.approx(record.log_likelihood_tau, rel=1e-10)
        assert trainer.progress.writing_rate == pytest.approx(record.rate_w, rel=1e-12)
        assert trainer.progress.transition_rate == pytest.approx(record.rate_tau, rel=1e-12)
    found, before = oracle(trainer.progress.params), oracle(case.params)
    for key, value in expected.items():
        np.testing.assert_allclose(found[key], value, rtol=1e-7, atol=1e-9, err_msg=key)
        assert np.abs(found[key] - before[key]).max() > 1e-6, key


@pytest.mark.parametrize("metric", TRANSITION_METHODS)
@pytest.mark.parametrize("output_metric", WRITING_METHODS)
def test_whole_iterations(metric: str, output_metric: str) -> None:
    compare(small(), metric, output_metric)


@pytest.mark.parametrize("metric", TRANSITION_METHODS)
def test_whole_iterations_of_a_sparse_logistic_network(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LSTM, "dense", property(lambda self: False))
    compare(small(seed=1, activation="logistic"), metric)


@pytest.mark.parametrize("memory", [1 << 20, 0])
@pytest.mark.parametrize("metric", ["rbpm", "ruop", "fb"])
def test_stretches_do_not_matter(metric: str, memory: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cell and hidden state, their derivatives and moduli are carried over the ends of stretches."""
    monkeypatch.setattr("glnn.training.trainer.stretch_length", lambda units: 4)
    compare(small(seed=2, lengths=(9, 4, 5)), metric, memory=memory)


@pytest.mark.parametrize("metric", ["rbpm", "qdruop", "rms"])
def test_equal_sequence_weights(metric: str) -> None:
    lengths = (8, 3, 5)
    weights = tuple(sum(lengths) / (len(lengths) * length) for length in lengths)
    compare(small(seed=3, lengths=lengths, masked=False, weights=weights), metric, sequence_weights="equal")


def test_frequency_rescales_only_the_symbol_inputs() -> None:
    case = small()
    corpus = prepare(case.data, 100)
    engine = Engine(case.model, corpus)
    current = engine.forward(case.params)
    scales = Scales(1.0, corpus.frequencies, corpus.length)
    steps = {}
    for metric in ("plain", "fb"):
        method = TRANSITION_METHODS[metric]
        statistics = engine.derivatives(current, method).statistics
        steps[metric] = method.direction(statistics, engine.layout, scales).step
    for p, (kind, index, _, _) in enumerate(naive.lstm_places(case.net, 3)):
        divisor = corpus.frequencies[index] if kind == "x" else 1.0
        assert steps["fb"][p] * divisor == pytest.approx(steps["plain"][p], rel=1e-12)


# --- invariance and reproducibility ----------------------------------------------------------------------


def other_representation(case: Problem) -> tuple[LSTM, Params]:
    model = LSTM(case.model.graph, case.model.alphabet_size, "logistic")
    return model, model.from_tanh(case.params)


def test_the_other_representation_is_the_same_network() -> None:
    case = small()
    model, params = other_representation(case)
    corpus = prepare(case.data, 100)
    one, other = Engine(case.model, corpus), Engine(model, corpus)
    assert np.abs(params.theta - case.params.theta).max() > 0.1
    np.testing.assert_allclose(other.log_likelihoods(params), one.log_likelihoods(case.params), rtol=1e-12)
    traces = [engine.forward(p).traces[0] for engine, p in ((one, case.params), (other, params))]
    assert traces[0] is not None and traces[1] is not None
    np.testing.assert_allclose(model.activities(traces[1]), 0.5 * (1 + model.activities(traces[0])), atol=1e-14)


def trajectory(model: LSTM, params: Params, case: Problem, metric: str) -> np.ndarray:
    """The log-likelihood of every symbol after each of three steps without damping."""
    trainer = Trainer(model, case.data, params, Settings(metric, damping=0.0))
    rows = []
    for _ in range(3):
        trainer.step()
        rows.append(Engine(model, prepare(case.data, 1000)).log_likelihoods(trainer.progress.params))
    return np.array(rows)


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="a hundred trainings, which the compiled run does")
@pytest.mark.parametrize("metric", TRANSITION_METHODS)
def test_only_invariant_methods_do_not_see_the_representation(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """h or (1 + h)/2: the same trajectory without damping, though the parameters need not be the same: the symbols'
    redundant constant leaves a direction of the full metrics open, in which the network does not change. Undamped steps
    are large, and now and then one lands where rounding errors grow: so the median over several problems counts."""
    monkeypatch.setattr(proposals, "hessian_damping", lambda counts: np.zeros(counts.size))
    differences = []
    for seed in range(7):
        case = small(units=2, lengths=(60, 40), seed=seed, noise=0.8)
        one = trajectory(case.model, case.params, case, metric)
        other = trajectory(*other_representation(case), case, metric)
        assert np.abs(one[-1] - one[0]).max() > 1e-3
        differences.append(np.abs(other - one).max())
    median = np.median(differences)
    assert median < 1e-8 if TRANSITION_METHODS[metric].invariant else median > 1e-2


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="thousands of positions in plain Python")
@pytest.mark.parametrize("metric", ["rbpm", "qdruop"])
def test_same_bits_on_two_threads(metric: str) -> None:
    """Enough units and positions that every list of jobs has more than one."""
    generator = np.random.default_rng(6)
    data = encode([list(map(int, generator.integers(0, 3, n))) for n in (9000, 300)], alphabet=range(3))
    model = LSTM(random_graph(5, 2, 0), 3)
    counts = np.bincount(data.codes, minlength=3).astype(float)
    params = model.initial(counts, counts, generator)
    found = []
    for threads in (1, 2):
        trainer = Trainer(model, data, params, Settings(metric, threads=threads))
        for _ in range(2):
            trainer.step()
        found.append(trainer.progress)
    for key in ("w", "theta", "V0"):
        np.testing.assert_array_equal(getattr(found[0].params, key), getattr(found[1].params, key))
        assert np.abs(getattr(found[0].params, key) - getattr(params, key)).max() > 0
    assert found[0].history[-1].log_likelihood == found[1].history[-1].log_likelihood
