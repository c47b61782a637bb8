"""Start states for networks of one long text: like the states in its midst, and only where the data ask for one."""

from __future__ import annotations

import numpy as np
import pytest

from glnn.models.glnn import GLNN
from glnn.models.lstm import LSTM
from glnn.network import random_graph
from glnn.predictors.network import NetworkPredictor
from glnn.sequences import Alphabet, Encoded
from glnn.training import typical_start as module
from glnn.training.typical_start import (
    LENGTH,
    MANY,
    SNIPPETS,
    automatic_start,
    cut_snippets,
    typical_start,
    visited_states,
)

ALPHABET = Alphabet("abcd")


def network(kind: type = GLNN) -> NetworkPredictor:
    generator = np.random.default_rng(1)
    model = kind(random_graph(5, 2, generator), len(ALPHABET))
    params = model.initial(np.ones(4), np.ones(4), generator)
    params = params.replace(w=params.w + 2.0 * generator.normal(size=params.w.shape))
    return NetworkPredictor(model, params, ALPHABET)


def drawn(predictor: NetworkPredictor, *lengths: int) -> Encoded:
    """Sequences that the network itself would write."""
    generator = np.random.default_rng(2)
    codes = []
    for length in lengths:
        state = predictor.begin()
        for _ in range(length):
            codes.append(int((state.probabilities().cumsum() < generator.random()).sum().clip(max=3)))
            state.advance(codes[-1])
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Encoded(np.array(codes, np.int32), starts, np.ones(len(codes), bool), ALPHABET)


def elsewhere(predictor: NetworkPredictor) -> NetworkPredictor:
    """The same network with a start that no data lead to."""
    params = predictor.params
    return NetworkPredictor(predictor.model, params.replace(V0=8.0 + 0.0 * params.V0), ALPHABET)


def bits(predictor: NetworkPredictor, V0: np.ndarray, data: Encoded) -> float:
    other = NetworkPredictor(predictor.model, predictor.params.replace(V0=V0), ALPHABET)
    return float(-other.log_likelihoods(data).sum() / np.log(2.0))


@pytest.mark.parametrize("kind", [GLNN, LSTM])
def test_visited_states_are_those_of_single_steps(kind: type) -> None:
    predictor = network(kind)
    data = drawn(predictor, 300, 200)
    states, before = visited_states(predictor.model, predictor.params, data)
    stepper = predictor.model.stepper(predictor.params)
    expected = []
    for codes in data:
        state = stepper.begin()
        for code in codes:
            stepper.advance(state, int(code))
            expected.append((state.copy(), int(code)))
    place = -1
    for state, code in zip(states, before, strict=True):
        distances = [float(np.abs(other - state).max()) for other, _ in expected]
        place = next(k for k in range(place + 1, len(expected)) if distances[k] < 1e-9)
        assert expected[place][1] == code


def test_snippets_come_from_all_over_the_data() -> None:
    lengths = [70, LENGTH - 1, 100 * LENGTH]
    codes = np.random.default_rng(0).integers(0, 4, sum(lengths)).astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    data = Encoded(codes, starts, np.ones(codes.size, bool), ALPHABET)
    snippets = cut_snippets(data)
    assert snippets is not None and len(snippets) == SNIPPETS
    windows = np.lib.stride_tricks.sliding_window_view(codes, LENGTH)
    places = [int(np.flatnonzero((windows == snippet).all(axis=1))[0]) for snippet in snippets]
    assert places == sorted(places) and places[0] < 70 and places[-1] > 0.9 * len(data.codes)
    assert cut_snippets(drawn(network(), 2 * LENGTH - 1)) is None


def test_a_start_that_no_data_lead_to_is_replaced() -> None:
    predictor = elsewhere(network())
    train, held = drawn(network(), 3000), drawn(network(), 1500)
    start = automatic_start(predictor.model, predictor.params, train, held, continues=True)
    assert start is not None
    snippets = cut_snippets(held)
    assert snippets is not None
    assert bits(predictor, start, snippets) < bits(predictor, predictor.params.V0, snippets) - 10.0
    # The data themselves decide where nothing is held out.
    assert automatic_start(predictor.model, predictor.params, train, None, continues=False) is not None


def test_a_start_that_many_sequences_taught_stays() -> None:
    predictor = elsewhere(network())
    train, held = drawn(network(), *[300] * MANY), drawn(network(), 1500)
    assert automatic_start(predictor.model, predictor.params, train, held, continues=False) is None


def test_a_start_that_validation_data_begin_with_stays() -> None:
    """The network's own sequences, from a start that is far from where they go."""
    predictor = elsewhere(network())
    train, held = drawn(predictor, 3000), drawn(predictor, *[60] * 20)
    assert typical_start(predictor.model, predictor.params, train, drawn(network(), 1500)) is not None
    assert automatic_start(predictor.model, predictor.params, train, held, continues=False) is None


def test_too_little_data_change_nothing() -> None:
    predictor = network()
    assert typical_start(predictor.model, predictor.params, drawn(predictor, 20), None) is None


def test_a_network_that_never_forgets_its_start_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    forgets = network()
    data = drawn(forgets, 3000)
    start = -2.0 * np.ones_like(forgets.params.V0)
    monkeypatch.setattr(module, "typical_start", lambda *_: start)
    assert automatic_start(forgets.model, forgets.params, data, None, False) is start
    assert automatic_start(forgets.model, forgets.params, data, drawn(forgets, 200), True) is start
    # Without any transitions it stands still, and knows the data by the state it began with.
    params = forgets.params.replace(theta=0.0 * forgets.params.theta, V0=-start)
    data = drawn(NetworkPredictor(forgets.model, params, ALPHABET), 3000)
    for held, continues in ((None, False), (data, True)):
        assert automatic_start(forgets.model, params, data, held, continues) is None
    # Nobody knows what comes of it where all data are near their beginning.
    few = drawn(NetworkPredictor(forgets.model, params, ALPHABET), 900)
    assert automatic_start(forgets.model, params, few, None, False) is start
