"""The command line as a whole: help, version, exit codes, and errors of one line."""

from __future__ import annotations

import io
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

import glnn
from glnn.cli import main, printing
from glnn.cli.app import COMMANDS, app
from tests.cli.conftest import process

pytestmark = pytest.mark.small

NAMES = [command.__name__ for command in COMMANDS]


def run(*arguments: str) -> int:
    """The exit code of a command."""
    with pytest.raises(SystemExit) as left:
        main(arguments)
    return int(left.value.code or 0)


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--help") == 0
    printed = capsys.readouterr().out
    for name in NAMES:
        assert f"  {name} " in printed


@pytest.mark.parametrize("name", NAMES)
def test_help_of_a_command_shows_an_example_that_its_options_allow(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert run(name, "--help") == 0
    printed = capsys.readouterr().out
    assert "--json" in printed
    lines = [line.strip() for line in printed.partition("Example")[2].splitlines()[1:]]
    examples = lines[: lines.index("")]
    assert examples
    for example in examples:
        # What another program prints may be piped in.
        example = example.rpartition(" | ")[2]
        assert example.startswith(f"glnn {name}")
        words = shlex.split(example.partition(" && ")[0].partition(" > ")[0])[2:]
        # Parsing alone: nothing is run, and an option that is not there is an error.
        get_command(app).commands[name].make_context(name, words)


def test_commands_of_the_design_are_there() -> None:
    assert set(NAMES) == {
        "demo", "source", "train", "resume", "score", "predict", "sample", "compress", "decompress", "compare",
        "inspect", "report", "reproduce", "bench", "follow",
    }  # fmt: skip


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
        (
            FileNotFoundError(2, "No such file or directory", "a.txt"),
            "glnn: a.txt: No such file or directory; check the name\n",
        ),
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


def test_a_reader_that_goes_away_is_no_fault(tmp_path: Path) -> None:
    """`glnn … | head`; the help is printed by typer, which leaves with 1."""
    for command, code in ((("source", "anbn", "--size", 1, "--out", "a.txt"), 141), (("--help",), 1)):
        read, write = os.pipe()
        os.close(read)
        done = process(*command, cwd=tmp_path, stdout=write)
        os.close(write)
        _, err = done.communicate()
        assert (done.returncode, err) == (code, "")


def test_ctrl_c_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.delenv("GLNN_TRACEBACK", raising=False)
    monkeypatch.setattr("glnn.sources.get", stop)
    assert run("source", "anbn", "--out", "unused") == 130
    assert capsys.readouterr().err == "glnn: interrupted\n"


def test_symbols_that_the_terminal_lacks_are_numbered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    code = """
from glnn.cli import _write_any_symbol, printing
_write_any_symbol()
printing.console().print(printing.data_table(("next", "bits"), [("⏎", "1.5")]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\u23ce" in done.stdout


def test_json_has_no_numbers_that_json_lacks(capsys: pytest.CaptureFixture[str]) -> None:
    printing.print_json({"a": [1.5, float("inf"), (float("nan"), 2)], "b": None, "c": True})
    assert capsys.readouterr().out == '{"a": [1.5, null, [null, 2]], "b": null, "c": true}\n'


def test_tables_are_not_cut_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    printing.console().print(printing.data_table(("name", "bits"), [("x" * 300, "1"), ("[bold]", "2")]))
    printed = capsys.readouterr().out
    assert "x" * 300 in printed
    assert "[bold]" in printed


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_changes_in_a_terminal_and_is_lines_elsewhere(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr(printing.time, "monotonic", lambda: now[0])
    line = printing.ProgressLine(quiet=False)
    for k in range(12):
        line.update(k / 12, f"step {k}")
        now[0] += 1.0
    for now[0] in (1000.0, 1099.0, 1120.0, 1121.0):
        line.update(1.0, f"at {now[0]:.0f}")
    line.update(1.0, "another", new=True)
    line.close()
    # Every five seconds at first, then when a tenth more time has gone by.
    lines = ["step 0", "step 5", "step 10", "at 1000", "at 1120", "another"]
    assert capsys.readouterr().err.splitlines() == lines
    silent = printing.ProgressLine(quiet=True)
    silent.update(0.5, "step")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    line = printing.ProgressLine(quiet=False)
    line.update(0.5, "step 7")
    line.close()
    shown = sys.stderr.getvalue()  # type: ignore[attr-defined]
    assert "step 7" in shown
    assert "50%" in shown


def test_signs_of_life_only_when_it_takes_long(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with printing.working("scoring"):
        pass
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("threading.Timer", lambda seconds, say, words: Now(say, words))
    with printing.working("scoring"):
        pass
    assert capsys.readouterr().err == "scoring ...\n"
    with printing.working("scoring", quiet=True):
        pass
    assert capsys.readouterr().err == ""


class Now:
    """A timer whose time has come."""

    daemon = False

    def __init__(self, say: object, words: list[str]) -> None:
        self._say, self._words = say, words

    def start(self) -> None:
        self._say(*self._words)  # type: ignore[operator]

    def cancel(self) -> None:
        pass
