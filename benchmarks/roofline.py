"""Where the engine's time goes, and the least it could be on this processor: flops, bytes, edges and steps of a part.

    python benchmarks/roofline.py [PROBLEM ...] [--repeats 7] [--out FILE.json]

Roofs are measured in the same run, each by a loop that does nothing else: multiply-adds (a large matrix product),
bytes (a sum over an array far larger than the caches), edges (sums over the edges of a network whose weights stay
in the first cache), and steps in time, forward and back (a network of four units that is given nothing else to do: each
step waits for the one before). A part cannot be faster than the slowest of what it needs of each, except that small
networks use matrices in the place of edges. CPU seconds of one thread.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.run import GOALS, EngineUpdate, processor, product_gflops
from benchmarks.yardstick import NAMES, problem
from glnn.metrics.statistics import Accumulator
from glnn.models import GLNN, Evidence, Flow
from glnn.models.eights import in_eights, sum_over_edges
from glnn.network import random_graph
from glnn.numeric.kernel import CONTRACT, kernel
from glnn.output import softmax
from glnn.training.parallel import single_threaded_blas


class Roofs(NamedTuple):
    """What the processor does in a second."""

    flops: float
    bytes: float
    edges: float
    steps: float
    steps_back: float


class Need(NamedTuple):
    """What a part does, at the least."""

    flops: float
    bytes: float
    edges: float = 0.0
    steps: float = 0.0
    steps_back: float = 0.0

    def seconds(self, roofs: Roofs) -> float:
        """The least time for it."""
        return max(need / roof for need, roof in zip(self, roofs, strict=True))


@kernel(CONTRACT)
def _many_sums(count: int, ptr: np.ndarray, ends: np.ndarray, tau: np.ndarray, v: np.ndarray, out: np.ndarray) -> None:
    for _ in range(count):
        sum_over_edges(ptr, ends, tau, v, out)


def best_of(repeats: int, job: Callable[[], Any]) -> float:
    """The least CPU seconds of a job, after a first run that compiles."""
    job()
    times = []
    for _ in range(repeats):
        begin = time.thread_time()
        job()
        times.append(time.thread_time() - begin)
    return min(times)


def roofs(repeats: int) -> Roofs:
    """Measured here and now."""
    large = np.ones(1 << 25)
    graph = random_graph(64, 8, 0)
    tau, v, out = np.ones(graph.edges), np.ones(64), np.empty(64)
    ptr, ends, _ = in_eights(graph.in_ptr, graph.sources)
    sums = best_of(repeats, lambda: _many_sums(2000, ptr, ends, tau, v, out))
    forward, back = steps(repeats)
    return Roofs(
        flops=product_gflops() * 1e9,
        bytes=large.nbytes / best_of(repeats, large.sum),
        edges=2000 * graph.edges / sums,
        steps=forward,
        steps_back=back,
    )


def steps(repeats: int, length: int = 50_000) -> tuple[float, float]:
    """Steps in a second of the smallest network that fills a vector, forward and back, with nothing to predict."""
    model = GLNN(random_graph(4, 4, 0), 2)
    counts = np.ones(2)
    params = model.initial(counts, counts, np.random.default_rng(0))
    weights = model.weights(params.theta)
    x, first = np.zeros(length, np.int32), np.arange(length) == 0
    trace, none = np.empty((length, 4)), np.empty((0, 4))
    given = Evidence(x, first, np.empty(0, np.int32), none, none)
    B, m = (Flow(np.zeros(4), np.empty((length, 4)), np.zeros((1, 4))) for _ in range(2))
    forward = best_of(repeats, lambda: model.forward(weights, params.V0, x, first, model.begin(params.V0), trace))
    return length / forward, length / best_of(repeats, lambda: model.backward_with_modulus(weights, trace, given, B, m))


def needs(name: str) -> dict[str, Need]:
    """Flops, bytes to and from arrays over time, edges and steps, of every part of a pair of updates (RBPM)."""
    given = problem(name)
    graph = given.parameters.graph
    T, P = len(given.data.codes), int(given.data.mask.sum())
    N, A, E = graph.units, len(given.data.alphabet), graph.edges
    K = graph.in_degrees + 1
    dense = GLNN(graph, A).dense
    # 14 flops of a polynomial and some more make an exp, a division one; a fused multiply-add is two.
    exp = 20
    return {
        "w: source terms": Need(P * A * (6 * N + exp), 8 * P * 3 * N),
        "backward": Need(T * (5 * E + 12 * N), 8 * (3 * T * N + 2 * P * N), 0 if dense else T * E, 0, T),
        "sums of G and M": Need(T * float((3 * K + K * (K + 1)).sum()), 8 * 3 * T * N),
        "solving": Need(A * float((K**3 / 3 + 2 * K**2).sum()), 8 * A * float((K**2).sum())),
        "forward": Need(T * (2 * E + N * (exp + 2)), 8 * T * N, 0 if dense else T * E, T),
        "statistics of w": Need(P * A * (8 * N + exp), 8 * P * N),
    }


def measured(name: str, repeats: int) -> tuple[dict[str, float], float]:
    """Seconds of every part in the fastest of some pairs of updates, and of all of it."""
    update = EngineUpdate(problem(name), "rbpm", 1)
    spent: dict[str, float] = {}

    def timed(function: Callable[..., Any], part: str) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            begin = time.thread_time()
            result = function(*arguments, **options)
            spent[part] = spent.get(part, 0.0) + time.thread_time() - begin
            return result

        return call

    def watched(owner: Any, method: str, part: str) -> None:
        setattr(owner, method, timed(getattr(owner, method), part))

    model, jobs_of = update.engine.model, Accumulator.jobs
    kept = {name: getattr(softmax, name) for name in ("source_terms", "writing_statistics")}
    try:
        watched(softmax, "source_terms", "w: source terms")
        watched(softmax, "writing_statistics", "statistics of w")
        watched(model, "backward_with_modulus", "backward")
        watched(model, "forward", "forward")
        Accumulator.jobs = lambda adding, *given: [timed(job, "sums of G and M") for job in jobs_of(adding, *given)]
        direction = update.method.direction

        object.__setattr__(update.method, "direction", timed(direction, "solving"))
        best: tuple[dict[str, float], float] = ({}, np.inf)
        try:
            for _ in range(repeats + 1):
                spent.clear()
                total = update.run(time.thread_time)[0]["total"]
                if total < best[1]:
                    best = dict(spent), total
        finally:
            object.__setattr__(update.method, "direction", direction)
        return best
    finally:
        Accumulator.jobs = jobs_of
        for name_, function in kept.items():
            setattr(softmax, name_, function)


def table(record: dict[str, Any], names: Sequence[str] = ("insertions, 64 units", "music, 64 units")) -> str:
    """The parts of some problems as a table of Markdown."""
    lines = ["| problem | part | GFlop | MB | least | taken |", "|---|---|---:|---:|---:|---:|"]
    for result in record["results"]:
        if result["problem"] not in names:
            continue
        for part in result["parts"]:
            numbers = f"{part['flops'] / 1e9:.2f} | {part['bytes'] / 1e6:.0f}"
            times = f"{1e3 * part['least_s']:.1f} ms | {1e3 * part['s']:.1f} ms"
            lines.append(f"| {result['problem']} | {part['part']} | {numbers} | {times} |")
        least = 1e3 * sum(part["least_s"] for part in result["parts"])
        lines.append(
            f"| {result['problem']} | **all** | | | **{least:.0f} ms** | **{1e3 * result['total_s']:.0f} ms** |"
        )
    return "\n".join(lines)


def summary(record: dict[str, Any], against: dict[str, Any]) -> str:
    """Every problem beside its least time, and the ratio to plain C++ that would go with it."""
    yardstick = {line["problem"]: line["yardstick_ms"]["total"] for line in against["results"] if line["threads"] == 1}
    lines = ["| problem | C++ | least | ratio at every roof | goal | of the roof |", "|---|---:|---:|---:|---:|---:|"]
    for result in record["results"]:
        name = result["problem"]
        least = 1e3 * sum(part["least_s"] for part in result["parts"])
        share = least / (1e3 * result["total_s"])
        lines.append(
            f"| {name} | {yardstick[name]:,.0f} ms | {least:,.1f} ms | {yardstick[name] / least:.1f} | "
            f"{GOALS[1][name]} | {share:.0%} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problem", nargs="*", default=list(NAMES))
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "roofline.json")
    options = parser.parse_args()
    with single_threaded_blas():
        limits = roofs(options.repeats)
        print(
            f"{processor()}: {limits.flops / 1e9:.1f} GFlop/s, {limits.bytes / 1e9:.1f} GB/s, "
            f"{limits.edges / 1e9:.2f} billion edges/s, "
            f"{limits.steps / 1e6:.0f} million steps/s forward, {limits.steps_back / 1e6:.0f} back"
        )
        results = []
        for name in options.problem:
            parts, total = measured(name, options.repeats)
            least = {part: need.seconds(limits) for part, need in needs(name).items()}
            print(f"\n{name}: {1e3 * total:.1f} ms, at the least {1e3 * sum(least.values()):.1f} ms")
            print(f"  {'part':18}{'GFlop':>8}{'MB':>8}{'least ms':>10}{'ms':>8}{'of the roof':>12}")
            rows = []
            for part, need in needs(name).items():
                share = least[part] / parts[part]
                print(
                    f"  {part:18}{need.flops / 1e9:8.3f}{need.bytes / 1e6:8.1f}{1e3 * least[part]:10.2f}"
                    f"{1e3 * parts[part]:8.2f}{share:12.0%}"
                )
                rows.append({"part": part, **need._asdict(), "least_s": least[part], "s": parts[part]})
            results.append({"problem": name, "total_s": total, "parts": rows})
    options.out.parent.mkdir(parents=True, exist_ok=True)
    document = {"processor": processor(), "roofs": limits._asdict(), "results": results}
    options.out.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
