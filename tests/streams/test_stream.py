"""A stream tells of each symbol what `surprise` tells of the whole, and goes on elsewhere to the same bits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glnn
from glnn import InputError
from glnn.sequences.alphabet import END, ESCAPE
from glnn.storage.model_file import read_model_file, write_model_file
from glnn.streams import Stream, Streams

TEXT = "abcabcacbabc" * 20
CASES = [["in", "work", "out"], ["in", "out"], ["in", "work", "work", "out"]] * 10


def fitted(name: str, data: object, **more: object) -> glnn.GLNN:
    kind = getattr(glnn, name)
    budget = {} if name == "ContextTree" else {"budget": "3 steps", "random_state": 0}
    return kind(verbose=0, **budget, **more).fit(data)


@pytest.fixture(scope="module", params=["GLNN", "LSTM", "HMM", "ContextTree"])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def model(name: str) -> glnn.GLNN:
    return fitted(name, TEXT, unknown="escape", **({"learning": "frozen"} if name == "ContextTree" else {}))


def test_pushing_costs_what_the_whole_costs(model: glnn.GLNN) -> None:
    text = "abcbacbbbaacx" + "abc"
    stream = Stream(model.predictor_)
    found = [stream.push(symbol).bits for symbol in text]
    np.testing.assert_allclose(found, model.surprise(text), rtol=1e-9)
    assert stream.symbols == len(text)
    np.testing.assert_allclose(stream.bits, model.bits(text), rtol=1e-9)


def test_what_is_expected_is_what_predict_proba_says(model: glnn.GLNN) -> None:
    stream = Stream(model.predictor_)
    stream.push_many("abca")
    probabilities = model.predict_proba("abca")
    first, second = stream.predict(2)
    order = np.argsort(-probabilities, kind="stable")
    assert [first.symbol, second.symbol] == [model.alphabet_.symbols[code] for code in order[:2]]
    assert first.probability == pytest.approx(probabilities.max())
    pushed = stream.push("c")
    assert pushed.expected[0] == first
    assert pushed.probability == pytest.approx(probabilities[model.alphabet_.codes["c"]])


def test_a_place_is_taken_up_to_the_same_bits(model: glnn.GLNN) -> None:
    first = Stream(model.predictor_)
    first.push_many("abcabb")
    again = Stream(model.predictor_, first.place(), first.symbols, first.bits)
    assert [again.push(symbol).bits for symbol in "cabba"] == [first.push(symbol).bits for symbol in "cabba"]
    assert (again.symbols, again.bits) == (first.symbols, first.bits)


def test_a_place_of_another_model_is_refused(model: glnn.GLNN) -> None:
    for wrong in ({}, {"state": np.zeros(1)}, {"alpha": np.zeros(1)}, {"context": np.zeros(1)}):
        with pytest.raises(InputError, match="place"):
            Stream(model.predictor_, wrong)


def test_an_unknown_symbol_changes_nothing(model: glnn.GLNN) -> None:
    stream, other = Stream(model.predictor_), Stream(model.predictor_)
    assert stream.push("x").bits > 20
    assert stream.push("a").bits == other.push("a").bits


@pytest.mark.parametrize("wrong", [["a"], np.array([1]), None, 5, b"a", END])
def test_what_cannot_be_a_symbol_is_refused_and_changes_nothing(model: glnn.GLNN, wrong: Any) -> None:
    stream = Stream(model.predictor_)
    with pytest.raises(InputError, match="push takes one symbol"):
        stream.push(wrong)
    with pytest.raises(InputError, match="push takes one symbol"):
        stream.push_many([wrong])
    assert stream.symbols == 0


def test_a_number_of_numpy_is_a_symbol_known_or_not() -> None:
    stream = Stream(fitted("ContextTree", [1, 2, 3] * 20).predictor_)
    assert stream.push(np.int64(2)).bits < 10 < stream.push(np.int64(7)).bits


def test_without_an_escape_it_is_refused_and_the_stream_goes_on() -> None:
    stream = Stream(fitted("GLNN", TEXT, unknown="error", units=3, degree=2).predictor_)
    with pytest.raises(InputError, match="'x' is not one of the 3"):
        stream.push("x")
    assert stream.symbols == 0 and stream.push("a").bits < 10


@pytest.fixture(scope="module")
def of_cases() -> glnn.GLNN:
    return fitted("GLNN", glnn.Sequences(CASES), units=4, degree=2)


def test_an_end_costs_what_it_costs_in_the_whole(of_cases: glnn.GLNN) -> None:
    stream = Stream(of_cases.predictor_)
    for case in CASES[:3]:
        found = [stream.push(symbol).bits for symbol in case]
        end = stream.end()
        assert end is not None and end.symbol is END
        np.testing.assert_allclose([*found, end.bits], of_cases.surprise(glnn.Sequences([case, case]))[0], rtol=1e-9)


def test_streams_side_by_side_do_not_disturb_each_other(of_cases: glnn.GLNN) -> None:
    streams = Streams(of_cases.predictor_)
    found: dict[int, list[float]] = {0: [], 1: []}
    for symbols in zip(CASES[0], CASES[3], strict=True):
        for key, symbol in enumerate(symbols):
            found[key].append(streams.push(key, symbol).bits)
    alone = [Stream(of_cases.predictor_).push_many(case).tolist() for case in (CASES[0], CASES[3])]
    assert [found[0], found[1]] == alone


def test_the_stream_longest_unused_is_forgotten(of_cases: glnn.GLNN) -> None:
    streams = Streams(of_cases.predictor_, most=2)
    for key in ("a", "b", "a", "c"):
        streams.push(key, "in")
    assert list(streams) == ["a", "c"]


def test_a_saved_stream_goes_on_to_the_same_bits(model: glnn.GLNN, tmp_path: Path) -> None:
    stream = model.stream()
    stream.push_many("abcabb")
    stream.save(tmp_path / "stream")
    again = glnn.load_stream(tmp_path / "stream")
    assert (again.symbols, again.bits) == (stream.symbols, stream.bits)
    assert again.push_many("cabba").tolist() == stream.push_many("cabba").tolist()


LEARNING: dict[str, dict[str, Any]] = {"ContextTree": {}, "NGram": {}, "Mixture": {"networks": 0}}


@pytest.fixture(scope="module", params=LEARNING)
def tree(request: pytest.FixtureRequest) -> glnn.ContextTree:
    """A model that learns on, of several sequences."""
    kind = getattr(glnn, request.param)
    return kind(verbose=0, unknown="escape", **LEARNING[request.param]).fit(glnn.Sequences(CASES))


@pytest.mark.parametrize("name", LEARNING)
def test_a_stream_that_learns_costs_what_online_scoring_costs(name: str) -> None:
    tree = getattr(glnn, name)(verbose=0, learning="online", **LEARNING[name]).fit(TEXT)
    text = "cbacba" * 30
    stream = tree.stream(learning="online")
    np.testing.assert_allclose(stream.push_many(text), tree.surprise(text), rtol=1e-9)
    # The model itself has learned nothing.
    np.testing.assert_allclose(tree.stream(learning="online").push_many(text), tree.surprise(text), rtol=1e-9)


@pytest.mark.parametrize("learning", ["frozen", "online"])
def test_what_was_expected_is_what_was_predicted(tree: glnn.ContextTree, learning: str) -> None:
    stream = tree.stream(learning=learning)
    for symbol in ["in", "work", "never heard of", "work", "out", "out", "in"]:
        before = stream.predict()
        probability = dict(stream.predict(99)).get(symbol)
        pushed = stream.push(symbol)
        assert pushed.expected == before
        assert probability is None or pushed.probability == probability
        assert pushed.bits == pytest.approx(-np.log2(pushed.probability))


@pytest.mark.parametrize("learning", ["frozen", "online"])
def test_what_was_expected_can_be_read_long_after(tree: glnn.ContextTree, learning: str) -> None:
    """Nothing is worked out while nobody looks, and yet it is what was known then, not what is known by now."""
    stream, twin = tree.stream(learning=learning), tree.stream(learning=learning)
    pushed, predicted = [], []
    for case in (["in", "work", "never heard of", "out"], ["out", "out", "in"], ["work"]):
        for symbol in case:
            predicted.append(twin.predict())
            twin.push(symbol)
            pushed.append(stream.push(symbol))
        predicted.append(twin.predict())
        twin.end()
        pushed.append(stream.end())
    assert [one.expected for one in pushed if one is not None] == predicted


def test_what_was_expected_is_not_changed_by_what_others_learn(tree: glnn.ContextTree) -> None:
    streams = tree.streams(learning="online")
    streams.push("a", "in")
    before = streams["a"].predict()
    pushed = streams.push("a", "out")
    for symbol in ["out", "in", "in", "out"] * 5:
        streams.push("b", symbol)
    streams.end("b")
    assert pushed.expected == before
    # The stream itself knows what was learned.
    assert streams["a"].predict() != tree.streams(learning="online")["a"].predict()


def test_a_stream_written_right_after_a_push_has_read_it(tree: glnn.ContextTree, tmp_path: Path) -> None:
    for learning in ("frozen", "online"):
        stream, group = tree.stream(learning=learning), tree.streams(learning=learning, most=1)
        for symbol in ["in", "work", "work"]:
            stream.push(symbol)
            group.push(0, symbol)
        stream.save(tmp_path / "stream")
        group.save(tmp_path / "group")
        again, others = glnn.load_stream(tmp_path / "stream"), glnn.load_streams(tmp_path / "group")
        assert again.predict() == stream.predict() == others[0].predict() == group[0].predict()
        assert again.push("out").bits == stream.push("out").bits == others.push(0, "out").bits


def test_an_escape_that_is_likely_is_among_what_is_expected() -> None:
    """Of data in which every symbol is new, an escape is what comes next."""
    model = glnn.Mixture(networks=0, verbose=0, unknown="escape").fit([f"symbol {k}" for k in range(60)])
    stream = model.stream()
    before = stream.predict(3)
    assert before[0].symbol is ESCAPE
    assert stream.push("symbol 7").expected[:3] == before
    assert stream.push("never heard of").expected[:1] == stream.predict(1)


def test_a_learning_stream_is_taken_up_in_the_middle(tree: glnn.ContextTree, tmp_path: Path) -> None:
    stream = tree.stream(learning="online")
    stream.push_many(["in", "out", "never heard of", "work"])
    stream.save(tmp_path / "stream")
    again = glnn.load_stream(tmp_path / "stream")
    rest = ["work", "in", "in"]
    for each in (stream, again):
        each.push("out")
        each.end()
    assert again.push_many(rest * 5).tolist() == stream.push_many(rest * 5).tolist()


def test_a_group_learns_each_sequence_when_it_ends(tree: glnn.ContextTree) -> None:
    odd = ["out", "in", "in", "out"]
    streams = tree.streams(learning="online")
    first = [streams.push("a", symbol).bits for symbol in odd]
    # Nothing is learned from what is under way.
    assert [streams.push("b", symbol).bits for symbol in odd] == first
    for key in ("a", "b"):
        streams.end(key)
    assert sum(streams.push("c", symbol).bits for symbol in odd) < sum(first)
    assert [tree.streams().push(0, "in").bits] == [tree.stream().push("in").bits]


def test_streams_side_by_side_see_what_others_taught(tree: glnn.ContextTree) -> None:
    streams = tree.streams(learning="online")
    streams.push("late", "in")
    before = {expected.symbol: expected.probability for expected in streams["late"].predict(9)}
    for key in range(500):
        for symbol in ("in", "in"):
            streams.push(key, symbol)
        streams.end(key)
    after = {expected.symbol: expected.probability for expected in streams["late"].predict(9)}
    assert after["in"] > before["in"]


def test_a_group_is_taken_up_with_what_it_learned(tree: glnn.ContextTree, tmp_path: Path) -> None:
    streams = tree.streams(learning="online", most=7)
    for key in ("a", ("b", 1)):
        streams.push(key, "in")
        streams.push(key, "in")
    streams.end("a")
    streams.more["offset"] = 12
    streams.save(tmp_path / "group")
    again = glnn.load_streams(tmp_path / "group")
    assert (list(again), again.most, again.more) == ([("b", 1)], 7, {"offset": 12})
    for group in (streams, again):
        group.end(("b", 1))
    for symbol in ("in", "in", "out"):
        assert again.push("z", symbol).bits == streams.push("z", symbol).bits


def test_models_that_cannot_learn_on_say_so(of_cases: glnn.GLNN) -> None:
    hmm = fitted("HMM", TEXT)
    with pytest.raises(InputError, match="a model of this kind cannot go on learning"):
        hmm.stream(learning="online")
    with pytest.raises(InputError, match="learning"):
        of_cases.stream(learning="sometimes")


def test_files_of_the_wrong_kind_are_refused(of_cases: glnn.GLNN, tmp_path: Path) -> None:
    of_cases.save(tmp_path / "model")
    of_cases.stream().save(tmp_path / "one")
    of_cases.streams().save(tmp_path / "many")
    for path, opens in (("model", glnn.load_stream), ("many", glnn.load_stream), ("one", glnn.load_streams)):
        with pytest.raises(glnn.ModelFileError):
            opens(tmp_path / path)
    with pytest.raises(glnn.ModelFileError):
        glnn.load(tmp_path / "one")


# The network is the only one of the members that predict: its state comes under its number.
@pytest.mark.parametrize(
    "change", [{"0/read": np.array([99], np.int32)}, {"0/0/state": np.zeros(2)}, {"0/0/state": None}]
)
def test_forged_streams_are_refused(of_cases: glnn.GLNN, tmp_path: Path, change: dict[str, Any]) -> None:
    streams = of_cases.streams()
    streams.push(0, "in")
    streams.save(tmp_path / "many")
    glnn.load_streams(tmp_path / "many")
    tensors, header = read_model_file(tmp_path / "many")
    assert set(change) <= set(tensors)
    tensors = {name: array for name, array in (tensors | change).items() if array is not None}
    header.pop("format")
    write_model_file(tmp_path / "forged", tensors, header)
    with pytest.raises(InputError):
        glnn.load_streams(tmp_path / "forged")


def test_a_frozen_stream_of_a_tree_that_learns_online_learns_nothing(tmp_path: Path) -> None:
    model = glnn.ContextTree(learning="online", verbose=0).fit(TEXT)
    stream = model.stream()
    stream.push_many("acb" * 30)
    stream.save(tmp_path / "stream")
    assert glnn.load_stream(tmp_path / "stream").push_many("acbacb").tolist() == stream.push_many("acbacb").tolist()
    frozen = glnn.ContextTree(learning="frozen", verbose=0).fit(TEXT)
    np.testing.assert_allclose(model.stream().push_many("acb" * 30), frozen.surprise("acb" * 30), rtol=1e-9)
