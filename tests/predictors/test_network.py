"""Steps with the same bits on every machine: against plain loops and against the passes over blocks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from glnn.models import LSTM, MODELS, Model, Params
from glnn.models.stepping import ForwardStepper, Stepper
from glnn.network import random_graph
from glnn.numeric import portable
from glnn.predictors.network import NetworkPredictor
from glnn.sequences import encode


def network(name: str, activation: str = "tanh", units: int = 7, symbols: int = 5) -> tuple[Model, Params]:
    generator = np.random.default_rng(3)
    model = MODELS[name](random_graph(units, 3, generator), symbols, activation=activation)
    params = model.initial(np.ones(symbols), np.ones(symbols), generator)
    return model, Params(*(part + 0.4 * generator.standard_normal(part.shape) for part in vars(params).values()))


def stepper(name: str, activation: str = "tanh", units: int = 7) -> Stepper:
    model, params = network(name, activation, units)
    return model.stepper(params)


CODES = np.random.default_rng(0).integers(0, 5, 40)


@pytest.mark.small
@pytest.mark.parametrize("activation", ["tanh", "logistic"])
@pytest.mark.parametrize("name", MODELS)
def test_a_run_is_its_steps_to_the_bit(name: str, activation: str) -> None:
    steps = stepper(name, activation)
    assert steps.portable
    state, rows = steps.begin(), []
    for code in CODES:
        rows.append(steps.probabilities(state))
        steps.advance(state, int(code))
    behind = steps.begin()
    np.testing.assert_array_equal(steps.run(behind, CODES), np.array(rows))
    np.testing.assert_array_equal(behind, state)


@pytest.mark.parametrize("activation", ["tanh", "logistic"])
@pytest.mark.parametrize("name", MODELS)
def test_steps_agree_with_the_passes_over_blocks(name: str, activation: str) -> None:
    model, params = network(name, activation)
    data = encode([CODES[:17], CODES[17:]], alphabet=range(5))
    predictor = NetworkPredictor(model, params, data.alphabet)
    stepped = np.concatenate([predictor.begin().run(codes) for codes in data])
    np.testing.assert_allclose(np.concatenate(list(predictor.distributions(data, block=5))), stepped, rtol=1e-11)
    chosen = np.log(stepped[np.arange(40), data.codes])
    np.testing.assert_allclose(predictor.log_likelihoods(data), chosen, rtol=1e-10)


@pytest.mark.small
@pytest.mark.parametrize("name", ["rnn", "gnn", "glnn"])
def test_the_order_of_the_sums_is_the_one_promised(name: str) -> None:
    model, params = network(name)
    tau, bias = model.split(params.theta)
    V = params.V0.tolist()
    for code, row in zip(CODES, model.stepper(params).run(params.V0.copy(), CODES), strict=True):
        a = [portable.tanh(v) for v in V]
        logits = params.w[0].tolist()
        for i in range(model.units):
            logits = [logits[y] + a[i] * params.w[i + 1, y] for y in range(5)]
        exponentials = [portable.exp(value - max(logits)) for value in logits]
        total = 0.0
        for value in exponentials:
            total += value
        assert [value / total for value in exponentials] == row.tolist()
        edges = tau[model.group[code]]
        following = []
        for j in range(model.units):
            value = model.leak * V[j] + bias[code, j]
            for e in range(model.graph.in_ptr[j], model.graph.in_ptr[j + 1]):
                value += edges[e] * a[model.graph.sources[e]]
            following.append(float(value))
        V = following


@pytest.mark.parametrize("name", MODELS)
def test_a_model_without_steps_of_its_own_takes_its_forward_pass(name: str) -> None:
    model, params = network(name)
    general, own = ForwardStepper(model, params), model.stepper(params)
    assert not general.portable
    np.testing.assert_allclose(general.run(general.begin(), CODES), own.run(own.begin(), CODES), rtol=1e-11)


@pytest.mark.small
def test_elementary_functions() -> None:
    for x in np.concatenate([np.linspace(-30, 30, 401), [-700.0, 700.0]]):
        assert portable.exp(x) == pytest.approx(math.exp(x), rel=1e-15)
        assert portable.tanh(x) == pytest.approx(math.tanh(x), rel=1e-13, abs=1e-15)
        assert portable.logistic(x) == pytest.approx(1 / (1 + math.exp(-x)), rel=1e-14)
    assert math.isnan(portable.exp(math.nan)) and portable.exp(-1e9) < 1e-300


def test_start_states_are_not_shared() -> None:
    predictor = NetworkPredictor(*network("lstm"), encode("abcde").alphabet)
    state = predictor.begin()
    before = state.probabilities()
    copy = state.copy()
    copy.advance(2)
    np.testing.assert_array_equal(state.probabilities(), before)
    assert not np.array_equal(copy.probabilities(), before)
    np.testing.assert_array_equal(predictor.begin().probabilities(), before)
    assert isinstance(predictor.model, LSTM)
