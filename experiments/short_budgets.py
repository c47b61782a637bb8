"""Budgets of a few seconds: regret of both recipes on fresh samples, and what a fit costs in all.

    python experiments/short_budgets.py [--budgets 9] [--recipes best paper] [--models RNN …] [--sources music …]

One line of JSON a run, at once, in `experiments/results/learning/short_budgets.jsonl`; runs that are there are skipped.
`cpu_seconds` is everything that `fit` does once its kernels are compiled.
"""

from __future__ import annotations

import argparse
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import glnn
from benchmarks.records import about, append, read
from glnn.sources import get

PATH = Path(__file__).parent / "results" / "learning" / "short_budgets.jsonl"
SOURCES, MODELS = ("music", "insertions", "anbn"), ("GLNN", "GNN", "RNN", "LSTM")


def run(model: str, source: str, budget: float, recipe: str, sample: int) -> dict[str, Any]:
    """One fit; sequences number `sample` and the two after it train, validate and are scored."""
    given = get(source)
    train, valid, test = (given.sample(seed=sample + k).text for k in range(3))
    kind: Any = getattr(glnn, model)
    common = {"random_state": 0, "verbose": 0, "n_jobs": 1, "recipe": recipe}
    # Everything is compiled by this one.
    kind(budget=1.0, **common).fit(train[:3000], validation=valid[:3000])
    started = time.process_time()
    fitted = kind(budget=budget, **common).fit(train, validation=valid)
    seconds = time.process_time() - started
    regret = float(fitted.bits(test) - given.bits(test))
    told = {"members": len(fitted.members_), "units": fitted.units_, "training": fitted.training_["training"]}
    charged = round(fitted.total_seconds_, 2)
    return {"regret": round(regret, 1), "cpu_seconds": round(seconds, 2), "charged": charged, **told}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budgets", nargs="+", type=float, default=[9.0])
    parser.add_argument("--recipes", nargs="+", default=["best", "paper"])
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--sources", nargs="+", default=SOURCES)
    parser.add_argument("--sample", type=int, default=8820)
    options = parser.parse_args()
    for source, model, budget, recipe in product(options.sources, options.models, options.budgets, options.recipes):
        key = {"model": model, "data": source, "budget": budget, "recipe": recipe, "sample": options.sample}
        if any(key == {name: line.get(name) for name in key} for line in read(PATH)):
            continue
        found = run(model, source, budget, recipe, options.sample)
        append(PATH, {**key, **found, **about(), "command": " ".join(["python", *sys.argv])})
        print(key, found, flush=True)


if __name__ == "__main__":
    main()
