"""`glnn demo`: real samples, exact bits, a network that learned something, and a page."""

from __future__ import annotations

import bz2
from pathlib import Path

import pytest

from glnn import sources
from glnn.cli import demo
from tests.cli.conftest import Command


def bzip2_bits(text: str) -> int:
    return 8 * len(bz2.compress(text.encode(), 9))


def test_its_figures_are_those_of_the_samples(glnn: Command, tmp_path: Path) -> None:
    done = glnn("demo", "--source", "music", "--seed", 4, "--budget", "12 steps", "--json")
    assert done.code == 0
    found = done.json
    source = sources.get("music")
    known, coded = source.sample(None, 4).text, source.sample(None, 5).text
    rows = {row["model"]: row for row in found["rows"]}
    assert list(rows) == sorted(rows, key=lambda name: rows[name]["bits"])
    assert rows["true model"]["bits"] == pytest.approx(source.bits(coded))
    assert rows["bzip2"]["bits"] == bzip2_bits(known + coded) - bzip2_bits(known)
    assert rows["true model"]["bits"] < rows["ContextTree"]["bits"] < rows["bzip2"]["bits"]
    assert rows["GLNN"]["bits"] < 2.5 * len(coded)
    assert found["symbols"] == len(coded)
    assert set(found["sample"]) <= set(known)
    page = (tmp_path / found["page"]).read_text()
    assert found["page"] == "glnn-demo.html"
    assert "GLNN on music" in page
    assert "true model" in page


def test_what_a_person_sees(glnn: Command, tmp_path: Path) -> None:
    (tmp_path / "glnn-demo.html").write_text("mine")
    done = glnn("demo", "--source", "anbn", "--budget", "2 steps")
    assert done.code == 0
    first = sources.get("anbn").sample(None, 0).text.splitlines()[0]
    assert demo.shortened(first) in done.out
    assert "true model" in done.out
    assert "bits more than the true model" in done.out
    assert "open glnn-demo-2.html" in done.out
    assert (tmp_path / "glnn-demo.html").read_text() == "mine"
    assert (tmp_path / "glnn-demo-2.html").exists()
    assert glnn("demo", "--source", "anbn", "--budget", "2 steps", "--force").code == 0
    assert (tmp_path / "glnn-demo.html").read_text() != "mine"
    assert not (tmp_path / "glnn-demo-3.html").exists()
    assert "GLNN: begins" in done.err
    assert "\x1b" not in done.out + done.err


def test_only_what_is_to_be_predicted_counts(glnn: Command) -> None:
    done = glnn("demo", "--source", "xor", "--budget", "1 steps", "--json")
    assert done.code == 0
    coded = sources.get("xor").sample(1000, 1)
    rows = {row["model"]: row for row in done.json["rows"]}
    assert done.json["symbols"] == coded.mask.sum() == 1000
    assert rows["true model"]["bits"] == pytest.approx(coded.bits)
    assert "bzip2" not in rows


@pytest.mark.small
def test_wrong_input(glnn: Command, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("mine")
    for arguments, message in (
        (("--source", "musik"), "did you mean 'music'?"),
        (("--budget", "soon"), "budget is 'soon'"),
        (("--out", "page.html"), "exists already"),
    ):
        done = glnn("demo", *arguments)
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert message in done.err


@pytest.mark.small
def test_long_lines_show_their_two_ends() -> None:
    assert demo.shortened("abc") == "abc"
    shown = demo.shortened("a" * 500 + "b" * 500)
    assert len(shown) <= 76
    assert shown.startswith("aaaa")
    assert shown.endswith("bbbb")
    assert "1,000 symbols" in shown
