"""What a model has read it knows by heart: pages and thresholds take the end as it was before that was read."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glnn as package
from glnn.cli.alarms import event_bits, held_out_bits, normal_scores, scores_of
from glnn.cli.held_out import unread_end
from glnn.cli.run_folder import RunFolder
from glnn.estimators import load
from glnn.predictors.frozen_trial import FrozenTrial
from glnn.predictors.mixture_trial import Trial
from glnn.sequences import Reader
from glnn.sequences.alphabet import END
from tests.cli.conftest import Command

LETTERS = "abcdefgh"
# Nobody can foresee these: 3 bits each, unless they are known.
NOISE = "".join(random.Random(0).choices(LETTERS, k=4000))
CASES = [random.Random(k).choices(LETTERS, k=9) for k in range(100)]


def per_symbol(page: Path) -> float:
    found = re.search(r"bits per symbol</dt><dd>([\d.]+)", page.read_text())
    assert found is not None
    return float(found.group(1))


@pytest.fixture
def runs(glnn: Command, tmp_path: Path) -> Path:
    (tmp_path / "noise.txt").write_text(NOISE)
    rows = [f"{k},{event},{at}" for k, case in enumerate(CASES) for at, event in enumerate(case)]
    (tmp_path / "log.csv").write_text("\n".join(["case,step,at", *rows]) + "\n")
    quick = ("--networks", "0", "--quiet")
    assert glnn("train", "noise.txt", "--run", "noise", *quick).code == 0
    columns = ("--case", "case", "--activity", "step", "--time", "at")
    assert glnn("train", "log.csv", *columns, "--run", "log", *quick).code == 0
    return tmp_path


def test_a_page_shows_what_the_end_cost_before_it_was_read(runs: Path, glnn: Command) -> None:
    model = load(runs / "noise" / "model.safetensors")
    assert model.bits(NOISE) < 0.5 * len(NOISE)  # by heart
    assert glnn("report", "noise").code == 0
    assert per_symbol(runs / "noise" / "report.html") > 2.9
    assert "the last 800 of 4,000 symbols, by the same model" in (runs / "noise" / "report.html").read_text()
    assert glnn("report", "log").code == 0
    # 3 bits an event, and the ends that all come after nine.
    assert per_symbol(runs / "log" / "report.html") > 2.6
    assert "the last 20 of 100 sequences, by the same model" in (runs / "log" / "report.html").read_text()


def test_other_data_are_scored_by_the_model_itself(runs: Path, glnn: Command) -> None:
    (runs / "same.txt").write_text(NOISE)
    assert glnn("report", "noise", "--data", "same.txt", "--out", "same.html").code == 0
    assert per_symbol(runs / "same.html") < 0.5
    assert "The model has learned these data" not in (runs / "same.html").read_text()


def test_a_network_says_that_the_data_are_its_own(in_trained: Command, trained: Path) -> None:
    assert in_trained("report", "orders", "--out", "own.html").code == 0
    assert "These are the data that the model was trained on" in (trained / "own.html").read_text()


def test_thresholds_follow_from_what_was_not_read(runs: Path) -> None:
    model = load(runs / "log" / "model.safetensors")
    data = RunFolder(runs / "log").config().data("data")
    assert data is not None
    found = unread_end(model, data)
    assert found is not None
    end = replace(data, content=found[1], mask=None)
    bits = held_out_bits(model, runs / "log")
    assert bits is not None and bits.size == 20 * 10
    assert bits.mean() > 2.6
    # The model itself has read these cases, and knows them better.
    assert bits.sum() > event_bits(model, end).sum() + 1.0
    normal = normal_scores(model, runs / "log", "mean")
    assert normal is not None
    scores, learned = normal
    assert len(scores) == 20 and not learned
    assert scores.mean() > scores_of(model, end, "mean").mean() + 0.01


@pytest.mark.parametrize("name", ["ContextTree", "NGram", "Mixture"])
def test_it_is_the_model_that_has_read_the_rest(name: str) -> None:
    cases = package.Sequences(CASES)
    options: dict[str, Any] = {"networks": 0} if name == "Mixture" else {}
    model = getattr(package, name)(verbose=0, **options).fit(cases)
    data = Reader(model.alphabet_).read(cases).encoded
    judge, symbols = model.before_the_end(data)
    assert symbols == 20 * 10
    if name != "Mixture":  # a mixture chooses shares by data of which it has other ones here
        again = getattr(package, name)(verbose=0).fit(package.Sequences(CASES[:80]))
        late = package.Sequences(CASES[80:])
        np.testing.assert_allclose(judge.bits(late), again.bits(late), rtol=1e-3)
    assert model.bits(package.Sequences(CASES[80:])) < judge.bits(package.Sequences(CASES[80:]))


@pytest.mark.parametrize("several", [False, True])
def test_networks_that_may_know_the_end_are_left_out(several: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for trial in (Trial, FrozenTrial):
        monkeypatch.setattr(trial, "worth", lambda *_: True)
    monkeypatch.setattr("glnn.estimators.mixture._with_a_share", lambda *both: both)
    given: Any = package.Sequences([list("aabbccdd")] * 60) if several else "aabbccdd" * 200
    model = package.Mixture(networks=1, budget="3 steps", random_state=0, verbose=0).fit(given)
    assert len(model.networks_) == 1
    judge, _ = model.before_the_end(Reader(model.alphabet_).read(given).encoded)  # type: ignore[misc]
    assert judge.networks_ == () and not [name for name in judge.shares_ if name.startswith("network")]
    assert sum(judge.shares_.values()) == pytest.approx(1.0)
    assert judge.bits(given) < 3.0 * len("aabbccdd" * 200)


def test_too_little_data_has_no_end() -> None:
    model = package.NGram(verbose=0).fit("ab")
    masked = Reader(model.alphabet_).read("abab", [False, False, False, True])
    assert model.before_the_end(masked.encoded) is None


def test_the_last_positions_of_a_reading() -> None:
    model = package.NGram(verbose=0, unknown="escape").fit(package.Sequences([list("abc")] * 5))
    whole = Reader(model.alphabet_).read(
        package.Sequences([list("axb"), list("ca"), list("yb")], names=["1", "2", "3"])
    )
    end = whole.last(5)
    assert end.symbols() == ["a", END, "y", "b", END]
    assert (end.names, end.outside, end.encoded.starts.tolist()) == (("2", "3"), ("y",), [0, 2, 5])
    np.testing.assert_array_equal(end.escaped, whole.escaped[-5:])
