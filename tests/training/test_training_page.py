"""docs/training.md: its example runs; every field of a record and every method is explained."""

from __future__ import annotations

import ast
import inspect
from dataclasses import fields
from itertools import pairwise

from glnn.metrics import TRANSITION_METHODS, WRITING_METHODS
from glnn.training import records
from tests.training.pages import DOCS, run_page


def test_the_example_runs() -> None:
    progress = run_page("training.md")["progress"]
    assert progress.reason == "budget" and progress.step == 40
    assert progress.history[-1].validation is not None
    assert progress.best_score > progress.history[0].validation


def test_every_field_of_the_record_is_explained() -> None:
    """The reference shows the text under each field."""
    (record,) = (
        node
        for node in ast.parse(inspect.getsource(records)).body
        if isinstance(node, ast.ClassDef) and node.name == "StepInfo"
    )
    explained = [
        field.target.id
        for field, text in pairwise(record.body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(text, ast.Expr)
    ]
    assert explained == [field.name for field in fields(records.StepInfo)]


def test_every_method_is_in_the_notation() -> None:
    text = (DOCS / "notation.md").read_text(encoding="utf-8")
    for name in [*TRANSITION_METHODS, *WRITING_METHODS]:
        assert f'| `"{name}"` |' in text
