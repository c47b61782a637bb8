"""Why a row of the paper's table is off: one hypothesis, one run, one line of results.

    python experiments/table_hypotheses.py "GNN begins quietly" --out FILE source=insertions model=gnn ... budget=54s

Settings are the fields of `glnn.reproduction.settings.Setting`. Lines go to results/reproduction/hypotheses.jsonl.
"""

from __future__ import annotations

import argparse
from dataclasses import fields
from pathlib import Path
from typing import Any

from glnn.reproduction.results import appending, read_lines, settings_of
from glnn.reproduction.running import run_setting
from glnn.reproduction.settings import Setting

RESULTS = Path(__file__).parent / "results" / "reproduction" / "hypotheses.jsonl"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hypothesis")
    parser.add_argument("fields", nargs="+", metavar="NAME=VALUE")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    kinds = {field.name: type(field.default) for field in fields(Setting)}
    whole = {"units", "degree", "seed"}
    given: dict[str, Any] = {"seed": 0}
    for text in options.fields:
        name, value = text.split("=", 1)
        given[name] = (
            value == "True" if kinds[name] is bool else int(value) if name in whole or kinds[name] is int else value
        )
    setting = Setting(**given)
    if setting in settings_of(read_lines(options.out)):
        return
    line = {"hypothesis": options.hypothesis, **run_setting(setting)}
    with appending(options.out) as file:
        file.append(line)
    print(
        options.hypothesis, "|", setting, "|", line.get("regret"), line.get("steps"), line.get("best_step"), flush=True
    )


if __name__ == "__main__":
    main()
