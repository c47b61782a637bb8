"""Several networks as one predictor: in blocks, step by step and by plain mixing the same distribution."""

from __future__ import annotations

import numpy as np
import pytest

from glnn.models.glnn import GLNN
from glnn.models.lstm import LSTM
from glnn.network import random_graph
from glnn.predictors import bits
from glnn.predictors.calibration import EntropyWeights, mixed
from glnn.predictors.members import Members, MembersState, TogetherState
from glnn.predictors.network import NetworkPredictor
from glnn.predictors.protocol import StepwisePredictor
from glnn.predictors.uniform import Smoothed
from glnn.sequences import Alphabet, Encoded, encode

ALPHABET = Alphabet("abcde")
NODES, WEIGHTS = np.array([0.2, 0.9, 1.5]), np.array([[0.7, 0.5], [0.2, 0.9], [0.4, 0.1]])


def network(kind: type, seed: int) -> NetworkPredictor:
    generator = np.random.default_rng(seed)
    model = kind(random_graph(6, 2, generator), len(ALPHABET))
    counts = np.ones(len(ALPHABET))
    params = model.initial(counts, counts, generator)
    # Far enough from the start of training to predict something.
    params = params.replace(w=params.w + generator.normal(size=params.w.shape))
    return NetworkPredictor(model, params, ALPHABET)


def together(*kinds: type) -> Members:
    """Two are weighed one by one, and more by their median."""
    weights = WEIGHTS if len(kinds) == 2 else WEIGHTS[:, :1]
    return Members([network(kind, seed) for seed, kind in enumerate(kinds)], EntropyWeights(NODES, weights))


@pytest.fixture(scope="module")
def data() -> Encoded:
    generator = np.random.default_rng(0)
    texts = ["".join(generator.choice(list("abcde"), size)) for size in (70, 1, 40)]
    return encode([list(text) for text in texts], alphabet=ALPHABET)


@pytest.fixture(
    scope="module", params=[(GLNN, GLNN), (GLNN, LSTM), (GLNN, GLNN, LSTM)], ids=["same", "mixed", "median"]
)
def members(request: pytest.FixtureRequest) -> Members:
    return together(*request.param)


def test_blocks_are_the_members_mixed(members: Members, data: Encoded) -> None:
    rows = np.stack([np.concatenate(list(member.distributions(data))) for member in members.members])
    expected = mixed(rows, members.weights)
    for block in (4096, 7):
        np.testing.assert_array_equal(np.concatenate(list(members.distributions(data, block))), expected)
    np.testing.assert_allclose(expected.sum(axis=1), 1.0, rtol=1e-14)
    own = np.log(expected[np.arange(len(data.codes)), data.codes])
    np.testing.assert_allclose(members.log_likelihoods(data), own, rtol=1e-14)


def test_states_agree_with_blocks(members: Members, data: Encoded) -> None:
    expected = np.concatenate(list(members.distributions(data)))
    stepwise = np.concatenate(list(StepwisePredictor.distributions(members, data)))  # type: ignore[arg-type]
    np.testing.assert_allclose(stepwise, expected, rtol=1e-9)
    assert bits(members, data) == pytest.approx(-np.log2(stepwise[np.arange(111), data.codes]).sum(), rel=1e-9)


def test_many_steps_in_one_have_the_bits_of_single_ones(members: Members, data: Encoded) -> None:
    codes = data.codes[:50]
    whole, single = members.begin(), members.begin()
    rows = whole.run(codes)
    for row, code in zip(rows, codes, strict=True):
        np.testing.assert_array_equal(single.probabilities(), row)
        single.advance(int(code))
    np.testing.assert_array_equal(single.probabilities(), whole.probabilities())


def test_a_copy_goes_its_own_way(members: Members) -> None:
    state = members.begin()
    state.advance(1)
    other = state.copy()
    before = state.probabilities()
    other.advance(3)
    np.testing.assert_array_equal(state.probabilities(), before)
    assert not np.array_equal(other.probabilities(), before)
    # What was said is remembered: the next step shows where the state really stands.
    state.advance(2)
    again = members.begin()
    for code in (1, 2):
        again.advance(code)
    np.testing.assert_array_equal(state.probabilities(), again.probabilities())


def test_a_share_of_the_uniform_comes_after(members: Members, data: Encoded) -> None:
    rows = np.concatenate(list(Smoothed(members, 0.1).distributions(data)))
    np.testing.assert_allclose(rows, 0.9 * np.concatenate(list(members.distributions(data))) + 0.02, rtol=1e-14)


def test_members_must_fit_together() -> None:
    weights = EntropyWeights(NODES, WEIGHTS)
    with pytest.raises(ValueError, match="1 members and weights for 2"):
        Members([network(GLNN, 0)], weights)
    other = network(GLNN, 1)
    other.alphabet = Alphabet("vwxyz")
    with pytest.raises(ValueError, match="member 1 has"):
        Members([network(GLNN, 0), other], weights)


@pytest.mark.parametrize("kinds", [(GLNN, GLNN), (LSTM, LSTM), (GLNN, GLNN, GLNN)], ids=["GLNN", "LSTM", "median"])
def test_networks_that_step_as_one_say_what_each_would(kinds: tuple[type, ...], data: Encoded) -> None:
    alone = [network(kind, seed) for seed, kind in enumerate(kinds)]
    networks = [NetworkPredictor(one.model, one.params, ALPHABET, share=0.01 * k) for k, one in enumerate(alone)]
    members = Members(networks, EntropyWeights(NODES, WEIGHTS if len(kinds) == 2 else WEIGHTS[:, :1]), share=0.02)
    state, plain = members.begin(), MembersState([one.begin() for one in networks], members.weights, members.share)
    assert isinstance(state, TogetherState)
    for place, code in enumerate(data.codes.tolist()):
        assert state.probabilities().tolist() == plain.probabilities().tolist()
        state.advance(code)
        plain.advance(code)
        if place == 40:
            # From here on one that was written down, of which the other knows nothing.
            other, packed, where = members.begin(), state.pack(), state.place()
            said = state.probabilities().tolist()
            state.advance(0)
            assert other.probabilities().tolist() != said
            assert other.unpack(b"xy" + packed, 2) == len(packed) + 2
            assert other.probabilities().tolist() == said
            copied = other.copy()
            other.advance(1)
            other.probabilities()
            other.move(where)
            assert other.probabilities().tolist() == copied.probabilities().tolist()
            state = copied
