"""`glnn resume`: to the same bits as a run that was never interrupted, whatever interrupted it."""

from __future__ import annotations

import json
import random
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from glnn.cli.fit_into_folder import Recording
from glnn.cli.run_folder import RunFolder
from glnn.estimators import load
from glnn.storage.checkpoint import NAME, PREVIOUS, read_checkpoint
from glnn.training.stochastic import StochasticTrainer
from glnn.training.trainer import Trainer
from tests.cli.conftest import Command, process
from tests.cli.test_train import same_runs

RUN = ("train", "tunes.txt", "--valid", "more.txt", "--units", "4", "--degree", "2", "--recipe", "paper")


def interrupt_after(steps: int, patched: pytest.MonkeyPatch) -> None:
    """Ctrl-C after so many steps that were computed, those of the compilation not counted."""
    done = 0

    def counted(step: Callable[..., object]) -> Callable[..., object]:
        def one(self: Trainer, clock: object = None) -> object:
            nonlocal done
            if len(self.data.codes) > 64:
                if done == steps:
                    raise KeyboardInterrupt
                done += 1
            return step(self, clock)

        return one

    for kind in (Trainer, StochasticTrainer):
        patched.setattr(kind, "step", counted(kind.step))


@pytest.mark.parametrize("when", [1, 5, 6, 13, 17])
def test_random_starts_race_on_as_if_nothing_had_happened(
    when: int, glnn: Command, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With three starts and 18 steps, 6 rounds and shares lie on both sides of every moment."""
    arguments = (*RUN, "--restarts", 3, "--budget", "18 steps", "--quiet")
    assert glnn(*arguments, "--run", "whole").code == 0
    with monkeypatch.context() as patched:
        interrupt_after(when, patched)
        assert glnn(*arguments, "--run", "run").code == 130
    done = glnn("resume", "run")
    assert done.code == 0
    assert f"continuing from step {when}\n" in done.err
    assert same_runs(files / "run", files / "whole")


@pytest.mark.parametrize("when", [1, 6, 11])
def test_stochastic_starts_race_on_too(when: int, glnn: Command, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = (*RUN[:-1], "best", "--restarts", 3, "--budget", "18 steps", "--quiet")
    assert glnn(*arguments, "--run", "whole").code == 0
    with monkeypatch.context() as patched:
        interrupt_after(when, patched)
        assert glnn(*arguments, "--run", "run").code == 130
    assert glnn("resume", "run").code == 0
    assert same_runs(files / "run", files / "whole")


def test_a_larger_budget_is_a_longer_run(glnn: Command, files: Path) -> None:
    for name, budget in (("whole", "12 steps"), ("run", "5 steps")):
        assert glnn(*RUN, "--restarts", 1, "--budget", budget, "--run", name).code == 0
    done = glnn("resume", "run", "--budget", "12 steps", "--json")
    assert (done.code, done.json["steps"]) == (0, 12)
    assert same_runs(files / "run", files / "whole")
    config = json.loads((files / "run" / "config.json").read_text())
    assert config["parameters"]["budget"] == "12 steps"
    assert config["resumed"][0]["command"] == ["glnn", "resume", "run", "--budget", "12 steps", "--json"]


def test_a_larger_budget_keeps_the_networks_that_compete(glnn: Command, files: Path) -> None:
    arguments = ("train", "tunes.txt", "--model", "glnn", "--units", 4, "--degree", 2, "--budget", "0.3s")
    assert glnn(*arguments, "--run", "run").code == 0
    before = read_checkpoint(files / "run")
    for budget in ("0.6s", "0.9s"):
        assert glnn("resume", "run", "--budget", budget).code == 0
    after = read_checkpoint(files / "run")
    assert len(after.runs) == len(before.runs) > 1 and after.steps > before.steps


def test_a_checkpoint_written_before_a_network_has_caught_up_keeps_what_it_held(glnn: Command, files: Path) -> None:
    assert glnn(*RUN, "--restarts", 1, "--budget", "5 steps", "--run", "run").code == 0
    before = read_checkpoint(files / "run")
    (whole,) = before.runs
    part = replace(whole, step=2, history=whole.history[:2], generator=None)
    observer = object.__new__(Recording)
    observer.folder, observer._checkpoint = RunFolder(files / "run"), before
    observer.runs = [SimpleNamespace(progress=part)]  # type: ignore[list-item]
    observer._write_checkpoint()
    # The one before would be read in place of one that is broken.
    (files / "run" / PREVIOUS).unlink()
    (after,) = read_checkpoint(files / "run").runs
    assert after.step == 5 and after.generator == whole.generator


def test_sizes_that_were_chosen_stay_when_the_budget_grows(glnn: Command, files: Path) -> None:
    first = glnn("train", "tunes.txt", "--model", "glnn", "--budget", "3 steps", "--run", "run", "--json").json
    done = glnn("resume", "run", "--budget", "9 steps", "--json")
    assert done.code == 0
    assert [done.json[name] for name in ("units", "degree", "starts")] == [
        first[name] for name in ("units", "degree", "starts")
    ]
    assert json.loads((files / "run" / "config.json").read_text())["parameters"]["units"] == first["units"]


def test_a_run_that_came_to_its_end(glnn: Command, files: Path) -> None:
    first = glnn(*RUN, "--restarts", 1, "--budget", "3 steps", "--run", "run", "--json")
    content = (files / "run" / "model.safetensors").read_bytes()
    again = glnn("resume", "run", "--json")
    assert (again.code, again.json) == (0, first.json)
    assert "is finished (budget)" in glnn("resume", "run").err
    assert (files / "run" / "model.safetensors").read_bytes() == content


@pytest.mark.parametrize("budget", ["3 steps", "2 steps", "0.000001s", "6 passes"])
def test_a_budget_that_is_spent(budget: str, glnn: Command, files: Path) -> None:
    assert glnn(*RUN, "--restarts", 1, "--budget", "3 steps", "--run", "run").code == 0
    done = glnn("resume", "run", "--budget", budget)
    assert done.code == 2
    assert "3 steps and 6 passes; give more" in done.err


def test_the_data_must_be_what_they_were(glnn: Command, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert glnn(*RUN, "--restarts", 1, "--budget", "3 steps", "--run", "run").code == 0
    text = (files / "tunes.txt").read_text()
    (files / "tunes.txt").write_text(text + "c")
    done = glnn("resume", "run", "--budget", "5 steps")
    assert (done.code, "has changed since the run began" in done.err) == (2, True)
    (files / "tunes.txt").unlink()
    done = glnn("resume", "run", "--budget", "5 steps")
    assert (done.code, "is missing: put it back" in done.err) == (2, True)
    elsewhere = files / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "tunes.txt").write_text(text)
    shutil.move(files / "more.txt", elsewhere / "more.txt")
    monkeypatch.chdir(elsewhere)
    assert glnn("resume", files / "run", "--budget", "5 steps").code == 0


def test_threads_change_nothing(glnn: Command, files: Path) -> None:
    for name in ("one", "two"):
        assert glnn(*RUN, "--restarts", 1, "--budget", "3 steps", "--run", name).code == 0
    assert glnn("resume", "one", "--budget", "6 steps").code == 0
    assert glnn("resume", "two", "--budget", "6 steps", "--threads", 2).code == 0
    assert load(files / "two" / "model.safetensors").n_jobs == 2
    assert same_runs(files / "one", files / "two")


def test_models_without_checkpoints_begin_anew(glnn: Command, files: Path) -> None:
    assert glnn("train", "tunes.txt", "--model", "contexttree", "--run", "tree").code == 0
    first = load(files / "tree" / "model.safetensors")
    (files / "tree" / "result.json").unlink()
    (files / "tree" / "model.safetensors").unlink()
    assert glnn("resume", "tree").code == 0
    again = load(files / "tree" / "model.safetensors")
    assert again.n_parameters_ == first.n_parameters_ > 0
    assert again.bits("abab|") == first.bits("abab|")
    done = glnn("resume", "tree", "--budget", "5s")
    assert (done.code, "reads its data once" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "is not the folder of a run: it holds no config.json"),
        ("[1", "is not JSON: it was damaged"),
        ('{"format": 7}', "has format 7, this glnn reads format 1"),
        ('{"format": 1, "model": "glnn"}', "is not a description of a run"),
    ],
)
def test_folders_that_are_none(content: str | None, message: str, glnn: Command, files: Path) -> None:
    (files / "run").mkdir()
    if content is not None:
        (files / "run" / "config.json").write_text(content)
    done = glnn("resume", "run")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert message in done.err
    assert "is not a folder: give the folder" in glnn("resume", "tunes.txt").err


def test_a_checkpoint_of_other_networks(glnn: Command, files: Path) -> None:
    assert glnn(*RUN, "--restarts", 1, "--budget", "3 steps", "--run", "run").code == 0
    path = files / "run" / "config.json"
    config = json.loads(path.read_text())
    config["parameters"]["degree"] = 3
    config["size"]["degree"] = 3
    path.write_text(json.dumps(config))
    done = glnn("resume", "run", "--budget", "5 steps")
    assert (done.code, "one of the two was altered" in done.err) == (2, True)


def killed(folder: Path, arguments: tuple, lines: int, pause: float) -> None:
    """Start a command and kill it (SIGKILL) a moment after so many steps are written down."""
    running = process(*arguments, cwd=folder)
    history = folder / "run" / "history.jsonl"
    already = written = history.read_bytes().count(b"\n") if history.exists() else 0
    while running.poll() is None and written < lines:
        # Starting takes seconds, each step then a millisecond.
        time.sleep(0.02 if written == already else 0.0005)
        written = history.read_bytes().count(b"\n") if history.exists() else 0
    time.sleep(pause)
    running.send_signal(signal.SIGKILL)
    _, err = running.communicate()
    assert running.returncode == -signal.SIGKILL, err


def test_killed_again_and_again(files: Path, glnn: Command) -> None:
    """A real process, killed at random moments while it writes after every step; a checkpoint is damaged once."""
    generator = random.Random(5)
    arguments = (*RUN, "--restarts", 2, "--budget", "150 steps", "--save-every", 0, "--run")
    killed(files, (*arguments, "run"), generator.randint(2, 5), generator.uniform(0.0, 0.02))
    killed(files, ("resume", "run"), generator.randint(40, 60), generator.uniform(0.0, 0.02))
    killed(files, ("resume", "run"), generator.randint(80, 100), generator.uniform(0.0, 0.02))
    content = (files / "run" / NAME).read_bytes()
    # Killed between two writes, both names may be those of one file: only one of them is damaged here.
    (files / "run" / NAME).unlink()
    (files / "run" / NAME).write_bytes(content[: len(content) // 2])
    assert (files / "run" / PREVIOUS).exists()
    assert load(files / "run" / "model.safetensors").steps_ > 0
    assert glnn("resume", "run").code == glnn(*arguments, "whole").code == 0
    assert same_runs(files / "run", files / "whole")
    left = {path.name for path in (files / "run").iterdir()}
    assert {"model.safetensors", "config.json", "history.jsonl", "result.json", NAME, PREVIOUS, ".lock"} <= left
