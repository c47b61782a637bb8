"""Runs survive a full disk, a folder that cannot be written, a clock that jumps and a checkpoint cut short.

Each ends with a clear error or goes on from the checkpoint before, and never with a damaged model.

Kills are in tests/cli/test_resume.py, and a hundred of them in experiments/kill_runs.py.
"""

from __future__ import annotations

import errno
import io
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from glnn.estimators import load
from glnn.storage.checkpoint import NAME, PREVIOUS, read_checkpoint
from tests.cli.conftest import Command
from tests.cli.test_train import same_runs

RUN = ("train", "tunes.txt", "--valid", "more.txt", "--units", "4", "--degree", "2", "--restarts", "1")
EVERY_STEP = (*RUN, "--save-every", "0", "--budget")


class FullDisk:
    """Lets so many bytes through to files under a folder, half of the write that is too much, and then nothing."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path, room: int, code: int = errno.ENOSPC) -> None:
        self.room, self.folder, self.code, self.refused = room, folder, code, 0
        original = io.open
        disk = self

        def opened(file: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
            found = original(file, mode, *arguments, **options)
            inside = isinstance(file, str | os.PathLike) and Path(file).absolute().is_relative_to(folder)
            if inside and set(mode) & set("wxa+") and not str(file).endswith(".lock"):
                write = found.write

                def limited(content: Any) -> int:
                    if disk.room < len(content):
                        disk.refused += 1
                        write(content[: disk.room // 2])
                        found.flush()
                        disk.room = 0
                        raise OSError(disk.code, os.strerror(disk.code), str(file))
                    disk.room -= len(content)
                    return int(write(content))

                found = _Writing(found, limited)
            return found

        monkeypatch.setattr(io, "open", opened)


class _Writing:
    """A file whose writing is limited."""

    def __init__(self, file: Any, write: Callable[[Any], int]) -> None:
        self._file, self.write = file, write

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> _Writing:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def sane(folder: Path) -> None:
    """Whatever is in a run's folder opens."""
    if (folder / "model.safetensors").exists():
        assert load(folder / "model.safetensors").bits("c4 c4 ") > 0
    if (folder / "config.json").exists():
        json.loads((folder / "config.json").read_text())
    for name in (NAME, PREVIOUS):
        if (folder / name).exists():
            read_checkpoint(folder)
    assert not list(folder.glob(".*.part")) and not list(folder.glob(".*.unfinished"))


@pytest.mark.parametrize("room", [0, 1_500, 9_000, 20_000, 50_000])
def test_the_disk_is_full(room: int, glnn: Command, files: Path) -> None:
    """The disk fills up after so many bytes, in the middle of a file; with room again the run ends in the same bits."""
    assert glnn(*EVERY_STEP, "6 steps", "--run", "whole").code == 0
    with pytest.MonkeyPatch.context() as patched:
        disk = FullDisk(patched, files / "run", room)
        done = glnn(*EVERY_STEP, "6 steps", "--run", "run", "--quiet")
    assert disk.refused
    assert (done.code, done.err.count("\n"), done.out) == (2, 1, ""), done.err
    assert "No space left on device; make room on the disk" in done.err
    if (files / "run").exists():
        sane(files / "run")
    if room >= 50_000:
        # Some steps were saved before: what was whole is still there.
        assert {"model.safetensors", "config.json", NAME} <= {path.name for path in (files / "run").iterdir()}
    begun = (files / "run" / "config.json").exists()
    again = ("resume", "run") if begun else (*EVERY_STEP, "6 steps", "--run", "run")
    done = glnn(*again, "--quiet")
    assert done.code == 0, done.err
    sane(files / "run")
    assert same_runs(files / "run", files / "whole")


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS])
def test_a_folder_that_cannot_be_written(code: int, glnn: Command, files: Path) -> None:
    """Permissions do not bind the superuser, so the system's answer is given in its place."""
    assert glnn(*RUN, "--budget", "3 steps", "--run", "run").code == 0
    before = {path.name: path.read_bytes() for path in (files / "run").iterdir() if path.name != ".lock"}
    with pytest.MonkeyPatch.context() as patched:
        FullDisk(patched, files / "run", 0, code)
        done = glnn("resume", "run", "--budget", "6 steps", "--quiet")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert os.strerror(code) in done.err and "choose another place" in done.err
    after = {path.name: path.read_bytes() for path in (files / "run").iterdir() if path.name != ".lock"}
    assert {name: after[name] for name in (NAME, "model.safetensors")} == {
        name: before[name] for name in (NAME, "model.safetensors")
    }
    assert glnn("resume", "run", "--budget", "6 steps", "--quiet").code == 0


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="permissions do not bind the superuser")
def test_a_read_only_folder(glnn: Command, files: Path) -> None:
    (files / "place").mkdir(mode=0o555)
    done = glnn(*RUN, "--budget", "3 steps", "--run", "place/run")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "Permission denied; change its permissions, or choose another place" in done.err


def test_a_file_that_may_not_be_read(glnn: Command, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = io.open

    def refuse(file: Any, *arguments: Any, **options: Any) -> Any:
        if str(file).endswith("tunes.txt"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(file))
        return original(file, *arguments, **options)

    for module in ("io", "builtins"):
        monkeypatch.setattr(f"{module}.open", refuse)
    done = glnn(*RUN, "--budget", "3 steps", "--run", "run")
    assert (done.code, done.err) == (
        2,
        "glnn: tunes.txt: Permission denied; change its permissions, or choose another place\n",
    )
    assert not (files / "run").exists()


@pytest.mark.parametrize("leap", [-1e9, 1e9, float("nan")])
def test_a_clock_that_jumps(leap: float, glnn: Command, files: Path) -> None:
    """The time of day changes nothing that is learned, and not when checkpoints are written."""
    assert glnn(*EVERY_STEP, "5 steps", "--run", "whole", "--quiet").code == 0
    calls = 0
    real = time.time

    def jumping() -> float:
        nonlocal calls
        calls += 1
        return real() if calls % 2 else (real() + leap)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(time, "time", jumping)
        assert glnn(*EVERY_STEP, "5 steps", "--run", "run", "--quiet").code == 0
    assert same_runs(files / "run", files / "whole")


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 0.99])
@pytest.mark.parametrize("recipe", ["paper", "best"])
def test_a_checkpoint_cut_short(recipe: str, share: float, glnn: Command, files: Path) -> None:
    """The one before it is taken, and the end has the same bits."""
    for run in ("whole", "run"):
        assert glnn(*EVERY_STEP, "4 steps", "--recipe", recipe, "--run", run, "--quiet").code == 0
    # Rates of the best recipe follow the budget: what it is compared with was given more of it at the same step.
    assert glnn("resume", "whole", "--budget", "6 steps", "--quiet").code == 0
    content = (files / "run" / NAME).read_bytes()
    (files / "run" / NAME).write_bytes(content[: int(share * len(content))])
    done = glnn("resume", "run", "--budget", "6 steps")
    assert done.code == 0 and "continuing from step" in done.err
    assert same_runs(files / "run", files / "whole")


def test_both_checkpoints_cut_short(glnn: Command, files: Path) -> None:
    assert glnn(*EVERY_STEP, "4 steps", "--run", "run", "--quiet").code == 0
    model = (files / "run" / "model.safetensors").read_bytes()
    for name in (NAME, PREVIOUS):
        (files / "run" / name).write_bytes((files / "run" / name).read_bytes()[:100])
    done = glnn("resume", "run", "--budget", "6 steps")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert NAME in done.err and PREVIOUS in done.err
    assert (files / "run" / "model.safetensors").read_bytes() == model


def test_what_a_killed_process_left_is_swept(glnn: Command, files: Path) -> None:
    """Half-written files of a killed process go when the next one has the lock, and nothing else does."""
    assert glnn(*RUN, "--budget", "3 steps", "--run", "run", "--quiet").code == 0
    left = [
        ".model.safetensors.0a1b2c3d.part",
        f".{NAME}.0a1b2c3d.part",
        ".result.json.77.unfinished",
        f".{PREVIOUS}.new",
    ]
    kept = ["notes.txt", ".hidden", "model.part"]
    for name in (*left, *kept):
        (files / "run" / name).write_text("half")
    assert glnn("resume", "run", "--budget", "4 steps", "--quiet").code == 0
    names = {path.name for path in (files / "run").iterdir()}
    assert names >= set(kept) and not names & set(left)


def test_a_run_killed_before_it_wrote_anything_whole_can_be_begun_again(glnn: Command, files: Path) -> None:
    """What it left is its own and not something else's; a file of somebody else is still in the way."""
    (files / "run").mkdir()
    (files / "run" / ".lock").write_text("")
    (files / "run" / ".config.json.0a1b2c3d.part").write_text("{")
    (files / "run" / "notes.txt").write_text("mine")
    assert "holds other things" in glnn(*RUN, "--budget", "3 steps", "--run", "run", "--quiet").err
    (files / "run" / "notes.txt").unlink()
    assert glnn(*RUN, "--budget", "3 steps", "--run", "run", "--quiet").code == 0
    assert not list((files / "run").glob(".config*"))
