"""The GLNNs with invariant metrics beyond the table: the paper's sizes in between, and twice the time.

    glnn reproduce table --scale 0.03 --sizes 23,45,91 --only "insertions, GLNN QDH" --only "d = 3" --out DIR
    glnn reproduce table --scale 0.06 --sizes 16,32,64,128 --only "music, GLNN QDH" --out DIR
    python experiments/more_tries.py         what these runs give, into docs/reproduction.md

with DIR = experiments/results/reproduction, where the table's own runs are. At twice the time runs make about as many
passes as the paper's.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from glnn.reproduction.results import Line, read_lines
from glnn.reproduction.settings import BETWEEN, ROWS, SOURCES, Row, Setting, budget, from_json, table_settings
from glnn.reproduction.tables import TITLES, as_markdown, cell, number, write_between

RESULTS = Path(__file__).parent / "results" / "reproduction" / "table.jsonl"
PAGE = Path(__file__).parents[1] / "docs" / "reproduction.md"
SCALE = 0.03


def table(lines: list[Line]) -> str:
    """The best of each kind of run, with its regret on the third sequence and the number of runs."""
    in_table = set(table_settings(SCALE))
    kinds: dict[str, Callable[[Setting], bool]] = {
        "in the table": lambda setting: setting in in_table,
        "sizes in between": lambda setting: (
            setting.budget == budget(setting.source, SCALE) and setting.units in BETWEEN[setting.source]
        ),
        "twice the time": lambda setting: setting.budget == budget(setting.source, 2 * SCALE),
    }
    parts = {name: [line for line in lines if wanted(from_json(line["setting"]))] for name, wanted in kinds.items()}
    rows = []
    for place, source in enumerate(SOURCES):
        for row in (row for row in ROWS if row.model == "glnn" and row.kind == "invariant"):
            found = [_told(part, row, source) for part in parts.values()]
            if any(found[1:]):
                rows.append([f"{TITLES[source]}, {row.title}", number(row.paper[place]), *found])
    return as_markdown(["", "paper", *parts], rows)


def _told(lines: list[Line], row: Row, source: str) -> str:
    best = cell(lines, row, source)
    if best is None or best.third is None:
        return ""
    return f"{number(best.best)} ({best.units} units, d = {best.degree}; third {number(best.third)}; {best.runs} runs)"


def main() -> None:
    text = table(read_lines(RESULTS))
    write_between(PAGE, "tries", text)
    print(text)


if __name__ == "__main__":
    main()
