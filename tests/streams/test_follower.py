"""A follower that was written down and taken up tells what the one that went on tells, and judges what it should."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glnn
from glnn import InputError
from glnn.streams.events import BrokenLine, Columns
from glnn.streams.follower import Follower, remembered
from glnn.streams.threshold import Threshold

RATE = 0.4
CASES = [["in", "work", "out"], ["in", "out"], ["in", "work", "work", "out"]] * 10


@pytest.fixture(scope="module", params=["frozen", "online"])
def learning(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def model() -> Any:
    return glnn.ContextTree(learning="frozen", verbose=0).fit(glnn.Sequences(CASES))


def lines(number: int, seed: int = 0) -> list[bytes]:
    """Rows of five cases side by side, some of them broken."""
    random = np.random.default_rng(seed)
    steps = ["in", "work", "out", "work"]
    cases, chosen = random.integers(0, [[5], [4]], (2, number)).tolist()
    rows = [f"{case},{steps[step]}".encode() for case, step in zip(cases, chosen, strict=True)]
    rows[7::40] = [b"broken"] * len(rows[7::40])
    return [b"case,step", *rows]


def told(follower: Follower, some: list[bytes]) -> list[Any]:
    found: list[Any] = []
    for line in some:
        try:
            found.extend(follower.read(line))
        except BrokenLine as why:
            found.append(str(why))
    return found


def begun(model: Any, learning: str, **options: Any) -> Follower:
    streams = model.streams(learning=learning, most=4)
    return Follower(streams, Columns("case", "step"), Threshold(rate=RATE), True, "out", **options)


@pytest.mark.parametrize("after", [None, "work"])
def test_it_is_taken_up_to_the_same_words(model: Any, learning: str, after: Hashable, tmp_path: Path) -> None:
    first, rows = begun(model, learning, after=after), lines(700)
    before = told(first, rows[:333])
    assert any(isinstance(one, tuple) for one in before) and any(isinstance(one, str) for one in before)
    first.streams.more = json.loads(json.dumps(first.memory()))
    first.streams.save(tmp_path / "state")
    streams = glnn.load_streams(tmp_path / "state")
    memory, threshold = streams.more, Threshold(rate=RATE)
    tally, counting, due, course, _ = remembered(memory, threshold)
    parser = Columns("case", "step", header=memory["parser"]["header"])
    again = Follower(streams, parser, threshold, counting, "out", tally, after, due, course)
    assert (again.tally, again.threshold.bits) == (first.tally, first.threshold.bits)
    assert told(again, rows[333:]) == told(first, rows[333:])
    assert again.memory() == first.memory()
    assert list(again.streams) == list(first.streams)


def test_the_tally_and_the_course_count_what_is_judged(model: Any) -> None:
    for after, judged in ((None, ["in", "work", "work", "out"]), ("work", ["out"])):
        follower = begun(model, "frozen", after=after)
        follower.threshold = Threshold(bits=0.0)
        found = told(follower, [b"case,step", b"a,in", b"a,work", b"b,work", b"b", b"a,out"])
        assert [one.symbol for one in found if isinstance(one, tuple)] == judged
        assert (follower.tally.events, follower.tally.broken, follower.tally.lines) == (len(judged), 1, 6)
        assert sum(count for count, _ in follower.course.stretches) == follower.tally.events
        assert sum(bits for _, bits in follower.course.stretches) == pytest.approx(follower.tally.bits)
        # "out" is the last activity of a case, which is then over.
        assert "a" not in follower.streams and "b" in follower.streams


def test_nothing_is_due_in_a_case_that_is_over_or_forgotten(model: Any) -> None:
    follower = begun(model, "frozen", after="out")
    follower.threshold = Threshold(bits=0.0)
    assert told(follower, [b"case,step", b"a,out", b"a,in"]) == []
    follower = begun(model, "frozen", after="work")
    told(follower, [b"case,step", *(f"{case},work".encode() for case in range(6))])
    assert sorted(follower.memory()["due"]) == ["2", "3", "4", "5"]


def test_an_unknown_symbol_is_the_strangest() -> None:
    model = glnn.ContextTree(learning="frozen", unknown="error", verbose=0).fit(glnn.Sequences(CASES))
    follower = begun(model, "frozen")
    (found,) = told(follower, [b"case,step", b"a,never"])
    assert found.bits == math.inf and found.expected[0].symbol == "in"
    assert follower.tally.bits == 0.0 and follower.tally.events == 1
    assert told(begun(model, "frozen", after="work"), [b"case,step", b"a,never"]) == []


@pytest.mark.parametrize(
    "change",
    [
        {"tally": None},
        {"tally": {"lines": -1, "bits": "0x0p+0"}},
        {"tally": {"lines": 1, "bits": "nan"}},
        {"tally": {"lines": 1, "bits": 3}},
        {"tally": {"rows": 1, "bits": "0x0p+0"}},
        {"counts": {"3": 2**70}},
        {"counts": {"3": "many"}},
        {"counts": []},
        {"position": [1, 2]},
        {"position": [1, 2, -3]},
        {"position": "here"},
        {"due": 3},
        {"due": [["a"]]},
        {"course": [1]},
    ],
)
def test_what_was_kept_and_altered_is_refused(model: Any, change: dict[str, Any]) -> None:
    follower = begun(model, "frozen")
    told(follower, lines(30))
    memory = {**json.loads(json.dumps(follower.memory())), "position": [1, 2, 3]}
    assert remembered(memory, Threshold(rate=RATE)).position == (1, 2, 3)
    with pytest.raises(InputError):
        remembered({**memory, **change}, Threshold(rate=RATE))
