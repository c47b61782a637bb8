"""The page of speed is what the committed results make of it."""

from __future__ import annotations

import json

import pytest

from benchmarks import page
from benchmarks.figures import draw_growth, draw_peers
from benchmarks.records import RESULTS, read


@pytest.mark.parametrize("name", sorted(page.tables()))
def test_the_page_shows_the_committed_results(name: str) -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    assert page.filled(text, name, page.tables()[name]()) == text


def test_a_page_without_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="no single pair of markers <!-- growth: begin -->"):
        page.filled("nothing", "growth", "table")


def test_the_figures_are_drawn_as_png_and_svg(tmp_path) -> None:
    growth = json.loads((RESULTS / "growth.json").read_text())
    written = draw_growth(growth, tmp_path) + draw_peers(read(RESULTS / "peers.jsonl"), tmp_path)
    assert {path.name for path in written} == {
        f"speed_{name}.{kind}" for name in ("growth", "degree", "peers") for kind in ("png", "svg")
    }
    assert all(path.stat().st_size > 5_000 for path in written)
