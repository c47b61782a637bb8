"""The full solve: each way out of a bad block is forced, and the record says which was taken."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glnn.metrics import TRANSITION_METHODS, Statistics, TransitionStep
from glnn.metrics.inverses import MORE_DAMPING, MOST_RETRIES, full_solve, quasi_diagonal
from glnn.training.records import StepInfo
from glnn.training.settings import Settings
from glnn.training.trainer import Trainer
from tests import naive
from tests.training.problems import Problem, problem

# Without compilation, numpy warns of what is planted here.
pytestmark = [pytest.mark.small, pytest.mark.filterwarnings("ignore::RuntimeWarning")]

GOOD = np.array([[2.0, 0.5], [0.5, 1.0]])
G2 = np.array([1.0, -2.0])


def solve(*blocks: tuple[np.ndarray, np.ndarray], damping: float) -> object:
    ptr = np.concatenate([[0], np.cumsum([len(G) for G, _ in blocks])])
    gradient = np.concatenate([G for G, _ in blocks])
    return full_solve(gradient, np.concatenate([M.ravel() for _, M in blocks]), ptr, damping)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=4), st.integers(0, 999), st.sampled_from([0.0, 1e-3, 1.0]))
def test_solves_blocks_of_any_size(sizes: list[int], seed: int, damping: float) -> None:
    generator = np.random.default_rng(seed)
    blocks = []
    for size in sizes:
        r = generator.standard_normal((size + 4, size))
        blocks.append((generator.standard_normal(size), r.T @ r))
    found = solve(*blocks, damping=damping)
    expected = [np.linalg.solve(M + damping * np.eye(len(G)), G) for G, M in blocks]
    np.testing.assert_allclose(found.step, np.concatenate(expected), rtol=1e-8, atol=1e-10)
    assert (found.retries, found.quasi_diagonal, found.resting) == (0, 0, 0)
    assert found.conditioning >= 1.0


def test_conditioning_is_the_worst_ratio_of_pivots() -> None:
    found = solve((G2, np.diag([4.0, 1.0])), (G2, np.diag([2.0, 500.0])), damping=0.0)
    assert found.conditioning == pytest.approx(250.0)


@pytest.mark.parametrize("needed", range(1, MOST_RETRIES + 1))
def test_damped_more_until_it_is_positive_definite(needed: int) -> None:
    """Eigenvalues 2 + δ and −δ: damping ε 10^n is enough from n = needed on."""
    damping = 1e-6
    deficit = 0.3 * damping * MORE_DAMPING**needed
    M = np.array([[1.0, 1.0 + deficit], [1.0 + deficit, 1.0]])
    found = solve((G2, M), (G2, GOOD), damping=damping)
    assert (found.retries, found.quasi_diagonal, found.resting) == (needed, 0, 0)
    expected = np.linalg.solve(M + damping * MORE_DAMPING**needed * np.eye(2), G2)
    np.testing.assert_allclose(found.step[:2], expected, rtol=1e-8)
    # The other block keeps the damping that was asked for.
    np.testing.assert_allclose(found.step[2:], np.linalg.solve(GOOD + damping * np.eye(2), G2), rtol=1e-12)


def test_damped_more_until_the_step_is_finite() -> None:
    found = solve((np.array([1e300, 0.0]), np.zeros((2, 2))), damping=1e-10)
    assert (found.retries, found.quasi_diagonal, found.resting) == (2, 0, 0)
    np.testing.assert_allclose(found.step, [1e308, 0.0], rtol=1e-12)


def test_without_damping_more_of_it_begins_at_the_rounding_error() -> None:
    """Rank 1: the second pivot is 0; 1e-16 of M_00 is lost to rounding, 1e-15 is not."""
    r = np.array([1.0, 1.0])
    found = solve((r, np.outer(r, r)), damping=0.0)
    assert found.quasi_diagonal == found.resting == 0
    assert 1 <= found.retries <= 3
    assert found.step.sum() == pytest.approx(1.0, rel=1e-6)


def test_takes_its_quasi_diagonal_form_when_no_damping_helps() -> None:
    M = np.array([[1.0, 0.1, 0.2], [0.1, 1.0, 1e9], [0.2, 1e9, 1.0]])
    G = np.array([1.0, 2.0, 3.0])
    found = solve((G, M), damping=0.5)
    assert (found.retries, found.quasi_diagonal, found.resting) == (MOST_RETRIES, 1, 0)
    np.testing.assert_allclose(found.step, naive.quasi_diagonal(G, M + 0.5 * np.eye(3)), rtol=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_rests_when_nothing_is_finite(bad: float) -> None:
    found = solve((G2, np.full((2, 2), bad)), (G2, GOOD), damping=1.0)
    assert (found.retries, found.quasi_diagonal, found.resting) == (MOST_RETRIES, 1, 1)
    assert not found.step[:2].any()
    np.testing.assert_allclose(found.step[2:], np.linalg.solve(GOOD + np.eye(2), G2), rtol=1e-12)


def test_rests_when_the_gradient_is_not_finite() -> None:
    found = solve((np.array([np.nan, 1.0]), GOOD), damping=1.0)
    assert (found.retries, found.quasi_diagonal, found.resting) == (MOST_RETRIES, 1, 1)
    assert not found.step.any()


def test_a_block_without_gradient_is_left_alone() -> None:
    found = solve((np.zeros(2), np.full((2, 2), np.nan)), damping=1.0)
    assert (found.retries, found.quasi_diagonal, found.resting, found.conditioning) == (0, 0, 0, 1.0)
    assert not found.step.any()


def step_with(case: Problem, change: object) -> tuple[StepInfo, Trainer]:
    """One training step in which `change` is applied to the packed matrices before they are solved."""
    trainer = Trainer(case.model, case.data, case.params, Settings("rbpm"))
    method = TRANSITION_METHODS["rbpm"]

    def direction(statistics: Statistics, layout: object, scales: object) -> TransitionStep:
        matrices = statistics.matrices.copy()
        change(matrices, layout)
        return method.direction(replace(statistics, matrices=matrices), layout, scales)

    trainer.proposer = replace(trainer.proposer, method=replace(method, direction=direction))
    return trainer.step(), trainer


def block_of(matrices: np.ndarray, layout: object, which: int) -> np.ndarray:
    begin, end = layout.square_ptr[which], layout.square_ptr[which + 1]
    size = int(layout.block_sizes[which])
    return matrices[begin:end].reshape(size, size)


def test_the_record_of_a_step_says_what_happened() -> None:
    """No run dies of a bad block: the step is taken, and its record tells."""
    case = problem("glnn", lengths=(40,))
    block, size = 4, 3

    def nothing(matrices: np.ndarray, layout: object) -> None:
        assert layout.block_sizes[block] >= size

    def indefinite(matrices: np.ndarray, layout: object) -> None:
        M = block_of(matrices, layout, block)
        M[:] = np.eye(len(M))
        M[1, 2] = M[2, 1] = 50.0

    def hopeless(matrices: np.ndarray, layout: object) -> None:
        M = block_of(matrices, layout, block)
        M[1, 2] = M[2, 1] = 1e12

    def undefined(matrices: np.ndarray, layout: object) -> None:
        block_of(matrices, layout, block)[:] = np.nan

    for change, record in [
        (nothing, (0, 0, 0)),
        (indefinite, (2, 0, 0)),
        (hopeless, (MOST_RETRIES, 1, 0)),
        (undefined, (MOST_RETRIES, 1, 1)),
    ]:
        info, trainer = step_with(case, change)
        assert (info.retries, info.quasi_diagonal, info.resting) == record
        assert info.transition_rate > 0 and np.isfinite(info.conditioning) and info.conditioning >= 1.0
        theta, ptr = trainer.progress.params.theta, trainer._engine.layout.block_ptr
        moved = theta[ptr[block] : ptr[block + 1]] - case.params.theta[ptr[block] : ptr[block + 1]]
        assert bool(moved.any()) == (change is not undefined)


@pytest.mark.parametrize("scale", [1e20, 1e70, 1e200])
def test_a_metric_beside_which_damping_is_not_seen(scale: float) -> None:
    """Three signals of which one is the sum of the others, weighed by moduli that grew over thousands of time steps.

    Their M is singular but for rounding. A solution is found all the same, along G, of the size that M has where it
    is not singular; it is the limit of damping by a vanishing share of the diagonal.
    """
    r = np.random.default_rng(0).standard_normal((50, 3))
    r[:, 2] = r[:, 0] + r[:, 1]
    M, G = scale * r.T @ r, r.T @ np.ones(50)
    found = solve((G, M), damping=1.0)
    assert (found.quasi_diagonal, found.resting) == (0, 0)
    assert found.conditioning < 1e15
    expected = np.linalg.lstsq(M / scale, G, rcond=1e-10)[0] / scale
    np.testing.assert_allclose(M @ found.step, M @ expected, rtol=1e-3, atol=1e-5 * np.abs(G).max())
    assert 0.0 < G @ found.step < 10.0 * float(G @ expected)


@pytest.mark.parametrize("signs", [1.0, -1.0])
def test_a_signal_that_never_changes(signs: float) -> None:
    """Its variance beside a metric of 1e60 is a rounding error, of either sign: the step stays finite and uphill."""
    for seed in range(20):
        generator = np.random.default_rng(seed)
        m = 1e60 * generator.random(40)
        r = np.stack([np.ones(40), np.full(40, signs * generator.random())], axis=1)
        M = (m[:, None] * r).T @ r
        G = r.T @ generator.standard_normal(40)
        step = quasi_diagonal(G, np.diag(M) + 1.0, M[0], np.array([0, 2]))
        assert np.isfinite(step).all() and np.abs(step).max() < 1e4 * np.abs(G).max() / np.diag(M).min()
