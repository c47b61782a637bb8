"""What each part of a frozen mixture says of later cases, and five ways to join them: bits, one JSON line a log.

    python experiments/mixture/parts.py [--sets NAME ...] [--budget 30] [--kind GLNN] [--readings 6]

The scored cases of the benchmarks are left alone: of the cases that are fitted there, the first four fifths are fitted
here and the last fifth is scored. Shares come from the end of what is fitted, as the mixture takes them.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import glnn  # noqa: E402
from benchmarks import data_sets  # noqa: E402
from benchmarks.records import about, append  # noqa: E402
from glnn.contexts.mixing import Reader, firsts, new_reader  # noqa: E402
from glnn.contexts.mixing_averaging import WeightAverage  # noqa: E402
from glnn.contexts.mixing_reading import NOTHING  # noqa: E402
from glnn.predictors import frozen_trial  # noqa: E402
from glnn.predictors.ends import chances_of_ends  # noqa: E402
from glnn.predictors.experts import Beside  # noqa: E402
from glnn.predictors.mixture_recipe import Recipe, for_network, plan_of  # noqa: E402
from glnn.sequences import Encoded, TrainingData  # noqa: E402
from glnn.training.validation import split  # noqa: E402

RESULTS = ROOT / "experiments" / "results" / "mixture" / "parts.jsonl"
SETS = ("bpi_12_w", "teleclaims", "synthetic_log", "receipt", "bpic2013_closed")
PARTS = ("contexts", "tree", "ngrams", "network")
# As `glnn.predictors.experts` has them: each part, the uniform distribution, ends.
BEFORE = np.array([0.25, 0.25, 0.25, 0.25, 0.5, 1.0])
STEPS = (30, 300, 3000)


def cut(name: str) -> tuple[Encoded, Encoded]:
    """What is fitted, and what is scored."""
    data = data_sets.ALL[name]()
    fitted, size = list(data.fit), len(data.fit) * 4 // 5
    model = glnn.Mixture(networks=0, verbose=0, alphabet=data.alphabet)
    first, last = (glnn.Sequences(part) for part in (fitted[:size], fitted[size:]))
    return tuple(model._given(part, None, None, None, None).train for part in (first, last))  # type: ignore[return-value]


def chances(known: Encoded, scored: Encoded, budget: float, kind: str) -> dict[str, Any]:
    """What every part says of the held-out end and of the scored cases; rows for contexts and network."""
    parts = split(TrainingData(known), "auto")
    trial, held = frozen_trial.FrozenTrial(known, parts), parts.validation
    assert held is not None
    network = getattr(glnn, kind)(budget=budget, end=False, unknown="error", verbose=0, n_jobs=1, random_state=0)
    network.fit(for_network(known))
    judged, way = network.that_held_out(), trial._way[0]
    beside = Beside(0.4, 0.3, 0.3, order=trial._order)
    data = frozen_trial.in_no_order(known) if way.shuffled else known
    recipe = Recipe(data.codes, data.starts, data.codes.size, way.shuffled, way.averaged, beside=beside)
    mixture: Any = recipe.read(known.alphabet, (), False)[0]
    tree, ngrams = (np.exp(one.log_likelihoods(scored)) for one in mixture.beside)
    rows = {
        "held": [_contexts_of_end(trial, way)[-held.codes.size :], _rows(judged.predictor_, held)],
        "scored": [np.concatenate(list(mixture.mixture.distributions(scored))), _rows(network.predictor_, scored)],
    }
    late = [said[-held.codes.size :] for said in trial._experts]
    return {
        "held": held.codes,
        "scored": scored.codes,
        "rows": rows,
        "said": {"held": late, "scored": [tree, ngrams]},
        "judged": _rows(judged.predictor_, scored),
        "members": (len(judged.networks_), len(network.networks_)),
        "size": len(known.alphabet),
        "end": known.alphabet.end,
    }


def ways_to_join(given: dict[str, Any]) -> dict[str, Any]:
    """Bits of the scored cases: each part, sums after so many steps, without tree and n-grams, with the network's
    chances raised by what more members will save, and a weighed geometric mean of contexts and network."""
    columns = {part: _columns(given, part) for part in ("held", "scored")}
    held, scored = columns["held"], columns["scored"]
    found: dict[str, Any] = {name: _bits(scored[:, k]) for k, name in enumerate(PARTS)}
    found["network judged"] = _bits(given["judged"][np.arange(given["scored"].size), given["scored"]])
    for steps in STEPS:
        found[f"sum, {steps} steps"] = _bits(scored @ _shares(held, BEFORE, steps))
    own = [0, 3, 4, 5]
    found["sum without tree and n-grams"] = _bits(scored[:, own] @ _shares(held[:, own], BEFORE[own]))
    for tilt in (0.001, 0.004):
        raised = held * np.where(np.arange(held.shape[1]) == 3, 2.0**tilt, 1.0)
        found[f"network raised by {1000 * tilt:.0f} millibits"] = _bits(scored @ _shares(raised, BEFORE))
    found["sum in hindsight"] = _bits(scored @ _shares(scored, BEFORE))
    weights = [(a, b) for a in np.arange(0, 1.01, 0.1) for b in np.arange(0, 1.21, 0.1) if 0.7 <= a + b <= 1.3]
    best = min(weights, key=lambda pair: _bits(_geometric(given, "held", *pair)))
    geometric = {part: _geometric(given, part, *best) for part in ("held", "scored")}
    found["geometric"] = _bits(geometric["scored"])
    late, later = (np.column_stack([columns[part], geometric[part]]) for part in ("held", "scored"))
    found["sum with geometric"] = _bits(later @ _shares(late, np.append(BEFORE, 0.25)))
    return found


def several_readings(known: Encoded, scored: Encoded, readings: int) -> dict[str, Any]:
    """Contexts that read the cases in other orders: each alone, the mean of their weights, of what they say."""
    said, weights, final = [], 0.0, 0.0
    for seed in range(readings):
        data = known.select(np.random.default_rng(seed).permutation(len(known)).tolist())
        reader, average = new_reader(plan_of(data, 0, stationary=True)), WeightAverage(0, data.codes.size)
        frozen_trial._read_on(reader, data, average, 0)
        memory = average.settled(reader.memory)
        weights, final = weights + memory.weights, final + memory.final_weights
        said.append(_frozen(reader, memory, scored))
    mean = memory._replace(weights=weights / readings, final_weights=final / readings)
    place = np.arange(scored.codes.size)
    each = [_bits(rows[place, scored.codes]) for rows in said]
    together = {str(n): _bits(np.mean(said[:n], axis=0)[place, scored.codes]) for n in (2, 4, readings)}
    of_weights = _bits(_frozen(reader, mean, scored)[place, scored.codes])
    return {"each reading": each, "mean of weights": of_weights, "mean of readings": together}


def _contexts_of_end(trial: Any, way: Any) -> np.ndarray:
    """Rows of the last fifth, each stretch after all before it."""
    data = frozen_trial.in_no_order(trial._before) if way.shuffled else trial._before
    reader, average = new_reader(plan_of(data, 0, stationary=way.shuffled)), WeightAverage(0, data.codes.size)
    read, found = frozen_trial._read_on(reader, data, average, 0), []
    for part in trial._stretches:
        found.append(_frozen(reader, average.settled(reader.memory) if way.averaged else reader.memory, part))
        read = frozen_trial._read_on(reader, part, average, read)
    return np.concatenate(found)


def _frozen(reader: Reader, memory: Any, data: Encoded) -> np.ndarray:
    frozen = Reader(reader.plan, memory, reader.cursor.copy(), NOTHING)
    return frozen.read_rows(data.codes, firsts(data.starts))[0]


def _rows(predictor: Any, data: Encoded) -> np.ndarray:
    return np.concatenate(list(predictor.distributions(replace(data, alphabet=predictor.alphabet))))


def _columns(given: dict[str, Any], part: str) -> np.ndarray:
    """The chances of each symbol: contexts, tree, n-grams, network, uniform, ends."""
    codes, size = given[part], given["size"]
    contexts, network = (rows[np.arange(codes.size), codes] for rows in given["rows"][part])
    ends = chances_of_ends(codes, given["end"], size)
    return np.column_stack([contexts, *given["said"][part], network, np.full(codes.size, 1.0 / size), ends])


def _geometric(given: dict[str, Any], part: str, a: float, b: float) -> np.ndarray:
    contexts, network = (np.log(np.maximum(rows, 1e-12)) for rows in given["rows"][part])
    mean = np.exp(a * contexts + b * network)
    return mean[np.arange(len(mean)), given[part]] / mean.sum(axis=1)


def _shares(columns: np.ndarray, before: np.ndarray, steps: int = 300) -> np.ndarray:
    weights = np.full(before.size, 1.0 / before.size)
    for _ in range(steps):
        each = columns * weights
        weights = (each / each.sum(axis=1, keepdims=True)).sum(axis=0) + before
        weights /= weights.sum()
    return weights


def _bits(chances: np.ndarray) -> float:
    return round(float(-np.log2(chances).sum()), 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--budget", type=float, default=30.0, help="CPU seconds of the network; 0 for none")
    parser.add_argument("--kind", default="GLNN", choices=("GLNN", "LSTM"))
    parser.add_argument("--readings", type=int, default=0, help="so many orders for contexts to read in")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    for name in options.sets:
        known, scored = cut(name)
        found: dict[str, Any] = {"set": name, "symbols": scored.codes.size}
        if options.readings:
            found |= several_readings(known, scored, options.readings)
        if options.budget:
            given = chances(known, scored, options.budget, options.kind)
            found |= {"kind": options.kind, "budget": options.budget, "members": given["members"]}
            found["bits"] = ways_to_join(given)
        command = " ".join(["python experiments/mixture/parts.py", *sys.argv[1:]])
        append(options.out, {**found, **about(), "command": command})
        print(found, flush=True)


if __name__ == "__main__":
    main()
