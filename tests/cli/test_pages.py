"""The examples of the pages about the command line run as printed, with budgets of a few steps instead of theirs."""

from __future__ import annotations

import math
import re
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, TUNES, Command

HOWTOS = sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs/howto").glob("*.md"))
PAGES = ["README.md", "docs/quick_start.md", "docs/command_line.md", *HOWTOS]
TRAINING = {"train": "3 steps", "compare": "2 steps", "demo": "1 steps", "resume": "5 steps"}
# Samples of the paper's sizes take long to score: fewer lines and blocks show the same.
SIZES = {"music": "60", "anbn": "1"}


def blocks(page: str) -> list[tuple[str, str]]:
    """Every block that can be run, in the order of the page."""
    return re.findall(r"```(python|console)\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)


def shortened(command: str) -> list[str]:
    words = shlex.split(command)
    assert words.pop(0) == "glnn"
    if words[0] in TRAINING:
        words += ["--budget", TRAINING[words[0]]]
    if words[0] in ("train", "compare") and "--units" not in words:
        words += ["--units", "4", "--degree", "2"]
    if words[0] == "compare":
        words += ["--seeds", "1"]
    if words[0] == "source":
        words += ["--size", SIZES[words[1]]]
    return words


# The page asks for what follows some words of a book.
BOOK = "You may do this under the terms of a licence; nobody else may.\n" * 20


def test_there_is_a_page_for_every_task() -> None:
    names = {Path(page).stem for page in PAGES}
    tasks = {"predict", "score_an_event_log", "generate", "compress", "compare", "look_inside", "follow"}
    assert tasks | {"add_a_source", "quick_start"} <= names


@pytest.mark.parametrize("page", sorted(PAGES))
def test_the_examples_run(page: str, glnn: Command, tmp_path: Path) -> None:
    (tmp_path / "book.txt").write_text(BOOK if page.endswith("quick_start.md") else TUNES)
    names: dict = {}
    commands = 0
    for kind, text in blocks(page):
        if kind == "python":
            if page != "README.md":  # That one has a test of its own.
                exec(compile(text, page, "exec"), names)
            continue
        lines = [line.removeprefix("$ ") for line in text.splitlines()]
        assert all(line.startswith("glnn ") for line in lines)
        for line in lines:
            done = glnn(*shortened(line))
            assert done.code == 0, (line, done.err)
            commands += 1
    assert commands or page.endswith("add_a_source.md")
    if page.endswith("add_a_source.md"):
        assert names["source"].bits("([)]\n") == math.inf
    if page.endswith("score_an_event_log.md"):
        assert names["oddest"] == "N18"
    if page.endswith("compress.md"):
        assert (tmp_path / "again.txt").read_bytes() == (tmp_path / "more.txt").read_bytes()
    if page.endswith("look_inside.md"):
        assert (tmp_path / "inside.html").exists() and (tmp_path / "units.png").exists()
        assert "Two ways to count" in (tmp_path / "comparison.html").read_text(encoding="utf-8")
        assert names["inside"] > 0 and names["outside"] > 0


@pytest.mark.small
def test_every_command_is_on_the_page() -> None:
    from glnn.cli.app import COMMANDS

    text = (ROOT / "docs/command_line.md").read_text(encoding="utf-8")
    for command in COMMANDS:
        assert f"`{command.__name__}`" in text
