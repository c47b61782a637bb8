"""LSTMs at equal CPU time: plain gradient, DH+FB, and the invariant methods, on three sources, beside the paper's rows.

One JSON line per finished run in results/lstm.jsonl; what is there is skipped, so a sweep can be stopped and taken up
again. The tables are written into experiments/lstm.md. Regret is in bits: the best regularised validation score met in
training minus the bits of the true model. Train has seed 2k, valid 2k + 1; k also draws graph and start weights.

    python experiments/lstm_table.py                            the whole sweep, about an hour of one core
    python experiments/lstm_table.py --budget 2 --out /tmp/try  quickly, into another folder (docs left alone)
    python experiments/lstm_table.py --only-tables              the tables from the runs that are there
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from glnn import sources
from glnn.models import LSTM
from glnn.network import random_graph
from glnn.sequences import Encoded, encode
from glnn.training.settings import Settings
from glnn.training.trainer import Trainer
from glnn.training.validation import Validation

HERE = Path(__file__).parent
RESULTS = HERE / "results"
PAGE = HERE / "lstm.md"
BEGIN, END = "<!-- runs: begin -->", "<!-- runs: end -->"

SOURCES = {"insertions": "insertions", "music": "music", "anbn": "aⁿbⁿ"}
METHODS = {
    "plain": ("plain", "plain"),
    "DH+FB": ("dh", "fb"),
    "QDH+QDRUOP": ("qdh", "qdruop"),
    "QDH+QDRBPM": ("qdh", "qdrbpm"),
    "QDH+RUOP": ("qdh", "ruop"),
    "QDH+RBPM": ("qdh", "rbpm"),
}
UNITS, SEEDS, DEGREE, BUDGET = (16,), (0, 1, 2), 3, 30.0
# Table "fig:res" of the paper: the best over the sizes tried, 30 / 10 / 10 minutes a run on a core of 2012.
PAPER = {"plain": (20073.1, 8796.1, 139.8), "DH+FB": (11843.1, 5590.9, 101.7)}


@dataclass(frozen=True)
class Run:
    """What a run depends on."""

    source: str
    method: str
    units: int
    degree: int
    seed: int
    seconds: float


def planned(budget: float) -> Iterator[Run]:
    """Seed after seed, so that a sweep cut short still compares all methods."""
    for seed in SEEDS:
        for units in UNITS:
            for source in SOURCES:
                for method in METHODS:
                    yield Run(source, method, units, DEGREE, seed, budget)


def trainer_for(run: Run, train: Encoded, valid: Encoded) -> Trainer:
    output_metric, metric = METHODS[run.method]
    generator = np.random.default_rng(run.seed)
    symbols = len(train.alphabet)
    model = LSTM(random_graph(run.units, run.degree, generator), symbols)
    counts = np.bincount(train.codes, minlength=symbols).astype(float)
    predicted = np.bincount(train.codes[train.mask], minlength=symbols).astype(float)
    params = model.initial(predicted, counts, generator)
    settings = Settings(metric=metric, output_metric=output_metric, threads=1)
    return Trainer(model, train, params, settings, Validation(model, valid), random_state=run.seed)


def compile_kernels() -> None:
    """One step of every method on a few symbols: compiling is not charged to the first run."""
    data = encode("abaabbab" * 4, alphabet="ab")
    for method in METHODS:
        trainer_for(Run("", method, 4, 2, 0, 0.0), data, data).step()


def measure(run: Run) -> dict[str, Any]:
    source = sources.get(run.source)
    train, valid = source.sample(seed=2 * run.seed), source.sample(seed=2 * run.seed + 1)
    trainer = trainer_for(run, source.encode(train.text), source.encode(valid.text))
    progress = trainer.run(run.seconds)

    def regret(score: float | None) -> float | None:
        return None if score is None or not math.isfinite(score) else round(-score / math.log(2) - valid.bits, 1)

    last = progress.history[-1]
    return {
        **asdict(run),
        "regret": regret(progress.best_score),
        "last_regret": regret(last.validation),
        "training_regret": round(-last.log_likelihood / math.log(2) - train.bits, 1),
        "exact_bits": round(valid.bits, 1),
        "steps": progress.step,
        "best_step": progress.best_step,
        "cpu_seconds": round(progress.seconds, 2),
        "reason": progress.reason,
        "transition_rate": last.transition_rate,
        "writing_rate": last.writing_rate,
    }


def finished(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def sweep(path: Path, budget: float) -> None:
    done = {tuple(row[name] for name in Run.__dataclass_fields__) for row in finished(path)}
    todo = [run for run in planned(budget) if tuple(asdict(run).values()) not in done]
    if todo:
        compile_kernels()
    path.parent.mkdir(parents=True, exist_ok=True)
    for number, run in enumerate(todo, 1):
        row = measure(run)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        title = f"{run.source} {run.method} units={run.units} seed={run.seed}"
        print(f"{number}/{len(todo)} {title}: regret {row['regret']} after {row['steps']} steps", flush=True)


def tables(rows: list[dict[str, Any]]) -> str:
    """The best run of each method beside the paper, then every size: mean over seeds, regrets, steps."""
    titles = list(SOURCES.values())
    seconds = ", ".join(f"{value:g}" for value in sorted({row["seconds"] for row in rows}))
    lines = [
        f"Best regret over all runs of a method ({len(rows)} runs, {seconds} CPU seconds each, one thread):",
        "",
        "| method | " + " | ".join(f"{title} | paper" for title in titles) + " |",
        "|---" * (1 + 2 * len(titles)) + "|",
    ]
    for method in METHODS:
        cells = [f"LSTM {method}"]
        for k, source in enumerate(SOURCES):
            regrets = regrets_of(rows, source, method)
            cells += [number(min(regrets, default=None)), number(PAPER[method][k]) if method in PAPER else ""]
        lines.append("| " + " | ".join(cells) + " |")
    lines += [
        "",
        "Mean over seeds (each seed's regret; steps done, mean):",
        "",
        "| method | units | " + " | ".join(titles) + " |",
        "|---" * (2 + len(titles)) + "|",
    ]
    for method in METHODS:
        for units in sorted({row["units"] for row in rows}):
            cells = [f"LSTM {method}", str(units)]
            for source in SOURCES:
                chosen = [
                    row for row in rows if (row["source"], row["method"], row["units"]) == (source, method, units)
                ]
                regrets = regrets_of(chosen, source, method)
                if not regrets:
                    cells.append("")
                    continue
                each = " ".join(number(value) for value in regrets)
                steps = mean(row["steps"] for row in chosen)
                cells.append(f"{number(mean(regrets))} ({each}; {steps:,.0f} steps)")
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def regrets_of(rows: list[dict[str, Any]], source: str, method: str) -> list[float]:
    ordered = sorted(rows, key=lambda row: row["seed"])
    of_method = [row["regret"] for row in ordered if (row["source"], row["method"]) == (source, method)]
    return [value for value in of_method if value is not None]


def number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.1f}" if abs(value) < 1000 else f"{value:,.0f}"


def write_tables(rows: list[dict[str, Any]], page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise SystemExit(f"{page.name} should hold the lines {BEGIN} and {END} once each: put them where tables go")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    page.write_text(f"{before}{BEGIN}\n\n{tables(rows)}\n\n{END}{after}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", type=float, default=BUDGET, help="CPU seconds a run")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of lstm.jsonl")
    parser.add_argument("--only-tables", action="store_true", help="train nothing")
    arguments = parser.parse_args()
    path = arguments.out / "lstm.jsonl"
    if not arguments.only_tables:
        sweep(path, arguments.budget)
    rows = [row for row in finished(path) if row["seconds"] == arguments.budget]
    if not rows:
        raise SystemExit(f"no runs of {arguments.budget:g} CPU seconds in {path}: run without --only-tables first")
    print(tables(rows))
    if path.parent.resolve() == RESULTS.resolve():
        write_tables(rows, PAGE)


if __name__ == "__main__":
    main()
