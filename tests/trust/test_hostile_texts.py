"""A text full of markup and scripts, from training data to the page in a browser: it shows as text and runs nothing.

Skipped where there is no Chromium; tests/report/test_browser.py looks at the page in all other ways.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import glnn
from glnn.report import from_model, write_page
from tests.cli.conftest import Command

HOSTILE = (
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<img src=x onerror=alert(3)>",
    "<!--<script>",
    '"><svg onload=alert(4)>',
    "javascript:alert(5)",
    "${alert(6)}`",
    "]]>\u2028alert(7)",
    "<b>bold</b>",
)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Pages about models of such texts: character by character, and with whole scripts as symbols."""
    folder = tmp_path_factory.mktemp("hostile")
    text = "\n".join(HOSTILE * 3)
    events = glnn.Sequences(
        [list(HOSTILE), list(HOSTILE[::-1])] * 6, [f"{tag} {k}" for k, tag in enumerate(HOSTILE[:3] * 4)]
    )
    options: dict[str, Any] = {"budget": "2 steps", "restarts": 1, "random_state": 0, "verbose": 0}
    made = {}
    for name, data in (("text", text), ("events", events)):
        model = glnn.GLNN(3, 2, **options).fit(data)
        made[name] = write_page(from_model(model, data, name=HOSTILE[0]), folder / f"{name}.html")
    return made


def test_the_page_holds_no_script_of_the_text(pages: dict[str, Path]) -> None:
    for path in pages.values():
        page = path.read_text()
        for hostile in HOSTILE[:5]:
            assert hostile not in page
        assert html.escape(HOSTILE[0]) in page


def test_in_a_browser(pages: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> None:
    looked_at = pytest.importorskip("tests.report.test_browser", reason="selenium is not installed")
    if looked_at.CHROMIUM is None or looked_at.DRIVER is None:
        pytest.skip("no Chromium with its driver is installed")
    for browser in _browser(looked_at, tmp_path_factory.mktemp("profile")):
        for name, path in pages.items():
            browser.open(path, 1200)
            assert browser("window.alerts") == []
            assert browser.messages() == []
            assert (
                browser("document.querySelectorAll('main script, main img, main [onerror], main [onload]').length") == 0
            )
            assert HOSTILE[0] in browser("document.body.textContent"), name


def _browser(looked_at: Any, profile: Path) -> Iterator[Any]:
    browser = looked_at.Browser(profile)
    try:
        yield browser
    finally:
        browser.driver.quit()


def test_a_log_whose_cases_are_paths_writes_nowhere_else(glnn: Command, tmp_path: Path) -> None:
    """Names of cases and activities that look like paths are names, and no files come of them."""
    rows = [f"../../{n},{step}\n" for n in range(12) for step in ("/etc/passwd", "..\\up", "../out.html", "a/b")]
    place = tmp_path / "place"
    place.mkdir()
    (place / "log.csv").write_text("case,step\n" + "".join(rows))
    options = ("--units", 3, "--degree", 2, "--restarts", 1, "--budget", "2 steps", "--quiet")
    arguments = ("train", "place/log.csv", "--case", "case", "--activity", "step", *options, "--run", "place/run")
    assert glnn(*arguments).code == 0
    assert glnn("compress", "place/run", "place/log.csv", "place/log.glnn").code == 0
    assert glnn("decompress", "place/run", "place/log.glnn", "place/again.csv").code == 0
    assert (place / "again.csv").read_text() == (place / "log.csv").read_text()
    assert glnn("report", "place/run").code == 0
    assert {path.name for path in tmp_path.iterdir()} == {"place"}
    assert {path.name for path in place.iterdir()} == {"log.csv", "run", "log.glnn", "again.csv"}
