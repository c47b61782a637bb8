"""Rows of all parts of a frozen mixture on inner splits, with those of the parts that members held out inside.

    python experiments/mixture/crossfit.py [--sets NAME ...] [--split 0.8] [--budget 30] [--kept FOLDER]

As `later.py`; besides, for every part of the data that a member of the network held out, what the network of these
members says of it, and contexts, tree and n-grams that read all the rest. Logs of pm4py that no benchmark uses are
there too, and are cut at four fifths. `within.py` joins what is kept.
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
from experiments.mixture.later import _experts_of_end  # noqa: E402
from experiments.mixture.parts import _contexts_of_end, _frozen, _rows  # noqa: E402
from glnn.contexts.mixing import firsts, new_reader  # noqa: E402
from glnn.contexts.mixing_averaging import WeightAverage  # noqa: E402
from glnn.predictors import frozen_trial  # noqa: E402
from glnn.predictors.experts import Beside, Experts, counts_of  # noqa: E402
from glnn.predictors.mixture_recipe import Recipe, for_network, plan_of  # noqa: E402
from glnn.sequences import Encoded, TrainingData  # noqa: E402
from glnn.training.validation import split  # noqa: E402

OTHERS = {
    "a12n10": "tests/input_data/synthetic_logs/a12/a12f0n10.xes.gz",
    "a22n05": "tests/input_data/synthetic_logs/a22/a22f0n05.xes.gz",
    "a22n50": "tests/input_data/synthetic_logs/a22/a22f0n50.xes.gz",
    "a32n05": "tests/input_data/synthetic_logs/a32/a32f0n05.xes.gz",
    "a42n10": "tests/input_data/synthetic_logs/a42/a42f0n10.xes.gz",
    "roadtraffic": "tests/compressed_input_data/12_roadtraffic_1t_per_variant.xes.gz",
    "reviewing": "tests/compressed_input_data/04_reviewing.xes.gz",
    "incidents": "tests/compressed_input_data/07_bpic2013_incidents.xes.gz",
    "applications": "tests/compressed_input_data/18_bpic2017_application_1t_per_variant.xes.gz",
}
"""Logs for development only."""
data_sets.WANTED |= set(OTHERS.values())


def cut(name: str, at: float) -> tuple[Encoded, Encoded]:
    """What is fitted, and what is scored; of logs for development all is used."""
    if name in OTHERS:
        data = data_sets.xes_log(name, data_sets.package("pm4py")[OTHERS[name]])
        parts = list(data.fit), list(data.score)
    else:
        data = data_sets.ALL[name]()
        size, last = round(len(data.fit) * at), round(len(data.fit) * (at + 0.2))
        parts = list(data.fit)[:size], list(data.fit)[size:last]
        if at == 1.0:
            parts = list(data.fit), list(data.score)
    model = glnn.Mixture(networks=0, verbose=0, alphabet=data.alphabet)
    return tuple(model._given(glnn.Sequences(part), None, None, None, None).train for part in parts)  # type: ignore[return-value]


def of_fold(known: Encoded, begin: int, end: int, way: Any, order: int, member: Any) -> np.ndarray:
    """The chances of each symbol of a part by contexts, tree, n-grams that read all the rest, and by the network."""
    every = np.arange(len(known))
    rest, part = known.select(np.concatenate([every[:begin], every[end:]])), known.select(every[begin:end])
    data = frozen_trial.in_no_order(rest) if way.shuffled else rest
    reader, average = new_reader(plan_of(data, 0, stationary=way.shuffled)), WeightAverage(0, data.codes.size)
    frozen_trial._read_on(reader, data, average, 0)
    memory = average.settled(reader.memory) if way.averaged else reader.memory
    place = np.arange(part.codes.size)
    columns = [_frozen(reader, memory, part)[place, part.codes]]
    experts = Experts(known.alphabet, counts_of(rest), Beside(0.0, 1.0, 1.0, order=order))
    experts.read(rest.codes, firsts(rest.starts))
    columns += experts.read(part.codes, firsts(part.starts), learn=False)
    columns.append(_rows(member.predictor_, part)[place, part.codes])
    return np.column_stack(columns)


def rows_of(known: Encoded, scored: Encoded, budget: float) -> dict[str, Any]:
    """All that is kept."""
    parts = split(TrainingData(known), "auto")
    trial, held = frozen_trial.FrozenTrial(known, parts), parts.validation
    assert held is not None
    way = trial._way[0]
    found: dict[str, Any] = {"held_contexts": _contexts_of_end(trial, way)}
    found["held_tree"], found["held_ngrams"] = _experts_of_end(trial)
    beside = Beside(0.4, 0.3, 0.3, order=trial._order)
    data = frozen_trial.in_no_order(known) if way.shuffled else known
    recipe = Recipe(data.codes, data.starts, data.codes.size, way.shuffled, way.averaged, beside=beside)
    mixture: Any = recipe.read(known.alphabet, (), False)[0]
    found["scored_contexts"] = np.concatenate(list(mixture.mixture.distributions(scored)))
    found["scored_tree"], found["scored_ngrams"] = (
        np.concatenate(list(one.distributions(scored))) for one in mixture.beside
    )
    network = glnn.GLNN(budget=budget, end=False, unknown="error", verbose=0, n_jobs=1, random_state=0)
    network.fit(for_network(known))
    judged = network.that_held_out()
    found["held_network"] = _rows(judged.predictor_, held)
    found["scored_network"], found["scored_judged"] = (_rows(one.predictor_, scored) for one in (network, judged))
    found["stays"] = trial.worth(0.0, 0.0, judged.predictor_)
    found["members"] = np.array([len(judged.networks_), len(network.networks_)])
    for number, (begin, members) in enumerate(network.that_held_out_inside().items()):
        end = begin + len(held)
        found[f"fold{number}"] = of_fold(known, begin, end, way, trial._order, members)
        part = known.select(np.arange(begin, end))
        found[f"fold{number}_codes"] = part.codes
        found[f"fold{number}_sequence"] = np.repeat(np.arange(begin, end), np.diff(part.starts))
    found["held"], found["held_sequence"] = known.codes[trial._judged], trial._sequence
    found["late"], found["scored"] = held.codes.size, scored.codes
    found["scored_sequence"] = np.repeat(np.arange(len(scored)), np.diff(scored.starts))
    found["end"], found["way"] = known.alphabet.end, np.array(way)
    found["seconds"] = network.total_seconds_
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=["bpi_12_w", *OTHERS])
    parser.add_argument("--split", type=float, default=0.8)
    parser.add_argument("--budget", type=float, default=30.0, help="CPU seconds of the network")
    parser.add_argument("--kept", type=Path, default=ROOT / "build" / "rows")
    parser.add_argument("--shared", type=Path, help="the folder of the shared sets")
    options = parser.parse_args()
    if options.shared:
        data_sets.SHARED = options.shared
    options.kept.mkdir(parents=True, exist_ok=True)
    for name in options.sets:
        path = options.kept / f"{name}_{options.split:g}_{options.budget:g}.npz"
        if path.exists():
            continue
        begun = time.time()
        np.savez(path, **rows_of(*cut(name, options.split), options.budget))
        print(name, options.split, round(time.time() - begun), flush=True)


if __name__ == "__main__":
    main()
