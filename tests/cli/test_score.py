"""`glnn score`: the model's own bits, position by position, and the cases in the order of their surprise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from glnn.cli.inputs import read
from glnn.estimators import load
from glnn.sequences import ReadOptions
from tests.cli.conftest import MORE, Command


def test_the_bits_are_the_models(in_trained: Command, trained: Path) -> None:
    expected = load(trained / "tunes" / "model.safetensors").bits(MORE)
    done = in_trained("score", "tunes", "more.txt", "--json")
    assert done.code == 0
    assert done.json == {
        "file": "more.txt",
        "symbols": len(MORE),
        "bits": expected,
        "bits_per_symbol": expected / len(MORE),
    }
    done = in_trained("score", "tunes/model.safetensors", "more.txt")
    assert f"{expected:,.1f}\n" in done.out
    assert f"{expected / len(MORE):.4f}\n" in done.out


def test_symbol_by_symbol(in_trained: Command, trained: Path) -> None:
    expected = load(trained / "tunes" / "model.safetensors").surprise(MORE)
    lines = in_trained("score", "tunes", "more.txt", "--per-symbol").out.splitlines()
    assert lines[0] == "position\tsymbol\tbits"
    assert [line.split("\t")[:2] for line in lines[1:4]] == [[str(k), f'"{MORE[k]}"'] for k in range(3)]
    assert [float(line.split("\t")[2]) for line in lines[1:]] == pytest.approx(expected.tolist(), rel=1e-5)
    (found,) = in_trained("score", "tunes", "more.txt", "--per-symbol", "--json").json["per_symbol"]
    assert found == {"symbols": list(MORE), "bits": expected.tolist()}


def test_symbols_that_are_new_keep_their_names(in_trained: Command, trained: Path) -> None:
    (trained / "odd.txt").write_text("c4\tz\n")
    model = load(trained / "tunes" / "model.safetensors")
    done = in_trained("score", "tunes", "odd.txt", "--per-symbol", "--json")
    assert done.json["bits"] == model.bits("c4\tz\n")
    assert done.json["per_symbol"][0]["symbols"] == ["c", "4", "\t", "z", "\n"]


def test_cases_in_the_order_of_their_surprise(in_trained: Command, trained: Path) -> None:
    model = load(trained / "orders" / "model.safetensors")
    log = read(trained / "new.csv", ReadOptions(format="csv", case="order", activity="step", time="at")).content
    surprise = dict(zip(log.names, model.surprise(log), strict=True))
    done = in_trained("score", "orders", "new.csv", "--json")
    cases = done.json["cases"]
    assert [row["case"] for row in cases] == ["b", "a"]
    for row in cases:
        own = surprise[row["case"]]
        assert row["bits"] == pytest.approx(own.sum(), rel=1e-12)
        assert row["events"] == len(own) == 4
        assert row["mean"] == pytest.approx(own.mean(), rel=1e-12)
        assert row["position"] == np.argmax(own) + 1
        assert row["strangest_bits"] == own.max()
    assert done.json["bits"] == pytest.approx(model.bits(log), rel=1e-12)
    shown = in_trained("score", "orders", "new.csv", "--top", 1).out
    assert [line.split()[0] for line in shown.splitlines()[6:-1] if line.strip()] == ["b"]
    assert "and 1 less surprising cases" in shown
    lines = in_trained("score", "orders", "new.csv", "--per-symbol").out.splitlines()
    assert lines[0] == "case\tposition\tsymbol\tbits"
    assert lines[1].startswith('a\t0\t"order"\t')
    assert lines[4].startswith("a\t3\tnull\t")


@pytest.mark.parametrize(("by", "key"), [("mean", "mean"), ("total", "bits"), ("peak", "strangest_bits")])
def test_ways_of_ranking(by: str, key: str, in_trained: Command, trained: Path) -> None:
    rows = "".join(f"long,{step},{k}\n" for k, step in enumerate(["order", "pay", "ship"] * 6))
    (trained / "mixed.csv").write_text(f"order,step,at\nodd,ship,1\n{rows}")
    cases = in_trained("score", "orders", "mixed.csv", "--by", by, "--json").json["cases"]
    assert [row[key] for row in cases] == sorted((row[key] for row in cases), reverse=True)
    assert [row["case"] for row in cases] == (
        ["long", "odd"] if by == "total" else [cases[0]["case"], cases[1]["case"]]
    )


def test_only_what_is_to_be_predicted(in_trained: Command, trained: Path) -> None:
    model = load(trained / "tunes" / "model.safetensors")
    mask = np.array([False, *(before == "|" for before in MORE[:-1])])
    done = in_trained("score", "tunes", "more.txt", "--predict-after", "|", "--json")
    assert done.json["bits"] == model.bits(MORE, mask)
    assert done.json["symbols"] == mask.sum()
    (trained / "mask.txt").write_text("".join("01"[int(one)] for one in mask))
    assert in_trained("score", "tunes", "more.txt", "--mask", "mask.txt", "--json").json == done.json


def test_wrong_input(in_trained: Command, trained: Path) -> None:
    for arguments, message in (
        (("gone", "more.txt"), "gone: No such file"),
        (("more.txt", "more.txt"), "is not a model file"),
        (("tunes", "gone.txt"), "gone.txt: No such file"),
        (("orders", "new.csv", "--by", "name"), "rank cases by one of mean, total, peak"),
        (("orders", "tunes.txt"), "no column 'order'"),
    ):
        done = in_trained("score", *arguments)
        assert (done.code, done.err.count("\n"), done.out) == (2, 1, "")
        assert message in done.err
    (trained / "empty").mkdir()
    try:
        assert "is not the folder of a run" in in_trained("score", "empty", "more.txt").err
        (trained / "empty" / "config.json").write_bytes((trained / "tunes" / "config.json").read_bytes())
        assert "holds no model yet" in in_trained("score", "empty", "more.txt").err
    finally:
        (trained / "empty" / "config.json").unlink()
        (trained / "empty").rmdir()
