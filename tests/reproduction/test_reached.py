"""Cells that are reached are counted, and the others say what their best run shows."""

from __future__ import annotations

import pytest

from glnn.reproduction.reached import reached, told_reached
from glnn.reproduction.settings import Setting
from glnn.reproduction.tables import table_document
from tests.reproduction.test_tables import WANTED, line

pytestmark = pytest.mark.small
LINES = [
    line("insertions", 16, 0, 600.0, steps=100, best_step=40),
    line("music", 16, 0, 1200.0, steps=100, best_step=40),
]
ELSEWHERE = [Setting(**line("anbn", 16, 0, 55.5)["setting"])]


def test_what_is_at_or_under_the_papers_is_counted() -> None:
    document = table_document(LINES, WANTED)
    assert reached(document) == (1, 45)
    other = table_document([*LINES, line("anbn", 16, 0, 55.5)], [*WANTED, *ELSEWHERE])
    text = told_reached(document, other)
    assert text.startswith("**1 of 45 cells are at or under the paper's.**")
    assert text.count("\n- ") == 44 and "GLNN QDH+RBPM on insertions" not in text
    assert "- GLNN QDH+RBPM on aⁿbⁿ: no run yet (paper: 30.0; by the other reading 55.5)." in text
    assert "- bzip2 on music: no run yet (paper: 6,036)." in text


@pytest.mark.parametrize(
    ("best_step", "told"),
    [(40, "validation turned at step 40 of 100"), (97, "still getting better when its time ended (step 97 of 100)")],
)
def test_a_cell_that_is_not_reached_says_when_its_best_came(best_step: int, told: str) -> None:
    lines = [LINES[0], {**LINES[1], "best_step": best_step}]
    document = table_document(lines, WANTED)
    text = told_reached(document, document)
    found = next(part for part in text.splitlines() if part.startswith("- GLNN QDH+RBPM on music"))
    assert "1,200 against 1,056 with 16 units, d = 3 and 54s, best of 1 run" in found and told in found


@pytest.mark.parametrize(("middle", "told"), [(1205.0, "stood still, with 5.0 bits"), (1900.0, "still getting better")])
def test_a_run_that_stands_still_is_not_called_better(middle: float, told: str) -> None:
    way = {"steps": [1, 50, 100], "valid_bits": [9000.0, 300.0 + middle, 1500.0]}
    document = table_document([{**LINES[1], "best_step": 100, "trajectory": way}], WANTED)
    found = next(part for part in told_reached(document, document).splitlines() if "GLNN QDH+RBPM on music" in part)
    assert told in found
