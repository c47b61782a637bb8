"""Checkpoints: what is written comes back, a training goes on to the same bits, and a crash loses little."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from glnn.storage import checkpoint as checkpoint_module
from glnn.storage.checkpoint import (
    NAME,
    PREVIOUS,
    has_checkpoint,
    read_checkpoint,
    write_checkpoint,
)
from glnn.storage.model_file import ModelFileError, write_model_file
from glnn.training.budget import Budget
from glnn.training.records import Progress, Replay, StepInfo
from glnn.training.settings import Settings
from glnn.training.trainer import Trainer
from glnn.training.validation import Validation
from tests.training.problems import Problem, problem

STEPS = 9


def case(name: str = "glnn") -> Problem:
    return problem(name, units=6, degree=3, symbols=4, lengths=(60, 3, 45, 20), masked=True, seed=2, noise=0.4)


def trainer(
    given: Problem,
    settings: Settings,
    recorded: Progress | None = None,
    validated: bool = True,
    progress: Progress | None = None,
) -> Trainer:
    validation = Validation(given.model, given.data.select([2, 0])) if validated else None
    replay = Replay(recorded)
    return Trainer(given.model, given.data, given.params, settings, validation, 5, progress, recorder=replay)


def assert_same(one: Progress, other: Progress) -> None:
    for which in ("params", "best"):
        for part in ("w", "theta", "V0"):
            np.testing.assert_array_equal(getattr(getattr(one, which), part), getattr(getattr(other, which), part))
    for name in ("writing_rate", "transition_rate", "best_score", "best_step", "step", "passes", "generator", "reason"):
        assert getattr(one, name) == getattr(other, name), name
    np.testing.assert_array_equal(one.coherence, other.coherence)
    assert [without_time(info) for info in one.history] == [without_time(info) for info in other.history]


def without_time(info: StepInfo) -> str:
    # As text, so that a NaN equals a NaN.
    return repr({**asdict(info), "seconds": None})


@pytest.mark.parametrize("name", ["glnn", "rnn", "lstm"])
@pytest.mark.parametrize(
    ("settings", "validated"),
    [
        (Settings(), True),
        (Settings(metric="qdruop", sequence_weights="equal"), False),
        (Settings(batch_size=2), True),
        (Settings(batch_size=2, metric="fb"), False),
        (Settings(coherence=3), True),
    ],
    ids=["rbpm", "qdruop", "batches", "batches alone", "coherence"],
)
def test_a_resumed_training_has_the_same_bits(name: str, settings: Settings, validated: bool, tmp_path: Path) -> None:
    given = case(name)
    whole = trainer(given, settings, validated=validated).run(Budget(steps=STEPS))
    for k in (0, 1, 4, STEPS):
        before = trainer(given, settings, validated=validated)
        before.run(Budget(steps=k)) if k else None
        write_checkpoint(tmp_path, [before.progress], {"k": k})
        found = read_checkpoint(tmp_path)
        assert found.about == {"k": k}
        assert found.steps == k
        assert_same(trainer(given, settings, found.runs[0], validated).run(Budget(steps=STEPS)), whole)


def test_steps_are_the_same_however_a_training_is_cut() -> None:
    """A race gives every start its share in pieces, with a new trainer for each."""
    given = case()
    whole = trainer(given, Settings()).run(Budget(steps=STEPS))
    progress = None
    for last in range(1, STEPS + 1):
        progress = trainer(given, Settings(), progress=progress).run(Budget(steps=last))
    assert progress is not None
    assert_same(progress, whole)


def test_the_likelihood_of_the_record_stands() -> None:
    """Another order of summing may give other last bits, on which the next step's acceptance hangs."""
    given = case()
    recorded = trainer(given, Settings()).run(Budget(steps=2))
    nearly = np.nextafter(recorded.history[-1].log_likelihood, 0.0)
    recorded.history[-1] = replace(recorded.history[-1], log_likelihood=nearly)
    again = trainer(given, Settings(), recorded)
    again.run(Budget(steps=2))
    assert again._begin_step().log_likelihood == nearly


def test_what_was_recorded_is_not_computed_and_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    given = case()
    recorded = trainer(given, Settings()).run(Budget(steps=3))
    told = []
    replay = Replay(recorded, lambda info, source: told.append(info.step))
    again = Trainer(given.model, given.data, given.params, recorder=replay)
    with monkeypatch.context() as patched:
        patched.setattr("glnn.training.engine.Engine.forward", lambda *_: pytest.fail("a step was computed"))
        again.run(Budget(steps=3))
    assert told == []
    again.run(Budget(steps=5))
    assert told == [4, 5]


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """CPU time that stands still unless a test moves it."""
    time = [0.0]
    monkeypatch.setattr("glnn.training.budget.time.process_time", lambda: time[0])
    return time


@pytest.mark.usefixtures("now")
def test_recorded_seconds_are_charged() -> None:
    given = case()
    recorded = trainer(given, Settings()).run(Budget(steps=3))
    recorded.history[:] = [replace(info, seconds=100.0 * info.step) for info in recorded.history]
    assert trainer(given, Settings(), recorded).run(Budget(seconds=150.0)).step == 2
    progress = trainer(given, Settings(), recorded).run(Budget(seconds=250.0))
    assert (progress.step, progress.seconds) == (3, 300.0)


def test_the_listener_is_not_charged(now: list[float]) -> None:
    given = case()

    def slow(info: StepInfo, source: object) -> None:
        now[0] += 1000.0

    patient = Trainer(given.model, given.data, given.params, recorder=Replay(listener=slow))
    assert patient.run(Budget(steps=3)).seconds == 0.0
    assert now == [3000.0]


def progress_with_everything() -> Progress:
    given = case()
    progress = trainer(given, Settings()).run(Budget(steps=2))
    progress.history[0] = replace(
        progress.history[0], validation=None, log_likelihood=-np.inf, conditioning=np.inf, notes=("one", "δ")
    )
    progress.best_score, progress.reason = -np.inf, "interrupted"
    return progress


def test_every_number_comes_back(tmp_path: Path) -> None:
    progress = progress_with_everything()
    write_checkpoint(tmp_path, [progress, progress], {})
    found = read_checkpoint(tmp_path)
    assert len(found.runs) == 2
    for run in found.runs:
        assert_same(run, progress)
        assert [info.seconds for info in run.history] == [info.seconds for info in progress.history]
        assert run.seconds == progress.seconds
        assert run.history[0].notes == ("one", "δ")
        assert run.history[0].validation is None
        assert type(run.history[1].step) is int


def test_without_a_run_yet(tmp_path: Path) -> None:
    assert not has_checkpoint(tmp_path)
    with pytest.raises(FileNotFoundError, match="No checkpoint"):
        read_checkpoint(tmp_path)
    write_checkpoint(tmp_path, [], {"stopped": ""})
    assert has_checkpoint(tmp_path)
    assert read_checkpoint(tmp_path).runs == ()


@pytest.mark.parametrize("links", [True, False])
def test_the_one_before_is_kept_and_read_when_the_last_is_damaged(
    links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not links:

        def refuse(*_: object) -> None:
            raise OSError(95, "Operation not supported")

        monkeypatch.setattr(checkpoint_module.os, "link", refuse)
    for k in (1, 2, 3):
        write_checkpoint(tmp_path, [], {"k": k})
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([NAME, PREVIOUS])
    assert read_checkpoint(tmp_path).about == {"k": 3}
    content = (tmp_path / NAME).read_bytes()
    (tmp_path / NAME).write_bytes(content[:-7])
    assert read_checkpoint(tmp_path).about == {"k": 2}
    (tmp_path / NAME).unlink()
    assert has_checkpoint(tmp_path)
    assert read_checkpoint(tmp_path).about == {"k": 2}
    for name in (NAME, PREVIOUS):
        (tmp_path / name).write_bytes(content[:-7])
    with pytest.raises(ModelFileError, match=rf"{NAME}.*; .*{PREVIOUS}"):
        read_checkpoint(tmp_path)


def test_a_crash_at_any_moment_of_writing_leaves_one_to_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every call that changes the folder fails once; what is read then is what was whole before."""
    write_checkpoint(tmp_path, [], {"k": 1})
    moments = [("os.fsync", 1), ("os.link", 1), ("pathlib.Path.replace", 1), ("pathlib.Path.replace", 2)]
    for name, which in moments:
        calls = 0
        owner, _, attribute = name.rpartition(".")
        original = getattr(checkpoint_module.os if owner == "os" else Path, attribute)

        def fail(*arguments: object, which: int = which, original: object = original) -> object:
            nonlocal calls
            calls += 1
            if calls == which:
                raise KeyboardInterrupt
            return original(*arguments)  # type: ignore[operator]

        with monkeypatch.context() as patched:
            patched.setattr(name, fail)
            with pytest.raises(KeyboardInterrupt):
                write_checkpoint(tmp_path, [], {"k": 2})
        assert read_checkpoint(tmp_path).about == {"k": 1}, (name, which)
    write_checkpoint(tmp_path, [], {"k": 2})
    assert read_checkpoint(tmp_path).about == {"k": 2}
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([NAME, PREVIOUS])


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({}, "not a checkpoint"),
        ({"checkpoint": 9}, "version 9, this glnn reads version 1"),
        ({"checkpoint": 1}, "does not fit together"),
        ({"checkpoint": 1, "columns": ["step"], "runs": [], "about": {}}, "records other things"),
        (
            {"checkpoint": 1, "columns": list(checkpoint_module._COLUMNS), "runs": [{"step": 1}], "about": {}},
            "does not fit together",
        ),
    ],
)
def test_files_that_are_none(header: dict, message: str, tmp_path: Path) -> None:
    write_model_file(tmp_path / NAME, {"a": np.zeros(1)}, header)
    with pytest.raises(ModelFileError, match=message):
        read_checkpoint(tmp_path)


@pytest.mark.parametrize("wrong", [np.array([0.5, 2.0]), np.array([np.nan]), np.ones((2, 2)), np.array([1, 2])])
def test_quotients_that_are_none_are_refused(wrong: np.ndarray, tmp_path: Path) -> None:
    progress = trainer(case(), Settings(coherence=1)).run(Budget(steps=1))
    progress.coherence = wrong
    write_checkpoint(tmp_path, [progress], {})
    with pytest.raises(ModelFileError, match="not numbers of 1 or more, one per unit"):
        read_checkpoint(tmp_path)


def test_a_record_that_lacks_steps_is_refused(tmp_path: Path) -> None:
    progress = progress_with_everything()
    del progress.history[0]
    write_checkpoint(tmp_path, [progress], {})
    with pytest.raises(ModelFileError, match="2 steps were done and 1 are recorded"):
        read_checkpoint(tmp_path)
