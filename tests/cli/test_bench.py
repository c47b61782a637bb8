"""`glnn bench`: every problem, every model and metric is timed, and the numbers it prints belong together."""

from __future__ import annotations

import pytest

from glnn.cli import bench
from glnn.sources import get
from tests.cli.conftest import Command

SMALL = tuple(problem._replace(size=1 if problem.source == "anbn" else 3) for problem in bench.PROBLEMS)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "PROBLEMS", SMALL)
    monkeypatch.setattr(bench, "COMMON", bench.COMMON._replace(size=4))


def test_what_is_timed(glnn: Command) -> None:
    done = glnn("bench", "--models", "glnn,RNN", "--metrics", "rbpm,fb", "--steps", 3, "--json", "--quiet")
    assert done.code == 0
    assert [row["problem"] for row in done.json["problems"]] == [problem.title for problem in SMALL]
    assert all((row["model"], row["metric"]) == ("glnn", "rbpm") for row in done.json["problems"])
    pairs = [(row["model"], row["metric"]) for row in done.json["grid"]]
    assert pairs == [("glnn", "rbpm"), ("glnn", "fb"), ("rnn", "rbpm"), ("rnn", "fb")]
    for row, problem in zip(done.json["problems"], SMALL, strict=True):
        assert row["symbols"] == len(get(problem.source).sample(problem.size, 0).text)
        assert row["symbols_per_second"] * row["milliseconds"] == pytest.approx(1e3 * row["symbols"])
        assert row["steps"] == 3
    assert (done.json["threads"], done.json["clock"]) == (1, "cpu")
    assert done.json["processor"] and done.json["numba"]


def test_the_readable_tables(glnn: Command) -> None:
    done = glnn("bench", "--models", "glnn", "--metrics", "rbpm", "--steps", 2)
    assert done.code == 0
    lines = done.out.splitlines()
    for problem in SMALL:
        assert any(line.strip().startswith(problem.title) and "," in line for line in lines)
    assert any(line.split()[:1] == ["rbpm"] for line in lines)


@pytest.mark.parametrize("option", ["--models", "--metrics"])
def test_an_unknown_name_is_told(glnn: Command, option: str) -> None:
    done = glnn("bench", option, "rbpm,glnn")
    assert done.code == 2
    assert "is unknown; choose from" in done.err
    assert glnn("bench", option, ",").code == 2
