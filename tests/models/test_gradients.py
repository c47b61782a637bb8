"""The engine's gradients of w, of every transition parameter and of the start values against finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from glnn.metrics import TRANSITION_METHODS
from glnn.models import Params
from glnn.training.corpus import SequenceWeights, prepare
from glnn.training.engine import Engine
from tests.training.problems import Problem, problem

pytestmark = pytest.mark.small

STEP = 1e-5
NAMES = ["rnn", "gnn", "glnn"]


def finite_differences(engine: Engine, params: Params, name: str) -> np.ndarray:
    start = getattr(params, name)
    out = np.empty(start.shape)
    for place in np.ndindex(*start.shape):
        values = []
        for step in (STEP, -STEP):
            moved = start.copy()
            moved[place] += step
            values.append(engine.forward(params.replace(**{name: moved})).log_likelihood)
        out[place] = (values[0] - values[1]) / (2 * STEP)
    return out


def check_gradients(case: Problem, weights: SequenceWeights = "length", stretch: int = 100) -> None:
    engine = Engine(case.model, prepare(case.data, stretch, weights))
    current = engine.forward(case.params)
    derivatives = engine.derivatives(current, TRANSITION_METHODS["plain"])
    found = {
        "w": engine.writing_statistics(current).gradient,
        "theta": derivatives.statistics.gradient,
        "V0": derivatives.start_gradient,
    }
    for name, gradient in found.items():
        expected = finite_differences(engine, case.params, name)
        assert np.abs(expected).max() > 1e-3
        tolerance = 1e-7 * (0.01 + np.abs(expected).max())
        np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=tolerance, err_msg=name)
    # The gradient is the same whatever else a method asks for beside it.
    for method in TRANSITION_METHODS.values():
        other = engine.derivatives(current, method)
        np.testing.assert_allclose(other.statistics.gradient, found["theta"], rtol=1e-10, atol=1e-13)
        np.testing.assert_allclose(other.start_gradient, found["V0"], rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("activation", ["tanh", "logistic", "linear"])
@pytest.mark.parametrize("name", NAMES)
def test_every_model_and_activation(name: str, activation: str) -> None:
    # A linear network grows from step to step: smaller weights keep its activities of the size of the others'.
    noise = 0.1 if activation == "linear" else 0.3
    check_gradients(problem(name, units=4, lengths=(9, 1, 6), masked=True, activation=activation, noise=noise))


@pytest.mark.parametrize("name", NAMES)
def test_all_predicted_in_one_sequence(name: str) -> None:
    check_gradients(problem(name, units=3, degree=3, symbols=2, seed=1))


@pytest.mark.parametrize("name", NAMES)
def test_equal_weights_of_sequences(name: str) -> None:
    check_gradients(problem(name, units=3, lengths=(8, 3, 5), masked=True, seed=2), "equal")


@pytest.mark.parametrize("name", NAMES)
def test_cut_into_stretches(name: str) -> None:
    check_gradients(problem(name, units=3, lengths=(8, 3, 5), masked=True, seed=3), stretch=3)


@pytest.mark.parametrize("name", ["rnn", "gnn", "glnn"])
def test_sparse_recurrences(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = problem(name, units=7, degree=2, lengths=(9, 4), masked=True, seed=4)
    monkeypatch.setattr(type(case.model), "dense", property(lambda self: False))
    check_gradients(case)


@pytest.mark.parametrize("name", NAMES)
def test_one_predicted_position_far_from_the_start(name: str) -> None:
    case = problem(name, units=3, lengths=(12,), noise=1.0, seed=5)
    mask = np.zeros(12, bool)
    mask[4] = True
    check_gradients(case._replace(data=case.data.with_mask(mask)))


@pytest.mark.parametrize("name", ["rnn", "gnn", "glnn"])
def test_a_large_sparse_network_is_the_same_as_matrices(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Above 64 units with few edges the compressed rows are chosen; both forms compute the same."""
    case = problem(name, units=70, degree=3, lengths=(40, 9), masked=True, noise=0.2, seed=6)
    assert not case.model.dense and problem(name).model.dense
    results = []
    for dense in (False, True):
        monkeypatch.setattr(type(case.model), "dense", property(lambda self, dense=dense: dense))
        engine = Engine(case.model, prepare(case.data, 100))
        current = engine.forward(case.params)
        found = engine.derivatives(current, TRANSITION_METHODS["rbpm"])
        results.append((np.array([current.log_likelihood]), found.statistics.gradient, found.statistics.matrices,
                        found.start_gradient, found.start_modulus, current.state))  # fmt: skip
    for sparse, matrices in zip(*results, strict=True):
        assert np.abs(sparse).max() > 0
        np.testing.assert_allclose(sparse, matrices, rtol=1e-9, atol=1e-12)
