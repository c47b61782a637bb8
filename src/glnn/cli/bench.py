"""`glnn bench`: how fast this installation trains on this machine, in half a minute and without the repository.

Times are CPU seconds of whole steps, an update of w and one of the transitions with their trials, the best of a few;
kernels are compiled first. Problems are those of the benchmarks with less data, so that times per symbol can be
compared.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from glnn import registry
from glnn.cli import options

if TYPE_CHECKING:
    from glnn.sequences import Encoded


class Problem(NamedTuple):
    """A source, how much of it, and a network."""

    title: str
    source: str
    size: int
    units: int
    degree: int


PROBLEMS = (
    Problem("insertions, 64 units, d = 12", "insertions", 250, 64, 12),
    Problem("music, 64 units, d = 7", "music", 1000, 64, 7),
    Problem("aⁿbⁿ, 16 units, d = 3", "anbn", 6, 16, 3),
    Problem("distant XOR, 10 units, d = 10", "xor", 100, 10, 10),
)
# On which models and metrics are compared.
COMMON = Problem("music, 32 units, d = 5", "music", 500, 32, 5)
MODELS, METRICS = tuple(registry.networks()), tuple(registry.metrics())


def bench(
    models: Annotated[str, typer.Option(metavar="NAMES", help="Models to compare, separated by commas.")] = ",".join(
        MODELS
    ),
    metrics: Annotated[str, typer.Option(metavar="NAMES", help="Metrics to compare, separated by commas.")] = ",".join(
        METRICS
    ),
    steps: Annotated[int, typer.Option(min=2, help="Steps of each; the quickest counts.")] = 6,
    threads: options.Threads = 1,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """How fast training is on this machine.

    Small versions of the benchmark problems, then each model and metric: the symbols of the data over the time of a
    step. Times are CPU seconds with one thread, wall seconds with more.

    \b
    Examples:
      glnn bench
      glnn bench --models glnn --metrics rbpm,qdrbpm --json
    """
    from glnn.cli.printing import console, data_table, print_json
    from glnn.progress import Display
    from glnn.reproduction.running import versions
    from glnn.training.compiling import beginning, compiling

    chosen = _chosen("--models", models, MODELS), _chosen("--metrics", metrics, METRICS)
    found = versions()
    machine = {name: found[name] for name in ("version", "processor", "python", "numpy", "numba")}
    show = console(json)
    show.print(
        f"glnn {machine['version']}, Python {machine['python']}, Numba {machine['numba']}; {machine['processor']}"
    )
    compared = [(COMMON, model, metric) for model in chosen[0] for metric in chosen[1]]
    with compiling(Display(0 if quiet else 1)):
        for problem, model, metric in [*((problem, "glnn", "rbpm") for problem in PROBLEMS), *compared]:
            _trainer(problem, beginning(_data(problem)), model, metric, threads).run("2 steps")
    problems = [measured(problem, "glnn", "rbpm", steps, threads) for problem in PROBLEMS]
    rows = [(row["problem"], f"{row['symbols']:,}", f"{row['milliseconds']:.1f}", _rate(row)) for row in problems]
    show.print(data_table(("GLNN, QDH+RBPM", "symbols", "ms a step", "symbols a second"), rows))
    grid = [measured(*one, steps, threads) for one in compared]
    rates = {(row["model"], row["metric"]): _rate(row) for row in grid}
    lines = [(metric, *(rates[model, metric] for model in chosen[0])) for metric in chosen[1]]
    show.print(data_table((COMMON.title, *chosen[0]), lines, title="Symbols a second"))
    if json:
        clock = "cpu" if threads == 1 else "wall"
        print_json({**machine, "threads": threads, "clock": clock, "problems": problems, "grid": grid})


def measured(problem: Problem, model: str, metric: str, steps: int, threads: int) -> dict[str, Any]:
    """The quickest of some steps from the initial parameters."""
    import time

    from glnn.training.records import StepInfo
    from glnn.training.trainer import Trainer

    data = _data(problem)
    clock = time.process_time if threads == 1 else time.perf_counter
    seconds: list[float] = []
    last = 0.0

    def look(info: StepInfo, trainer: Trainer) -> None:
        nonlocal last
        now = clock()
        # The first step needs one more forward pass.
        if info.step > 1:
            seconds.append(now - last)
        last = now

    trainer = _trainer(problem, data, model, metric, threads)
    trainer.run(f"{steps} steps", (look,))
    best = min(seconds, default=float("nan"))
    return {
        "problem": problem.title,
        "model": model,
        "metric": metric,
        "symbols": len(data.codes),
        "milliseconds": 1e3 * best,
        "symbols_per_second": len(data.codes) / best,
        "steps": len(trainer.progress.history),
    }


@cache
def _data(problem: Problem) -> Encoded:
    from glnn.sources import get

    source = get(problem.source)
    return source.encode(source.sample(problem.size, 0).text)


def _trainer(problem: Problem, data: Encoded, model: str, metric: str, threads: int) -> Any:
    import numpy as np

    from glnn.models import MODELS as KINDS
    from glnn.network import random_graph
    from glnn.training.settings import Settings
    from glnn.training.trainer import Trainer

    letters = len(data.alphabet)
    network = KINDS[model](random_graph(problem.units, problem.degree, 0), letters)
    counts = np.bincount(data.codes, minlength=letters).astype(float)
    predicted = np.bincount(data.codes[data.mask], minlength=letters).astype(float)
    params = network.initial(predicted, counts, np.random.default_rng(0))
    return Trainer(network, data, params, Settings(metric=metric, threads=threads))


def _chosen(option: str, names: str, known: tuple[str, ...]) -> list[str]:
    from glnn.sequences import InputError

    chosen = list(dict.fromkeys(name.strip().lower() for name in names.split(",") if name.strip()))
    wrong = [name for name in chosen if name not in known]
    if wrong or not chosen:
        raise InputError(
            f"{option} {names}: {', '.join(wrong) or 'an empty name'} is unknown; choose from {', '.join(known)}"
        )
    return chosen


def _rate(row: dict[str, Any]) -> str:
    """Symbols per second in three digits."""
    rate = row["symbols_per_second"]
    return f"{float(f'{rate:.3g}'):,.0f}"
