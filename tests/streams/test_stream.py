"""A stream tells of each symbol what `surprise` tells of the whole, and goes on elsewhere to the same bits."""

from __future__ import annotations

import numpy as np
import pytest

import glnn
from glnn import InputError
from glnn.sequences.special import END
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
