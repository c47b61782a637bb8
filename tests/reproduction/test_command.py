"""The whole command at a tiny scale: steps instead of seconds, networks of four units."""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from glnn.reproduction.planned import xor_settings
from glnn.reproduction.settings import to_json

ROOT = Path(__file__).resolve().parents[2]
TINY = ("table", "--steps", "1", "--sizes", "4")
COMMAND = [sys.executable, "-c", "from glnn.cli import main; main()", "reproduce"]


@pytest.fixture
def glnn(capsys, monkeypatch, tmp_path: Path):
    """The command in this process, in an empty folder: exit code, output, errors."""
    from glnn.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GLNN_TRACEBACK", raising=False)

    def run(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main(["reproduce", *map(str, arguments)])
        printed = capsys.readouterr()
        return int(left.value.code or 0), printed.out, printed.err

    return run


def test_a_sweep_its_table_and_its_figures(glnn, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- table: begin -->\n<!-- table: end -->\n")
    code, out, err = glnn(*TINY, "--workers", 1, "--limit", 9, "--out", "r", "--page", page, "--json")
    assert code == 0, err
    document = json.loads(out)
    assert (document["runs"], document["wanted"], document["failed"]) == (9, 9, [])
    assert all("best" in document["rows"][0][source] for source in ("insertions", "music", "anbn"))
    row = document["rows"][-1]
    assert row["row"] == "GLNN QDH+RBPM"
    assert all(row[source]["passes"] == 2 for source in ("insertions", "music", "anbn"))
    lines = (tmp_path / "r" / "table.jsonl").read_text().splitlines()
    assert len(lines) == 9 and "GLNN QDH+RBPM" in page.read_text()
    # Again: nothing is left to run, and the table is shown.
    code, out, _ = glnn(*TINY, "--limit", 9, "--out", "r")
    assert code == 0 and "9 of 9 runs are there" in out and "GLNN QDH+RBPM" in out
    assert (tmp_path / "r" / "table.jsonl").read_text().splitlines() == lines
    # By the text these runs of insertions had other sequences.
    code, out, _ = glnn("table", "--no-run", "--reading", "text", "--out", "r", "--json")
    assert code == 0 and json.loads(out)["wanted"] == 9 - sum('"insertions"' in text for text in lines)
    code, _, _ = glnn("figures", "--out", "r", "--figures", "f")
    assert code == 0 and (tmp_path / "f" / "anbn.png").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("tabel",), "glnn: nothing to reproduce is called 'tabel'; there are table, figures, xor"),
        (("table", "--scale", "0"), "glnn: --scale is 0: it must be positive, for example 0.03"),
        (("table", "--sizes", "x"), "glnn: --sizes is 'x': give whole numbers separated by commas, such as 16,32"),
        (("table", "--lines", "5"), "--lines was given with table; it is an option of xor (table takes --scale"),
        (("table", "--reading", "letter"), "--reading is 'letter': it must be one of figures, text"),
        (("table", "--apart"), "--apart was given with table; it is an option of xor"),
        (("table", "--figures", "f"), "--figures was given with table; it is an option of figures"),
        (("figures", "--longest", "30"), "--longest was given with figures; it is an option of xor"),
        (("figures", "--workers", "1"), "--workers was given with figures; it is an option of table and xor"),
        (
            ("figures", "--sizes", "4"),
            "--sizes was given with figures; it is an option of table (figures takes --scale",
        ),
        (("xor", "--longest", "1"), "--longest is 1: time scales begin at 2 symbols"),
        (("xor", "--quasi", "2", "--batches", "2"), "--quasi and --batches were both given"),
        (("xor", "--strict", "300"), "--strict was given without --quasi: by the paper's steps runs creep; add"),
        (("xor", "--strict", "300", "--quasi", "2", "--restart", "4"), "--strict and --restart were both given: each"),
        (("xor", "--forget", "--quasi", "2"), "--forget was given without --strict, which says what is slow; add"),
        (("table", "--strict", "300"), "--strict was given with table; it is an option of xor"),
        (("xor", "--sizes", "5"), "--sizes was given with xor; it is an option of table"),
        (("table", "--only", "music", "--only", "GRU"), "no setting has 'music' and 'GRU' in it (--only); one of them"),
        (("table", "--workers", "2", "--cluster", "tcp://x:1"), "--workers and --cluster were both given"),
        (("table", "--no-run", "--out", "none"), "table.jsonl is not there: run without --no-run first"),
        (("figures", "--out", "none"), "no runs in none: run glnn reproduce table or xor with --out none first"),
    ],
)
def test_wrong_input_is_told_in_one_line(glnn, arguments, told: str) -> None:
    code, _, error = glnn(*arguments)
    assert code == 2 and told in error and error.count("\n") == 1


@pytest.mark.parametrize("what", ["table", "figures", "xor"])
def test_no_option_is_passed_over(glnn, what: str) -> None:
    """Every option is used by some command, and refused with a word by those that do not use it."""
    from glnn.cli.reproduce import _TAKEN, reproduce

    options = [name for name in inspect.signature(reproduce).parameters if name not in ("context", "what")]
    assert set(options) == set().union(*_TAKEN.values())
    given = {
        "apart": (),
        "forget": (),
        "half_count": (),
        "no_run": (),
        "out": ("none",),
        "page": ("p",),
        "reading": ("text",),
        "cluster": ("tcp://x:1",),
    }
    for name in set(options) - set(_TAKEN[what]):
        flag = f"--{name.replace('_', '-')}"
        code, _, error = glnn(what, flag, *given.get(name, ("5",)))
        assert code == 2 and f"{flag} was given with {what}; it is an option of " in error


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ((), "xor"),
        (("--half-count",), "xor-half"),
        (("--batches", "2", "--restart", "4"), "xor-stretches"),
        (("--half-count", "--quasi", "2"), "xor-quasi"),
        (("--half-count", "--quasi", "2", "--strict", "4"), "xor-strict"),
        (("--half-count", "--quasi", "2", "--strict", "4", "--forget"), "xor-forget"),
    ],
)
def test_each_way_of_distant_xor_has_its_place_in_a_page(glnn, tmp_path: Path, given, name: str) -> None:
    line = {"setting": to_json(xor_settings(2, 1, 30, batches=2, restart=4)[0]), "success_passes": 2, "passes": 2}
    (tmp_path / "xor.jsonl").write_text(json.dumps({**line, "best_valid_error": 0.001}) + "\n")
    page = tmp_path / "page.md"
    page.write_text(f"<!-- {name}: begin -->\n<!-- {name}: end -->\n")
    asked = ("--scale", "0.001", "--seeds", "1", "--lines", "30", "--out", tmp_path, "--no-run", "--page", page)
    code, _, err = glnn("xor", *asked, *given)
    assert code == 0, err
    assert ("steps on one of 2 stretches" in page.read_text()) == (name == "xor-stretches")


def test_only_what_all_texts_name_is_run(glnn, tmp_path: Path) -> None:
    chosen = ("--only", "Music, GLNN qdh", "--only", "d = 3", "--only", "seed 1")
    code, out, err = glnn(*TINY, "--workers", 1, *chosen, "--out", "r", "--json")
    assert code == 0, err
    assert json.loads(out)["wanted"] == 2
    settings = [json.loads(text)["setting"] for text in (tmp_path / "r" / "table.jsonl").read_text().splitlines()]
    assert {(s["source"], s["model"], s["metric"], s["seed"]) for s in settings} == {
        ("music", "glnn", "rbpm", 1),
        ("music", "glnn", "ruop", 1),
    }


@pytest.fixture
def running(tmp_path: Path):
    """A sweep of many settings in a group of processes of its own."""
    process = subprocess.Popen(
        [*COMMAND, *TINY, "--limit", "200", "--out", "r"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Where the tests run in the background, Ctrl-C is ignored, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    yield process
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def test_ctrl_c_keeps_what_is_finished_and_leaves_no_process_behind(running, tmp_path: Path) -> None:
    path = tmp_path / "r" / "table.jsonl"
    deadline = time.monotonic() + 120
    while not (path.exists() and path.stat().st_size):
        assert time.monotonic() < deadline and running.poll() is None
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGINT)
    _, error = running.communicate(timeout=60)
    assert running.returncode == 130 and "interrupted; all finished runs are in the file" in error
    assert all(json.loads(text)["regret"] > 0 for text in path.read_text().splitlines())
    with pytest.raises(ProcessLookupError):
        # The last of them goes when it notices that the others have.
        while time.monotonic() < deadline + 60:
            os.killpg(running.pid, 0)
            time.sleep(0.05)
