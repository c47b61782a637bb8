"""`glnn score`: the model's own bits, position by position, and the cases in the order of their surprise."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from glnn.cli.inputs import read
from glnn.estimators import load
from glnn.sequences import ReadOptions
from tests.cli.conftest import MORE, SMALL, Command


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


def test_cases_in_the_order_of_their_two_strangest_events(in_trained: Command, trained: Path) -> None:
    model = load(trained / "orders" / "model.safetensors")
    log = read(trained / "new.csv", ReadOptions(format="csv", case="order", activity="step", time="at")).content
    surprise = dict(zip(log.names, model.surprise(log), strict=True))
    done = in_trained("score", "orders", "new.csv", "--json")
    cases = done.json["cases"]
    assert [row["case"] for row in cases] == sorted(surprise, key=lambda name: -np.sort(surprise[name])[-2:].sum())
    for row in cases:
        own = surprise[row["case"]]
        assert row["bits"] == pytest.approx(own.sum(), rel=1e-12)
        assert row["events"] == len(own) == 4
        assert row["mean"] == pytest.approx(own.mean(), rel=1e-12)
        assert row["position"] == np.argmax(own) + 1
        assert row["strangest_bits"] == own.max()
        assert row["score"] == pytest.approx(np.sort(own)[-2:].sum(), rel=1e-12)
        before = list(log[log.names.index(row["case"])])[: row["position"] - 1]
        expected = model.predict_proba(before)[:-1]  # no escape is expected
        assert row["expected_probability"] == pytest.approx(expected.max(), rel=1e-9)
        assert row["expected"] in (model.alphabet_.symbols[int(np.argmax(expected))], "⟨end⟩")
    assert done.json["bits"] == pytest.approx(model.bits(log), rel=1e-12)
    lines = in_trained("score", "orders", "new.csv", "--per-symbol").out.splitlines()
    assert lines[0] == "case\tposition\tsymbol\tbits"
    assert lines[1].startswith('a\t0\t"order"\t')
    assert lines[4].startswith('a\t3\t"⟨end⟩"\t')


def test_equal_cases_are_one_line_and_what_was_expected_is_said(in_trained: Command, trained: Path) -> None:
    rows = "".join(f"{name},order,1\n{name},ship,2\n" for name in "cdefg")
    (trained / "many.csv").write_text(f"order,step,at\na,order,1\na,pay,2\na,ship,3\n{rows}x,Pay,1\nx,ship,2\n")
    done = in_trained("score", "orders", "many.csv", "--top", 2)
    assert "c and 4 like it" in done.out
    assert "Pay (1 times, near pay)" in done.out
    assert "1 less surprising case (" in done.out
    found = in_trained("score", "orders", "many.csv", "--json").json
    assert [row["variant"] for row in found["cases"]].count(found["cases"][-2]["variant"]) >= 1
    assert {row["case"] for row in found["cases"]} == set("acdefgx")
    assert len({row["variant"] for row in found["cases"] if row["case"] in "cdefg"}) == 1
    assert found["unknown"] == [{"symbol": "Pay", "count": 1, "nearest": ["pay"]}]


def test_a_threshold_with_its_false_alarm_rate(in_trained: Command, trained: Path) -> None:
    model = load(trained / "orders" / "model.safetensors")
    held = in_trained("score", "orders", "log.csv", "--json").json
    last = held["cases"]
    symbols = json.loads((trained / "orders" / "result.json").read_text())["held_out"]
    # Every case has three events and its end.
    names = [str(n) for n in range(1, 30)][-symbols // 4 :]
    highest = max(row["score"] for row in last if row["case"] in names)
    found = held["threshold"]
    assert (
        found["bits"] == pytest.approx(highest, rel=1e-12) and found["cases"] == symbols // 4 and found["found"] == 0.0
    )
    new = in_trained(
        "score", "orders", "new.csv", "--normal", "log.csv", "--alarms", 0.5, "--by", "total", "--json"
    ).json
    totals = np.sort(
        [bits.sum() for bits in model.surprise(read(trained / "log.csv", ReadOptions(format="csv")).content)]
    )
    assert new["threshold"]["bits"] == pytest.approx(totals[::-1][14], rel=1e-9)
    assert {row["case"]: row["alarm"] for row in new["cases"]} == {
        row["case"]: row["bits"] > new["threshold"]["bits"] for row in new["cases"]
    }
    assert "threshold" in in_trained("score", "orders", "new.csv").out
    assert in_trained("score", "orders/model.safetensors", "new.csv", "--json").json["threshold"] is None


def test_the_strangest_places_of_a_text(in_trained: Command) -> None:
    done = in_trained("score", "tunes", "more.txt", "--top", 3, "--json").json
    bits = [place["strangest_bits"] for place in done["places"]]
    assert len(bits) == 3 and bits == sorted(bits, reverse=True)
    assert all(place["strangest"] == MORE[place["position"]] for place in done["places"])
    assert "expected" in in_trained("score", "tunes", "more.txt", "--top", 2).out


@pytest.mark.parametrize(
    ("by", "key"), [("mean", "mean"), ("total", "bits"), ("peak", "strangest_bits"), ("two", "score")]
)
def test_ways_of_ranking(by: str, key: str, in_trained: Command, trained: Path) -> None:
    rows = "".join(f"long,{step},{k}\n" for k, step in enumerate(["order", "pay", "ship"] * 6))
    (trained / "mixed.csv").write_text(f"order,step,at\nodd,ship,1\n{rows}")
    cases = in_trained("score", "orders", "mixed.csv", "--by", by, "--json").json["cases"]
    assert [row[key] for row in cases] == sorted((row[key] for row in cases), reverse=True)
    if by == "total":
        assert [row["case"] for row in cases] == ["long", "odd"]


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
        (("orders", "new.csv", "--by", "name"), "rank cases by one of two, peak, mean, total"),
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


def test_the_table_says_what_the_numbers_say(in_trained: Command) -> None:
    found = in_trained("score", "orders", "new.csv", "--json").json
    table = in_trained("score", "orders", "new.csv").out
    rows = {row["case"]: row for row in found["cases"]}
    assert rows["b"]["alarm"] is True
    for name, row in rows.items():
        (line,) = (line for line in table.splitlines() if f" {name} " in line and " of 4 " in line)
        assert line.startswith(" ! ") == row["alarm"]
        assert f" {row['position']} of 4 " in line and f" {row['score']:.1f} " in line
    assert f"; {sum(row['alarm'] for row in rows.values())} of these 2 are" in table
    # Few cases are held out of 29: a rate of one in a hundred cannot be told from them.
    assert f"none of {found['threshold']['cases']} cases held out is above it (a rate of 0.01 needs more" in table
    # The alarm is about what cases are ranked by: no case is strange on average because of one event.
    by_mean = in_trained("score", "orders", "new.csv", "--by", "mean", "--json").json
    assert {row["case"]: row["alarm"] for row in by_mean["cases"]} == {"a": False, "b": True}
    # A case that scores as much as the bound is not above it.
    own = in_trained("score", "orders", "new.csv", "--normal", "new.csv", "--alarms", 0.4)
    assert "; 0 of these 2 are" in own.out and not any(line.startswith(" ! ") for line in own.out.splitlines())


def test_who_learned_from_all_says_so(in_trained: Command, trained: Path, files: Path) -> None:
    everything = (*SMALL, "--validation-fraction", 0, "--budget", "2 steps", "--run", files / "all")
    assert in_trained("train", "log.csv", "--model", "glnn", *everything).code == 0
    assert in_trained("score", files / "all", "new.csv", "--json").json["threshold"]["learned"] is True
    assert "29 cases that it learned from" in in_trained("score", files / "all", "new.csv").out
    normal = in_trained("score", files / "all", "new.csv", "--normal", "log.csv", "--json")
    assert normal.json["threshold"]["learned"] is False


def test_a_tree_is_asked_before_it_has_read_the_end(in_trained: Command, trained: Path, files: Path) -> None:
    assert in_trained("train", "log.csv", "--model", "contexttree", "--run", files / "tree").code == 0
    assert in_trained("score", files / "tree", "new.csv", "--json").json["threshold"]["learned"] is False
    assert "6 cases held out" in in_trained("score", files / "tree", "new.csv").out


def test_cases_with_different_unknown_events_are_different(in_trained: Command, trained: Path) -> None:
    rows = "".join(
        f"{name},order,1\n{name},{step},2\n" for name, step in zip("stuv", ("x", "y", "x", "z"), strict=True)
    )
    (trained / "odd.csv").write_text(f"order,step,at\n{rows}")
    cases = in_trained("score", "orders", "odd.csv", "--json").json["cases"]
    variant = {row["case"]: row["variant"] for row in cases}
    assert variant["s"] == variant["u"] and len(set(variant.values())) == 3


def test_strange_places_stand_apart(in_trained: Command, trained: Path) -> None:
    (trained / "wild.txt").write_text(MORE[:60] + "#?#?#?" + MORE[:60])
    places = in_trained("score", "tunes", "wild.txt", "--top", 4, "--json").json["places"]
    positions = sorted(place["position"] for place in places)
    assert len(positions) > 1 and min(np.diff(positions)) > 20
