"""How the cost of an update grows: CPU time of one update of w and one of τ against T, N, d and A.

    python benchmarks/growth.py [--repeats 5] [--draw]

QDH with RBPM (full matrices) and with QDRBPM (quasi-diagonal), one thread. The paper's cost is O(NT(d²+A)), and
O(NT(d+A)) for quasi-diagonal metrics. One quantity varies at a time; data are drawn uniformly. Sizes take turns, so
that a busy moment of the machine meets all of them, and the best time of each counts.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.plain.problems import Problem, perturbed_start
from benchmarks.records import RESULTS, Record, about, markdown, write
from benchmarks.run import EngineUpdate
from glnn.network import random_graph
from glnn.sequences import Alphabet, Encoded
from glnn.training.parallel import single_threaded_blas

METRICS = ("rbpm", "qdrbpm")


@dataclass(frozen=True)
class Shape:
    """The sizes that the cost depends on."""

    T: int
    N: int
    d: int
    A: int


@dataclass(frozen=True)
class Sweep:
    """One quantity varies from a base; what the paper's formula makes of it, for each metric."""

    letter: str
    base: Shape
    values: tuple[int, ...]
    paper: tuple[str, str]

    def shapes(self) -> list[Shape]:
        """All sizes of the sweep."""
        return [replace(self.base, **{self.letter: value}) for value in self.values]


# d stays under N/4.5, above which the recurrence takes whole matrices and d no longer matters to it.
SWEEPS = (
    Sweep("T", Shape(0, 32, 8, 16), (2_500, 5_000, 10_000, 20_000, 40_000, 80_000, 160_000), ("T", "T")),
    Sweep("N", Shape(20_000, 0, 8, 16), (16, 32, 64, 128, 256, 512), ("N", "N")),
    Sweep("d", Shape(10_000, 256, 0, 4), (2, 4, 8, 16, 24, 32, 40, 48, 56), ("d² + A", "d + A")),
    Sweep("A", Shape(20_000, 32, 4, 0), (8, 16, 32, 64, 128, 256, 512), ("A", "A")),
)


def problem(shape: Shape, seed: int = 0) -> Problem:
    """Uniform symbols and a network with noise on every weight."""
    codes = np.random.default_rng(seed).integers(0, shape.A, shape.T).astype(np.int32)
    data = Encoded(codes, np.array([0, shape.T]), np.ones(shape.T, bool), Alphabet(range(shape.A)))
    graph = random_graph(shape.N, shape.d, seed)
    return Problem("growth", data, perturbed_start(graph, data, seed), eta=1.0 / shape.N)


def measure(sweep: Sweep, metric: str, repeats: int) -> dict[str, list[float]]:
    """Best CPU seconds of each half of the update, for every size."""
    updates = [EngineUpdate(problem(shape), metric, 1) for shape in sweep.shapes()]
    best = [dict.fromkeys(("w", "tau", "total"), np.inf) for _ in updates]
    for _ in range(repeats + 1):  # the first time arrays are allocated and kernels compiled
        for place, update in enumerate(updates):
            seconds = update.run(time.thread_time)[0]
            best[place] = {part: min(value, seconds[part]) for part, value in best[place].items()}
    return {part: [float(f"{1e3 * one[part]:.4g}") for one in best] for part in best[0]}


def upper_exponent(sizes: Sequence[float], cost: Sequence[float]) -> float:
    """The slope of log cost against log size over the upper half of the sizes."""
    half = len(sizes) // 2
    return float(np.polyfit(np.log(sizes[half:]), np.log(cost[half:]), 1)[0])


def fixed_and_power(sizes: Sequence[float], cost: Sequence[float]) -> tuple[float, float, float]:
    """The best f, c and p in cost = f + c · size^p, by relative error, f and c not negative."""
    from scipy.optimize import nnls

    x, y = np.asarray(sizes, float), np.asarray(cost, float)
    best = (np.inf, 0.0, 0.0, 0.0)
    for power in np.arange(0.30, 3.0001, 0.01):
        terms = np.column_stack([np.ones_like(x), (x / x[-1]) ** power]) / y[:, None]
        (fixed, scale), error = nnls(terms, np.ones_like(y))
        if error < best[0]:
            best = (float(error), float(fixed), float(scale / x[-1] ** power), round(float(power), 2))
    return best[1:]


def polynomial(sizes: Sequence[float], cost: Sequence[float], degree: int) -> tuple[list[float], float]:
    """Coefficients, none negative, of cost as a polynomial of the size by relative error; the largest such error."""
    from scipy.optimize import nnls

    powers = np.asarray(sizes, float)[:, None] ** np.arange(degree + 1) / np.asarray(cost)[:, None]
    coefficients, _ = nnls(powers, np.ones(len(powers)))
    return coefficients.tolist(), float(np.abs(powers @ coefficients - 1.0).max())


def fitted(sweep: Sweep, metric: str, milliseconds: Sequence[float]) -> dict[str, Any]:
    """Slope over the upper half; fixed part and power; and the paper's polynomial in the size, with its worst error."""
    fixed, scale, power = fixed_and_power(sweep.values, milliseconds)
    degree = 2 if sweep.letter == "d" and metric == "rbpm" else 1
    coefficients, error = polynomial(sweep.values, milliseconds, degree)
    return {
        "upper_exponent": round(upper_exponent(sweep.values, milliseconds), 3),
        "fixed_ms": float(f"{fixed:.4g}"),
        "scale_ms": float(f"{scale:.4g}"),
        "exponent": power,
        "polynomial_ms": [float(f"{value:.4g}") for value in coefficients],
        "polynomial_error": round(error, 3),
    }


def run(repeats: int, sweeps: Sequence[Sweep] = SWEEPS) -> Record:
    """All sweeps with both metrics."""
    lines: list[dict[str, Any]] = []
    with single_threaded_blas():
        for sweep in sweeps:
            for metric, paper in zip(METRICS, sweep.paper, strict=True):
                found = measure(sweep, metric, repeats)
                fixed = {name: value for name, value in vars(sweep.base).items() if name != sweep.letter}
                fit = fitted(sweep, metric, found["total"])
                lines.append(
                    {"against": sweep.letter, "metric": metric, "others": fixed, "values": list(sweep.values)}
                    | {"milliseconds": found, "paper": paper, "fit": fit}
                )
                print(f"{sweep.letter} {metric:7} {found['total']} ms, {fit}", flush=True)
    return {**about(), "clock": "CPU seconds of one thread, best", "repeats": repeats, "sweeps": lines}


def table(record: Record) -> str:
    """The exponents beside the paper's."""
    rows = []
    for line in record["sweeps"]:
        fit, others = line["fit"], ", ".join(f"{name} = {value:,}" for name, value in line["others"].items())
        span = f"{line['values'][0]:,} … {line['values'][-1]:,}"
        name = f"{line['against']} = {span}; {others}"
        law = described(line["against"], fit["polynomial_ms"])
        numbers = (
            f"{fit['upper_exponent']:.2f}",
            f"{fit['exponent']:.2f}",
            law,
            f"{100 * fit['polynomial_error']:.0f} %",
        )
        rows.append([name, line["metric"].upper(), line["paper"], *numbers])
    columns = ("varied; held", "metric", "paper", "exponent", "without fixed part", "ms by the paper's law", "off by")
    return markdown(columns, rows, left=3)


def described(letter: str, coefficients: Sequence[float]) -> str:
    """A polynomial as people write it."""
    terms = [
        (value, "" if not power else f" {letter}" + "²" * (power == 2)) for power, value in enumerate(coefficients)
    ]
    return " + ".join(f"{value:.2g}{name}" for value, name in terms if value) or "0"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, default=RESULTS / "growth.json")
    parser.add_argument("--draw", action="store_true", help="draw what is there, measure nothing")
    options = parser.parse_args()
    if not options.draw:
        write(options.out, run(options.repeats))
    from benchmarks.figures import draw_growth

    record = json.loads(options.out.read_text())
    for line in record["sweeps"]:
        sweep = next(sweep for sweep in SWEEPS if sweep.letter == line["against"])
        line["fit"] = fitted(
            replace(sweep, values=tuple(line["values"])), line["metric"], line["milliseconds"]["total"]
        )
    write(options.out, record)
    draw_growth(record)
    print(table(record))


if __name__ == "__main__":
    main()
