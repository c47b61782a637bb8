"""Rows of all parts of a frozen mixture on inner splits, kept in files, for `later_joins.py` to join them.

    python experiments/mixture/later.py [--sets NAME ...] [--split 0.8] [--budget 30] [--kept FOLDER]

The scored cases of the benchmarks are left alone. Of the cases that are fitted there, those up to `split` are fitted
here, and the next fifth is scored. Each file holds what contexts, tree, n-grams and network say of every symbol of the
last fifth of what is fitted, each stretch after all before it, and of the scored cases.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import glnn  # noqa: E402
from benchmarks import data_sets  # noqa: E402
from experiments.mixture.parts import _contexts_of_end, _frozen, _rows  # noqa: E402
from glnn.contexts.mixing import firsts, new_reader  # noqa: E402
from glnn.contexts.mixing_averaging import WeightAverage  # noqa: E402
from glnn.predictors import frozen_trial  # noqa: E402
from glnn.predictors.experts import Beside, Experts, counts_of  # noqa: E402
from glnn.predictors.mixture_recipe import Recipe, for_network, plan_of  # noqa: E402
from glnn.sequences import Encoded, TrainingData  # noqa: E402
from glnn.training.validation import split  # noqa: E402

SETS = (
    "bpi_12_w", "teleclaims", "synthetic_log", "receipt", "bpic2013_closed", "sepsis_variants", "billing_variants",
    "repair_example", "travel_variants", "env_permit", "interval_log",
)  # fmt: skip


def cut(name: str, at: float) -> tuple[Encoded, Encoded]:
    """What is fitted, and what is scored."""
    data = data_sets.ALL[name]()
    fitted = list(data.fit)
    size, last = round(len(fitted) * at), round(len(fitted) * (at + 0.2))
    model = glnn.Mixture(networks=0, verbose=0, alphabet=data.alphabet)
    parts = (glnn.Sequences(part) for part in (fitted[:size], fitted[size:last]))
    return tuple(model._given(part, None, None, None, None).train for part in parts)  # type: ignore[return-value]


def rows_of(known: Encoded, scored: Encoded, budget: float) -> dict[str, Any]:
    """All that is kept."""
    parts = split(TrainingData(known), "auto" if budget else 0.1)
    trial, held = frozen_trial.FrozenTrial(known, parts), parts.validation
    assert held is not None
    way = trial._way[0]
    found: dict[str, Any] = {"held_contexts": _contexts_of_end(trial, way), "stale": _stale(trial, way)}
    found["held_tree"], found["held_ngrams"] = _experts_of_end(trial)
    beside = Beside(0.4, 0.3, 0.3, order=trial._order)
    data = frozen_trial.in_no_order(known) if way.shuffled else known
    recipe = Recipe(data.codes, data.starts, data.codes.size, way.shuffled, way.averaged, beside=beside)
    mixture: Any = recipe.read(known.alphabet, (), False)[0]
    found["scored_contexts"] = np.concatenate(list(mixture.mixture.distributions(scored)))
    found["scored_tree"], found["scored_ngrams"] = (
        np.concatenate(list(one.distributions(scored))) for one in mixture.beside
    )
    if budget:
        network = glnn.GLNN(budget=budget, end=False, unknown="error", verbose=0, n_jobs=1, random_state=0)
        network.fit(for_network(known))
        judged = network.that_held_out()
        found["held_network"], found["scored_network"] = (
            _rows(judged.predictor_, held),
            _rows(network.predictor_, scored),
        )
        found["stays"] = trial.worth(0.0, 0.0, judged.predictor_)
    found["held"], found["held_sequence"] = known.codes[trial._judged], trial._sequence
    found["stretch"] = np.repeat(np.arange(len(trial._stretches)), [part.codes.size for part in trial._stretches])
    found["late"] = held.codes.size
    found["scored"] = scored.codes
    found["scored_sequence"] = np.repeat(np.arange(len(scored)), np.diff(scored.starts))
    found["end"], found["way"] = known.alphabet.end, np.array(way)
    return found


def _experts_of_end(trial: Any) -> list[np.ndarray]:
    experts = Experts(trial._data.alphabet, counts_of(trial._before), Beside(0.0, 1.0, 1.0, order=trial._order))
    experts.read(trial._before.codes, firsts(trial._before.starts))
    found: list[list[np.ndarray]] = [[], []]
    for part in trial._stretches:
        codes, first = np.ascontiguousarray(part.codes, np.int32), firsts(part.starts)
        for reader, rows in zip(experts.readers, found, strict=True):
            rows.append(reader.read(codes, first, False, True)[1])
        experts.read(codes, first)
    return [np.concatenate(rows) for rows in found]


def _stale(trial: Any, way: Any) -> np.ndarray:
    """What contexts say of the last fifth that have read nothing of it."""
    data = frozen_trial.in_no_order(trial._before) if way.shuffled else trial._before
    reader, average = new_reader(plan_of(data, 0, stationary=way.shuffled)), WeightAverage(0, data.codes.size)
    frozen_trial._read_on(reader, data, average, 0)
    memory = average.settled(reader.memory) if way.averaged else reader.memory
    return np.concatenate([_frozen(reader, memory, part) for part in trial._stretches])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--split", type=float, default=0.8)
    parser.add_argument("--budget", type=float, default=30.0, help="CPU seconds of the network; 0 for none")
    parser.add_argument("--kept", type=Path, default=ROOT / "build" / "later")
    options = parser.parse_args()
    options.kept.mkdir(parents=True, exist_ok=True)
    for name in options.sets:
        path = options.kept / f"{name}_{options.split}_{options.budget:g}.npz"
        if path.exists():
            continue
        begun = time.time()
        np.savez(path, **rows_of(*cut(name, options.split), options.budget))
        print(name, options.split, round(time.time() - begun), flush=True)


if __name__ == "__main__":
    main()
