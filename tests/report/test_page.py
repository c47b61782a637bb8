"""The file itself: texts stay texts, nothing comes from elsewhere, what is missing is left out."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glnn.report import (
    Comparison,
    ComparisonRow,
    Fact,
    Learning,
    PageData,
    Sample,
    Surprise,
    from_model,
    render,
    write_page,
)

HOSTILE = "</script><script>alert(1)</script><!-- <b onclick='alert(2)'> &lt; \"quoted\""


class Outline(HTMLParser):
    """Tags with their attributes, scripts with their texts, and the text a person reads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.words: list[str] = []
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts[-1] += data
        else:
            self.words.append(data)


@pytest.fixture(scope="module")
def hostile() -> Outline:
    row = ComparisonRow(HOSTILE, 12.5, detail=HOSTILE, curve=[(0.0, 3.0), (1.0, 2.0)])
    page = PageData(
        title=HOSTILE,
        subtitle=HOSTILE,
        facts=[Fact(HOSTILE, HOSTILE, HOSTILE)],
        symbols=[HOSTILE, "b"],
        comparison=Comparison([row], 10, caption=HOSTILE),
        surprise=Surprise(
            np.array([0, 1, 0]), np.array([1.0, 2.0, 3.0]), np.array([0, 1, 3]), np.ones(3, bool), [HOSTILE, "x"]
        ),
        samples=[Sample(HOSTILE, [HOSTILE, "b"], [HOSTILE])],
        notes=[HOSTILE],
    )
    return Outline(render(page))


def test_texts_stay_texts(hostile: Outline) -> None:
    assert [tag for tag, _ in hostile.tags].count("script") == 3
    assert "b" not in [tag for tag, _ in hostile.tags]
    assert not any(name.startswith("on") for _, attributes in hostile.tags for name in attributes)
    # Title twice, subtitle, fact, caption, row, sequence, sample, note and the rest, each as it was given.
    assert sum(words.count(HOSTILE) for words in hostile.words) >= 11


def test_only_our_scripts_may_run_and_nothing_is_loaded(hostile: Outline) -> None:
    policies = [attributes["content"] for _, attributes in hostile.tags if attributes.get("http-equiv")]
    assert len(policies) == 1
    policy = str(policies[0])
    allowed = set(re.findall(r"'sha256-([^']+)'", policy))
    scripts = [text for text in hostile.scripts[1:]]
    assert allowed == {base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts}
    assert policy.startswith("default-src 'none';") and "connect-src" not in policy and "unsafe-eval" not in policy
    for tag, attributes in hostile.tags:
        assert tag != "link" and "src" not in attributes
        assert str(attributes.get("href", "#")).startswith("#")


def test_plotly_is_there_once(hostile: Outline) -> None:
    assert sum("plotly.js (cartesian - minified) v" in text for text in hostile.scripts) == 1


def test_what_is_missing_is_left_out() -> None:
    outline = Outline(render(PageData("only a title")))
    assert not [tag for tag, _ in outline.tags if tag in ("section", "footer", "table")]
    curves = Outline(render(PageData("t", learning=Learning([{"step": 1, "seconds": 1.0, "log_likelihood": -1.0}]))))
    assert [attributes["id"] for tag, attributes in curves.tags if tag == "section"] == ["learning"]


def test_every_place_that_scripts_draw_in_is_there(counter: Any, counting_text: str) -> None:
    comparison = Comparison([ComparisonRow("m", 1.0, curve=[(0.0, 2.0), (1.0, 1.0)])])
    outline = Outline(render(from_model(counter, counting_text, comparison=comparison)))
    names = [attributes["id"] for _, attributes in outline.tags if "id" in attributes]
    assert len(names) == len(set(names))
    wanted = set(re.findall(r'byId\("([a-z-]+)"\)|draw\("([a-z-]+)"', outline.scripts[-1]))
    assert {a or b for a, b in wanted} <= set(names)
    links = {str(attributes["href"])[1:] for tag, attributes in outline.tags if tag == "a"}
    assert links == {"comparison", "learning", "surprise", "drift", "samples", "inside"} <= set(names)


def test_the_table_is_sorted_and_tells_the_distance_to_the_true_model() -> None:
    rows = [
        ComparisonRow("worse", 130.0, "baseline", seconds=1.25),
        ComparisonRow("truth", 100.0, "true model"),
        ComparisonRow("better", 110.0, parameters=1234),
        ComparisonRow("never", float("inf"), "compressor"),
    ]
    words = [word for word in Outline(render(PageData("t", comparison=Comparison(rows, 100)))).words if word.strip()]
    table = words[words.index("parameters") + 1 :]
    assert table[:3] == ["truth", "100.0", "1.0000"]
    assert table[3:8] == ["better", "110.0", "1.1000", "10.0", "1,234"]
    assert table[8:13] == ["worse", "130.0", "1.3000", "30.0", "1.2"]
    assert table[13:17] == ["never", "∞", "∞", "∞"]


def test_samples_tell_long_runs_by_their_length_and_break_lines() -> None:
    sample = Sample("s", ["a"] * 1000 + ["⏎"] + ["b", "·", "U+0000"])
    text = render(PageData("t", samples=[sample]))
    assert "⋯ 994 more ⋯" in text and '<span class="unseen">⏎</span><br>b' in text
    assert '<span class="unseen">·</span><wbr>' in text and '<span class="unseen">U+0000</span>' in text


def test_the_file_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "page.html"
    assert write_page(PageData("first \ud800"), target) == target
    before = target.read_text(encoding="utf-8")
    assert "<h1>first ?</h1>" in before
    for breaks in ("glnn.report.page._script", "pathlib.Path.replace"):
        with monkeypatch.context() as patch, pytest.raises(ZeroDivisionError):
            patch.setattr(breaks, lambda *_: 1 / 0)
            write_page(PageData("second"), target)
        assert target.read_text(encoding="utf-8") == before and list(tmp_path.iterdir()) == [target]
