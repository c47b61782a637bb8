"""Why a row of the paper's table is off: one hypothesis, one run, one line of results.

    python experiments/table_hypotheses.py run "GNN begins quietly" source=music model=gnn ... start=quiet
    python experiments/table_hypotheses.py count "" source=anbn model=lstm ...      a run that the page counts
    python experiments/table_hypotheses.py table        what is there so far

NAME=VALUE are the fields of `glnn.reproduction.settings.Setting`. Beside each run stands the one that differs from it
in nothing but what is tried, if it is there. `count` is for settings of the paper's grid, read as the page says, whose
lines go to those of the sweep.
"""

from __future__ import annotations

import argparse
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from glnn.reproduction.results import Line, appending, read_lines, settings_of
from glnn.reproduction.running import run_setting
from glnn.reproduction.settings import Setting, from_json
from glnn.reproduction.tables import as_markdown, number

RESULTS = Path(__file__).parent / "results" / "reproduction"
WHOLE = ("units", "degree", "seed")


def setting_from(texts: list[str]) -> Setting:
    """The setting that NAME=VALUE texts name."""
    kinds = {field.name: type(field.default) for field in fields(Setting)}
    given: dict[str, Any] = {"seed": 0}
    for text in texts:
        name, value = text.split("=", 1)
        if kinds[name] is bool:
            given[name] = value == "True"
        else:
            given[name] = int(value) if name in WHOLE or kinds[name] is int else value
    return Setting(**given)


def table(folder: Path) -> str:
    """Every line of hypotheses with the run it is to be compared with."""
    counted = read_lines(folder / "table.jsonl")
    lines = [*read_lines(folder / "hypotheses.jsonl"), *(line for line in counted if line["setting"].get("start"))]
    found = {from_json(line["setting"]): line for line in [*counted, *lines]}
    rows = []
    for line in lines:
        setting = from_json(line["setting"])
        # A GNN has other time scales only with a start, so only they are tried then.
        further = setting.start and setting.longest
        usual = replace(setting, longest=0) if further else replace(setting, start="", graph="", fold=0)
        if usual == setting:
            continue
        control = found.get(usual)
        rows.append(
            [
                line.get("hypothesis", f"{setting.model.upper()} {'time scales' if further else setting.start}"),
                str(setting),
                outcome(line),
                "not run" if control is None else outcome(control),
            ]
        )
    return as_markdown(["tried", "run", "found", "without it"], rows)


def outcome(line: Line) -> str:
    """A regret, or the least error of distant XOR, and when it came."""
    if "best_valid_error" in line:
        success = line["success_passes"]
        when = f"under 1 % after {success:,} passes" if success else f"not under 1 % in {line['passes']:,} passes"
        return f"{100 * line['best_valid_error']:.1f} %, {when}"
    return f"{number(line['regret'])} (step {line['best_step']:,} of {line['steps']:,})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "count", "table"])
    parser.add_argument("hypothesis", nargs="?", default="")
    parser.add_argument("fields", nargs="*", metavar="NAME=VALUE")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    if options.what == "table":
        print(table(options.out))
        return
    counted = options.what == "count"
    setting, path = setting_from(options.fields), options.out / ("table.jsonl" if counted else "hypotheses.jsonl")
    if setting in settings_of(read_lines(path)):
        return
    line = {**({} if counted else {"hypothesis": options.hypothesis}), **run_setting(setting)}
    with appending(path) as file:
        file.append(line)
    print(options.hypothesis, setting, outcome(line), sep=" | ")


if __name__ == "__main__":
    main()
