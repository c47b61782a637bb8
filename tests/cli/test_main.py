"""The command line as a whole: help, version, exit codes, and errors of one line."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import glnn
from glnn.cli import main
from glnn.cli.app import app

pytestmark = pytest.mark.small


def run(*arguments: str) -> int:
    """The exit code of a command."""
    with pytest.raises(SystemExit) as left:
        main(arguments)
    return int(left.value.code or 0)


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--help") == 0
    printed = capsys.readouterr().out
    names = [command.callback.__name__ for command in app.registered_commands if command.callback]
    assert {"demo", "source"} <= set(names)
    for name in names:
        assert name in printed
        assert run(name, "--help") == 0


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--version") == 0
    assert capsys.readouterr().out == f"glnn {glnn.__version__}\n"


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom glnn.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print(*{name.split('.')[0] for name in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "typer" in loaded
    assert not loaded & {"numpy", "numba", "scipy", "sklearn", "plotly", "constriction", "safetensors"}


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (glnn.InputError("the data are\nempty"), "glnn: the data are empty\n"),
        (ValueError("units is 0"), "glnn: units is 0\n"),
        (FileNotFoundError(2, "No such file or directory", "a.txt"), "glnn: a.txt: No such file or directory\n"),
        (OSError("the disk is gone"), "glnn: the disk is gone\n"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(
    error: Exception, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.delenv("GLNN_TRACEBACK", raising=False)
    monkeypatch.setattr("glnn.sources.get", fail)
    assert run("source", "anbn", "--out", "unused") == 2
    captured = capsys.readouterr()
    assert captured.err == line
    assert captured.out == ""
    monkeypatch.setenv("GLNN_TRACEBACK", "1")
    with pytest.raises(type(error)):
        main(["source", "anbn", "--out", "unused"])


def test_a_fault_of_ours_is_not_taken_for_wrong_input(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise TypeError("a fault")

    monkeypatch.setattr("glnn.sources.get", fail)
    with pytest.raises(TypeError, match="a fault"):
        main(["source", "anbn", "--out", "unused"])


def test_wrong_usage_leaves_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("nothing") == 2
    assert run("source", "anbn") == 2
    assert run("source", "anbn", "--out", "x", "--seed", "one") == 2
    assert "Traceback" not in capsys.readouterr().err


def test_the_module_as_a_process() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from glnn.cli import main; main()", "source", "nothing", "--out", "x"],
        capture_output=True,
        text=True,
        env={name: value for name, value in os.environ.items() if name != "GLNN_TRACEBACK"},
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("glnn: no source is called 'nothing'")
    assert done.stderr.count("\n") == 1
