"""The models of the paper's table with `recipe="best"`: the same sequences and the same CPU seconds.

    python experiments/best_recipe.py run [--only "music, GLNN"] [--scale 0.03]
    python experiments/best_recipe.py table        what is there so far, into experiments/reproduction.md

What later ideas are worth: each line is one run at one size, beside the best of all runs with `recipe="paper"`.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import glnn
from glnn.reproduction.results import appending, read_lines, settings_of
from glnn.reproduction.running import seeds_of, sequences_of, versions
from glnn.reproduction.settings import ROWS, SOURCES, Setting, budget, from_json, readings, to_json
from glnn.reproduction.tables import TITLES, as_markdown, number, table_document, write_between

RESULTS = Path(__file__).parent / "results" / "reproduction"
PAGE = Path(__file__).parent / "reproduction.md"
MODELS = {"glnn": glnn.GLNN, "gnn": glnn.GNN, "rnn": glnn.RNN, "lstm": glnn.LSTM}
UNITS = {"insertions": 32, "music": 16, "anbn": 16}


def settings(scale: float) -> list[Setting]:
    """One run for each model and source."""
    return [
        Setting(source, model, "", "", UNITS[source], 3, 0, budget(source, scale), after_nine=False, recipe="best")
        if source == "insertions"
        else Setting(source, model, "", "", UNITS[source], 3, 0, budget(source, scale), recipe="best")
        for model in MODELS
        for source in ("music", "anbn", "insertions")
    ]


def run(setting: Setting) -> dict[str, Any]:
    """Fit the estimator; its regrets on validation and on the third sequence."""
    sequences, begun = sequences_of(setting), time.time()
    model: Any = MODELS[setting.model](
        units=setting.units,
        degree=setting.degree,
        budget=setting.budget,
        random_state=setting.seed,
        recipe="best",
        verbose=0,
    )
    model.fit(sequences.train.text, validation=sequences.valid.text)
    regret, third = (
        round(model.bits(sample.text, regularised=True) - sample.bits, 2)
        for sample in (sequences.valid, sequences.third)
    )
    about = {"setting": to_json(setting), "sequence_seeds": list(seeds_of(setting)), **versions()}
    return {**about, "regret": regret, "third_regret": third, "wall_seconds": round(time.time() - begun, 1)}


def table(folder: Path) -> str:
    """The best row of each model in the paper and here, and the runs with the best recipe."""
    lines = read_lines(folder / "table.jsonl")
    found = [setting for line in lines if (setting := from_json(line["setting"])) in readings(setting)]
    document = table_document(lines, found)
    best = {(line["setting"]["model"], line["setting"]["source"]): line for line in read_lines(folder / "best.jsonl")}
    columns = [""]
    for source in SOURCES:
        columns += [f"{TITLES[source]}: paper", '`recipe="paper"`', '`recipe="best"`']
    rows = []
    for model in MODELS:
        row = [model.upper()]
        for source in SOURCES:
            cells = [shown[source] for given, shown in zip(ROWS, document["rows"], strict=True) if given.model == model]
            ours = [cell["best"] for cell in cells if "best" in cell]
            line = best.get((model, source))
            row.append(number(min(cell["paper"] for cell in cells)))
            row.append(number(min(ours)) if ours else "–")
            row.append(f"{number(line['regret'])} ({line['setting']['budget']})" if line else "–")
        rows.append(row)
    return as_markdown(columns, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("--only", default="", help="only settings whose name has this in it")
    parser.add_argument("--scale", type=float, default=0.03)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args()
    if options.what == "table":
        write_between(options.page, "best", table(options.out))
        return
    path = options.out / "best.jsonl"
    for setting in settings(options.scale):
        if options.only.lower() not in str(setting).lower() or setting in settings_of(read_lines(path)):
            continue
        line = run(setting)
        with appending(path) as file:
            file.append(line)
        print(setting, line["regret"], line["third_regret"], sep=" | ", flush=True)


if __name__ == "__main__":
    main()
