"""Models that grow: the chain they begin from, what doubling leaves as it was, and what growing is worth."""

from __future__ import annotations

import numpy as np
import pytest

import glnn
from glnn.baselines.hmm import em_step, expected_counts, reestimate
from glnn.baselines.hmm_growth import few_states, markov_chain, softened, split_states
from glnn.sequences import Sequences, encode


def periodic(length: int, seed: int) -> str:
    """After a comes b or c in turn: a chain over the symbols cannot know which."""
    generator = np.random.default_rng(seed)
    text = "".join("ab" if k % 2 == 0 else "ac" for k in range(length // 2))
    return "".join(symbol if generator.random() > 0.02 else "a" for symbol in text)


@pytest.mark.small
def test_the_chain_has_the_frequencies_of_pairs() -> None:
    data = encode(Sequences(["abcab", "acb"]), "abc")
    chain = markov_chain(data)
    given = (2 + 0.1 / 3) / (3 + 0.1)
    assert chain.transition_matrix[0, 1] == pytest.approx(given)
    assert chain.start[0] == pytest.approx((2 + 0.1 / 3) / 2.1)
    np.testing.assert_array_equal(chain.emissions, np.eye(3))
    first, second = np.exp(chain.log_likelihoods(encode("ab", "abc")))
    assert (first, second) == (pytest.approx(chain.start[0]), pytest.approx(given))


@pytest.mark.small
@pytest.mark.parametrize("beginning", ["chain", "few"])
def test_copies_say_nearly_what_their_original_said_and_then_more(beginning: str) -> None:
    data, generator = encode(periodic(200, 0), "abc"), np.random.default_rng(0)
    model = markov_chain(data) if beginning == "chain" else few_states(data, 3, generator)
    for _ in range(10):
        model, before = em_step(model, data)
    counts = expected_counts(model, data)
    grown = split_states(model, counts, 5, generator)
    assert grown.states == 5
    # A copy writes the symbols that its original wrote.
    np.testing.assert_array_equal(grown.emissions[:3] > 0, model.emissions > 0)
    assert expected_counts(grown, data).log_likelihood == pytest.approx(before, abs=0.2 * abs(before) + 5.0)
    for _ in range(40):
        grown, after = em_step(grown, data)
    assert after > before + 20.0


@pytest.mark.small
def test_a_prior_adds_what_all_states_do_together() -> None:
    data = encode("abcabcaab", "abc")
    model = few_states(data, 2, np.random.default_rng(0))
    counts = expected_counts(model, data)
    visits, symbols = counts.writings.sum(axis=1) + 1 / 2, counts.writings.sum(axis=0)
    found, moves = reestimate(model, counts, prior=2.0), counts.moves.reshape(2, 2)
    expected = (moves[1, 0] + 2.0 * visits[0] / visits.sum()) / (moves[1].sum() + 2.0)
    assert found.transition_matrix[1, 0] == pytest.approx(expected)
    expected = (counts.writings[0, 2] + 2.0 * symbols[2] / symbols.sum()) / (counts.writings[0].sum() + 2.0)
    assert found.emissions[0, 2] == pytest.approx(expected)
    assert reestimate(markov_chain(data), expected_counts(markov_chain(data), data), 2.0).emissions[0, 1] == 0.0


@pytest.mark.small
def test_a_softened_model_is_the_mixture_that_the_formula_says() -> None:
    data = encode("abcabcaab", "abc")
    model = few_states(data, 2, np.random.default_rng(0))
    counts = expected_counts(model, data)
    visits, symbols = counts.writings.sum(axis=1) + 1 / 2, counts.writings.sum(axis=0) + 1 / 3
    soft = softened(model, counts, 0.2, 0.1)
    expected = 0.8 * model.transition_matrix[0, 1] + 0.2 * visits[1] / visits.sum()
    assert soft.transition_matrix[0, 1] == pytest.approx(expected)
    assert soft.emissions[1, 2] == pytest.approx(0.9 * model.emissions[1, 2] + 0.1 * symbols[2] / symbols.sum())


def test_what_never_followed_is_unlikely_and_not_impossible() -> None:
    model = glnn.HMM(budget="60 steps", random_state=0, verbose=0).fit(periodic(1500, 0))
    assert model._without_escape().inner.transition_matrix.min() > 0.0


def test_an_estimator_grows_past_the_chain_and_keeps_what_validates_best() -> None:
    model = glnn.HMM(budget="120 steps", random_state=0, verbose=0).fit(periodic(1500, 0))
    fixed = glnn.HMM(3, 3, budget="120 steps", random_state=0, verbose=0).fit(periodic(1500, 0))
    tested = periodic(400, 1)
    assert model.units_ > 3
    assert model.bits(tested) < 0.8 * fixed.bits(tested)
    assert max(run["score"] for run in model.restarts_) * -1.4426950408889634 == pytest.approx(model.validation_bits_)
    assert {run["units"] for run in model.restarts_} >= {3, 6, 8}
    assert sum(run["steps"] for run in model.restarts_) <= 120
    again = glnn.HMM(budget="120 steps", random_state=0, verbose=0).fit(periodic(1500, 0))
    assert again.bits(tested) == model.bits(tested)
