"""`glnn compare`: every model on the same data, sorted, and one failure that does not take the others with it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from glnn.baselines.compressors import added_bits
from glnn.cli import fit_every_model
from glnn.cli.compare import _last_tenth, _symbols
from glnn.cli.inputs import Data, read
from glnn.estimators import GLNN, HMM, LSTM, ContextTree
from glnn.sequences import ReadOptions, Sequences
from tests.cli.conftest import MORE, TUNES, Command

SMALL = ("--units", 4, "--degree", 2, "--budget", "3 steps", "--seeds", 1)


def test_the_bits_are_those_of_each_model(glnn: Command, files: Path) -> None:
    done = glnn("compare", "tunes.txt", "--valid", "more.txt", *SMALL, "--json")
    assert done.code == 0
    rows = {row["model"]: row for row in done.json["rows"]}
    assert {"GLNN", "GNN", "RNN", "LSTM", "HMM", "ContextTree", "bzip2", "xz"} <= set(rows)
    assert [row["bits"] for row in done.json["rows"]] == sorted(row["bits"] for row in done.json["rows"])
    expected = GLNN(units=4, degree=2, budget="3 steps", random_state=0, unknown="escape", verbose=0).fit(TUNES)
    assert rows["GLNN"]["bits"] == expected.bits(MORE)
    assert rows["GLNN"]["parameters"] == expected.n_parameters_
    assert rows["GLNN"]["cpu_seconds"] > 0
    assert rows["GLNN"]["curve"][-1] == [rows["GLNN"]["cpu_seconds"], rows["GLNN"]["bits"]]
    # As it is used: after one text it learns on.
    tree = ContextTree(unknown="escape", verbose=0).fit(TUNES)
    assert tree.learning_ == "online" and rows["ContextTree"]["learns"]
    assert rows["ContextTree"]["bits"] == tree.bits(MORE)
    asked = ("--valid", "more.txt", "--models", "contexttree", "--learning", "frozen", "--json")
    (frozen,) = glnn("compare", "tunes.txt", *asked).json["rows"]
    assert frozen["bits"] == ContextTree(unknown="escape", learning="frozen", verbose=0).fit(TUNES).bits(MORE)
    assert not frozen["learns"] and frozen["bits"] != tree.bits(MORE)
    common = {"budget": "3 steps", "random_state": 0, "unknown": "escape", "verbose": 0}
    for name, model in (("HMM", HMM(units=4, degree=2, **common)), ("LSTM", LSTM(units=4, degree=2, **common))):
        assert rows[name]["bits"] == model.fit(TUNES).bits(MORE), name
    compressors = ["bzip2", "xz", "ppmd"]
    assert {row["model"] for row in rows.values() if row["group"] == "compressor"} == set(compressors)
    for name in compressors:
        assert rows[name]["bits"] == added_bits(TUNES, MORE, name)
    assert all(row["error"] is None for row in rows.values())
    assert all(row["bits_per_symbol"] == row["bits"] / len(MORE) for row in rows.values())
    assert done.json["symbols"] == len(MORE)


def test_random_models_are_trained_with_several_seeds_and_noise_is_told(glnn: Command, files: Path) -> None:
    more = MORE * 8
    (files / "long.txt").write_text(more)
    options = (*SMALL[:-1], 2, "--models", "glnn,contexttree,xz")
    done = glnn("compare", "tunes.txt", "--valid", "long.txt", *options, "--learning", "online", "--json")
    rows = {row["model"]: row for row in done.json["rows"]}
    network = {"units": 4, "degree": 2, "budget": "3 steps", "unknown": "escape", "verbose": 0}
    seeds = [GLNN(random_state=seed, **network).fit(TUNES) for seed in (0, 1)]
    assert rows["GLNN"]["seeds"] == [model.bits(more) for model in seeds]
    assert rows["GLNN"]["bits"] == pytest.approx(sum(rows["GLNN"]["seeds"]) / 2, rel=1e-12)
    assert [rows[name]["learns"] for name in ("GLNN", "ContextTree", "xz")] == [False, True, True]
    assert rows["ContextTree"]["told_apart"] is None and rows["ContextTree"]["over_best"] == 0.0
    tree = ContextTree(unknown="escape", learning="online", verbose=0).fit(TUNES)
    # By hand: on every stretch the mean of the seeds minus the tree.
    edges = np.linspace(0, len(more), min(40, len(more) // 50) + 1).astype(int)[:-1]
    units = [np.add.reduceat(model.surprise(more), edges) for model in (*seeds, tree)]
    apart = (units[0] + units[1]) / 2 - units[2]
    spread = np.std(rows["GLNN"]["seeds"], ddof=1)
    half = stats.t.ppf(0.975, len(apart) - 1) * np.sqrt(len(apart) * np.var(apart, ddof=1) + spread**2 / 2)
    low, high = rows["GLNN"]["interval"]
    assert (low + high) / 2 == pytest.approx(apart.sum(), rel=1e-9)
    assert (high - low) / 2 == pytest.approx(half, rel=0.02)
    assert rows["GLNN"]["told_apart"] == (apart.sum() > half)


def test_rows_appear_as_they_finish_and_the_table_is_sorted(glnn: Command, files: Path) -> None:
    done = glnn("compare", "tunes.txt", "--models", "xz,contexttree,bzip2,gnn", *SMALL)
    assert done.code == 0
    places = [done.err.index(f"{name}: ") for name in ("xz", "ContextTree", "bzip2", "GNN")]
    assert places == sorted(places)
    lines = [
        line for line in done.out.splitlines() if line.split()[:1] in (["xz"], ["ContextTree"], ["bzip2"], ["GNN"])
    ]
    assert len(lines) == 4
    bits = [float(re.split("learns on|frozen", line)[1].split()[0].replace(",", "")) for line in lines]
    assert bits == sorted(bits)
    assert f"bits for {len(TUNES) // 10} symbols" in done.out


def test_curves_grow_with_time_and_end_at_the_score(
    glnn: Command, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Every step is a moment then.
    monkeypatch.setattr(fit_every_model, "_FACTOR", 1.0)
    made = fit_every_model._Curve.__init__

    def early(self: fit_every_model._Curve, *arguments: object) -> None:
        made(self, *arguments)  # type: ignore[arg-type]
        self._next = 0.0

    monkeypatch.setattr(fit_every_model._Curve, "__init__", early)
    done = glnn("compare", "tunes.txt", "--valid", "more.txt", "--models", "glnn", *SMALL, "--json")
    (row,) = done.json["rows"]
    assert len(row["curve"]) == 4
    times = [time for time, _ in row["curve"]]
    assert times == sorted(times)
    one = GLNN(units=4, degree=2, budget="1 steps", random_state=0, unknown="escape", verbose=0).fit(TUNES)
    assert row["curve"][0][1] == one.bits(MORE)


def test_one_failure_does_not_stop_the_others(glnn: Command, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("out of luck")

    monkeypatch.setattr(GLNN, "fit", fail)
    done = glnn("compare", "tunes.txt", "--models", "glnn,bzip2", *SMALL, "--json")
    assert done.code == 0
    assert [(row["model"], row["error"]) for row in done.json["rows"]] == [("bzip2", None), ("GLNN", "out of luck")]
    assert done.json["rows"][1]["bits"] is None
    assert "GLNN failed: out of luck" in glnn("compare", "tunes.txt", "--models", "glnn,bzip2", *SMALL).err
    assert glnn("compare", "tunes.txt", "--models", "glnn", *SMALL).code == 2


def test_ctrl_c_leaves_the_table_of_what_was_done(glnn: Command, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from glnn.training.stochastic import StochasticTrainer

    step = StochasticTrainer.step

    def interrupted(self: StochasticTrainer, clock: object = None) -> object:
        if self.progress.step == 2 and len(self.data.codes) > 64:
            raise KeyboardInterrupt
        return step(self, clock)

    monkeypatch.setattr(StochasticTrainer, "step", interrupted)
    done = glnn("compare", "tunes.txt", "--models", "bzip2,glnn,gnn,xz", *SMALL, "--json")
    assert done.code == 130
    assert {row["model"] for row in done.json["rows"]} == {"bzip2", "GLNN"}
    assert "interrupted" in next(row["detail"] for row in done.json["rows"] if row["model"] == "GLNN")


def test_an_event_log_counts_the_ends(glnn: Command, files: Path) -> None:
    arguments = ("--case", "order", "--activity", "step", "--models", "contexttree,bzip2")
    done = glnn("compare", "log.csv", "--valid", "new.csv", *arguments, "--json")
    assert done.json["symbols"] == 6 + 2
    rows = {row["model"]: row["bits"] for row in done.json["rows"]}
    log, new = (
        read(files / name, ReadOptions(format="csv", case="order", activity="step")).content
        for name in ("log.csv", "new.csv")
    )
    assert rows["ContextTree"] == ContextTree(unknown="escape", verbose=0).fit(log).bits(new)
    one, other = ([token for case in data for token in (*case, "\0")] for data in (log, new))
    assert rows["bzip2"] == added_bits(one, other, "bzip2")


def test_compressors_cannot_leave_symbols_out(glnn: Command, files: Path) -> None:
    done = glnn("compare", "tunes.txt", "--models", "contexttree,bzip2", "--predict-after", "|", "--json")
    assert [row["model"] for row in done.json["rows"]] == ["ContextTree"]
    assert "compressors pay for every symbol" in done.err


def test_the_page(glnn: Command, files: Path) -> None:
    done = glnn("compare", "tunes.txt", "--models", "gnn,bzip2", *SMALL, "--page", "page.html")
    assert done.code == 0
    assert "page.html: open it in a browser" in done.out
    page = (files / "page.html").read_text()
    assert "Comparison on tunes.txt; GNN at work" in page
    assert "bzip2" in page
    again = glnn("compare", "tunes.txt", "--models", "bzip2", "--page", "page.html")
    assert (again.code, "exists already" in again.err) == (2, True)
    assert glnn("compare", "tunes.txt", "--models", "bzip2", "--page", "page.html", "--force").code == 0
    assert "Comparison on tunes.txt" in (files / "page.html").read_text()


def test_a_page_is_written_unless_it_is_not_wanted(glnn: Command, files: Path) -> None:
    def pages() -> set[str]:
        return {page.name for page in files.glob("*.html")}

    assert glnn("compare", "tunes.txt", "--models", "bzip2", "--no-page").code == 0
    assert glnn("compare", "tunes.txt", "--models", "bzip2", "--json").code == 0
    assert pages() == set()
    assert "tunes-comparison.html: open it" in glnn("compare", "tunes.txt", "--models", "bzip2").out
    assert "tunes-comparison-2.html: open it" in glnn("compare", "tunes.txt", "--models", "bzip2").out
    assert "tunes-comparison.html: open it" in glnn("compare", "tunes.txt", "--models", "bzip2", "--force").out
    assert pages() == {"tunes-comparison.html", "tunes-comparison-2.html"}


@pytest.mark.small
def test_wrong_input(glnn: Command, files: Path) -> None:
    for arguments, message in (
        (("--models", "glnn,bzip"), "--models glnn,bzip: bzip is unknown; choose from bzip2, xz"),
        (("--models", ","), "an empty name is unknown"),
        (("--budget", "soon"), "budget is 'soon'"),
        (("--page", "a.html", "--no-page"), "exclude each other"),
        (("--valid-mask", "more.txt"), "--valid-mask was given without --valid"),
        (("--units", "few"), "--units is 'few'"),
        (("--learning", "never"), "choose auto, frozen or online"),
    ):
        done = glnn("compare", "tunes.txt", *arguments)
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert message in done.err


@pytest.mark.small
def test_the_last_tenth(tmp_path: Path) -> None:
    train, valid = _last_tenth(Data("abcdefghijklmnopqrstuvw", np.arange(23) % 2 == 0, None, tmp_path))
    assert (train.content, valid.content) == ("abcdefghijklmnopqrstu", "vw")
    assert valid.mask is not None and valid.mask.tolist() == [False, True]
    assert train.mask is not None and len(train.mask) == 21
    cases = Sequences([["a", "b"], ["c"], ["d", "e", "f"]], ["x", "y", "z"])
    train, valid = _last_tenth(Data(cases, np.array([0, 0, 0, 1, 0, 0]) == 1, cases.names, tmp_path))
    assert [list(train.content), train.names] == [[["a", "b"], ["c"]], ("x", "y")]
    assert [list(valid.content), valid.names] == [[["d", "e", "f"]], ("z",)]
    assert valid.mask is not None and valid.mask.tolist() == [True, False, False]
    assert _symbols(valid) == 1
    with pytest.raises(ValueError, match="holds too little"):
        _last_tenth(Data("a", None, None, tmp_path))
    assert json.dumps(_symbols(Data(cases, None, None, tmp_path))) == "9"
