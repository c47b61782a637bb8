"""`glnn predict` and `glnn sample`: what the model says, in the form of its data."""

from __future__ import annotations

from pathlib import Path

import pytest

from glnn.estimators import load
from tests.cli.conftest import TUNES, Command


def test_the_most_likely_symbols(in_trained: Command, trained: Path) -> None:
    model = load(trained / "tunes" / "model.safetensors")
    expected = model.predict_proba("c4 c")
    done = in_trained("predict", "tunes", "--prefix", "c4 c", "--top", 3, "--json")
    assert done.json["prefix"] == ["c4 c"]
    found = done.json["next"]
    assert len(found) == 3
    for row in found:
        assert row["probability"] == expected[model.alphabet_.symbols.index(row["symbol"])]
    assert found[0]["probability"] == expected.max()
    assert [row["probability"] for row in found] == sorted((row["probability"] for row in found), reverse=True)
    shown = in_trained("predict", "tunes", "--prefix", "c4 c", "--top", 3).out
    assert f"{expected.max():.4f}" in shown
    at_start = in_trained("predict", "tunes", "--top", 99, "--json").json["next"]
    assert len(at_start) == len(model.alphabet_)
    assert sum(row["probability"] for row in at_start) == pytest.approx(1.0)
    assert {"⏎", "·"} <= {row["name"] for row in at_start}


def test_events_one_by_one(in_trained: Command, trained: Path) -> None:
    model = load(trained / "orders" / "model.safetensors")
    done = in_trained("predict", "orders", "--prefix", "order", "--prefix", "pay", "--top", 9, "--json")
    expected = model.predict_proba(["order", "pay"])
    assert [row["probability"] for row in done.json["next"]] == sorted(expected.tolist(), reverse=True)
    assert "⟨end⟩" in {row["name"] for row in done.json["next"]}
    together = in_trained("predict", "orders", "--prefix", "order pay", "--top", 9, "--json")
    assert together.json["next"] == done.json["next"]
    empty, start = (in_trained("predict", "orders", *more, "--json").json["next"] for more in (("--prefix", ""), ()))
    assert empty == start
    done = in_trained("predict", "orders", "--prefix", "order nothing")
    assert (done.code, "'order nothing'" in done.err) == (2, True)
    done = in_trained("predict", "tunes", "--prefix", "c", "--prefix", "d")
    assert (done.code, "--prefix was given 2 times" in done.err) == (2, True)


def test_a_text_goes_on(in_trained: Command, trained: Path) -> None:
    model = load(trained / "tunes" / "model.safetensors")
    expected = model.sample(40, prefix="c4 ", temperature=0.5, random_state=7)
    arguments = ("sample", "tunes", "-n", 40, "--prefix", "c4 ", "--temperature", 0.5, "--seed", 7)
    assert in_trained(*arguments).out.rstrip("\n") == expected.rstrip("\n")
    done = in_trained(*arguments, "--count", 2, "--json")
    assert done.json["samples"] == model.sample(40, prefix="c4 ", temperature=0.5, random_state=7, count=2)
    assert len(in_trained("sample", "tunes").out.rstrip("\n")) >= 199
    assert set(in_trained("sample", "tunes").out) <= set(TUNES)
    assert in_trained("sample", "tunes", "-n", 0).out == "\n"


def test_an_event_log_is_written_as_one(in_trained: Command, trained: Path) -> None:
    model = load(trained / "orders" / "model.safetensors")
    expected = model.sample(random_state=0, count=4)
    done = in_trained("sample", "orders", "--count", 4)
    lines = [line.split(",") for line in done.out.splitlines()]
    assert lines[0] == ["order", "step"]
    assert lines[1:] == [[str(k), event] for k, events in enumerate(expected, start=1) for event in events]
    (trained / "imagined.csv").write_text(done.out)
    assert (
        in_trained("score", "orders/model.safetensors", "imagined.csv", "--case", "order", "--activity", "step").code
        == 0
    )


def test_bytes_come_as_they_are(glnn: Command, files: Path) -> None:
    (files / "data").write_bytes(bytes(range(40)) * 4)
    arguments = ("--tokens", "bytes", "--units", 2, "--degree", 1, "--budget", "2 steps")
    assert glnn("train", "data", *arguments).code == 0
    model = load(files / "data-glnn" / "model.safetensors")
    expected = model.sample(60, random_state=0)
    assert glnn("sample", "data-glnn", "-n", 60).out.encode() == expected
    assert glnn("sample", "data-glnn", "-n", 60, "--json").json["samples"] == [expected.hex()]
    after = model.predict_proba(b"\x01\x02").max()
    assert glnn("predict", "data-glnn", "--prefix", "\x01\x02", "--json").json["next"][0]["probability"] == after


def test_wrong_input(in_trained: Command) -> None:
    for arguments in (("--temperature", "-1"), ("-n", "-1"), ("--count", "0")):
        assert in_trained("sample", "tunes", *arguments).code == 2
    assert "not in the alphabet" not in in_trained("predict", "tunes", "--prefix", "?").err
