"""`glnn follow` tells what surprises, whatever happens to the log or to the process, and goes on where it was."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from glnn.cli.inputs import read
from glnn.estimators import load
from glnn.estimators.streaming import load_streams
from glnn.sequences import ReadOptions
from tests.cli.conftest import MORE, NEW_LOG, Command, Done, process

LOG = ReadOptions(format="csv", case="order", activity="step", time="at")


def told(done: Done) -> list[dict]:
    assert done.code == 0, done.err
    return [json.loads(line) for line in done.out.splitlines()]


def test_events_of_a_log_with_what_was_expected(in_trained: Command, trained: Path) -> None:
    model = load(trained / "orders" / "model.safetensors")
    cases = read(trained / "new.csv", LOG).content
    own = dict(zip(cases.names, model.surprise(cases), strict=True))
    found = told(in_trained("follow", "orders", "new.csv", "--once", "--threshold", "0", "--json"))
    # No case is told to be over, so no end is counted.
    assert [one["line"] for one in found] == [2, 3, 4, 5, 6, 7]
    np.testing.assert_allclose([one["bits"] for one in found], [*own["a"][:3], *own["b"][:3]], rtol=1e-9)
    first = model.predict_proba()
    assert found[3]["case"] == "b" and found[3]["symbol"] == "ship"
    assert found[3]["expected"][0]["symbol"] == model.alphabet_.symbols[first.argmax()] == "order"
    assert found[3]["expected"][0]["probability"] == pytest.approx(first.max())
    done = in_trained("follow", "orders", "new.csv", "--once", "--threshold", "0", "--state", "other.state")
    assert f"line 5: case b: expected order ({first.max():.2f}), got ship ({own['b'][0]:.1f} bits)" in done.out


def test_it_goes_on_where_it_was(in_trained: Command, trained: Path) -> None:
    log, options = trained / "growing.csv", ("--once", "--threshold", "0", "--json", "--state", "s")
    whole = told(in_trained("follow", "orders", "new.csv", "--once", "--threshold", "0", "--json", "--state", "w"))
    lines = NEW_LOG.splitlines(keepends=True)
    log.write_text("".join(lines[:3]))
    found = told(in_trained("follow", "orders", "growing.csv", *options))
    log.write_text("".join(lines))
    assert found + told(in_trained("follow", "orders", "growing.csv", *options)) == whole
    assert told(in_trained("follow", "orders", "growing.csv", *options)) == []


def test_a_text_costs_what_the_model_says(in_trained: Command, trained: Path) -> None:
    model = load(trained / "tunes" / "model.safetensors")
    found = told(in_trained("follow", "tunes", "more.txt", "--once", "--threshold", "0", "--json"))
    np.testing.assert_allclose([one["bits"] for one in found], model.surprise(MORE), rtol=1e-9)


def test_a_rate_of_false_alarms_is_kept_on_normal_events(in_trained: Command, trained: Path) -> None:
    model = load(trained / "tunes" / "model.safetensors")
    bits = model.surprise(MORE)
    found = told(in_trained("follow", "tunes", "more.txt", "--once", "--false-alarms", "0.05", "--json"))
    # The validation data of the run are the very file, so the rate holds exactly, in bins of 1/8 bit.
    bound = next(k / 8 for k in range(200) if np.mean(bits > k / 8) <= 0.05)
    assert len(found) == np.sum(bits > bound) > 0
    same = in_trained("follow", "tunes", "more.txt", "--once", "--false-alarms", "0.05", "--json",
                      "--normal", "more.txt", "--state", "s")  # fmt: skip
    assert told(same) == found


def test_too_few_normal_events_are_told(in_trained: Command) -> None:
    done = in_trained("follow", "orders", "new.csv", "--once", "--false-alarms", "0.0001")
    assert done.code == 0 and done.out == "" and "too few for the rate 0.0001" in done.err


def test_broken_lines_are_told_and_counted(in_trained: Command, trained: Path) -> None:
    content = NEW_LOG.replace("a,pay,2,x", "a,pay").encode() + b"c,\xff,1,x\n"
    (trained / "broken.csv").write_bytes(content)
    done = in_trained("follow", "orders", "broken.csv", "--once", "--threshold", "0", "--json")
    assert [one["line"] for one in told(done)] == [2, 4, 5, 6, 7]
    assert "line 3 was skipped: 2 fields where the header has 4" in done.err
    assert "line 8 was skipped: not UTF-8" in done.err and "2 broken lines" in done.err


def test_what_is_learned_is_learned_for_what_comes(glnn: Command, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("abcabc" * 50)
    (tmp_path / "new").write_text("acbacb" * 100)
    assert glnn("train", "text", "--model", "contexttree", "--run", "run", "--quiet").code == 0
    common = ("follow", "run", "new", "--once", "--threshold", "1", "--json")
    frozen = told(glnn(*common, "--state", "frozen"))
    online = told(glnn(*common, "--learn", "--state", "online"))
    assert len(online) < len(frozen) / 3
    done = glnn(*common, "--state", "online")
    assert done.code == 2 and "kept with --learn" in done.err


def test_cases_are_learned_when_they_are_over(glnn: Command, tmp_path: Path) -> None:
    """And who says with --learn, but not with what a case ends, is told that hardly anything will be learned."""

    def log(name: str, cases: list[list[str]]) -> None:
        rows = [f"{case},{step},{at}" for case, steps in enumerate(cases) for at, step in enumerate(steps)]
        (tmp_path / name).write_text("\n".join(["order,step,at", *rows]) + "\n")

    log("old.csv", [["order", "pay", "ship"]] * 40)
    log("new.csv", [["order", "ship", "pay"]] * 40)
    columns = ("--case", "order", "--activity", "step", "--time", "at")
    assert glnn("train", "old.csv", *columns, "--model", "contexttree", "--run", "run", "--quiet").code == 0
    common = ("follow", "run", "new.csv", "--once", "--threshold", "3", "--json")
    frozen = told(glnn(*common, "--state", "frozen"))
    online = told(glnn(*common, "--state", "online", "--learn", "--last", "pay"))
    assert len(frozen) >= 40 and len(online) < len(frozen) / 3
    done = glnn(*common, "--state", "endless", "--learn")
    assert told(done) == frozen and "--last ACTIVITY" in done.err
    done = glnn(*common, "--state", "wrong", "--learn", "--last", "pya")
    assert done.code == 2 and "--last is 'pya', which is not a symbol of the model" in done.err


def test_a_state_of_another_model_is_refused(in_trained: Command, trained: Path) -> None:
    assert in_trained("follow", "tunes", "more.txt", "--once", "--threshold", "9", "--state", "s").code == 0
    done = in_trained("follow", "orders", "new.csv", "--once", "--threshold", "9", "--state", "s")
    assert done.code == 2 and "kept for another model" in done.err


def _waiting(path: Path, lines: int) -> None:
    """Wait until a follower has written that it read so many lines."""
    for _ in range(600):
        if path.exists() and load_streams(path).more["tally"]["lines"] >= lines:
            return
        time.sleep(0.1)
    raise AssertionError("nothing was written")


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_process_that_ended_goes_on_to_the_same_output(how: int, in_trained: Command, trained: Path) -> None:
    lines = NEW_LOG.splitlines(keepends=True)
    (trained / "live.csv").write_text("".join(lines[:4]))
    options = ("follow", "orders", "live.csv", "--threshold", "0", "--json", "--state", "live", "--save-every", "0")
    running = process(*options, cwd=trained)
    _waiting(trained / "live", 4)
    running.send_signal(how)
    out, err = running.communicate(timeout=60)
    if how == signal.SIGTERM:
        assert running.returncode == 0, err
    (trained / "live.csv").write_text("".join(lines))
    rest = in_trained(*options, "--once")
    whole = in_trained("follow", "orders", "new.csv", "--once", "--threshold", "0", "--json", "--state", "whole")
    assert out.splitlines() + rest.out.splitlines() == whole.out.splitlines()


@pytest.fixture
def after(glnn: Command, tmp_path: Path) -> Command:
    """A run that predicts what comes after "=", and a text to follow in which something else comes once."""
    (tmp_path / "text").write_text("a=1;b=2;" * 60)
    (tmp_path / "new").write_text("a=1;b=2;\nb=1;a=1;\n")
    model = ("--model", "contexttree", "--unknown", "escape")
    assert glnn("train", "text", *model, "--run", "run", "--predict-after", "=", "--quiet").code == 0
    return glnn


def test_only_what_is_predicted_is_judged(after: Command, tmp_path: Path) -> None:
    found = told(after("follow", "run", "new", "--once", "--threshold", "0", "--json"))
    assert [one["symbol"] for one in found] == ["1", "2", "1", "1"]
    assert max(found, key=lambda one: one["bits"])["line"] == 2
    assert load_streams(tmp_path / "run" / "follow-new.state").more["tally"]["events"] == 4
    # Anything is judged of a model that is not told so.
    assert after("train", "text", "--model", "contexttree", "--unknown", "escape", "--run", "all", "--quiet").code == 0
    assert len(told(after("follow", "all", "new", "--once", "--threshold", "0", "--json"))) == 18
    some = told(after("follow", "all", "new", "--once", "--threshold", "0", "--json", "--predict-after", ";",
                      "--state", "s"))  # fmt: skip
    assert [one["symbol"] for one in some] == ["b", "\n", "a", "\n"]
    done = after("follow", "all", "new", "--once", "--predict-after", "?", "--state", "t")
    assert done.code == 2 and "'?'" in done.err


def test_what_is_due_is_remembered_between_two_starts(after: Command, tmp_path: Path) -> None:
    (tmp_path / "cut").write_text("a=1;b=\n")
    options = ("follow", "run", "cut", "--once", "--threshold", "0", "--json")
    first = told(after(*options))
    (tmp_path / "cut").write_text("a=1;b=\n2;a=2;\n")
    assert [one["symbol"] for one in first + told(after(*options))] == ["1", "\n", "2"]


def test_the_rate_of_false_alarms_is_that_of_what_is_predicted(after: Command, tmp_path: Path) -> None:
    """Positions that are not predicted cost nothing: counted as normal events they would hide the others."""
    (tmp_path / "normal").write_text("a=1;b=2;" * 5 + "a=2;" * 5)
    found = told(after("follow", "run", "normal", "--once", "--false-alarms", "0.34", "--normal", "normal", "--json"))
    assert found == [] or len(found) <= 5
    assert told(after("follow", "run", "new", "--once", "--false-alarms", "0.3", "--normal", "normal", "--json",
                      "--state", "s")) != []  # fmt: skip


def test_a_mask_is_refused_for_what_has_none(glnn: Command, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("a=1;b=2;" * 60)
    (tmp_path / "mask").write_text("0010" * 120)
    run = ("train", "text", "--model", "contexttree", "--run", "run", "--mask", "mask", "--quiet")
    assert glnn(*run).code == 0
    done = glnn("follow", "run", "text", "--once", "--threshold", "1")
    assert done.code == 2 and "--predict-after" in done.err
    assert glnn("follow", "run", "text", "--once", "--threshold", "1", "--predict-after", "=").code == 0


def test_the_page_shows_how_the_bits_of_what_was_followed_went(in_trained: Command, trained: Path) -> None:
    (trained / "drifting.txt").write_text(MORE * 4)
    assert in_trained("follow", "tunes", "drifting.txt", "--once", "--threshold", "99", "--state", "d").code == 0
    assert in_trained("report", "tunes", "--followed", "d", "--out", "d.html").code == 0
    assert 'id="followed-chart"' in (trained / "d.html").read_text()
    assert in_trained("follow", "orders", "new.csv", "--once", "--threshold", "9", "--state", "few").code == 0
    done = in_trained("report", "orders", "--followed", "few", "--out", "few.html")
    assert done.code == 2 and "too few" in done.err
