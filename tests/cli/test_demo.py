"""`glnn demo`: real samples, exact bits, and what bzip2 spends beyond them."""

from __future__ import annotations

import bz2
import json

import pytest

from glnn import sources
from glnn.cli import demo, main


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    return int(left.value.code or 0)


def bzip2_bits(text: str) -> int:
    return 8 * len(bz2.compress(text.encode(), 9))


def test_its_figures_are_those_of_the_samples(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("demo", "--seed", "4", "--json") == 0
    rows = {row["source"]: row for row in json.loads(capsys.readouterr().out)}
    assert tuple(rows) == sources.NAMES
    for name in ("music", "anbn"):
        source = sources.get(name)
        known, coded = source.sample(None, 4).text, source.sample(None, 5).text
        row = rows[name]
        assert row["symbols"] == len(coded)
        assert row["true_model_bits"] == pytest.approx(source.bits(coded))
        assert row["bzip2_bits"] == bzip2_bits(known + coded) - bzip2_bits(known)
        assert row["bzip2_regret"] == pytest.approx(row["bzip2_bits"] - row["true_model_bits"])


def test_it_shows_lines_of_the_coded_sample(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("demo") == 0
    printed = capsys.readouterr().out
    for name in sources.NAMES:
        assert name in printed
    assert sources.get("music").sample(None, 1).text.splitlines()[0] in printed
    assert "Bits for the second sample" in printed


@pytest.mark.small
def test_long_lines_show_their_two_ends() -> None:
    assert demo._shortened("abc") == "abc"
    shown = demo._shortened("a" * 500 + "b" * 500)
    assert len(shown) <= 76
    assert shown.startswith("aaaa")
    assert shown.endswith("bbbb")
    assert "1,000 symbols" in shown
