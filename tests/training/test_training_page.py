"""docs/training.md: its example runs, and its tables say what there is."""

from __future__ import annotations

import re
from dataclasses import fields

from glnn.metrics import TRANSITION_METHODS, WRITING_METHODS
from glnn.training.records import StepInfo
from tests.training.pages import DOCS, run_page


def test_the_example_runs() -> None:
    progress = run_page("training.md")["progress"]
    assert progress.reason == "budget" and progress.step == 40
    assert progress.history[-1].validation is not None
    assert progress.best_score > progress.history[0].validation


def test_every_field_of_the_record_is_explained() -> None:
    text = (DOCS / "training.md").read_text(encoding="utf-8")
    table = text[text.index("## The record of a step") : text.index("## The same bits")]
    told = [name for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)]
    assert told == [field.name for field in fields(StepInfo)]


def test_every_method_is_in_the_notation() -> None:
    text = (DOCS / "notation.md").read_text(encoding="utf-8")
    for name in [*TRANSITION_METHODS, *WRITING_METHODS]:
        assert f'| `"{name}"` |' in text
