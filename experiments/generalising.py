"""What `recipe="best"` reaches, what each of its parts is worth, and how long it takes beside PyTorch.

    python experiments/generalising.py goals|parts|times|invariance|costs [--only NAME …] [--seeds 5]

`goals`: GLNN with nothing set but the budget, on fresh samples of the sources; a third sequence is scored. `parts`: the
same with one part left out at a time, on a source and on a public text. `times`: budgets from 4 seconds on, beside the
curves of PyTorch's LSTM and GRU in `benchmarks/results/peers.jsonl`, on the same data. One line of JSON a run, at once,
in `experiments/results/generalising.jsonl`; runs that are there are skipped. `generalising_page.py` makes the page.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

import glnn
from benchmarks.data_sets import ALL
from benchmarks.peers import texts
from benchmarks.real_data import bits_after
from benchmarks.records import about, append, read
from glnn.models.glnn import GLNN
from glnn.network import random_graph
from glnn.sources import get
from glnn.training.corpus import LENGTH, STREAMS
from glnn.training.settings import Settings
from glnn.training.stochastic import StochasticTrainer
from glnn.training.trainer import DRAW_STEPS, Trainer

PATH = Path(__file__).parent / "results" / "generalising.jsonl"
GOALS = {"music": 60.0, "insertions": 120.0, "anbn": 60.0}
FIRST_SAMPLE = 7000
"""Samples from here on were used for nothing else."""
PARTS: dict[str, dict[str, Any]] = {
    "everything": {},
    "no going on over all data": {"refit": False},
    "no noise": {"noise": 0.0},
    "no averaging": {"averaging": 1},
    "no calibration": {"calibration": False},
    "one network": {"members": 1},
    "one network, one start": {"members": 1, "restarts": 1},
    "all data at once": {"training": "batch"},
    "the paper": {"recipe": "paper"},
}
PARTS_OF, PARTS_BUDGET = ("music", "insertions", "anbn"), 30.0
STEPS = 40
METHODS: dict[str, tuple[Any, Settings]] = {
    "RBPM, damping 1e-6": (Trainer, Settings(damping=1e-6)),
    "RBPM, damping 1 as in the paper": (Trainer, Settings()),
    "FB": (Trainer, Settings(metric="fb", output_metric="dh")),
    "RBPM running along, on chunks": (StochasticTrainer, Settings(training="stochastic")),
    "Adam on chunks (recipe best, no noise)": (StochasticTrainer, Settings(training="stochastic", metric="adam")),
}
BUDGETS = (2.0, 4.0, 8.0, 15.0, 30.0, 60.0)
COSTS_OF = (("insertions", 32, 5), ("music", 32, 6), ("anbn", 8, 8))
THREADS = 2
"""Members train side by side; seconds are those of all threads together."""


def goals(names: Iterable[str], seeds: Iterable[int]) -> None:
    """Fresh samples, nothing set but the budget."""
    for seed in seeds:
        for name in names:
            source = get(name)
            train, valid, test = (source.sample(seed=FIRST_SAMPLE + 3 * seed + k).text for k in range(3))
            key = {"study": "goals", "data": name, "budget": GOALS[name], "seed": seed}
            run(key, {}, train, valid, lambda model, s=source, t=test: model.bits(t) - s.bits(t))


def parts(names: Iterable[str], which: Iterable[str], seeds: Iterable[int]) -> None:
    """One part left out at a time, on the first samples of `goals`."""
    for seed, name, part in product(seeds, names, which):
        parameters = PARTS[part]
        key = {"study": "parts", "data": name, "budget": PARTS_BUDGET, "seed": seed, "part": part}
        if name in GOALS:
            source = get(name)
            train, valid, test = (source.sample(seed=FIRST_SAMPLE + 3 * seed + k).text for k in range(3))
            run(key, parameters, train, valid, lambda model, s=source, t=test: model.bits(t) - s.bits(t))
        else:
            data = ALL[name]()
            given = {"alphabet": data.alphabet, **parameters}
            run(key, given, data.fit, None, lambda model, d=data: bits_after(model, d) / d.scored_symbols)


def times(names: Iterable[str], budgets: Iterable[float]) -> None:
    """Several budgets on the data of the peers."""
    for name in names:
        for budget in budgets:
            given = texts(name)
            key = {"study": "times", "data": name, "budget": budget, "seed": 0}
            run(key, {}, *given.encoded[:2], lambda model, g=given: model.bits(g.encoded[2]) - g.bits[2])


def invariance(names: Iterable[str]) -> None:
    """The same network trained in two coordinate systems, tanh and logistic: the same way, or another one?"""
    for name in names:
        source = get(name)
        data = source.encode(source.sample(seed=FIRST_SAMPLE).text)
        counts, A = np.bincount(data.codes).astype(float), len(data.alphabet)
        graph = random_graph(16, 4, 0)
        model, twin = (GLNN(graph, A, activation=activation) for activation in ("tanh", "logistic"))
        for method, (kind, settings) in METHODS.items():
            key = {"study": "invariance", "data": name, "steps": STEPS, "part": method}
            if any(key == {field: line.get(field) for field in key} for line in read(PATH)):
                continue
            initial = model.initial_for_chunks if kind is StochasticTrainer else model.initial
            params = initial(counts, counts, np.random.default_rng(0))
            ways = []
            for network, begin in ((model, params), (twin, twin.from_tanh(params))):
                trainer = kind(network, data, begin, settings)
                trainer.run(f"{STEPS} steps")
                ways.append([-info.log_likelihood / np.log(2.0) / data.codes.size for info in trainer.progress.history])
            apart = float(np.abs(np.subtract(*ways)).max())
            told = {"tanh": round(ways[0][-1], 4), "logistic": round(ways[1][-1], 4), "apart": round(apart, 5)}
            append(PATH, {**key, **told, **_about()})
            print(key, told, flush=True)


def run(key: dict[str, Any], parameters: dict[str, Any], train: Any, valid: Any, value: Any) -> None:
    """One training, unless it is there."""
    if any(key == {name: line.get(name) for name in key} for line in read(PATH)):
        return
    started = time.process_time()
    model = glnn.GLNN(budget=key["budget"], random_state=key["seed"], verbose=0, n_jobs=THREADS, **parameters)
    model.fit(train, validation=valid)
    told = {"value": round(float(value(model)), 4), "charged": round(model.total_seconds_, 2)}
    told |= {"cpu_seconds": round(time.process_time() - started, 1), "units": model.units_, "degree": model.degree_}
    told |= {"members": len(model.members_), "training": model.training_["training"], "starts": len(model.restarts_)}
    append(PATH, {**key, **told, **_about()})
    print(key, told, flush=True)


def _about() -> dict[str, Any]:
    return {**about(), "command": " ".join(["python", "experiments/generalising.py", *sys.argv[1:]])}


def costs() -> None:
    """CPU time of a step by the position, on all data at once and on chunks, without noise and with it."""
    for name, units, degree in COSTS_OF:
        key = {"study": "costs", "data": name, "units": units, "degree": degree}
        if any(key == {field: line.get(field) for field in key} for line in read(PATH)):
            continue
        source = get(name)
        data = source.encode(source.sample(seed=FIRST_SAMPLE).text)
        counts = np.bincount(data.codes).astype(float)
        model = GLNN(random_graph(units, degree, 0), len(data.alphabet))
        trainers: dict[str, Any] = {}
        for label, noise in (("", 0.0), (", noise", 0.15)):
            params = model.initial(counts, counts, np.random.default_rng(0))
            trainers[f"batch{label}"] = Trainer(model, data, params, Settings(noise=noise))
            params = model.initial_for_chunks(counts, counts, np.random.default_rng(0))
            chunks = Settings(training="stochastic", metric="adam", noise=noise)
            trainers[f"chunks{label}"] = StochasticTrainer(model, data, params, chunks)
        found: dict[str, list[float]] = {label: [] for label in trainers}
        for repetition in range(1 + 2 * DRAW_STEPS):
            for label, trainer in trainers.items():
                begin, chunks_before = time.process_time(), trainer.progress.passes
                info = trainer.step()
                seconds = time.process_time() - begin
                positions = data.codes.size
                if label.startswith("chunks"):
                    positions = (trainer.progress.passes - chunks_before) * STREAMS * LENGTH
                # The first one compiles; a trial that is taken back is not the step's own cost.
                if repetition and not (info.writing_rejected or info.transition_rejected):
                    found[label].append(1e9 * seconds / positions)
        # The mean: every eighth noisy step begins with a pass more.
        told = {label: round(statistics.mean(values), 1) for label, values in found.items()}
        append(PATH, {**key, **told, **_about()})
        print(key, told, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", choices=["goals", "parts", "times", "invariance", "costs"])
    parser.add_argument("--only", nargs="+", help="names of data")
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), help="what to leave out")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="the first of the seeds of `goals` and `parts`")
    parser.add_argument("--budgets", nargs="+", type=float, default=BUDGETS, help="seconds of `times`")
    options = parser.parse_args()
    if options.study == "goals":
        goals(options.only or GOALS, range(options.first, options.first + options.seeds))
    elif options.study == "parts":
        parts(options.only or PARTS_OF, options.parts or PARTS, range(options.first, options.first + options.seeds))
    elif options.study == "times":
        times(options.only or GOALS, options.budgets)
    elif options.study == "invariance":
        invariance(options.only or ["music"])
    elif options.study == "costs":
        costs()


if __name__ == "__main__":
    main()
