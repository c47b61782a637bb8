"""Networks that learn while a stream is pushed: they follow a drift, do no harm without one, and go on elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glnn
from glnn.predictors.learning import stream_learner_of
from glnn.training.online import OnlineSettings, OnlineSteps

CHANCE = np.random.default_rng(0)


def chain(stay: float, length: int) -> str:
    """Two symbols, each followed by itself with a probability."""
    changes = CHANCE.random(length) > stay
    return "".join("ab"[k] for k in np.cumsum(changes) % 2)


@pytest.fixture(scope="module", params=["GLNN", "LSTM", "members"])
def model(request: pytest.FixtureRequest) -> Any:
    text = chain(0.9, 4000)
    options = {"units": 4, "degree": 2, "budget": "25 steps", "random_state": 0, "verbose": 0, "restarts": 1}
    options["unknown"] = "error"
    if request.param == "members":
        return glnn.GLNN(**{**options, "restarts": 2}, members=2, calibration=True).fit(text)
    return getattr(glnn, request.param)(**options).fit(text)


def test_a_drift_is_followed(model: Any) -> None:
    text = chain(0.4, 6000)
    online = model.stream(learning="online").push_many(text)
    frozen = model.stream().push_many(text)
    assert online[3000:].mean() < 0.95 * frozen[3000:].mean()
    # The first steps need a metric: until then nothing differs.
    first = OnlineSettings().first
    assert online[:first].tolist() == frozen[:first].tolist()


def test_without_a_drift_it_does_no_harm(model: Any) -> None:
    text = chain(0.9, 6000)
    online, frozen = model.stream(learning="online").push_many(text), model.stream().push_many(text)
    assert online.tolist() != frozen.tolist()
    assert online.sum() < 1.01 * frozen.sum()


def test_learning_that_does_nothing_but_harm_costs_hardly_anything(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the steps are: what was learned is given up as soon as it has lost, and begins anew."""
    random = np.random.default_rng(0)

    def worse(self: OnlineSteps, found: Any, n: int) -> None:
        self.params = self.params.replace(w=self.params.w + random.normal(0.0, 30.0, self.params.w.shape))

    begun: list[float] = []
    anew = OnlineSteps.begin_anew
    monkeypatch.setattr(OnlineSteps, "_step", worse)
    monkeypatch.setattr(OnlineSteps, "begin_anew", lambda self, *given: (begun.append(given[1]), anew(self, *given)))
    text = chain(0.9, 3000)
    online, frozen = model.stream(learning="online").push_many(text), model.stream().push_many(text)
    assert len(begun) > 5
    # At most log2(1 / 0.99) bits for every new beginning, of each network, and hardly more for the bound of the odds.
    assert online.sum() < frozen.sum() + 0.02 * (len(begun) + 2)


def test_it_goes_on_elsewhere_to_the_same_bits(model: Any, tmp_path: Path) -> None:
    text = chain(0.5, 2000)
    stream = model.stream(learning="online")
    stream.push_many(text[:1001])
    stream.save(tmp_path / "stream")
    again = glnn.load_stream(tmp_path / "stream")
    assert again.push_many(text[1001:]).tolist() == stream.push_many(text[1001:]).tolist()


def test_sequences_shorter_than_a_window_are_learned_too(model: Any) -> None:
    streams = {learning: model.stream(learning=learning) for learning in ("online", "frozen")}
    for _ in range(80):
        for stream in streams.values():
            stream.push_many("abab" * 5)
            stream.end()
    assert streams["online"].bits < 0.98 * streams["frozen"].bits


def test_memory_does_not_grow(model: Any) -> None:
    stream = model.stream(learning="online")
    stream.push_many(chain(0.5, 640))
    before = {name: part.shape for name, part in stream.place().items()}
    stream.push_many(chain(0.5, 640))
    assert {name: part.shape for name, part in stream.place().items()} == before


def test_the_memory_follows_what_larger_steps_would_have_gained() -> None:
    options = {"units": 2, "degree": 1, "budget": "1 steps", "random_state": 0, "verbose": 0, "smoothing": 0.0}
    network = glnn.GLNN(**options, recipe="paper").fit("ab" * 50).predictor_
    steps = OnlineSteps(network.model, network.params, network.alphabet)
    w, theta, begun = network.params.w, network.params.theta, OnlineSettings().memory
    gradients = {"writing": np.ones_like(w), "transition": np.ones_like(theta)}
    # Steps so far that would have gained much on the weights, and lost half of what tells on the transitions.
    steps.running["trace.writing"] = np.full_like(w, 1.0)
    lost = 0.5 * OnlineSettings().worth * 10.0
    steps.running["trace.transition"] = np.full_like(theta, -lost / theta.size)
    steps._follow(gradients, 10.0)
    np.testing.assert_allclose(steps.running["memory"], begun * np.exp([-0.1, 0.05]), rtol=1e-12)
    for _ in range(500):
        steps._follow(gradients, 10.0)
    assert steps.running["memory"].tolist() == [OnlineSettings().least_memory, OnlineSettings().most_memory]


def test_steps_leave_a_trace_of_themselves(model: Any) -> None:
    """After one step the trace is the step; and the memory has begun to be followed."""
    learner = stream_learner_of(model.predictor_)
    state, first = learner.begin_learning(), OnlineSettings().first
    for code in [0, 1, 1] * 300:
        state.advance(code)
    for before, after in zip(model.predictor_.members, learner.learned().members, strict=True):
        moved, n = after.params.w - before.params.w, OnlineSettings().window
        steps = 900 // n - first // n
        assert after.running["symbols"][0] == 900 // n * n and steps > 3
        # Old steps count a little less, by n/N each.
        np.testing.assert_allclose(after.running["trace.writing"], moved, atol=0.2 * np.abs(moved).max())
        assert not (after.running["trace.writing"] == moved).all()


def test_a_symbol_that_was_hardly_seen_is_not_learned_from_one_sight() -> None:
    """The metric knows nothing of it: without damping the step would be as large as its bound lets it be."""
    options = {"units": 4, "degree": 2, "budget": "5 steps", "random_state": 0, "verbose": 0, "alphabet": "abc"}
    network = glnn.GLNN(**options, recipe="paper", smoothing=0.0).fit("ab" * 200).predictor_
    steps = OnlineSteps(network.model, network.params, network.alphabet, settings=OnlineSettings(first=600))
    for _ in range(12):
        steps.learn(np.arange(64, dtype=np.int32) % 2, None)
    before = steps.params.w
    steps.learn(np.append(np.arange(63) % 2, 2).astype(np.int32), None)
    moved = steps.params.w - before
    # What is at most gained for it: one sight among as many as the damping thinks of, of each of its parameters.
    assert 0.0 < np.abs(moved[:, 2]).max() <= 1.0 / OnlineSettings().damping


def test_a_step_is_newtons_where_it_can_be_worked_out() -> None:
    """Without units that do anything w_0 alone decides: its step is W_0y / (N h_00 + ε), in each column."""
    options = {"units": 1, "degree": 1, "budget": "1 steps", "random_state": 0, "verbose": 0, "smoothing": 0.0}
    network = glnn.GLNN(**options, recipe="paper").fit("ab" * 50).predictor_
    params = network.params.replace(
        w=np.zeros_like(network.params.w), theta=np.zeros_like(network.params.theta), V0=np.zeros(1)
    )
    settings = OnlineSettings(memory=1000.0, first=0, longest=1e9, damping=7.0)
    steps = OnlineSteps(network.model, params, network.alphabet, settings=settings)
    steps.learn(np.array([0, 0, 0, 1], np.int32), None)
    # Three a and one b where each had a half: gradient (1, −1), and a metric of 1/4 a symbol.
    np.testing.assert_allclose(steps.params.w[0], np.array([1.0, -1.0]) / (1000 * 0.25 + 7.0), rtol=1e-12)
    assert (steps.params.theta == 0.0).all() and (steps.params.w[1] == 0.0).all()
