"""Mixtures on streams: networks learn with them, what they keep is bounded, and they go on elsewhere as they were."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glnn
from glnn.predictors.mixture import MixturePredictor
from glnn.predictors.mixture_stream import MixtureStreamLearner
from glnn.predictors.odds import even
from glnn.predictors.shares import Shares
from glnn.sequences import InputError
from glnn.storage.model_file import read_model_file, write_model_file

CASES = [["in", "work", "out"], ["in", "out"], ["in", "work", "work", "out"]] * 60


def chain(stay: float, length: int, seed: int) -> str:
    """Two symbols, each followed by itself with a probability."""
    changes = np.random.default_rng(seed).random(length) > stay
    return "".join("ab"[k] for k in np.cumsum(changes) % 2)


@pytest.fixture(scope="module", params=["one text", "cases"])
def model(request: pytest.FixtureRequest) -> glnn.Mixture:
    data = chain(0.9, 700, 0) if request.param == "one text" else glnn.Sequences(CASES)
    # What goes on learning mixes its networks in, frozen cases would give them a share.
    given = {"learning": "online", "budget": "3 steps", "random_state": 0, "unknown": "escape", "verbose": 0}
    return glnn.Mixture(networks=1, **given).fit(data)


def mixture_of(model: glnn.Mixture) -> MixturePredictor:
    inner: Any = model.predictor_.inner
    return getattr(inner, "mixture", inner)


def symbols(model: glnn.Mixture, length: int, seed: int = 1) -> list[str]:
    known = [symbol for symbol in model.alphabet_.symbols if isinstance(symbol, str)]
    return [known[k] for k in np.random.default_rng(seed).integers(0, len(known), length)]


def of_shares(model: glnn.Mixture) -> Shares:
    """A mixture with a network beside it, whatever that is worth."""
    mixture = mixture_of(model)
    size = len(mixture.alphabet)
    codes = np.random.default_rng(0).integers(0, size, 300).tolist()
    network = glnn.GLNN(units=3, degree=2, budget="2 steps", restarts=1, random_state=0, unknown="error", verbose=0)
    return Shares(mixture, (), (network.fit([*range(size), *codes]).predictor_,), even(2))


def test_networks_that_stand_beside_a_mixture_learn_too(model: glnn.Mixture) -> None:
    shares = of_shares(model)
    learner, codes = shares.stream_learner(), np.arange(1300) % 2
    learner.learn(codes[:1100])
    again = of_shares(model).stream_learner()
    again.recall(learner.memory())
    states = [one.begin_learning() for one in (learner, again)]
    for code in codes.tolist():
        first, second = (state.probabilities().tolist() for state in states)
        assert first == second
        for state in states:
            state.advance(code)
    (after,), (before,) = learner.learned().networks, shares.networks
    predicted = []
    for network in (after, before):
        state = network.begin()
        for code in codes[:20].tolist():
            state.advance(code)
        predicted.append(float(state.probabilities()[codes[20]]))
    assert predicted[0] > predicted[1] + 0.02
    with pytest.raises(InputError):
        again.recall({name: part for name, part in learner.memory().items() if not name.startswith("1:")})


def test_networks_learn_with_the_contexts(model: glnn.Mixture) -> None:
    mixture = mixture_of(model)
    if not mixture.members:
        pytest.skip("of several sequences networks stand beside the contexts")
    learner = mixture.stream_learner()
    state, codes = learner.begin_learning(), [k % 2 for k in range(1200)]
    for code in codes:
        state.advance(code)
    (member,) = learner.learned().members
    (before,) = mixture.members
    after = member.begin(), before.begin()
    for code in codes[:20]:
        for one in after:
            one.advance(code)
    learned, frozen = (one.probabilities()[codes[20]] for one in after)
    # The network itself has learned that they take turns, and what it was made from has not.
    assert learned > frozen
    assert before.begin().probabilities().tolist() == mixture_of(model).members[0].begin().probabilities().tolist()


def test_the_mixer_is_told_what_the_network_says_by_now(model: glnn.Mixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the steps of the network everything is as if it were frozen; with them it is not."""
    if not mixture_of(model).members:
        pytest.skip("of several sequences networks stand beside the contexts")
    text = symbols(model, 900)
    learning = model.stream(learning="online").push_many(text)
    monkeypatch.setattr("glnn.predictors.network_learner.NetworkLearner.step", lambda self, codes, before: None)
    frozen = model.stream(learning="online").push_many(text)
    first = int(np.flatnonzero(learning != frozen)[0])
    assert first > 500 and learning.sum() != frozen.sum()


def test_a_stream_goes_on_elsewhere_in_the_middle_of_a_window(model: glnn.Mixture, tmp_path: Path) -> None:
    text = symbols(model, 1400)
    stream = model.stream(learning="online")
    stream.push_many(text[:750])
    stream.save(tmp_path / "stream")
    again = glnn.load_stream(tmp_path / "stream")
    assert again.push_many(text[750:]).tolist() == stream.push_many(text[750:]).tolist()
    # And once more, from the one that was taken up.
    again.save(tmp_path / "stream")
    third = glnn.load_stream(tmp_path / "stream")
    for one in (again, third):
        one.end()
    assert third.push_many(text[:99]).tolist() == again.push_many(text[:99]).tolist()


def test_a_group_goes_on_elsewhere(model: glnn.Mixture, tmp_path: Path) -> None:
    group = model.streams(learning="online")
    for key in range(30):
        for symbol in symbols(model, 25, key):
            group.push(key % 7, symbol)
        if key > 5:
            group.end(key % 7)
    group.save(tmp_path / "group")
    again = glnn.load_streams(tmp_path / "group")
    for key in range(60):
        for symbol in symbols(model, 25, key):
            assert again.push(key % 9, symbol).bits == group.push(key % 9, symbol).bits
        for one in (group, again):
            one.end(key % 9)


def test_what_is_kept_does_not_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MixtureStreamLearner, "most", 1 << 12)
    model = glnn.Mixture(networks=0, unknown="error", verbose=0).fit("abcdefgh" * 100)
    stream, random = model.stream(learning="online"), np.random.default_rng(0)
    learner: Any = stream._desk.write.args[1]  # type: ignore[union-attr]
    sizes = []
    for _ in range(3):
        stream.push_many("".join("abcdefgh"[k] for k in random.integers(0, 8, 5000)))
        sizes.append(sum(part.nbytes for part in learner.memory().values()))
    # The tables go up and down between half and three quarters.
    assert max(sizes) < 1.2 * min(sizes)
    assert not learner._codes and not learner._starts
    assert stream.push("a").probability > 0.0


FORGED: list[tuple[str, Any]] = [
    ("contexts/sizes", lambda part: part + 1),
    ("contexts/sizes", lambda part: part[:3]),
    ("contexts/history", lambda part: part + 100),
    ("contexts/filled", lambda part: -part),
    ("contexts/weights", lambda part: part * np.nan),
    ("contexts/corrections", lambda part: part[:1]),
    ("contexts/contexts", lambda part: np.zeros_like(part)),
    ("contexts/contexts", lambda part: np.concatenate([part[:-16], part[:16]])),
    ("contexts/decisions", lambda part: np.where(np.arange(part.size) % 16 < 8, part, 255).astype(np.uint8)),
    ("contexts/places", lambda part: np.where(np.arange(part.size) % 16 < 8, part, 127).astype(np.uint8)),
    ("contexts/places", lambda part: None),
    ("network0/0/theta", lambda part: part[1:]),
    ("network0/0/running/symbols", lambda part: None),
]


@pytest.mark.parametrize("which", range(len(FORGED)))
def test_forged_memories_are_refused(model: glnn.Mixture, which: int) -> None:
    name, change = FORGED[which]
    if name.startswith("network") and not mixture_of(model).members:
        pytest.skip("of several sequences networks stand beside the contexts")
    learner = mixture_of(model).stream_learner()
    learner.begin_learning()
    learner.learn(np.arange(700) % 2)
    memory = learner.memory()
    learner.recall(memory)
    changed = {**memory, name: change(memory[name])}
    with pytest.raises(InputError):
        learner.recall({key: part for key, part in changed.items() if part is not None})


def test_a_file_with_a_forged_memory_is_refused(model: glnn.Mixture, tmp_path: Path) -> None:
    stream = model.stream(learning="online")
    stream.push_many(symbols(model, 30))
    stream.save(tmp_path / "stream")
    tensors, header = read_model_file(tmp_path / "stream")
    header.pop("format")
    (name,) = (name for name in tensors if name.startswith("learned/") and name.endswith("contexts/history"))
    tensors[name] = tensors[name][:-1]
    write_model_file(tmp_path / "stream", tensors, header)
    with pytest.raises(InputError, match="does not fit"):
        glnn.load_stream(tmp_path / "stream")
