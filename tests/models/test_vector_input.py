"""Gated networks that read vectors: against the oracle, against symbols, and through everything data goes through."""

from __future__ import annotations

import numpy as np
import pytest

from glnn.metrics import TRANSITION_METHODS
from glnn.models import Params
from glnn.sequences import encode
from glnn.training import trainer as trainer_module
from glnn.training.corpus import prepare
from glnn.training.engine import Engine
from glnn.training.settings import Settings
from glnn.training.trainer import Trainer
from glnn.training.validation import Validation, hold_out
from glnn.training.vector_data import WithInputs, with_inputs
from tests.training.problems import VECTOR_MODELS, Problem, compare_training, problem

pytestmark = pytest.mark.small


@pytest.mark.parametrize("metric", TRANSITION_METHODS)
@pytest.mark.parametrize("name", VECTOR_MODELS)
def test_against_the_oracle(name: str, metric: str) -> None:
    compare_training(problem(name, units=4, lengths=(9, 1, 7), masked=True), metric, "qdh", iterations=3)


@pytest.mark.parametrize("metric", ["rbpm", "qdruop"])
def test_blocks_of_time_stretches_and_memory_do_not_matter(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = problem("vector glnn", units=4, lengths=(9, 4, 7), masked=True, seed=1)
    case.model.group = np.arange(3)  # three times to a block
    compare_training(case, metric, "qdh", iterations=2)
    monkeypatch.setattr(trainer_module, "stretch_length", lambda units: 5)
    compare_training(case, metric, "qdh", iterations=2, memory=0)


def one_hot_copy(case: Problem) -> tuple[object, Params, WithInputs]:
    """The network that reads one-hot vectors as that of `case` reads symbols."""
    symbols, name = case.model.alphabet_size, f"vector {case.model.name}"
    model = VECTOR_MODELS[name](case.model.graph, symbols, symbols, activation=case.model.activation)
    params = case.params.replace(theta=model.join(*case.model.split(case.params.theta)))
    return model, params, with_inputs(case.data, np.eye(symbols)[case.data.codes])


@pytest.mark.parametrize("metric", TRANSITION_METHODS)
@pytest.mark.parametrize("name", ["gnn", "glnn"])
def test_one_hot_vectors_reproduce_the_symbolic_run(name: str, metric: str) -> None:
    case = problem(name, units=6, symbols=4, lengths=(60, 1, 40), masked=True, seed=2)
    model, params, data = one_hot_copy(case)
    symbolic = Trainer(case.model, case.data, case.params, Settings(metric))
    vector = Trainer(model, data, params, Settings(metric))
    for _ in range(8):
        expected, found = symbolic.step(), vector.step()
        assert found.log_likelihood == pytest.approx(expected.log_likelihood, rel=1e-11)
        assert found.transition_rate == pytest.approx(expected.transition_rate, rel=1e-12)
    trained, last = symbolic.progress.params, vector.progress.params
    assert np.abs(trained.theta - case.params.theta).max() > 1e-2
    np.testing.assert_allclose(last.theta, model.join(*case.model.split(trained.theta)), atol=1e-10)
    np.testing.assert_allclose(last.w, trained.w, atol=1e-10)
    np.testing.assert_allclose(last.V0, trained.V0, atol=1e-10)


@pytest.mark.parametrize("activation", ["tanh", "logistic"])
@pytest.mark.parametrize("name", ["gnn", "glnn"])
def test_initial_parameters_for_one_hot_vectors_are_those_for_symbols(name: str, activation: str) -> None:
    case = problem(name, symbols=4, lengths=(50,), activation=activation)
    model, _, data = one_hot_copy(case)
    corpus = prepare(case.data, 100)
    expected = case.model.initial(corpus.predicted_counts, corpus.counts, np.random.default_rng(5))
    found = model.initial(corpus.predicted_counts, data.inputs, np.random.default_rng(5))
    np.testing.assert_allclose(found.theta, model.join(*case.model.split(expected.theta)), atol=1e-13)
    np.testing.assert_array_equal(found.w, expected.w)
    np.testing.assert_allclose(found.V0, expected.V0, atol=1e-15)


def test_the_initial_feedback_acts_evenly_when_a_component_is_constant() -> None:
    generator = np.random.default_rng(0)
    signal = generator.standard_normal((200, 2))
    inputs = np.concatenate([np.ones((200, 1)), signal], axis=1)
    model = VECTOR_MODELS["vector glnn"](problem("glnn").model.graph, 3, 3)
    tau, bias = model.split(model.initial(np.ones(3), inputs, generator).theta)
    feedback = inputs @ tau[:, model.loops]
    np.testing.assert_allclose(feedback, -0.5, atol=1e-12)
    # The reactions to the signal have mean zero over the data: what is left is β_j.
    beta = -np.sqrt(0.5 * (0.5 - model.time_scales))
    np.testing.assert_allclose((inputs @ bias).mean(axis=0), beta, atol=1e-12)
    assert np.ptp(inputs @ bias, axis=0).min() > 1e-2


def test_threads_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer_module, "stretch_length", lambda units: 50)
    case = problem("vector glnn", units=20, lengths=(120,))
    results = []
    for threads in (1, 2):
        trainer = Trainer(case.model, case.data, case.params, Settings("rbpm", threads=threads))
        results.append([trainer.step().log_likelihood for _ in range(3)])
    assert results[0] == results[1]


def test_batches_take_the_inputs_of_their_sequences() -> None:
    case = problem("vector glnn", lengths=(6, 3, 8))
    chosen = case.data.select([2, 0])
    assert isinstance(chosen, WithInputs)
    np.testing.assert_array_equal(chosen.inputs, np.concatenate([case.data.inputs[9:], case.data.inputs[:6]]))
    trainer = Trainer(case.model, case.data, case.params, Settings("rbpm", batch_size=2))
    assert np.isfinite([trainer.step().log_likelihood for _ in range(3)]).all()


def test_a_held_out_tail_keeps_its_inputs_and_continues() -> None:
    case = problem("vector glnn", lengths=(40,))
    train, tail, continues = hold_out(case.data)
    assert continues
    np.testing.assert_array_equal(np.concatenate([train.inputs, tail.inputs]), case.data.inputs)
    whole = Engine(case.model, prepare(case.data, 100)).log_likelihoods(case.params)
    state = Engine(case.model, prepare(train, 100)).forward(case.params).state
    validation = Validation(case.model, tail, continues)
    np.testing.assert_array_equal(validation._engine.log_likelihoods(case.params, state), whole[36:])


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (np.zeros((3, 2)), r"shape \(3, 2\): one row .* for each of the 4 targets"),
        (np.zeros(4), r"shape \(4,\)"),
        (np.zeros((4, 0)), r"shape \(4, 0\)"),
        (np.array([[0.0], [1.0], [np.nan], [0.0]]), "component 0 of the input at time 2 is not finite"),
    ],
)
def test_inputs_that_do_not_fit(inputs: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        with_inputs(encode("abab"), inputs)


def test_a_vector_has_components() -> None:
    with pytest.raises(ValueError, match="components is 0"):
        VECTOR_MODELS["vector gnn"](problem("gnn").model.graph, 3, 0)


def test_models_and_data_that_do_not_fit_each_other() -> None:
    symbolic, vector = problem("glnn"), problem("vector glnn")
    with pytest.raises(ValueError, match="the data are vectors and the model glnn reads symbols: use a vector model"):
        Trainer(symbolic.model, vector.data, symbolic.params)
    for inputs in (symbolic.data, with_inputs(symbolic.data, np.ones((17, 3)))):
        with pytest.raises(ValueError, match="reads vectors of 2 components"):
            Trainer(vector.model, inputs, vector.params).step()
