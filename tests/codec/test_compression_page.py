"""The examples of the page on compression run, and hold what they say."""

from __future__ import annotations

from tests.training.pages import run_page


def test_the_page_runs() -> None:
    names = run_page("compression.md")
    assert names["text"].startswith("to be or not to be")
