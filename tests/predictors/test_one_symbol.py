"""The probability of one symbol is that of the whole distribution to the last bit, and so are the likeliest."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import glnn
from glnn.contexts.ngram import fit_ngram
from glnn.contexts.tree import ContextTreeSettings, fit_context_tree
from glnn.predictors.mixture import MixturePredictor
from glnn.predictors.odds import even, settled
from glnn.predictors.protocol import PushableState
from glnn.predictors.shares import Shares
from glnn.sequences import Reader

SIZE = 9


def text(seed: int, size: int) -> str:
    random = np.random.default_rng(seed)
    codes = np.cumsum(random.integers(1, 4, size) ** 2 + (random.random(size) < 0.05)) % SIZE
    return "".join(chr(97 + code) for code in codes.tolist())


@pytest.fixture(scope="module")
def shares() -> Shares:
    """A mixture with everything beside it, a network too, and odds that learn."""
    data = text(0, 1500)
    mixture = glnn.Mixture(networks=0, verbose=0, unknown="error", learning="online").fit(data).predictor_
    own = mixture.mixture if isinstance(mixture, Shares) else mixture
    assert isinstance(own, MixturePredictor)
    encoded = Reader(own.alphabet).read(data).encoded
    network = glnn.GLNN(units=4, degree=2, budget="2 steps", recipe="paper", random_state=0, verbose=0)
    beside = (fit_context_tree(encoded, ContextTreeSettings(depth=6)), fit_ngram(encoded, 4))
    return Shares(own, beside, (network.fit(data).predictor_,), even(4))


def parts(shares: Shares) -> dict[str, Any]:
    tree, ngrams = shares.beside
    few = glnn.ContextTree(depth=5, max_nodes=400, verbose=0, unknown="error").fit(text(0, 1500)).predictor_
    stays = Shares(shares.mixture, (ngrams,), (), settled((0.5, 0.3), 0.2))
    follows = Shares(shares.mixture, (ngrams,), shares.networks, settled((0.3, 0.3, 0.2), 0.2), inside=0.3)
    found = (shares.mixture, tree, few, ngrams, shares, stays, follows)
    return dict(zip(PARTS, found, strict=True))


PARTS = ("mixture", "tree", "full tree", "ngrams", "shares", "settled", "follows")


def begun(model: Any, learning: str) -> PushableState:
    if learning == "frozen":
        return model.frozen().begin()  # type: ignore[no-any-return]
    return model.stream_learner().begin_learning()  # type: ignore[no-any-return]


@pytest.mark.filterwarnings("ignore:.*are used up")
@pytest.mark.parametrize("learning", ["frozen", "online"])
@pytest.mark.parametrize("part", PARTS)
def test_asking_pushing_and_the_likeliest_are_the_distribution_to_the_last_bit(
    shares: Shares, part: str, learning: str
) -> None:
    model = parts(shares)[part]
    asked, pushed, whole = (begun(model, learning) for _ in range(3))
    for place, code in enumerate(Reader(shares.alphabet).read(text(1, 400)).encoded.codes.tolist()):
        pi = whole.probabilities()
        given = asked.ask(code)
        assert given == pi[code] == pushed.push(code)
        if place % 7 == 0:
            order = np.argsort(-pi, kind="stable")[:4]
            rows = asked.likeliest(4)
            assert rows.tolist() == np.column_stack([order, pi[order]]).tolist()
            assert (asked.probabilities() == pi).all()
            assert whole.likeliest(4).tolist() == rows.tolist()
        asked.advance(code)
        whole.advance(code)


def test_states_of_one_predictor_do_not_disturb_each_other(shares: Shares) -> None:
    """They share scratch: one that asks in between must not change what the other finds, nor in another thread."""
    frozen = shares.frozen()
    states, alone = [frozen.begin() for _ in range(4)], [frozen.begin() for _ in range(4)]
    codes = Reader(shares.alphabet).read(text(2, 160)).encoded.codes.reshape(4, 40)
    for column in codes.T.tolist():
        given = [state.ask(code) for state, code in zip(states, column, strict=True)]
        found = [state.likeliest(3).tolist() for state in states]
        for state, code in zip(states, column, strict=True):
            state.advance(code)
        for k, state in enumerate(alone):
            assert found[k] == state.likeliest(3).tolist()
            assert given[k] == state.push(column[k])
    begun_again = [frozen.begin() for _ in range(8)]
    many = np.tile(codes.ravel(), 20).tolist()
    with ThreadPoolExecutor(8) as pool:
        sums = list(pool.map(lambda state: [state.push(code) for code in many], begun_again))
    assert all(one == sums[0] for one in sums)


def test_a_model_that_was_used_can_be_pickled() -> None:
    model = glnn.Mixture(networks=0, verbose=0).fit(glnn.Sequences([list("abca"), list("abba"), list("acba")] * 8))
    stream = model.stream()
    stream.push("a")
    again = pickle.loads(pickle.dumps(model)).stream()
    again.push("a")
    assert again.push("b").bits == stream.push("b").bits
