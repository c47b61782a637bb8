"""How often does training run wild? 200 short runs over the sources, sizes, models and invariant metrics, counted.

The paper saw runs "oscillate wildly" and suspected a badly conditioned metric. A run counts as wild when the score of
its validation data falls by more than 10 % from its best, when a rate falls under 1e-8, or when a block of the metric
could not be inverted and took its quasi-diagonal form. Each run is one line of JSON, written at once; runs that are
there are skipped. A second round repeats runs with the number of steps that they had in the first.

    python experiments/wild_runs.py run                       200 runs of 4 CPU seconds (the round "before")
    python experiments/wild_runs.py run --round after         the same 200, with as many steps as before
    python experiments/wild_runs.py run --round after --wild  only those that were wild before
    python experiments/wild_runs.py table                     the counts, also into experiments/wild_runs.md
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

import glnn
from glnn.models import MODELS
from glnn.network import random_graph
from glnn.sources import Source, get
from glnn.training.records import Progress, StepInfo
from glnn.training.settings import Settings
from glnn.training.trainer import Trainer
from glnn.training.validation import Validation

RESULTS = Path(__file__).parent / "results" / "wild_runs.jsonl"
PAGE = Path(__file__).parent / "wild_runs.md"
BEGIN, END = "<!-- runs: begin -->", "<!-- runs: end -->"

SECONDS = 4.0
FALL, SMALLEST_RATE = 0.1, 1e-8
SIZES = {"insertions": 200, "music": 1000, "xor": 300, "anbn": 5}
CONSTANTS: dict[str, dict[str, Any]] = {"xor": {"length": 20}}
DEGREES = {"insertions": 8, "music": 5, "xor": 3, "anbn": 3}
UNITS = (4, 8, 16, 32, 64)
METHODS = (
    ("glnn", "rbpm"),
    ("glnn", "ruop"),
    ("glnn", "qdrbpm"),
    ("glnn", "qdruop"),
    ("gnn", "rbpm"),
    ("gnn", "ruop"),
    ("rnn", "qdrbpm"),
    ("rnn", "qdruop"),
    ("lstm", "rbpm"),
    ("lstm", "qdruop"),
)
KINDS = ("falls", "tiny rates", "fallbacks")


def settings() -> list[dict[str, Any]]:
    """The 200 runs; every one has a seed of its own."""
    return [
        {"source": source, "units": units, "degree": min(DEGREES[source], units), "model": model, "metric": metric}
        for units in UNITS
        for source in SIZES
        for model, metric in METHODS
    ]


def run(number: int, setting: dict[str, Any], budget: float | str) -> dict[str, Any]:
    """One training; the number of the run is its seed."""
    source = get(setting["source"], **CONSTANTS.get(setting["source"], {}))
    data = source.encode(source.sample(SIZES[source.name], 2 * number).text)
    held = source.encode(source.sample(SIZES[source.name], 2 * number + 1).text)
    generator = np.random.default_rng(number)
    graph = random_graph(setting["units"], setting["degree"], generator)
    symbols = len(source.alphabet)
    model = MODELS[setting["model"]](graph, symbols)
    read = np.bincount(data.codes, minlength=symbols).astype(float)
    predicted = np.bincount(data.codes[data.mask], minlength=symbols).astype(float)
    params = model.initial(predicted, read, generator)
    options = Settings(metric=setting["metric"])
    validation = Validation(model, held)
    Trainer(model, data, params, options, validation).step()  # compiles
    progress = Trainer(model, data, params, options, validation).run(budget)
    return {"run": number, **setting, "version": glnn.__version__, **_found(progress, source, data, held)}


def _found(progress: Progress, source: Source, data: Any, held: Any) -> dict[str, Any]:
    history = progress.history
    bits = np.array([_bits(info.validation) for info in history])
    best = float(bits.min())
    scale = max(best, 1.0)
    later = bits[int(bits.argmin()) :]
    changes = np.diff(bits, prepend=bits[0])
    rates = {name: _positive(history, name) for name in ("writing_rate", "transition_rate")}
    return {
        "steps": progress.step,
        "stopped": progress.reason,
        "seconds": round(progress.seconds, 2),
        "train_bits": _bits(history[-1].log_likelihood),
        "true_train_bits": round(source.bits(data), 1),
        "best_bits": round(best, 1),
        "true_bits": round(source.bits(held), 1),
        "best_step": progress.best_step,
        "fall": round((float(later.max()) - best) / scale, 4),
        "fall_at_end": round((float(bits[-1]) - best) / scale, 4),
        "largest_jump": round(float(changes.max()) / scale, 4),
        "largest_jump_step": int(changes.argmax()) + 1,
        "smallest_writing_rate": rates["writing_rate"],
        "smallest_transition_rate": rates["transition_rate"],
        "steps_with_tiny_rates": sum(
            0 < min(i.writing_rate, i.transition_rate) < SMALLEST_RATE for i in history if i.transition_rate
        ),
        "rested": sum(i.writing_rate == 0.0 or i.transition_rate == 0.0 for i in history),
        "most_rejected": max(max(i.writing_rejected, i.transition_rejected) for i in history),
        "worst_conditioning": max(info.conditioning for info in history),
        "retries": sum(info.retries for info in history),
        "fallbacks": sum(info.quasi_diagonal for info in history),
        "resting_blocks": sum(info.resting for info in history),
        "notes": sorted({note.split(" is not finite")[0].split(": ")[-1] for i in history for note in i.notes}),
    }


def kinds(line: dict[str, Any]) -> list[str]:
    """In which ways a run was wild."""
    smallest = min(line["smallest_writing_rate"], line["smallest_transition_rate"])
    found = {
        "falls": line["fall"] > FALL,
        "tiny rates": smallest < SMALLEST_RATE,
        "fallbacks": line["fallbacks"] > 0,
    }
    return [kind for kind in KINDS if found[kind]]


def _bits(value: float | None) -> float:
    return math.inf if value is None or not math.isfinite(value) else round(-value / math.log(2), 2)


def _positive(history: list[StepInfo], name: str) -> float:
    return min((getattr(info, name) for info in history if getattr(info, name) > 0), default=0.0)


def read() -> list[dict[str, Any]]:
    return [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []


def table() -> None:
    """Counts by model and metric, for each round: to the terminal, and between the markers of the page."""
    rounds = {name: [line for line in read() if line["round"] == name] for name in ("before", "after")}
    lines = []
    for name, chosen in rounds.items():
        if not chosen:
            continue
        wild = [line for line in chosen if kinds(line)]
        lines += [f"### {name.capitalize()}: {len(wild)} of {len(chosen)} runs", ""]
        lines += ["| model, metric | runs | wild | " + " | ".join(KINDS) + " | worst fall |", "|---" * 7 + "|"]
        for model, metric in METHODS:
            of = [line for line in chosen if (line["model"], line["metric"]) == (model, metric)]
            lines.append(_row(f"{model.upper()} {metric.upper()}", of))
        for source in SIZES:
            lines.append(_row(source, [line for line in chosen if line["source"] == source]))
        lines += [_row("all", chosen), ""]
    print("\n".join(lines))
    if PAGE.exists():
        text = PAGE.read_text()
        PAGE.write_text(f"{text.split(BEGIN)[0]}{BEGIN}\n\n" + "\n".join(lines) + f"\n{END}{text.split(END)[1]}")


def _row(name: str, lines: list[dict[str, Any]]) -> str:
    found = [kinds(line) for line in lines]
    counts = [sum(kind in of for of in found) for kind in KINDS]
    worst = max((line["fall"] for line in lines), default=0.0)
    return f"| {name} | {len(lines)} | {sum(map(bool, found))} | " + " | ".join(map(str, counts)) + f" | {worst:.0%} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("--round", choices=["before", "after"], default="before")
    parser.add_argument("--wild", action="store_true", help="only runs that were wild in the round before")
    options = parser.parse_args()
    if options.what == "table":
        return table()
    RESULTS.parent.mkdir(exist_ok=True)
    for number, setting in enumerate(settings()):
        done = {line["round"]: line for line in read() if line["run"] == number}
        if options.round in done or (options.wild and not ("before" in done and kinds(done["before"]))):
            continue
        budget = f"{done['before']['steps']} steps" if options.round == "after" else SECONDS
        result = {"round": options.round, **run(number, setting, budget)}
        with RESULTS.open("a") as out:
            out.write(json.dumps(result) + "\n")
        print(json.dumps(result), kinds(result), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
