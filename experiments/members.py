"""What calibration, members and typical starts are worth: one training predicts in every way, scored on other data.

    python experiments/members.py music:1 --budget 36s --members 3 --out experiments/results/members

Sources (`music:SEED`, `insertions:SEED`, `anbn:SEED`) draw three sequences: to train, to validate, to score. Files
(with `--data FOLDER`) are cut: the first four fifths to train (their end validates), the last fifth to score. One line
of JSON for each way to predict; nothing is trained twice for it, since all of them act on the prediction alone.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

import glnn
from glnn import sources
from glnn.training.observer import Observer
from glnn.training.race import Training

WAYS: dict[str, dict[str, Any]] = {
    "as trained": {"members": 1, "calibration": False, "start": "trained"},
    "calibrated": {"members": 1, "calibration": True, "start": "trained"},
    "start chosen": {"members": 1, "calibration": False, "start": "auto"},
    "all, evenly": {"calibration": False, "start": "trained"},
    "all, weighed": {"calibration": True, "start": "trained"},
    "all, weighed, start chosen": {"calibration": True, "start": "auto"},
}
SNIPPET = 100


class Kept(Observer):
    """Holds on to the training, so that it can be made a model again."""

    training: Training

    def begin(self, training: Training) -> None:
        """Before the first step."""
        self.training = training


def task(name: str, folder: Path | None) -> tuple[Any, Any, Any, float | None]:
    """What to train on, to validate on (None: the end of it), to score, and the bits of the true model."""
    kind, _, seed = name.partition(":")
    if seed:
        source = sources.get(kind)
        train, valid, test = (source.sample(seed=100 * int(seed) + k) for k in range(3))
        from glnn.predictors import bits
        from glnn.sequences import encode

        true: Any = source
        return train.text, valid.text, test.text, bits(true, encode(test.text, alphabet=true.alphabet))
    assert folder is not None, "give --data FOLDER"
    if (folder / f"{kind}.csv").exists():
        cases: dict[str, list[tuple[str, str]]] = defaultdict(list)
        with (folder / f"{kind}.csv").open(encoding="utf-8") as file:
            for row in csv.DictReader(file):
                cases[row["CaseID"]].append((row["CompleteTimestamp"], row["ActivityID"]))
        in_time = sorted(map(sorted, cases.values()), key=lambda case: case[0])
        ordered = [[what for _, what in case] for case in in_time]
        cut = len(ordered) * 4 // 5
        return glnn.Sequences(ordered[:cut]), None, glnn.Sequences(ordered[cut:]), None
    text = (folder / f"{kind}.txt").read_text(encoding="latin-1")
    cut = len(text) * 4 // 5
    return text[:cut], None, text[cut:], None


def snippets(model: Any, test: Any) -> float | None:
    """Bits a symbol of snippets from all over a text, each read from the start."""
    if not isinstance(test, str):
        return None
    begins = np.linspace(0, len(test) - SNIPPET, 100).astype(int)
    return float(np.mean([model.bits(test[begin : begin + SNIPPET]) for begin in begins]) / SNIPPET)


def main() -> None:
    """Train once for each seed, predict in every way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="+")
    parser.add_argument("--model", default="GLNN")
    parser.add_argument("--budget", default="36s")
    parser.add_argument("--members", type=int, default=3)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--recipe", default=None)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path, default=Path("experiments/results/members"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for name in given.tasks:
        train, valid, test, true = task(name, given.data)
        for seed in given.seeds:
            kept = Kept()
            recipe = {} if given.recipe is None else {"recipe": given.recipe}
            model = getattr(glnn, given.model)(
                budget=given.budget,
                members=given.members,
                restarts=given.members,
                random_state=seed,
                verbose=0,
                unknown="escape",
                **recipe,
            )
            model.fit(train, valid, observer=kept)
            for way, parameters in WAYS.items():
                if given.members == 1 and way.startswith("all"):
                    continue
                model.set_params(**{"members": given.members, **parameters})
                made = kept.training.fitted()
                bits = made.bits(test)
                line = {
                    "task": name,
                    "model": given.model,
                    "recipe": given.recipe,
                    "budget": given.budget,
                    "members": given.members,
                    "seed": seed,
                    "way": way,
                    "bits": bits,
                    "a_symbol": -made.score(test),
                    "regret": None if true is None else bits - true,
                    "snippets": snippets(made, test),
                    "typical": [start is not None for start in made.starts_],
                    "seconds": made.total_seconds_,
                    "steps": [member["steps"] for member in made.members_],
                    "validation": made.combined_bits_,
                    "smoothing": made.smoothing_,
                }
                with (given.out / f"{name.replace(':', '_')}.jsonl").open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + os.linesep)
                print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
