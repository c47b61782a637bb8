"""`glnn train`: what it learns, what it leaves in the folder of the run, and what it refuses."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

import glnn as package
from glnn.cli import fit_into_folder
from glnn.estimators import GLNN, HMM, ContextTree, load
from glnn.storage.checkpoint import read_checkpoint
from tests.cli.conftest import LOG, MORE, SMALL, TUNES, Command

STEPS = ("--budget", "4 steps")


def test_the_model_is_that_of_the_estimator(glnn: Command, files: Path) -> None:
    done = glnn("train", "tunes.txt", "--valid", "more.txt", *SMALL, *STEPS, "--seed", 3, "--run", "run", "--json")
    assert done.code == 0
    assert done.err == ""
    options = {"recipe": "paper", "units": 4, "degree": 2, "restarts": 1, "budget": "4 steps", "random_state": 3}
    expected = GLNN(**options, unknown="escape", verbose=0).fit(TUNES, MORE)
    found = load(files / "run" / "model.safetensors")
    assert isinstance(found, GLNN)
    for part in ("w", "theta", "V0"):
        np.testing.assert_array_equal(getattr(found.params_, part), getattr(expected.params_, part))
    result = done.json
    assert result["valid_bits"] == expected.bits(MORE)
    assert result["validation_bits"] == expected.validation_bits_
    assert result["valid_symbols"] == len(MORE)
    assert (result["steps"], result["stopped"], result["units"], result["seed"]) == (4, "budget", 4, 3)
    assert result["counts"] == {"train": len(TUNES), "validation": len(MORE)}
    assert result["cpu_seconds"] > 0
    assert json.loads((files / "run" / "result.json").read_text()) == result


def test_validation_data_that_were_learned_too_are_told_as_they_were_before(glnn: Command, files: Path) -> None:
    options = ("--model", "glnn", "--units", 4, "--degree", 2, "--restarts", 1, "--budget", "0.3s", "--run", "run")
    result = glnn("train", "tunes.txt", "--valid", "more.txt", *options, "--seed", 3, "--json").json
    assert result["valid_learned"] is True
    assert result["valid_bits"] == pytest.approx(result["combined_bits"][-1] * len(MORE))
    assert result["valid_bits"] != load(files / "run" / "model.safetensors").bits(MORE)


def test_members_are_told_one_by_one(glnn: Command, files: Path) -> None:
    options = ("--members", 2, "--calibration", "--start", "typical")
    done = glnn("train", "tunes.txt", "--model", "glnn", *SMALL, *STEPS, *options, "--run", "run", "--json")
    assert done.code == 0
    result, model = done.json, load(files / "run" / "model.safetensors")
    assert [member["steps"] for member in result["members"]] == [2, 2] and result["starts"] == 2
    assert result["weights"]["at"] == model.weights_.weights.tolist()
    assert result["combined_bits"] == model.combined_bits_ and len(result["starts_typical"]) == 2
    assert glnn("train", "tunes.txt", *SMALL, *STEPS, "--members", 0, "--run", "other").code != 0


def test_everything_that_is_needed_to_repeat_it_is_written_down(glnn: Command, files: Path) -> None:
    (files / "mask.txt").write_text("01" * (len(TUNES) // 2) + "1" * (len(TUNES) % 2))
    arguments = ("train", "tunes.txt", "--mask", "mask.txt", *SMALL, *STEPS, "--metric", "qdruop", "--run", "run")
    assert glnn(*arguments).code == 0
    config = json.loads((files / "run" / "config.json").read_text())
    assert config["command"] == ["glnn", *arguments]
    assert config["glnn"] == package.__version__
    assert config["numpy"] == np.__version__
    assert config["inputs"]["data"]["path"] == str(files / "tunes.txt")
    assert config["inputs"]["data"]["given"] == "tunes.txt"
    assert config["inputs"]["data_mask"]["sha256"] == hashlib.sha256((files / "mask.txt").read_bytes()).hexdigest()
    assert config["parameters"]["metric"] == "qdruop"
    assert config["parameters"]["random_state"] == 0
    assert config["size"] == {"units": 4, "degree": 2, "restarts": 1}
    steps = [json.loads(line) for line in (files / "run" / "history.jsonl").read_text().splitlines()]
    assert [step["step"] for step in steps] == [1, 2, 3, 4]
    model = load(files / "run" / "model.safetensors")
    assert [step["log_likelihood"] for step in steps] == [info["log_likelihood"] for info in model.history_]
    assert read_checkpoint(files / "run").steps == 4
    assert not list((files / "run").glob(".*.part")) + list((files / "run").glob(".*unfinished"))


def test_a_mixture_is_trained_where_no_model_is_named(glnn: Command, files: Path) -> None:
    done = glnn("train", "tunes.txt", "--networks", 0, "--learning", "online", "--json")
    assert (done.code, done.json["model"], done.json["run"]) == (0, "mixture", "tunes-mixture")
    model = load(files / "tunes-mixture" / "model.safetensors")
    assert model.bits(TUNES[:50]) < 40
    assert glnn("score", "tunes-mixture", "more.txt").code == 0


def test_sizes_left_out_are_chosen(glnn: Command, files: Path) -> None:
    assert glnn("train", "tunes.txt", "--model", "glnn", *STEPS, "--quiet").code == 0
    expected = GLNN(budget="4 steps", random_state=0, unknown="escape", verbose=0).fit(TUNES)
    found = load(files / "tunes-glnn" / "model.safetensors")
    assert (found.units_, found.degree_) == (expected.units_, expected.degree_)
    np.testing.assert_array_equal(found.params_.w, expected.params_.w)


def test_the_table_and_the_lines_of_progress(glnn: Command, files: Path) -> None:
    done = glnn("train", "tunes.txt", "--valid", "more.txt", *SMALL, *STEPS)
    assert done.code == 0
    assert "folder           tunes-glnn\n" in done.out
    assert "4 steps" in done.out
    assert f"{load(files / 'tunes-glnn' / 'model.safetensors').bits(MORE):,.1f} bits" in done.out
    assert f"{len(TUNES):,} symbols of {len(set(TUNES))} kinds" in done.err and "budget 4 steps; " in done.err
    assert "step 1  train " in done.err
    assert "rates 0.25 0.25" in done.err
    assert "\x1b" not in done.out + done.err
    held = glnn("train", "tunes.txt", *SMALL, *STEPS, "--force")
    assert (
        f"the last {load(files / 'tunes-glnn' / 'model.safetensors').held_out_} are held out for validation" in held.err
    )
    assert "held-out end" in held.out


def test_quiet_and_json_say_nothing_beside(glnn: Command, files: Path) -> None:
    assert glnn("train", "tunes.txt", *SMALL, *STEPS, "--quiet").err == ""


@pytest.mark.parametrize("model", ["gnn", "rnn", "lstm"])
def test_other_networks(model: str, glnn: Command, files: Path) -> None:
    done = glnn("train", "tunes.txt", "--model", model.upper(), *SMALL, *STEPS, "--json")
    assert done.code == 0
    assert type(load(files / done.json["run"] / "model.safetensors")).__name__ == model.upper()
    assert done.json["steps"] == 4


def test_models_without_steps(glnn: Command, files: Path) -> None:
    done = glnn("train", "tunes.txt", "--valid", "more.txt", "--model", "contexttree", "--depth", 3, "--json")
    expected = ContextTree(depth=3, unknown="escape", verbose=0).fit(TUNES, MORE)
    assert done.json["valid_bits"] == expected.bits(MORE)
    assert done.json["counts"] is None
    done = glnn("train", "tunes.txt", "--model", "hmm", "--units", 3, "--degree", 3, *STEPS, "--run", "h")
    assert done.code == 0
    assert "step 0, " in done.err
    options = {"units": 3, "degree": 3, "budget": "4 steps", "random_state": 0, "unknown": "escape", "verbose": 0}
    np.testing.assert_array_equal(
        load(files / "h" / "model.safetensors").params_["emissions"], HMM(**options).fit(TUNES).params_["emissions"]
    )


@pytest.mark.parametrize("columns", [("--case", "order", "--activity", "step", "--time", "at"), ()])
def test_an_event_log(columns: tuple[str, ...], glnn: Command, files: Path) -> None:
    done = glnn("train", "log.csv", *columns, *SMALL, *STEPS, "--json")
    assert done.code == 0
    model = load(files / "log-glnn" / "model.safetensors")
    assert model.alphabet_.symbols[:3] == ("order", "pay", "ship")
    assert len(model.alphabet_) == 5  # their end and the escape
    assert LOG.count("\n") - 1 + 29 == done.json["counts"]["train"] + done.json["held_out"]


@pytest.mark.parametrize(("tokens", "symbols"), [("bytes", len(set(TUNES))), ("words", len(set(TUNES.split())))])
def test_ways_of_cutting(tokens: str, symbols: int, glnn: Command, files: Path) -> None:
    assert glnn("train", "tunes.txt", "--tokens", tokens, *SMALL, *STEPS, "--unknown", "error").code == 0
    assert len(load(files / "tunes-glnn" / "model.safetensors").alphabet_) == symbols


def test_what_follows_a_symbol(glnn: Command, files: Path) -> None:
    done = glnn("train", "tunes.txt", "--valid", "more.txt", "--predict-after", "|", *SMALL, *STEPS, "--json")
    assert done.json["valid_symbols"] == MORE[:-1].count("|")
    assert done.json["counts"]["train"] == TUNES[:-1].count("|")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("gone.txt",), "gone.txt: No such file or directory"),
        (("tunes.txt", "--model", "glmn"), "(did you mean glnn?)"),
        (("tunes.txt", "--model", "hmm", "--metric", "fb"), "--metric is not for the model hmm"),
        (("tunes.txt", "--depth", "3"), "--depth is not for the model glnn"),
        (("tunes.txt", "--units", "few"), "--units is 'few': it must be a whole number, 1 or more, or 'auto'"),
        (("tunes.txt", "--units", "0"), "units is 0"),
        (("tunes.txt", "--metric", "rbmp"), "did you mean 'rbpm'?"),
        (("tunes.txt", "--budget", "soon"), "budget is 'soon'"),
        (("tunes.txt", "--tokens", "letters"), "'letters': a file is cut into one of chars, bytes"),
        (("tunes.txt", "--unknown", "ignore"), "unknown is 'ignore'"),
        (("tunes.txt", "--predict-after", "="), "'='"),
        (("tunes.txt", "--mask", "tunes.txt"), "is made of 0 and 1"),
        (("tunes.txt", "--mask", "mask.txt", "--predict-after", "|"), "--mask and --predict-after were both given"),
        (("tunes.txt", "--mask", "mask.txt"), "the mask has length 4"),
        (("tunes.txt", "--valid-mask", "mask.txt"), "--valid-mask was given without --valid"),
        (("tunes.txt", "--case", "order"), "no column 'order'"),
        (("tunes.txt", "--time", "at"), "no column 'at'"),
        (("log.csv", "--case", "order", "--activity", "gone"), "no column 'gone'"),
        (("log.csv", "--case", "a", "--activity", "b", "--delimiter", ";;"), "is ';;': give one character"),
        (("tunes.txt", "--run", "mask.txt"), "mask.txt is a file: a run needs a folder"),
        (("tunes.txt", "--run", "full"), "holds other things"),
    ],
)
def test_wrong_input_leaves_nothing(arguments: tuple, message: str, glnn: Command, files: Path) -> None:
    (files / "mask.txt").write_text("0110")
    (files / "full").mkdir()
    (files / "full" / "precious").touch()
    before = sorted(files.rglob("*"))
    done = glnn("train", *arguments)
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1
    assert done.out == ""
    assert sorted(files.rglob("*")) == before


def test_a_run_is_replaced_only_when_told_and_only_when_the_new_one_begins(glnn: Command, files: Path) -> None:
    assert glnn("train", "tunes.txt", *SMALL, *STEPS, "--run", "deep/run").code == 0
    content = (files / "deep" / "run" / "model.safetensors").read_bytes()
    done = glnn("train", "tunes.txt", *SMALL, *STEPS, "--run", "deep/run", "--seed", 1)
    assert done.code == 2
    assert "glnn resume deep/run" in done.err
    assert glnn("train", "tunes.txt", "--metric", "none", "--run", "deep/run", "--force").code == 2
    assert (files / "deep" / "run" / "model.safetensors").read_bytes() == content
    (files / "deep" / "run" / "notes.txt").write_text("mine")
    assert glnn("train", "tunes.txt", *SMALL, *STEPS, "--run", "deep/run", "--seed", 1, "--force").code == 0
    assert (files / "deep" / "run" / "model.safetensors").read_bytes() != content
    assert (files / "deep" / "run" / "notes.txt").read_text() == "mine"


def test_a_folder_that_is_worked_in_is_left_alone(glnn: Command, files: Path) -> None:
    from glnn.cli.run_folder import RunFolder

    assert glnn("train", "tunes.txt", *SMALL, *STEPS, "--run", "run").code == 0
    with RunFolder(files / "run").locked():
        for arguments in (("train", "tunes.txt", "--run", "run", "--force"), ("resume", "run", "--budget", "9 steps")):
            done = glnn(*arguments)
            assert done.code == 2
            assert "another process is working in run" in done.err
    assert glnn("resume", "run", "--budget", "6 steps", "--json").json["steps"] == 6


def test_the_best_model_so_far_is_there_while_it_trains(
    glnn: Command, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    from glnn.cli.fit_into_folder import Recording

    save = Recording.save

    def look(self: Recording) -> None:
        save(self)
        seen.append(load(files / "run" / "model.safetensors"))

    monkeypatch.setattr(Recording, "save", look)
    arguments = ("train", "tunes.txt", "--valid", "more.txt", *SMALL, "--run", "run", "--save-every", 0)
    assert glnn(*arguments, "--budget", "6 steps").code == 0
    assert [model.steps_ for model in seen] == [1, 2, 3, 4, 5, 6]
    assert {model.stopped_ for model in seen} == {"running"}
    scores = [model.bits(MORE) for model in seen]
    final = load(files / "run" / "model.safetensors")
    assert scores[-1] == final.bits(MORE)
    assert seen[2].best_step_ == min(range(3), key=lambda k: -final.history_[k]["validation"]) + 1


def test_ctrl_c_keeps_the_best_model(glnn: Command, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from glnn.training.trainer import Trainer

    step = Trainer.step

    def interrupted(self: Trainer, clock: object = None) -> object:
        if self.progress.step == 3 and len(self.data.codes) > 64:
            raise KeyboardInterrupt
        return step(self, clock)

    arguments = ("train", "tunes.txt", "--valid", "more.txt", *SMALL, "--budget", "7 steps")
    with monkeypatch.context() as patched:
        patched.setattr(Trainer, "step", interrupted)
        done = glnn(*arguments, "--run", "run", "--json")
    assert done.code == 130
    assert (done.json["stopped"], done.json["steps"]) == ("interrupted", 3)
    assert "glnn resume run" in done.err
    assert load(files / "run" / "model.safetensors").steps_ == 3
    assert glnn("resume", "run").code == 0
    assert glnn(*arguments, "--run", "whole").code == 0
    assert same_runs(files / "run", files / "whole")


def test_ctrl_c_before_anything_is_learned(glnn: Command, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("glnn.training.fitting._warm_up", stop)
    done = glnn("train", "tunes.txt", *SMALL, "--run", "run")
    assert (done.code, done.err) == (130, "glnn: interrupted\n")
    assert not (files / "run").exists()


def test_a_request_to_end_is_like_ctrl_c() -> None:
    import os
    import signal

    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), fit_into_folder.stopped_by_signals() as stop:
        os.kill(os.getpid(), signal.SIGTERM)
    assert stop.code == 143
    assert signal.getsignal(signal.SIGTERM) is before


def same_runs(one: Path, other: Path) -> bool:
    """Whether two runs learned the same, to the bit."""
    first, second = (load(folder / "model.safetensors") for folder in (one, other))
    for part in ("w", "theta", "V0"):
        np.testing.assert_array_equal(getattr(first.params_, part), getattr(second.params_, part))
    histories = [
        [{**json.loads(line), "seconds": None} for line in (folder / "history.jsonl").read_text().splitlines()]
        for folder in (one, other)
    ]
    assert histories[0] == histories[1]
    checkpoints = [read_checkpoint(folder) for folder in (one, other)]
    for run, twin in zip(checkpoints[0].runs, checkpoints[1].runs, strict=True):
        for which in ("params", "best"):
            for part in ("w", "theta", "V0"):
                np.testing.assert_array_equal(getattr(getattr(run, which), part), getattr(getattr(twin, which), part))
        for name in ("writing_rate", "transition_rate", "best_score", "best_step", "step", "passes", "generator"):
            assert getattr(run, name) == getattr(twin, name)
    return True
