"""`glnn predict` and `glnn sample`: what the model says, in the form of its data."""

from __future__ import annotations

from pathlib import Path

import pytest

from glnn.cli.inputs import read
from glnn.cli.run_folder import open_model
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


def test_a_log_without_the_column_of_the_time_keeps_its_order(in_trained: Command, trained: Path) -> None:
    (trained / "imagined.csv").write_text(in_trained("sample", "orders", "--count", 4).out)
    done = in_trained("score", "orders", "imagined.csv")
    assert done.code == 0, done.err
    assert "in the order of the file; it has no 'at' to put them in order" in done.err
    # Who asks for the column is told that it is not there.
    done = in_trained("score", "orders", "imagined.csv", "--time", "at")
    assert (done.code, "no column 'at'" in done.err) == (2, True)


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


XES = "<log>{}</log>".format(
    "".join(
        f'<trace><string key="concept:name" value="t{k}"/>'
        + "".join(f'<event><string key="concept:name" value="{a}"/></event>' for a in ("in", "a &amp; b")[: 1 + k % 2])
        + "</trace>"
        for k in range(12)
    )
)
NOTES = [["|:", "A2", '"D7/c"', "B", ":|"], ["^c'3/2", "z", "|", "[CEG]", "(3", "d", "e", "f", ":|"]]
EVENTS = [(f"o{k}", step, at) for k in range(12) for at, step in enumerate(("in", "work", "out")[: 2 + k % 2])]
FILES = {
    "genes.fasta": "".join(f">g{k}\nACGT{'GATTACA' * (9 + k % 3)}\n" for k in range(12)),
    "tunes.abc": "".join(f"X:{k}\nK:G\n{' '.join(NOTES[k % 2])}\n\n" for k in range(12)),
    "log.xes": XES,
    "lists.jsonl": '["in", "work", "out"]\n["in", "out"]\n' * 8,
    "events.jsonl": "".join(f'{{"order": "{o}", "step": "{s}", "time": {t}}}\n' for o, s, t in EVENTS),
    "timed.csv": "order;step;when\n" + "".join(f"{o};{s};{t + 1:02}.01.2020 10:00\n" for o, s, t in EVENTS),
    "numbers.txt": "3 1 4\n2 7 1 8\n" * 8,
    "words.txt": "to be or not\nnot to be\n" * 8,
}


@pytest.mark.parametrize("name", FILES)
def test_a_sample_is_a_file_like_the_data(name: str, glnn: Command, tmp_path: Path) -> None:
    (tmp_path / name).write_text(FILES[name])
    how = ("--format", "lines", "--tokens", "words") if name == "words.txt" else ()
    assert glnn("train", name, "--model", "contexttree", "--depth", 4, "--run", "run", *how).code == 0
    made = glnn("sample", "run", "--count", 3, "--json").json["samples"]
    (tmp_path / "imagined").write_text(glnn("sample", "run", "--count", 3).out)
    model, reading = open_model(tmp_path / "run")
    # Read as the data were read, these are the very same symbols.
    found = read(tmp_path / "imagined", reading).content
    assert [list(item) for item in found] == [item.split() if name == "words.txt" else list(item) for item in made]
    assert glnn("score", "run", "imagined", "--json").json["bits"] == pytest.approx(model.bits(found))
