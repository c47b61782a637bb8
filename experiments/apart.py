"""The table's GLNNs with each line of insertions, each block of aⁿbⁿ, a sequence of its own, beside one sequence.

    python experiments/apart.py              run what is not there
    python experiments/apart.py table        what is there so far

Everything else is as in the sweep: sequences, seeds, budgets. One line of JSON a run.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from glnn.reproduction.processes import run_in_processes
from glnn.reproduction.results import Line, read_lines
from glnn.reproduction.settings import SEEDS, SPARSE, Setting, budget, from_json
from glnn.reproduction.sweep import sweep
from glnn.reproduction.tables import TITLES, as_markdown, number

RESULTS = Path(__file__).parent / "results" / "reproduction"
SCALE = 0.03
SIZES = {"anbn": (16, 32, 8, 23), "insertions": (32,)}


def settings() -> list[Setting]:
    """The runs with pieces apart."""
    return [
        Setting(source, "glnn", "qdh", metric, units, SPARSE, seed, budget(source, SCALE), apart=True)
        for source, sizes in SIZES.items()
        for units in sizes
        for metric in ("rbpm", "ruop")
        for seed in range(SEEDS)
    ]


def table(apart: list[Line], together: list[Line]) -> str:
    """Regrets of the same settings in both forms, on the validation and on the third sequence."""
    whole = {from_json(line["setting"]): line for line in together}
    found = {from_json(line["setting"]): line for line in apart}
    rows = []
    for setting in (setting for setting in settings() if setting in found):
        name = f"{TITLES[setting.source]}, {setting.metric.upper()}, {setting.units} units, seed {setting.seed}"
        rows.append([name, *_regrets(whole.get(replace(setting, apart=False))), *_regrets(found[setting])])
    return as_markdown(["", "one sequence", "third", "apart", "third"], rows)


def _regrets(line: Line | None) -> list[str]:
    return ["–", "–"] if line is None else [number(line["regret"]), number(line["third_regret"])]


def main() -> None:
    path = RESULTS / "apart.jsonl"
    if sys.argv[1:] != ["table"]:
        sweep(settings(), path, lambda missing: run_in_processes(missing, 1), lambda standing: print(standing.last))
    text = table(read_lines(path), read_lines(RESULTS / "table.jsonl"))
    print(text)


if __name__ == "__main__":
    main()
