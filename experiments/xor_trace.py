"""What becomes of each unit in a run of distant XOR: saturation, memory across lines, and how far its effects add up.

    python experiments/xor_trace.py --seed 6 [--metric rbpm] [--passes 700] [--half-count] [--fold 20]
                                    [--keep FOLDER [--from 600]]

Looks at the network after 2, 4, 6, 10, 16 and 40 passes and then every 100, and writes a line of JSON into
results/reproduction/xor_trace.jsonl. For each unit: the least and the largest activity, the part of the time it is
saturated, the mean of s'(V), the part of its own state that is left after a line, and the times that act together in
its next step (`glnn.metrics.coherence`). With `--keep`, parameters and rates at each look are kept in a folder, and
`--from` goes on from there.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from xor_memory import SATURATED, measure

from glnn.models import Params
from glnn.reproduction.planned import xor_settings
from glnn.reproduction.running import new_trainer, sequences_of, versions
from glnn.reproduction.settings import Setting, to_json
from glnn.reproduction.xor import XorRecord
from glnn.training.folding import FoldConstants
from glnn.training.parallel import single_threaded_blas
from glnn.training.trainer import Trainer

RESULTS = Path(__file__).parent / "results" / "reproduction" / "xor_trace.jsonl"
EVERY = 100
EARLY = (2, 4, 6, 10, 16, 40)


def of_units(trainer: Trainer) -> dict[str, list[float]]:
    """For each unit its range, how saturated and how responsive it is, and how much of its state outlives a line."""
    model: Any = trainer.model
    tau, _ = model.split(trainer.progress.params.theta)
    loops = tau[:, model.loops]
    units, total = model.units, 0
    low, high = np.full(units, np.inf), np.full(units, -np.inf)
    saturated, slope, kept = np.zeros(units), np.zeros(units), np.zeros(units)
    with single_threaded_blas():
        engine = trainer.engine
        for stretch, trace in engine.walk(engine.forward(trainer.progress.params)):
            activity = model.activities(trace)
            slopes = 1.0 - activity**2
            low, high = np.minimum(low, activity.min(axis=0)), np.maximum(high, activity.max(axis=0))
            saturated += np.sum(np.abs(activity) > SATURATED, axis=0)
            slope += slopes.sum(axis=0)
            kept += np.log(np.abs(1.0 + loops[stretch.x] * slopes) + 1e-300).sum(axis=0)
            total += len(activity)
    lines = int(trainer.data.mask.sum())
    found = {
        "low": low,
        "high": high,
        "saturated": saturated / total,
        "slope": slope / total,
        "kept": np.exp(kept / lines),
    }
    return {name: [float(f"{value:.4g}") for value in values] for name, values in found.items()}


def look(trainer: Trainer, record: XorRecord, setting: Setting, folds: int) -> dict[str, Any]:
    """The line of results at this point."""
    progress = trainer.progress
    point = record.measure(progress.params, progress.passes)
    return {
        "setting": to_json(setting),
        **versions(),
        "passes": progress.passes,
        "seconds": round(progress.seconds, 1),
        "train_bits": round(point.train_bits, 2),
        "train_error": point.train_error,
        "valid_error": point.valid_error,
        "writing_rate": progress.writing_rate,
        "transition_rate": progress.transition_rate,
        "folds": folds,
        **of_units(trainer),
        "together": [round(line["together"], 2) for line in measure(trainer, setting.metric)],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--metric", choices=["rbpm", "ruop"], default="rbpm")
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--passes", type=int, default=700)
    parser.add_argument("--half-count", action="store_true", help="begin as estimators do, not with log 0")
    parser.add_argument("--fold", type=int, default=0)
    parser.add_argument("--from", type=int, default=0, dest="since", help="passes of a kept point to go on from")
    parser.add_argument("--keep", type=Path, help="a folder for parameters and rates")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    asked = (options.metric, options.seed)
    setting = next(one for one in xor_settings(half_count=options.half_count) if (one.metric, one.seed) == asked)
    setting = replace(setting, budget=f"{options.passes} passes", fold=options.fold)
    sequences = sequences_of(setting)
    trainer = new_trainer(setting, sequences, validated=False)
    if options.since:
        resume(trainer, options.keep / f"{options.metric}-{options.seed}-{options.since}.npz")
    record, fold = XorRecord(trainer.model, sequences), FoldConstants(options.fold)
    for passes in (*EARLY, *range(EVERY, options.passes + 1, EVERY)):
        if not options.since < passes <= options.passes:
            continue
        trainer.run(f"{passes} passes", (fold,) if options.fold else ())
        with options.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(look(trainer, record, setting, fold.folds)) + "\n")
        if options.keep:
            keep(trainer, options.keep / f"{options.metric}-{options.seed}-{passes}.npz")


def keep(trainer: Trainer, path: Path) -> None:
    """Write parameters and rates."""
    progress = trainer.progress
    rates = [progress.writing_rate, progress.transition_rate]
    path.parent.mkdir(parents=True, exist_ok=True)
    params = progress.params
    place = [progress.step, progress.passes]
    np.savez(path, w=params.w, theta=params.theta, V0=params.V0, rates=rates, place=place)


def resume(trainer: Trainer, path: Path) -> None:
    """Go on from what was kept."""
    found, progress = np.load(path), trainer.progress
    progress.writing_rate = float(found["rates"][0])
    progress.step, progress.passes = (int(value) for value in found["place"])
    trainer.go_on_from(Params(found["w"], found["theta"], found["V0"]), float(found["rates"][1]))


if __name__ == "__main__":
    main()
