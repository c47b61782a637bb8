"""Every metric written as a matrix: solved with the gradient, it gives the direction."""

from __future__ import annotations

import numpy as np
import pytest

from glnn.metrics import TRANSITION_METHODS, WRITING_METHODS, Scales, coherent, hessian_damping
from glnn.metrics.dense import quasi_diagonal_blocks
from glnn.training.corpus import prepare
from glnn.training.engine import Engine
from glnn.training.proposals import DataPasses
from tests.training.problems import problem

pytestmark = pytest.mark.small


@pytest.mark.parametrize("metric", [*TRANSITION_METHODS, "coherent"])
@pytest.mark.parametrize("name", ["glnn", "rnn", "lstm"])
def test_a_direction_solves_its_dense_system(name: str, metric: str) -> None:
    case = problem(name, units=3, degree=2, lengths=(40, 9))
    engine = Engine(case.model, prepare(case.data, 20))
    method = coherent(TRANSITION_METHODS["rbpm"], 1) if metric == "coherent" else TRANSITION_METHODS[metric]
    statistics = engine.derivatives(engine.forward(case.params), method).statistics
    passes = DataPasses(engine, case.params)
    scales = Scales(0.3, engine.corpus.frequencies, engine.corpus.length, passes)
    found = method.direction(statistics, engine.layout, scales)
    matrix = method.direction.dense(statistics, engine.layout, scales)
    gradient = np.concatenate([statistics.gradient, statistics.start_gradient])
    np.testing.assert_allclose(matrix @ np.concatenate([found.step, found.start]), gradient, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(matrix, matrix.T, rtol=1e-12, atol=1e-12)
    assert np.linalg.eigvalsh(matrix).min() > 0.0


@pytest.mark.parametrize("metric", WRITING_METHODS)
def test_a_direction_of_the_writing_weights_solves_its_dense_system(metric: str) -> None:
    case = problem("glnn", units=4, lengths=(50,))
    engine = Engine(case.model, prepare(case.data, 20))
    W, diagonal, cross = engine.writing_statistics(engine.forward(case.params))
    damping = hessian_damping(engine.corpus.counts)
    step = WRITING_METHODS[metric](W, diagonal, cross, damping)
    matrices = WRITING_METHODS[metric].dense(diagonal, cross, damping)
    np.testing.assert_allclose(np.einsum("yik,ky->iy", matrices, step), W, rtol=1e-9, atol=1e-10)


def test_the_quasi_diagonal_matrix_is_the_metric_where_signals_are_orthogonal() -> None:
    """Signals of which only one is there at a time, beside the constant: M_kl is then 0, and M is its own reduction."""
    generator = np.random.default_rng(0)
    means = generator.standard_normal(3)
    samples = np.concatenate([np.diag([1.0, 2.0, 3.0]), -np.diag([1.0, 2.0, 3.0])])
    r = np.concatenate([np.ones((6, 1)), samples + means], axis=1)
    M = r.T @ r
    (block,) = quasi_diagonal_blocks(np.diag(M), M[0], np.array([0, 4]))
    np.testing.assert_allclose(block, M)


@pytest.mark.parametrize("metric", ["rbpm", "qdruop", "rms"])
def test_a_running_metric_is_one_line(metric: str) -> None:
    case = problem("glnn", units=3, degree=2, lengths=(40, 20))
    method, g = TRANSITION_METHODS[metric], 0.25
    engine = Engine(case.model, prepare(case.data, 100))
    old, new = (
        engine.on(prepare(case.data.select([k]), 100)).sweep(case.params, method) for k in range(len(case.data))
    )
    transition = (1 - g) * old.transition + g * new.transition
    for name, value in vars(transition).items():
        if value is not None:
            expected = 0.75 * getattr(old.transition, name) + 0.25 * getattr(new.transition, name)
            np.testing.assert_allclose(value, expected, rtol=1e-15)
    writing = (1 - g) * old.writing + g * new.writing
    np.testing.assert_allclose(writing.cross, 0.75 * old.writing.cross + 0.25 * new.writing.cross)
    # Two halves together are the whole, which the sums of both sequences at once show.
    whole = engine.sweep(case.params, method)
    np.testing.assert_allclose((old.transition + new.transition).gradient, whole.transition.gradient, rtol=1e-9)
    np.testing.assert_allclose(
        2.0 * (0.5 * old.writing + 0.5 * new.writing).gradient, whole.writing.gradient, rtol=1e-9
    )
