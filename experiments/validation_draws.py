"""How much of a cell of the paper's table is the draw of its validation sequence: its best run scored on thirty others.

    python experiments/validation_draws.py ["insertions hmm" "insertions rnn qdrbpm" ...]

The best run of a cell is trained again to its best step, by the setting in its line of `results/reproduction/
table.jsonl`, and scored on validation sequences that were used for nothing. A line of JSON a cell, at once, into
`results/reproduction/validation_draws.jsonl`; what is there is not run again.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

from glnn.baselines.hmm import EMStep, fit_hmm, initial_hmm
from glnn.predictors import bits
from glnn.reproduction.running import Sequences, new_trainer, sequences_of, source_of, versions
from glnn.reproduction.settings import ROWS, SOURCES, Setting, from_json, readings, to_json
from glnn.sources import Sample
from glnn.training.validation import Validation

FOLDER = Path(__file__).parent / "results" / "reproduction"
RESULTS = FOLDER / "validation_draws.jsonl"
CELLS = ("insertions hmm", "music gnn ruop", "insertions glnn rbpm", "insertions rnn qdrbpm", "insertions rnn qdruop")
SEEDS = range(100, 130)


def best_run(cell: str) -> dict[str, Any]:
    """The line of the run that a cell shows."""
    source, model, *metric = cell.split()
    lines = [json.loads(text) for text in (FOLDER / "table.jsonl").read_text(encoding="utf-8").splitlines()]
    chosen = [line for line in lines if _is_in(from_json(line["setting"]), source, model, *metric)]
    return min(chosen, key=lambda line: line["regret"] if line["regret"] is not None else math.inf)


def _is_in(setting: Setting, source: str, model: str, metric: str = "") -> bool:
    of_cell = (setting.source, setting.model, setting.metric) == (source, model, metric)
    return of_cell and setting in readings(setting)


def regrets(line: dict[str, Any]) -> tuple[float, list[float]]:
    """On the validation sequence of the run, which must be what its line says, and on the others."""
    setting = from_json(line["setting"])
    sequences, source = sequences_of(setting), source_of(setting)
    samples = [sequences.valid, *(source.sample(setting.size or None, seed) for seed in SEEDS)]
    found = (_of_hmm if setting.model == "hmm" else _of_network)(setting, sequences, line["best_step"], samples)
    return found[0], found[1:]


def _of_hmm(setting: Setting, sequences: Sequences, best_step: int, samples: list[Sample]) -> list[float]:
    train, models = sequences.encoded(sequences.train), []

    def watch(step: EMStep) -> bool:
        models[:] = [step.model]
        return step.step == best_step

    fit_hmm(train, initial_hmm(train, setting.units, setting.degree, setting.seed), 10**6, 1e-9, watch)
    return [bits(models[0], sequences.encoded(one), regularised=True) - one.bits for one in samples]


def _of_network(setting: Setting, sequences: Sequences, best_step: int, samples: list[Sample]) -> list[float]:
    trainer = new_trainer(setting, sequences)
    params = trainer.run(f"{best_step} steps").params
    scores = [Validation(trainer.model, sequences.encoded(one)).score(params) for one in samples]
    return [-score / math.log(2.0) - one.bits for score, one in zip(scores, samples, strict=True)]


def main(cells: list[str]) -> None:
    done = [json.loads(text)["cell"] for text in RESULTS.read_text().splitlines()] if RESULTS.exists() else []
    for cell in cells:
        if cell in done:
            continue
        line = best_run(cell)
        setting = from_json(line["setting"])
        own, others = regrets(line)
        paper = next(row for row in ROWS if row.key == setting.row).paper[SOURCES.index(setting.source)]
        record = {
            "cell": cell,
            "paper": paper,
            "recorded": line["regret"],
            "again": round(own, 2),
            "others": [round(value, 1) for value in others],
            "setting": to_json(setting),
            **versions(),
        }
        with RESULTS.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        mean, spread = np.mean(others), np.std(others, ddof=1)
        under = sum(value <= paper for value in others)
        print(
            f"{cell}: {own:.0f} on its own, others {mean:.0f} ± {spread:.0f}, {under} at or under {paper:.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:] or list(CELLS))
