"""The engine's M̃ against its definition: the time-unfolded network with dummy parameters, differentiated numerically.

The unfolded network (`naive.unfolded_metric_blocks`) knows neither B nor m̃: it only runs the evolution equations.
"""

from __future__ import annotations

import numpy as np
import pytest

from glnn.metrics import TRANSITION_METHODS, Statistics
from glnn.training.corpus import SequenceWeights, prepare
from glnn.training.engine import Engine
from tests import naive
from tests.training.problems import Problem, problem

pytestmark = pytest.mark.small

NAMES = ["rnn", "gnn", "glnn"]


def statistics(case: Problem, method: str, weights: SequenceWeights = "length") -> tuple[Engine, Statistics]:
    engine = Engine(case.model, prepare(case.data, 4, weights))
    return engine, engine.derivatives(engine.forward(case.params), TRANSITION_METHODS[method]).statistics


def flat_places(case: Problem, block: list[tuple[int, int]]) -> list[int]:
    params = case.oracle_params()
    shape = params[naive.transition_key(params)].shape
    return [int(np.ravel_multi_index(place, shape)) for place in block]


def unfolded_matrix(case: Problem, metric: str) -> np.ndarray:
    """The whole metric as one dense matrix over the flat parameters."""
    params = case.oracle_params()
    blocks = naive.unfolded_metric_blocks(case.net, params, case.oracle_data, metric)
    M = np.zeros((case.params.theta.size,) * 2)
    for j in range(case.net.units):
        for places, block in zip(naive.parameters_into(case.net, params, j), blocks[j], strict=True):
            flat = flat_places(case, places)
            M[np.ix_(flat, flat)] = block
    return M


def packed_matrix(engine: Engine, packed: np.ndarray) -> np.ndarray:
    """The engine's packed blocks as one dense matrix over the flat parameters."""
    ptr, square_ptr = engine.layout.block_ptr, engine.layout.square_ptr
    M = np.zeros((ptr[-1],) * 2)
    for b in range(len(ptr) - 1):
        size = ptr[b + 1] - ptr[b]
        M[ptr[b] : ptr[b + 1], ptr[b] : ptr[b + 1]] = packed[square_ptr[b] : square_ptr[b + 1]].reshape(size, size)
    return M


def check(case: Problem, metric: str, weights: SequenceWeights = "length") -> None:
    expected = unfolded_matrix(case, metric)
    tolerance = {"rtol": 1e-6, "atol": 1e-7 * (1e-3 + expected.max())}
    engine, full = statistics(case, metric, weights)
    np.testing.assert_allclose(packed_matrix(engine, full.matrices), expected, **tolerance)
    # The quasi-diagonal reduction takes the diagonal and, in each of its blocks, the column of the constant.
    _, quasi = statistics(case, f"qd{metric}", weights)
    np.testing.assert_allclose(quasi.diagonal, np.diag(expected), **tolerance)
    params = case.oracle_params()
    seen = 0
    for j in range(case.net.units):
        for block in naive.parameters_into(case.net, params, j):
            flat = flat_places(case, block)
            np.testing.assert_allclose(quasi.cross[flat], expected[flat, flat[0]], **tolerance)
            seen += len(flat)
    assert seen == len(expected)
    assert np.count_nonzero(np.abs(expected - np.diag(np.diag(expected))) > 1e-4) > 10
    np.testing.assert_array_equal(quasi.gradient.shape, full.gradient.shape)
    np.testing.assert_allclose(quasi.gradient, full.gradient, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("metric", ["ruop", "rbpm"])
@pytest.mark.parametrize("name", NAMES)
def test_masked_sequences(name: str, metric: str) -> None:
    check(problem(name, units=3, degree=2, lengths=(6, 1, 4), masked=True, noise=0.6), metric)


@pytest.mark.parametrize("metric", ["ruop", "rbpm"])
@pytest.mark.parametrize(("name", "activation"), [("glnn", "logistic"), ("rnn", "logistic"), ("gnn", "linear")])
def test_other_activations(name: str, activation: str, metric: str) -> None:
    check(problem(name, units=3, degree=2, lengths=(7,), activation=activation, noise=0.5, seed=1), metric)


@pytest.mark.parametrize("metric", ["ruop", "rbpm"])
@pytest.mark.parametrize("name", ["rnn", "glnn"])
def test_weighted_sequences(name: str, metric: str) -> None:
    lengths = (6, 2, 3)
    weights = tuple(sum(lengths) / (3 * length) for length in lengths)
    check(problem(name, units=3, degree=2, lengths=lengths, weights=weights, noise=0.6, seed=2), metric, "equal")


@pytest.mark.parametrize("name", NAMES)
def test_sums_of_squares_over_time_are_the_diagonal_of_the_outer_product(name: str) -> None:
    case = problem(name, units=3, degree=2, lengths=(6, 4), masked=True)
    _, rms = statistics(case, "rms")
    _, quasi = statistics(case, "qdruop")
    assert rms.cross is None and rms.matrices is None
    np.testing.assert_allclose(rms.diagonal, quasi.diagonal, rtol=1e-12)
