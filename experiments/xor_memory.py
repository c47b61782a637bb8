"""Why a run of distant XOR stands still: what the metric leaves out of each unit's effect on the lines.

    python experiments/xor_memory.py [--metric ruop] [--seed 5] [--steps 245] [--apart]

Begun at half a count. Trains up to where η_τ has collapsed and measures the step that is proposed there, unit by
unit: how many times act together (`glnn.training.coherence`), where the metric takes each for itself. One line of
JSON a unit, into results/reproduction/xor_memory.jsonl.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from glnn.metrics import TRANSITION_METHODS, Scales
from glnn.metrics.coherence import quotients
from glnn.reproduction.planned import xor_settings
from glnn.reproduction.running import new_trainer, sequences_of, versions
from glnn.reproduction.settings import XOR_UNITS, to_json
from glnn.reproduction.tables import as_markdown
from glnn.training.parallel import single_threaded_blas
from glnn.training.proposals import DataPasses

RESULTS = Path(__file__).parent / "results" / "reproduction" / "xor_memory.jsonl"
# An activity beyond this, on either side, hardly has a slope.
SATURATED = 0.99


def measure(trainer: Any, metric: str) -> list[dict[str, Any]]:
    """For each unit the times that act together in its proposed step, and how often it is saturated."""
    engine, params = trainer._engine, trainer.progress.params
    method, corpus = TRANSITION_METHODS[metric], trainer.corpus
    with single_threaded_blas():
        current = engine.forward(params)
        derivatives = engine.derivatives(current, method)
        scales = Scales(1.0, corpus.frequencies, corpus.length)
        direction = method.direction(derivatives.statistics, engine.layout, scales)
        alone = direction._replace(start=np.zeros_like(params.V0))
        together = quotients(DataPasses(engine, params), derivatives.statistics, engine.layout, alone)
        activity = np.concatenate([trainer.model.activities(trace) for _, trace in engine.walk(current)])
    saturated = np.mean(np.abs(activity) > SATURATED, axis=0)
    return [
        {"unit": unit + 1, "together": float(together[unit]), "saturated": float(saturated[unit])}
        for unit in range(XOR_UNITS)
    ]


def table(lines: list[dict[str, Any]]) -> str:
    """All units of all runs that are there."""
    runs: dict[str, dict[int, dict[str, Any]]] = {}
    for line in lines:
        title = f"{line['setting']['metric'].upper()}, seed {line['setting']['seed']}"
        runs.setdefault(title + (", lines apart" if line["setting"]["apart"] else ""), {})[line["unit"]] = line
    columns = ["unit", *(f"{title}: times together | saturated" for title in runs)]
    rows = [
        [str(unit)] + [f"{run[unit]['together']:,.0f} | {100 * run[unit]['saturated']:.0f} %" for run in runs.values()]
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
    options = parser.parse_args()
    asked = (options.metric, options.seed, options.apart)
    setting = next(s for s in xor_settings(apart=True, half_count=True) if (s.metric, s.seed, s.apart) == asked)
    setting = replace(setting, budget=f"{options.steps} steps", size=options.lines)
    trainer = new_trainer(setting, sequences_of(setting), validated=False)
    last = trainer.run(setting.budget).history[-1]
    about = {"setting": to_json(setting), **versions(), "transition_rate": last.transition_rate}
    with options.out.open("a", encoding="utf-8") as file:
        for line in measure(trainer, options.metric):
            file.write(json.dumps(about | line) + "\n")
    text = table([json.loads(line) for line in options.out.read_text(encoding="utf-8").splitlines()])
    print(text)


if __name__ == "__main__":
    main()
