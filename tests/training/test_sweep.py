"""One call over one chunk: likelihood, statistics and the state after it, from any state, with nothing allocated."""

from __future__ import annotations

import numpy as np
import pytest

from glnn.metrics import TRANSITION_METHODS
from glnn.output import softmax
from glnn.sequences import encode
from glnn.training.corpus import prepare
from glnn.training.engine import Engine
from tests.training.problems import problem

pytestmark = pytest.mark.small


@pytest.mark.parametrize("name", ["glnn", "rnn", "lstm"])
@pytest.mark.parametrize("memory", [1 << 20, 0])
def test_a_sweep_is_a_forward_and_a_backward_pass(name: str, memory: int) -> None:
    case = problem(name, lengths=(30, 11), masked=True)
    method = TRANSITION_METHODS["qdrbpm"]
    engine = Engine(case.model, prepare(case.data, 16), memory=memory)
    current = engine.forward(case.params)
    expected = engine.derivatives(current, method).statistics
    found = engine.sweep(case.params, method)
    assert found.log_likelihood == current.log_likelihood and found.failure is None
    np.testing.assert_array_equal(found.state, current.state)
    for name_ in ("gradient", "diagonal", "cross", "start_gradient", "start_modulus"):
        np.testing.assert_array_equal(getattr(found.transition, name_), getattr(expected, name_))
    for mine, theirs in zip(found.writing, engine.writing_statistics(current), strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("name", ["glnn", "lstm"])
def test_chunks_that_carry_the_state_are_the_whole(name: str) -> None:
    case = problem(name, lengths=(60,))
    codes = case.data.codes
    engine = Engine(case.model, prepare(case.data, 100))
    whole = engine.forward(case.params)
    method, state, total, writing = TRANSITION_METHODS["ruop"], None, 0.0, 0.0
    for begin in range(0, 60, 25):
        part = encode([int(code) for code in codes[begin : begin + 25]], alphabet=range(3))
        chunk = engine.on(prepare(part, 10, continues=begin > 0))
        found = chunk.sweep(case.params, method, state)
        state, total, writing = found.state, total + found.log_likelihood, writing + found.writing.gradient
        # Derivatives stop at the border: only the first chunk has start values.
        assert found.transition.start_gradient.any() == (begin == 0)
    np.testing.assert_array_equal(state, whole.state)
    assert total == pytest.approx(whole.log_likelihood, rel=1e-12)
    np.testing.assert_allclose(writing, engine.writing_statistics(whole).gradient, rtol=1e-9, atol=1e-12)


def test_derivatives_of_a_chunk_are_those_of_its_likelihood_from_its_state() -> None:
    case = problem("glnn", units=3, degree=2, lengths=(20,))
    engine = Engine(case.model, prepare(case.data, 7, continues=True))
    state = np.array([0.3, -0.8, 1.1])
    found = engine.sweep(case.params, TRANSITION_METHODS["plain"], state).transition
    for k in range(0, found.gradient.size, 5):
        step = np.zeros(found.gradient.size)
        step[k] = 1e-6
        up, down = (
            engine.forward(case.params.replace(theta=case.params.theta + sign * step), state=state).log_likelihood
            for sign in (1, -1)
        )
        assert found.gradient[k] == pytest.approx((up - down) / 2e-6, rel=1e-5, abs=1e-6)


def test_engines_on_other_data_share_their_arrays() -> None:
    case = problem("glnn", lengths=(40,))
    engine = Engine(case.model, prepare(case.data, 100))
    engine.sweep(case.params, TRANSITION_METHODS["rbpm"])
    known = {name: id(array) for name, array in engine._space._arrays.items()}
    other = engine.on(prepare(case.data, 100))
    other.sweep(case.params, TRANSITION_METHODS["rbpm"])
    assert {name: id(array) for name, array in other._space._arrays.items()} == known
    assert other.layout is engine.layout


def test_a_state_for_data_that_begin_a_sequence_is_refused() -> None:
    case = problem("glnn")
    with pytest.raises(ValueError, match="prepare them with continues=True"):
        Engine(case.model, prepare(case.data, 100)).forward(case.params, state=case.params.V0)


def test_what_a_failure_spoils_is_zero() -> None:
    case, method = problem("glnn", lengths=(40,)), TRANSITION_METHODS["rbpm"]
    engine = Engine(case.model, prepare(case.data, 10))
    with np.errstate(all="ignore"):
        forwards = engine.sweep(case.params.replace(w=np.full_like(case.params.w, np.nan)), method)
        backwards = engine.sweep(case.params.replace(theta=np.full_like(case.params.theta, 1e308)), method)
    assert forwards.log_likelihood == -np.inf and "output" in str(forwards.failure)
    assert not forwards.transition.gradient.any() and not forwards.writing.gradient.any()
    assert np.isfinite(backwards.log_likelihood) and backwards.writing.gradient.any()
    assert "modulus" in str(backwards.failure) and not backwards.transition.gradient.any()


def test_evidence_is_passed_and_belongs_to_its_method() -> None:
    """The same bits with the evidence of `rewrite` as without; that of a method without a recursion is refused."""
    case = problem("glnn", lengths=(40,))
    engine = Engine(case.model, prepare(case.data, 16))
    current, method = engine.forward(case.params), TRANSITION_METHODS["rbpm"]
    rewritten = engine.rewrite(current, case.params.w, method)
    with_it = engine.derivatives(current, method, rewritten.evidence).statistics
    np.testing.assert_array_equal(with_it.matrices, engine.derivatives(current, method).statistics.matrices)
    # A later trial has arrays of its own unless it is given the old ones.
    other = engine.rewrite(current, 2.0 * case.params.w, method)
    np.testing.assert_array_equal(
        engine.derivatives(current, method, rewritten.evidence).statistics.gradient, with_it.gradient
    )
    assert engine.rewrite(current, case.params.w, method, other).evidence is other.evidence
    with pytest.raises(ValueError, match="has to come from a rewriting for rbpm"):
        engine.derivatives(current, method, engine.rewrite(current, case.params.w, TRANSITION_METHODS["ruop"]).evidence)


@pytest.mark.parametrize("symbols", [3, 300])
@pytest.mark.parametrize("with_variance", [True, False])
def test_one_look_at_the_output_gives_the_bits_of_two(symbols: int, with_variance: bool) -> None:
    """300 symbols take the way of matrix products, 3 that of small sums."""
    generator = np.random.default_rng(0)
    a, w = generator.normal(size=(50, 8)), generator.normal(size=(9, symbols))
    y, weight = generator.integers(symbols, size=50).astype(np.int32), np.ones(50)
    wanted, error, found = np.empty((2, 50, 8)), np.empty((50, 8)), np.empty((50, 8))
    value = softmax.source_terms(a, y, weight, w, wanted[0], wanted[1] if with_variance else None)
    statistics, together = softmax.writing_statistics(a, y, weight, w, error, found if with_variance else None)
    alone, _ = softmax.writing_statistics(a, y, weight, w)
    assert value == together
    np.testing.assert_array_equal(error, wanted[0])
    if with_variance:
        np.testing.assert_array_equal(found, wanted[1])
    for mine, theirs in zip(statistics, alone, strict=True):
        np.testing.assert_array_equal(mine, theirs)
