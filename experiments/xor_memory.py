"""Why a run of distant XOR stands still: what the metric leaves out of each unit's effect on the lines.

    python experiments/xor_memory.py [--metric ruop] [--seed 5] [--steps 245] [--apart]

Trains up to where η_τ has collapsed and looks at the step δτ that is proposed there, unit by unit. The metric measures
it by δτᵀ(M̃ + ε)δτ, in which every time counts for itself. Its effect on the likelihood of each line, by finite
differences, gives Σ_lines (∂ log π)², in which effects add up over the times that a unit remembers: the quotient is
about the number of times that act together. One line of JSON a unit, into results/reproduction/xor_memory.jsonl; the
table of what is there goes into docs/reproduction.md.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from glnn.metrics import TRANSITION_METHODS, Scales
from glnn.reproduction.running import new_trainer, sequences_of, versions
from glnn.reproduction.settings import XOR_UNITS, to_json, xor_settings
from glnn.reproduction.tables import as_markdown, write_between
from glnn.training.parallel import single_threaded_blas

RESULTS = Path(__file__).parent / "results" / "reproduction" / "xor_memory.jsonl"
PAGE = Path(__file__).parents[1] / "docs" / "reproduction.md"
# Small beside the rates at which lines change, large beside rounding.
SMALL = 1e-8


def measure(trainer: Any, metric: str) -> list[dict[str, Any]]:
    """The proposed step of each unit as the metric sees it, and as the lines do."""
    engine, params = trainer._engine, trainer.progress.params
    method, corpus = TRANSITION_METHODS[metric], trainer.corpus
    with single_threaded_blas():
        current = engine.forward(params)
        statistics = engine.derivatives(current, method).statistics
        step = method.direction(statistics, engine.layout, Scales(1.0, corpus.frequencies, corpus.length)).step
        # Blocks are (symbol, unit, source); a fully connected unit has the constant and ten sources.
        steps, gradient = (part.reshape(-1, XOR_UNITS, XOR_UNITS + 1) for part in (step, statistics.gradient))
        activity = np.concatenate([trainer.model.activities(trace) for _, trace in engine.walk(current)])
        found = []
        for unit in range(XOR_UNITS):
            only = np.zeros_like(steps)
            only[:, unit] = steps[:, unit]
            away = [
                engine.log_likelihoods(params.replace(theta=params.theta + sign * SMALL * only.ravel()))
                for sign in (1, -1)
            ]
            slopes = (away[0] - away[1]) / (2.0 * SMALL)
            found.append(
                {
                    "unit": unit + 1,
                    "by_metric": float((gradient[:, unit] * steps[:, unit]).sum()),
                    "by_lines": float((slopes**2).sum()),
                    "saturated": float(np.mean(np.abs(activity[:, unit]) > 0.99)),
                }
            )
    return found


def table(lines: list[dict[str, Any]]) -> str:
    """All units of all runs that are there."""
    runs: dict[str, dict[int, dict[str, Any]]] = {}
    for line in lines:
        title = f"{line['setting']['metric'].upper()}, seed {line['setting']['seed']}"
        runs.setdefault(title + (", lines apart" if line["setting"]["apart"] else ""), {})[line["unit"]] = line
    columns = ["unit", *(f"{title}: times together | saturated" for title in runs)]
    rows = [
        [str(unit)]
        + [
            f"{run[unit]['by_lines'] / run[unit]['by_metric']:,.0f} | {100 * run[unit]['saturated']:.0f} %"
            for run in runs.values()
        ]
        for unit in range(1, XOR_UNITS + 1)
    ]
    return as_markdown(" | ".join(columns).split(" | "), [" | ".join(row).split(" | ") for row in rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--metric", choices=["rbpm", "ruop"], default="ruop")
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--steps", type=int, default=245)
    parser.add_argument("--apart", action="store_true")
    parser.add_argument("--lines", type=int, default=0, help="lines in a sequence; 0 is the paper's number")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args()
    asked = (options.metric, options.seed, options.apart)
    setting = next(s for s in xor_settings(apart=True) if (s.metric, s.seed, s.apart) == asked)
    setting = replace(setting, budget=f"{options.steps} steps", size=options.lines)
    trainer = new_trainer(setting, sequences_of(setting), validated=False)
    last = trainer.run(setting.budget).history[-1]
    about = {"setting": to_json(setting), **versions(), "transition_rate": last.transition_rate}
    with options.out.open("a", encoding="utf-8") as file:
        for line in measure(trainer, options.metric):
            file.write(json.dumps(about | line) + "\n")
    text = table([json.loads(line) for line in options.out.read_text(encoding="utf-8").splitlines()])
    write_between(options.page, "memory", text)
    print(text)


if __name__ == "__main__":
    main()
