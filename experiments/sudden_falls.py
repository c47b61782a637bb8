"""What one step did to the held-out data where its score fell suddenly: which positions cost more, and why.

The runs of `wild_runs.py` whose score falls by more than a tenth in one step are repeated up to that step. For the
step before and the step itself, each line of the held-out data is scored by itself: in the course of its sequence, and
from the state that training reaches at the beginning of a line (the state of the same network on the training data).

    python experiments/sudden_falls.py 23 28 67 38
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from wild_runs import CONSTANTS, SIZES, settings
from wild_runs import read as read_runs

from glnn.models import MODELS
from glnn.network import random_graph
from glnn.sources import get
from glnn.training.budget import Budget
from glnn.training.corpus import prepare, stretch_length
from glnn.training.engine import Engine
from glnn.training.settings import Settings
from glnn.training.trainer import Trainer
from glnn.training.validation import Validation

RESULTS = Path(__file__).parent / "results" / "sudden_falls.jsonl"


def looked_at(number: int) -> dict[str, Any]:
    """A run up to its sudden fall, and what the fall consists of."""
    setting = settings()[number]
    line = next(line for line in read_runs() if line["round"] == "after" and line["run"] == number)
    source = get(setting["source"], **CONSTANTS.get(setting["source"], {}))
    data, held = (source.encode(source.sample(SIZES[source.name], 2 * number + k).text) for k in (0, 1))
    generator = np.random.default_rng(number)
    graph = random_graph(setting["units"], setting["degree"], generator)
    symbols = len(source.alphabet)
    model = MODELS[setting["model"]](graph, symbols)
    read = np.bincount(data.codes, minlength=symbols).astype(float)
    predicted = np.bincount(data.codes[data.mask], minlength=symbols).astype(float)
    params = model.initial(predicted, read, generator)
    options = Settings(metric=setting["metric"])
    # On another processor the last bits differ, and with them the step.
    history = Trainer(model, data, params, options, Validation(model, held)).run(Budget(steps=line["steps"])).history
    scores = np.array([info.validation for info in history], float)
    step = int(np.argmin(np.diff(scores, prepend=scores[0]))) + 1
    trainer = Trainer(model, data, params, options, Validation(model, held))
    trainer.run(Budget(steps=step - 1))
    before = trainer.progress.params
    info = trainer.step()
    after = trainer.progress.params
    result: dict[str, Any] = {"run": number, **setting, "step": step}
    engines = {
        name: Engine(model, prepare(one, stretch_length(model.units)))
        for name, one in (("train", data), ("held", held))
    }
    for name, engine in engines.items():
        costs = [-engine.log_likelihoods(one) / np.log(2.0) for one in (before, after)]
        worse = costs[1] - costs[0]
        order = np.argsort(-worse)
        result[name] = {
            "positions": len(worse),
            "bits": [round(float(cost.sum()), 1) for cost in costs],
            "positions over 3 bits": [int((cost > 3.0).sum()) for cost in costs],
            "bits in them": [round(float(cost[cost > 3.0].sum()), 1) for cost in costs],
            "most for one": [round(float(cost.max()), 2) for cost in costs],
            "positions over 1.5 bits": [int((cost > 1.5).sum()) for cost in costs],
            "of the rise, in the worst tenth": round(float(worse[order[: max(1, len(worse) // 10)]].sum()), 1),
            "places of the ten worst": [int(k) for k in order[:10]],
        }
        traces = []
        for one in (before, after):
            current = engine.forward(one)
            traces.append(np.concatenate([model.activities(trace) for trace in current.traces if trace is not None]))
        result[name]["largest change of an activity, median over time"] = round(
            float(np.median(np.abs(traces[1] - traces[0]).max(axis=1))), 4
        )
        result[name]["saturated (over 0.99), part of activities"] = [
            round(float((np.abs(t) > 0.99).mean()), 3) for t in traces
        ]
    result["rates"] = [info.writing_rate, info.transition_rate]
    result["largest weight w"] = [round(float(np.abs(one.w).max()), 1) for one in (before, after)]
    result["largest tau"] = [round(float(np.abs(one.theta).max()), 1) for one in (before, after)]
    result["held-out by the step"] = [
        None if one.validation is None else round(-one.validation / np.log(2.0), 1)
        for one in trainer.progress.history[-6:]
    ]
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=int, nargs="+")
    for number in parser.parse_args().runs:
        result = looked_at(number)
        with RESULTS.open("a") as out:
            out.write(json.dumps(result) + "\n")
        print(json.dumps(result, indent=1), flush=True)


if __name__ == "__main__":
    main()
