"""Many streams of one model take their turns at one desk: each as if it were alone, and a few hundred bytes large."""

from __future__ import annotations

import json
import pickle
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glnn

TEXT = "It was so.\nIt is so\n\nso it will be: a_b, it_was.\n" * 12
CASES = [["in", "work", "out"], ["in", "out"], ["in", "work", "work", "late", "out"]] * 10
NETWORK: dict[str, Any] = {"budget": "3 steps", "random_state": 0, "verbose": 0}


def with_network() -> Any:
    """A mixture in which a network has its share, whatever that is worth."""
    model = glnn.Mixture(networks=1, budget="3 steps", random_state=0, verbose=0)
    return model.fit(glnn.Sequences(CASES * 6))


MODELS: dict[str, Callable[[], Any]] = {
    "network": lambda: glnn.GLNN(units=32, degree=3, recipe="paper", unknown="escape", **NETWORK).fit(TEXT),
    "LSTM": lambda: glnn.LSTM(units=8, recipe="paper", unknown="escape", **NETWORK).fit(TEXT),
    "several networks": lambda: glnn.GLNN(units=6, **NETWORK).fit(glnn.Sequences(CASES)),
    "HMM": lambda: glnn.HMM(units=8, **NETWORK).fit(TEXT),
    "tree": lambda: glnn.ContextTree(verbose=0).fit(TEXT),
    "n-grams": lambda: glnn.NGram(verbose=0).fit(TEXT),
    "contexts of a text": lambda: glnn.Mixture(networks=0, verbose=0).fit(TEXT),
    "contexts of a log": lambda: glnn.Mixture(networks=0, verbose=0).fit(glnn.Sequences(CASES)),
    "mixture": with_network,
}
# Objects, numbers and key, beside the numbers of the state itself.
MOST = {"network": 500, "tree": 250, "n-grams": 250, "HMM": 300, "contexts of a text": 500, "contexts of a log": 400}


@pytest.fixture(scope="module", params=MODELS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def model(name: str) -> Any:
    return MODELS[name]()


def sequences(model: Any) -> list[list[Any]]:
    """Some to push: cases, or stretches of text over several lines."""
    if "in" in model.alphabet_.base.codes:
        return [*CASES[:3], ["late", "late", "never heard of", "in"], ["out"]]
    return [list(part) for part in (TEXT[:70], TEXT[31:99], "\n\nit\t", "so it was not, " * 9)]


def alone(model: Any, found: list[list[Any]]) -> list[list[float]]:
    """Bits where each has a desk to itself."""
    twin = pickle.loads(pickle.dumps(model))
    streams = [twin.stream() for _ in found]
    return [stream.push_many(sequence).tolist() for stream, sequence in zip(streams, found, strict=True)]


def test_streams_that_take_turns_are_each_as_if_alone(model: Any) -> None:
    found = sequences(model)
    streams: list[tuple[Any, list[float], list[Any]]] = [(model.stream(), [], list(sequence)) for sequence in found]
    while any(rest for *_, rest in streams):
        for stream, bits, rest in streams:
            if rest:
                bits.append(stream.push(rest.pop(0)).bits)
    assert [bits for _, bits, _ in streams] == alone(model, found)


def test_a_turn_of_another_does_not_change_where_a_stream_stands(model: Any) -> None:
    first, second = (model.stream() for _ in range(2))
    for symbol in [*sequences(model)[0], *sequences(model)[1]]:
        first.push(symbol)
        place, foreseen = first.place(), first.predict()
        second.push_many(sequences(model)[-1])
        again = first.place()
        assert first.predict() == foreseen
        assert {name: array.tolist() for name, array in again.items() if "lines" not in name} == {
            name: array.tolist() for name, array in place.items() if "lines" not in name
        }


def test_what_was_expected_outlives_the_turn(model: Any) -> None:
    stream, other = model.stream(), model.stream()
    differ = 0
    for symbol, another in zip(sequences(model)[0], reversed(sequences(model)[0]), strict=True):
        foreseen = stream.predict()
        pushed = stream.push(symbol)
        beside = other.push(another)
        assert pushed.expected == foreseen
        differ += beside.expected != foreseen
    assert differ


def test_ends_begin_a_new_sequence_for_one_stream_only() -> None:
    model = MODELS["contexts of a log"]()
    first, second = model.stream(), model.stream()
    start = first.predict(9)
    for stream in (first, second):
        stream.push("in")
    then = second.predict(9)
    first.push("out")
    first.end()
    assert (first.predict(9), second.predict(9)) == (start, then)


@pytest.mark.parametrize("name", [*MOST], indirect=True)
def test_a_stream_takes_a_few_hundred_bytes(name: str, model: Any) -> None:
    streams, number, symbols = model.streams(), 200, sequences(model)[0]
    for symbol in symbols:
        streams.push("first", symbol)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for key in range(number):
        for symbol in symbols:
            streams.push(key, symbol)
    each = (tracemalloc.get_traced_memory()[0] - before) / number
    tracemalloc.stop()
    assert each < MOST[name]


@pytest.mark.parametrize("name", ["network", "contexts of a log", "mixture"], indirect=True)
def test_threads_take_turns(model: Any) -> None:
    found = sequences(model) * 4
    told: dict[int, list[float]] = {}
    streams = [model.stream() for _ in found]
    ready = threading.Barrier(4)

    def push(mine: range) -> None:
        ready.wait()
        rest = {k: list(found[k]) for k in mine}
        while any(rest.values()):
            for k, symbols in rest.items():
                if symbols:
                    pushed = streams[k].push(symbols.pop(0))
                    assert len(pushed.expected) > 0
                    told.setdefault(k, []).append(pushed.bits)

    threads = [threading.Thread(target=push, args=(range(k, len(found), 4),)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [told[k] for k in range(len(found))] == alone(model, found)


@pytest.mark.parametrize("name", ["contexts of a log", "n-grams", "several networks", "mixture"], indirect=True)
def test_streams_of_a_group_that_learns_take_turns_too(model: Any) -> None:
    found = sequences(model)[:3]
    group, one_by_one = model.streams(learning="online"), model.streams(learning="online")
    told: list[list[float]] = [[] for _ in found]
    for place in range(max(map(len, found))):
        for k, sequence in enumerate(found):
            if place < len(sequence):
                told[k].append(group.push(k, sequence[place]).bits)
    assert told == [one_by_one[k].push_many(sequence).tolist() for k, sequence in enumerate(found)]


def test_a_model_that_has_streams_can_be_copied_and_fitted_again() -> None:
    model = glnn.NGram(verbose=0).fit("abab" * 9)
    stream = model.stream()
    stream.push("a")
    again = pickle.loads(pickle.dumps(model))
    assert again.stream().push("a").bits == model.stream().push("a").bits
    with pytest.raises(TypeError, match="save"):
        pickle.dumps(stream)
    before = stream.predict(1)
    model.fit("xyz" * 9)
    assert model.stream().predict(1)[0].symbol in "xyz"
    assert stream.predict(1) == before


def test_streams_that_learn_nothing_share_a_desk() -> None:
    model = glnn.NGram(verbose=0).fit("abab" * 9)
    assert model.stream()._desk is model.stream()._desk
    assert model.stream(learning="online")._desk is not model.stream(learning="online")._desk


def test_one_of_a_group_can_be_saved_alone(tmp_path: Path) -> None:
    model = MODELS["contexts of a log"]()
    streams = model.streams()
    for key, symbol in ((1, "in"), (2, "in"), (1, "work")):
        streams.push(key, symbol)
    streams[1].save(tmp_path / "stream")
    again = glnn.load_stream(tmp_path / "stream")
    assert np.array_equal(again.push_many(["out"]), streams[1].push_many(["out"]))


BEFORE = Path(__file__).parent / "written_before"
REST = {
    "log": ["out", "in", "work", "late"],
    "network": ["out", "in", "work", "late"],
    "text": list(" was so.\nso it is"),
    "tree": list(" was so.\nso it is"),
}


@pytest.mark.parametrize("name", REST)
def test_streams_saved_before_there_were_desks_go_on_to_the_same_bits(name: str) -> None:
    told = json.loads((BEFORE / "bits.json").read_text())[f"{name}.stream"]
    stream, other = (glnn.load_stream(BEFORE / f"{name}.stream") for _ in range(2))
    for symbol, bits in zip(REST[name], told, strict=True):
        assert stream.push(symbol).bits == float.fromhex(bits)
        other.push(symbol)
