"""The engine against the plain C++ yardstick: one update of w and one of τ, alternately in one run, as ratios.

    python benchmarks/run.py [PROBLEM ...] [--metric rbpm|ruop] [--repeats 7] [--out FILE.json]

With one thread both are timed in CPU seconds of that thread, so that a busy machine changes little; with two, in wall
seconds, which mean something only on a quiet machine. The numbers of both are compared before they are timed.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

import glnn
from benchmarks.plain import compiler
from benchmarks.yardstick import NAMES, Parameters, Problem, Yardstick, problem
from glnn.metrics import TRANSITION_METHODS, WRITING_METHODS, Scales, hessian_damping
from glnn.models import GLNN, Params
from glnn.training.corpus import prepare, stretch_length
from glnn.training.engine import Engine
from glnn.training.parallel import Workers, single_threaded_blas
from glnn.training.results import Forward, Rewritten

Clock = Callable[[], float]
# How many times as fast as plain C++ the engine is to be, on one and on two threads.
GOALS = {threads: dict.fromkeys(NAMES, goal) for threads, goal in ((1, 3.5), (2, 6))}


class EngineUpdate:
    """The engine's pair of updates at fixed rates, as the trainer makes them."""

    def __init__(self, problem: Problem, metric: str, threads: int) -> None:
        self.problem, self.method = problem, TRANSITION_METHODS[metric]
        model = GLNN(problem.parameters.graph, len(problem.data.alphabet))
        corpus = prepare(problem.data, stretch_length(model.units))
        self.engine = Engine(model, corpus, Workers(threads), memory=1 << 33)
        self.damping = hessian_damping(corpus.counts)
        self.scales = Scales(1.0, corpus.frequencies, corpus.length)
        given = problem.parameters
        self.start = self.engine.forward(Params(given.w, given.tau.ravel(), given.V0))
        self.spare: Forward | None = None
        self.rewritten: Rewritten | None = None

    def run(self, clock: Clock) -> tuple[dict[str, float], Params, float]:
        """Seconds of each half, the new parameters and their log-likelihood."""
        engine, current, eta = self.engine, self.start, self.problem.eta
        begin = clock()
        direction = WRITING_METHODS["qdh"](*engine.writing_statistics(current), self.damping)
        w = current.params.w + eta * direction
        self.rewritten = engine.rewrite(current, w, self.method, self.rewritten)
        half = clock()
        written = Forward(
            current.params.replace(w=w), current.weights, current.checkpoints, current.traces, current.state, 0.0
        )
        derivatives = engine.derivatives(written, self.method, self.rewritten.evidence)
        found = self.method.direction(derivatives.statistics, engine.layout, self.scales)
        theta, V0 = written.params.theta + eta * found.step, written.params.V0 + eta * found.start
        trial = written.params.replace(theta=theta, V0=V0)
        self.spare = engine.forward(trial, reuse=self.spare)
        end = clock()
        return {"w": half - begin, "tau": end - half, "total": end - begin}, trial, self.spare.log_likelihood


def yardstick_run(yardstick: Yardstick, given: Problem, metric: str) -> tuple[dict[str, float], Parameters, float]:
    """The same of the yardstick; the forward pass before the first update is an earlier trial's."""
    of_w = yardstick.update_w(given.parameters, given.eta)
    of_tau = yardstick.update_tau(of_w.parameters, given.eta, metric)
    parts = {name: sum(u.seconds[part] for part in u.flops) for name, u in (("w", of_w), ("tau", of_tau))}
    return {**parts, "total": sum(parts.values())}, of_tau.parameters, of_tau.after


def measure(name: str, metric: str, threads: int, repeats: int) -> dict[str, Any]:
    """Best times of both, run alternately, after a look that they compute the same."""
    given = problem(name)
    clock: Clock = time.thread_time if threads == 1 else time.perf_counter
    yardstick, ours = Yardstick(given.parameters.graph, given.data, clock), EngineUpdate(given, metric, threads)
    _, theirs, their_value = yardstick_run(yardstick, given, metric)
    _, found, value = ours.run(clock)
    for mine, other in (
        (found.w, theirs.w),
        (found.theta.reshape(theirs.tau.shape), theirs.tau),
        (found.V0, theirs.V0),
    ):
        np.testing.assert_allclose(mine, other, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(value, their_value, rtol=1e-8)
    plain, engine = [], []
    for _ in range(repeats):
        plain.append(yardstick_run(yardstick, given, metric)[0])
        engine.append(ours.run(clock)[0])
    of_w, of_tau = yardstick.update_w(given.parameters, given.eta), yardstick.update_tau(given.parameters, 0.0, metric)
    flops = sum(of_w.flops.values()) + sum(of_tau.flops.values())
    best = {key: (min(p[key] for p in plain), min(e[key] for e in engine)) for key in ("w", "tau", "total")}
    return {
        "problem": name,
        "metric": metric,
        "threads": threads,
        "symbols": len(given.data.codes),
        "alphabet": len(given.data.alphabet),
        "clock": "cpu" if threads == 1 else "wall",
        "yardstick_ms": {key: round(1e3 * pair[0], 2) for key, pair in best.items()},
        "engine_ms": {key: round(1e3 * pair[1], 2) for key, pair in best.items()},
        "ratio": {key: round(pair[0] / pair[1], 2) for key, pair in best.items()},
        "yardstick_gflops": round(flops / best["total"][0] / 1e9, 2),
        "engine_gflops": round(flops / best["total"][1] / 1e9, 2),
    }


def product_gflops() -> float:
    """What a large matrix product reaches here on one thread: the roof for everything that is arithmetic."""
    a = np.random.default_rng(0).standard_normal((768, 768))
    best = np.inf
    for _ in range(8):
        begin = time.thread_time()
        a @ a
        best = min(best, time.thread_time() - begin)
    return round(2 * 768**3 / best / 1e9, 1)


def processor() -> str:
    """The processor's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def table(record: dict[str, Any]) -> str:
    """The ratios as a table of Markdown, one line a problem."""
    lines = [
        "| problem | C++ | one thread | ratio | goal | two threads | ratio | goal |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    found = {(line["problem"], line["threads"]): line for line in record["results"]}
    for name in dict.fromkeys(line["problem"] for line in record["results"]):
        cells = [name, f"{found[name, 1]['yardstick_ms']['total']:,.0f} ms"]
        for threads in (1, 2):
            line = found[name, threads]
            goal = GOALS[threads].get(name)
            cells += [f"{line['engine_ms']['total']:,.1f} ms", f"**{line['ratio']['total']:.1f}**"]
            cells.append("–" if goal is None else f"{goal}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problem", nargs="*", default=list(NAMES))
    parser.add_argument("--metric", choices=["rbpm", "ruop"], default="rbpm")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "yardstick.json")
    options = parser.parse_args()
    with single_threaded_blas():
        machine = {
            "processor": processor(),
            "compiler": compiler.version(),
            "libc": " ".join(platform.libc_ver()),
            "matrix_product_gflops": product_gflops(),
            "glnn": glnn.__version__,
        }
        print(f"{machine['processor']}; {machine['compiler']}")
        print(f"a matrix product runs at {machine['matrix_product_gflops']} GFlop/s on one thread")
        results = []
        print(f"{'problem':24}{'threads':>8}{'C++ ms':>10}{'ours ms':>10}{'ratio':>7}{'w':>6}{'tau':>6}{'GFlop/s':>9}")
        for threads in options.threads:
            for name in options.problem:
                line = measure(name, options.metric, threads, options.repeats)
                results.append(line)
                ratio = line["ratio"]
                print(
                    f"{name:24}{threads:8}{line['yardstick_ms']['total']:10.1f}{line['engine_ms']['total']:10.1f}"
                    f"{ratio['total']:7.2f}{ratio['w']:6.2f}{ratio['tau']:6.2f}{line['engine_gflops']:9.1f}",
                    flush=True,
                )
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({"machine": machine, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
