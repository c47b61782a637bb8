"""What a pass costs and what would travel: the measured numbers of experiments/scaling.md.

    python experiments/scaling_costs.py              prints a table, about a minute of CPU
    python experiments/scaling_costs.py cluster      what a question to two workers on this machine takes, wall time

Seconds are CPU seconds of one thread for each symbol of one step without rejected trials: a forward pass with the
statistics of w, a trial of w, a backward pass with G and M̃. Bytes are those of the arrays that a worker sends.
"""

from __future__ import annotations

import pickle
import sys
import time
from collections.abc import Callable

import numpy as np

from glnn.metrics import TRANSITION_METHODS
from glnn.models import MODELS
from glnn.network import random_graph
from glnn.sequences import encode
from glnn.sources import get
from glnn.training.corpus import prepare, stretch_length
from glnn.training.engine import Engine
from glnn.training.parallel import single_threaded_blas

CASES = (
    ("insertions", "glnn", "rbpm", 16, 3),
    ("insertions", "glnn", "rbpm", 64, 3),
    ("insertions", "glnn", "rbpm", 64, 12),
    ("insertions", "glnn", "rbpm", 256, 12),
    ("music", "glnn", "rbpm", 64, 6),
    ("xor", "glnn", "rbpm", 10, 10),
    ("insertions", "rnn", "qdrbpm", 64, 67),
)
SIZES = {"insertions": 500, "music": 2700, "xor": 500}


def seconds(work: Callable[[], object]) -> float:
    work()
    begun = time.process_time()
    work()
    return time.process_time() - begun


def main() -> None:
    print("| source | network | symbols A | T | µs a symbol, a step | W, h | G | M̃ | parameters |")
    print("|---|---|---|---|---|---|---|---|---|")
    for source_name, name, metric, units, degree in CASES:
        source = get(source_name)
        data = source.encode(source.sample(SIZES[source_name], 0).text)
        symbols = len(source.alphabet)
        generator = np.random.default_rng(0)
        model = MODELS[name](random_graph(units, degree, generator), symbols)
        counts = np.bincount(data.codes, minlength=symbols).astype(float)
        params = model.initial(counts, counts, generator)
        params = params.replace(w=params.w + 0.01 * generator.normal(size=params.w.shape))
        engine, method = Engine(model, prepare(data, stretch_length(units))), TRANSITION_METHODS[metric]
        with single_threaded_blas():
            current = engine.forward(params)
            spent = seconds(lambda: engine.forward(params, reuse=None))  # noqa: B023
            spent += seconds(lambda: engine.rewrite(current, params.w, method))  # noqa: B023
            spent += seconds(lambda: engine.derivatives(current, method))  # noqa: B023
            writing, found = engine.writing_statistics(current), engine.derivatives(current, method).statistics
        metric_bytes = sum(a.nbytes for a in (found.diagonal, found.cross, found.matrices) if a is not None)
        cells = (
            source_name,
            f"{name.upper()} {metric.upper()}, N = {units}, d = {degree}",
            symbols,
            f"{len(data.codes):,}",
            f"{1e6 * spent / len(data.codes):.1f}",
            size(sum(a.nbytes for a in writing)),
            size(found.gradient.nbytes),
            size(metric_bytes),
            size(params.theta.nbytes + params.w.nbytes),
        )
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    block = np.random.default_rng(0).normal(size=4_000_000)
    other = block.copy()
    packed = seconds(lambda: pickle.loads(pickle.dumps(block, protocol=5)))
    added = seconds(lambda: block + other)
    print(f"\nadding two statistics: {block.nbytes / added / 1e9:.1f} GB/s; packing and unpacking: "
          f"{block.nbytes / packed / 1e9:.1f} GB/s")  # fmt: skip


def cluster() -> None:
    from distributed import Client, LocalCluster

    from glnn.training.cluster import ClusterShards
    from glnn.training.settings import Settings

    source = get("insertions")
    data = encode([list(source.sample(1, seed).text) for seed in range(40)], alphabet=source.alphabet)
    generator = np.random.default_rng(0)
    model = MODELS["glnn"](random_graph(64, 12, generator), len(source.alphabet))
    counts = np.bincount(data.codes, minlength=len(source.alphabet)) + 1.0
    params = model.initial(counts, counts, generator)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as local,
        Client(local, set_as_default=False) as client,
    ):
        shards = ClusterShards(client, model, data, Settings(), symbols=len(data.codes) // 2)
        for name, arguments in (
            ("forward", (0, params)),
            ("rewrite", (0, params.w, "rbpm")),
            ("derivatives", (0, params.w, "rbpm")),
        ):
            shards.ask(name, *arguments)
            times = []
            for _ in range(15):
                begun = time.perf_counter()
                shards.ask(name, *arguments)
                times.append(time.perf_counter() - begun)
            print(f"{name}: median {1e3 * np.median(times):.0f} ms, least {1e3 * min(times):.0f} ms")


def size(number: float) -> str:
    return f"{number / 1e6:,.1f} MB" if number >= 1e5 else f"{number / 1e3:,.1f} kB"


if __name__ == "__main__":
    cluster() if sys.argv[1:] == ["cluster"] else main()
