"""docs/estimators.md and docs/model_files.md: their examples run and say what is true."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from glnn.storage.model_file import FORMAT

DOCS = Path(__file__).resolve().parents[2] / "docs"


def run_page(name: str) -> dict[str, Any]:
    """Run every Python block; the value of each expression that stands alone on a line is kept under its text."""
    values: dict[str, Any] = {}
    names: dict[str, Any] = {"__name__": name}
    blocks = re.findall(r"^```python\n(.*?)^```", (DOCS / name).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    for block in blocks:
        exec(compile(block, name, "exec"), names)
        for line in block.splitlines():
            text = line.split("#")[0].strip()
            if text and not line[0].isspace() and "=" not in text.replace("==", "").split("(")[0]:
                try:
                    values[text] = eval(text, names)
                except SyntaxError:
                    continue
    return values


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_page_of_the_models() -> None:
    values = run_page("estimators.md")
    assert values["model.decompress(model.compress(text)) == text"] is True
    assert values["model.bits(text)"] > 0 > values["model.score(text)"]
    symbols = values["model.alphabet_.symbols"]
    assert symbols[:2] == ("a", "b") and repr(symbols[2]) == "<end>"
    assert len(values["model.sample(count=3, random_state=0)"]) == 3
    assert len(values['model.surprise([["a", "b"]])'][0]) == 3


def test_the_page_of_model_files() -> None:
    values = run_page("model_files.md")
    assert values['again.bits("abracadabra") == model.bits("abracadabra")'] is True
    text = (DOCS / "model_files.md").read_text(encoding="utf-8")
    assert f"version of the format, now {FORMAT}" in text


def test_the_page_of_the_mixture() -> None:
    """It asserts what it says itself: a known text is cheap, and what is compressed alone comes back."""
    run_page("mixture.md")
