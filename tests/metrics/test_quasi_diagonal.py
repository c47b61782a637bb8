"""The quasi-diagonal reduction: exact with one input and the constant, and what it leaves out with more."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glnn.metrics import TRANSITION_METHODS, WRITING_METHODS, Scales, Statistics, hessian_damping
from glnn.metrics.inverses import full_solve, quasi_diagonal
from glnn.metrics.statistics import Layout
from glnn.training.corpus import prepare
from glnn.training.engine import Engine
from tests import naive
from tests.training.problems import Problem, problem

pytestmark = pytest.mark.small


def directions(case: Problem, *methods: str) -> list[np.ndarray]:
    corpus = prepare(case.data, 100)
    engine = Engine(case.model, corpus)
    current = engine.forward(case.params)
    steps = []
    for name in methods:
        method = TRANSITION_METHODS[name]
        sums = engine.derivatives(current, method).statistics
        steps.append(method.direction(sums, engine.layout, Scales(0.3, corpus.frequencies, corpus.length)).step)
    return steps


@given(st.sampled_from(["rbpm", "ruop"]), st.sampled_from(["gnn", "glnn"]), st.integers(1, 4), st.integers(0, 999))
def test_equals_the_full_solve_when_a_unit_has_its_loop_and_the_constant(
    metric: str, name: str, units: int, seed: int
) -> None:
    case = problem(name, units=units, degree=1, symbols=2, lengths=(9, 5), masked=True, seed=seed)
    full, reduced = directions(case, metric, f"qd{metric}")
    assert np.abs(full).max() > 0
    np.testing.assert_allclose(reduced, full, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("metric", ["rbpm", "ruop"])
@pytest.mark.parametrize("name", ["rnn", "gnn", "glnn"])
def test_differs_from_the_full_solve_with_more_inputs(name: str, metric: str) -> None:
    full, reduced = directions(problem(name, lengths=(20,)), metric, f"qd{metric}")
    assert np.abs(full - reduced).max() > 1e-3 * np.abs(full).max()


def test_writing_weights_of_one_unit_solve_their_hessian() -> None:
    """One unit and the constant: QDH is the inverse of the 2 × 2 damped Hessian of each symbol."""
    case = problem("glnn", units=1, degree=1, lengths=(25,))
    corpus = prepare(case.data, 100)
    engine = Engine(case.model, corpus)
    W, diagonal, cross = engine.writing_statistics(engine.forward(case.params))
    damping = hessian_damping(corpus.counts)
    found = WRITING_METHODS["qdh"](W, diagonal, cross, damping)
    for y in range(corpus.alphabet_size):
        h = np.diag(diagonal[:, y] + damping[y])
        h[0, 1] = h[1, 0] = cross[1, y]
        np.testing.assert_allclose(found[:, y], np.linalg.solve(h, W[:, y]), rtol=1e-10)
    np.testing.assert_allclose(WRITING_METHODS["dh"](W, diagonal, cross, damping), W / (diagonal + damping))
    plain = WRITING_METHODS["plain"](W, diagonal, cross, damping)
    np.testing.assert_array_equal(plain, W)
    assert not np.shares_memory(plain, W)


def test_damping_of_w_is_the_frequency_and_the_machine_epsilon() -> None:
    np.testing.assert_array_equal(hessian_damping(np.array([3.0, 1.0, 0.0])), np.array([0.75, 0.25, 0]) + 2.0**-52)


def random_blocks(sizes: list[int], seed: int) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
    generator = np.random.default_rng(seed)
    matrices = []
    for size in sizes:
        r = generator.standard_normal((size + 3, size))
        matrices.append(r.T @ r)
    return generator.standard_normal(sum(sizes)), matrices, np.concatenate([[0], np.cumsum(sizes)])


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.integers(0, 999))
def test_blocks_against_the_oracle(sizes: list[int], seed: int) -> None:
    G, matrices, ptr = random_blocks(sizes, seed)
    diagonal = np.concatenate([np.diag(M) for M in matrices])
    cross = np.concatenate([M[0] for M in matrices])
    found = quasi_diagonal(G, diagonal, cross, ptr)
    expected = [naive.quasi_diagonal(G[ptr[b] : ptr[b + 1]], M) for b, M in enumerate(matrices)]
    np.testing.assert_allclose(found, np.concatenate(expected), rtol=1e-9, atol=1e-12)


def test_exact_when_inputs_are_orthogonal_once_their_mean_is_taken_out() -> None:
    G, (M,), ptr = random_blocks([5], 0)
    for p in range(1, 5):
        for q in range(1, 5):
            if p != q:
                M[p, q] = M[0, p] * M[0, q] / M[0, 0]
    found = quasi_diagonal(G, np.diag(M).copy(), M[0].copy(), ptr)
    np.testing.assert_allclose(found, full_solve(G, M.ravel(), ptr, 0.0).step, rtol=1e-9)


def two_blocks(diagonal: list[float], cross: list[float], G: list[float]) -> tuple[Statistics, Layout]:
    layout = Layout(np.array([0, 2]), np.array([0, 1]), symbols=2, gated=True)
    return Statistics(np.array(G), np.array(diagonal), np.array(cross)), layout


def test_a_block_whose_step_is_not_finite_rests_alone() -> None:
    statistics, layout = two_blocks([1.0, 2.0, np.nan, 2.0], [1.0, 0.5, np.nan, 0.5], [1.0, 1.0, 1.0, 1.0])
    step = TRANSITION_METHODS["qdrbpm"].direction(statistics, layout, Scales(0.0, np.array([0.5, 0.5]), 10))
    assert step.resting == 1
    assert not step.step[2:].any()
    np.testing.assert_allclose(step.step[:2], np.linalg.solve([[1.0, 0.5], [0.5, 2.0]], [1.0, 1.0]), rtol=1e-12)


def test_a_symbol_never_seen_takes_no_step_even_undamped() -> None:
    statistics, layout = two_blocks([1.0, 2.0, 0.0, 0.0], [1.0, 0.5, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0])
    step = TRANSITION_METHODS["qdruop"].direction(statistics, layout, Scales(0.0, np.array([1.0, 0.0]), 10))
    assert step.resting == 0 and not step.step[2:].any() and step.step[:2].all()
