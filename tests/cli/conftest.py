"""What the tests of commands share: running one in this process or as a process of its own, small files and runs."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from glnn import sources
from glnn.cli import main

ROOT = Path(__file__).resolve().parents[2]
SMALL = ("--recipe", "paper", "--units", "4", "--degree", "2", "--restarts", "1")


@dataclass(frozen=True)
class Done:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Command = Callable[..., Done]


@pytest.fixture
def glnn(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    """A command, run in this process and in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GLNN_TRACEBACK", raising=False)

    def run(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["glnn", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        printed = capsys.readouterr()
        return Done(int(left.value.code or 0), printed.out, printed.err)

    return run


def process(*arguments: object, cwd: Path, **options: Any) -> subprocess.Popen[str]:
    """A command as a process of its own."""
    environment = {name: value for name, value in os.environ.items() if name != "GLNN_TRACEBACK"}
    command = [sys.executable, "-c", "from glnn.cli import main; main()", *map(str, arguments)]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen(command, cwd=cwd, text=True, env=environment, **options)


TUNES = sources.get("music").sample(12, 0).text
MORE = sources.get("music").sample(8, 1).text
LOG = """order,step,at,who
1,order,1,ann
1,pay,3,bob
2,order,2,ann
1,ship,4,eve
2,ship,9,eve
2,pay,5,bob
""" + "".join(f"{n},order,1,ann\n{n},pay,2,bob\n{n},ship,3,eve\n" for n in range(3, 30))
NEW_LOG = "order,step,at,who\na,order,1,x\na,pay,2,x\na,ship,3,x\nb,ship,1,x\nb,ship,2,x\nb,order,3,x\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with a text, another one, an event log and new cases."""
    for name, content in (("tunes.txt", TUNES), ("more.txt", MORE), ("log.csv", LOG), ("new.csv", NEW_LOG)):
        (tmp_path / name).write_text(content)
    return tmp_path


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the small files and runs on them: `tunes` of the text, `orders` of the log."""
    folder = tmp_path_factory.mktemp("trained")
    for name, content in (("tunes.txt", TUNES), ("more.txt", MORE), ("log.csv", LOG), ("new.csv", NEW_LOG)):
        (folder / name).write_text(content)
    for arguments in (
        ("tunes.txt", "--valid", "more.txt", "--run", "tunes"),
        ("log.csv", "--case", "order", "--activity", "step", "--time", "at", "--run", "orders"),
    ):
        with contextlib.chdir(folder), pytest.raises(SystemExit) as left:
            main(["train", *arguments, *SMALL, "--budget", "8 steps", "--quiet"])
        assert left.value.code == 0
    return folder


@pytest.fixture
def in_trained(trained: Path, glnn: Command, monkeypatch: pytest.MonkeyPatch) -> Iterator[Command]:
    """A command, run where the trained runs are; files it writes are taken away."""
    monkeypatch.chdir(trained)
    before = set(trained.rglob("*"))
    yield glnn
    for path in set(trained.rglob("*")) - before:
        path.unlink()
