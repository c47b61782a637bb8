"""Models with nothing passed, as a new user gets them: GLNN() beside ContextTree() on the sources and on real texts.

    python experiments/defaults.py             all runs that are not there yet: a minute for each network
    python experiments/defaults.py table       what is there, as the table of experiments/defaults.md

Each is fitted on one text and scored on another. From a source, train has seed 2k and test 2k + 1; real texts are read
from the installed system at run time, the first four fifths are fitted and the last fifth is scored. Each finished run
is one line of JSON in results/defaults.jsonl, written at once; what is there is skipped.
"""

from __future__ import annotations

import inspect
import json
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import glnn
from glnn.sources import get

RESULTS = Path(__file__).parent / "results" / "defaults.jsonl"
PAGE = Path(__file__).parent / "defaults.md"
SOURCES = ("insertions", "music", "anbn")
SEEDS = (0, 1)
TITLES = {"anbn": "aⁿbⁿ"}
LICENCE = Path("/usr/share/common-licenses/GPL-3")
# The first is where the GNU licence lies on Debian; all others come with Python.
TEXTS = {
    "GPL 3, characters": ("chars", lambda: LICENCE.read_text()),
    "GPL 3, words": ("words", lambda: LICENCE.read_text()),
    "argparse.py": ("chars", lambda: inspect.getsource(import_module("argparse"))),
    "typing.py, 20,000 characters": ("chars", lambda: inspect.getsource(import_module("typing"))[:20_000]),
    "the help of pydoc, 200,000 characters": (
        "chars",
        lambda: "".join(import_module("pydoc_data.topics").topics.values())[:200_000],
    ),
    "a page of statistics.py": ("chars", lambda: inspect.getsource(import_module("statistics"))[4_000:7_000]),
}
MODELS = ("ContextTree", "GLNN")


class Pair(NamedTuple):
    """What is fitted, what is scored, and the exact bits of the latter where they are known."""

    train: Any
    test: Any
    true_bits: float | None


def runs() -> Iterator[dict[str, Any]]:
    """Every run; `data` names a source or a text."""
    for model in MODELS:
        for seed in SEEDS:
            for source in SOURCES:
                yield {"data": source, "model": model, "seed": seed}
        for text in TEXTS:
            yield {"data": text, "model": model, "seed": 0}


def pair(data: str, seed: int) -> Pair:
    """The two texts of a run."""
    if data in SOURCES:
        source = get(data)
        train, test = source.sample(seed=2 * seed), source.sample(seed=2 * seed + 1)
        return Pair(train.text, test.text, test.bits)
    kind, read = TEXTS[data]
    text = read()
    symbols: Any = text.split() if kind == "words" else text
    cut = len(symbols) * 4 // 5
    return Pair(symbols[:cut], symbols[cut:], None)


def measure(run: dict[str, Any]) -> dict[str, Any]:
    """Fit with the defaults. On real texts a symbol may be new in the last fifth, which must not end in an error."""
    given = pair(run["data"], run["seed"])
    options: dict[str, Any] = {"verbose": 0}
    if given.true_bits is None:
        options["unknown"] = "escape"
    if run["model"] == "GLNN":
        options["random_state"] = run["seed"]
    model = getattr(glnn, run["model"])(**options)
    wall, cpu = time.perf_counter(), time.process_time()
    model.fit(given.train)
    record = {
        "symbols": len(given.train),
        "alphabet": len(model.alphabet_),
        "test_symbols": len(given.test),
        "true_bits": given.true_bits,
        "wall_seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
        "bits": model.bits(given.test),
        "regularised_bits": model.bits(given.test, regularised=True),
        "parameters": model.n_parameters_,
    }
    if run["model"] == "GLNN":
        record |= {"units": model.units_, "degree": model.degree_, "restarts": model.restarts_}
        record |= {"steps": model.steps_, "best_step": model.best_step_, "held_out": model.held_out_}
        record |= {"validation_bits": model.validation_bits_, "train_seconds": model.total_seconds_}
        record["smoothing"] = model.smoothing_
    return record


def recorded() -> list[dict[str, Any]]:
    if not RESULTS.exists():
        return []
    return [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()]


def main(names: list[str]) -> None:
    """All runs that are missing, or those of the data that are named."""
    for run in runs():
        done = recorded()
        if any(all(line[key] == value for key, value in run.items()) for line in done):
            continue
        if (names and run["data"] not in names) or ("GPL" in run["data"] and not LICENCE.exists()):
            continue
        line = {**run, **measure(run)}
        with RESULTS.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        print(line, flush=True)


def table() -> str:
    """What is there, a row for each pair of texts."""
    lines = recorded()
    rows = [
        "| fitted on | symbols | kinds | scored | true model | ContextTree() | GLNN() | bits per symbol | its size |"
    ]
    rows.append("|---|---:|---:|---:|---:|---:|---:|---:|---|")
    for run in runs():
        found = {line["model"]: line for line in lines if (line["data"], line["seed"]) == (run["data"], run["seed"])}
        if run["model"] != "GLNN" or len(found) < len(MODELS):
            continue
        tree, network = found["ContextTree"], found["GLNN"]
        name = TITLES.get(run["data"], run["data"]) + (f", seed {run['seed']}" if run["data"] in SOURCES else "")
        name += " †" if network.get("before_smoothing") else ""
        true = "" if tree["true_bits"] is None else f"{tree['true_bits']:,.0f}"
        starts = len(network["restarts"])
        size = f"{network['units']} units, d = {network['degree']}, {starts} start{'s' * (starts > 1)}"
        bits = [f"{line['bits']:,.0f}" for line in (tree, network)]
        best = min((0, 1), key=lambda k: (tree, network)[k]["bits"])
        bits[best] = f"**{bits[best]}**"
        each = f"{network['bits'] / network['test_symbols']:.4f}"
        cells = [
            name,
            f"{tree['symbols']:,}",
            str(tree["alphabet"]),
            f"{tree['test_symbols']:,}",
            true,
            *bits,
            each,
            size,
        ]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def write_table() -> None:
    """Put the table into the page."""
    text = PAGE.read_text(encoding="utf-8")
    begin, rest = text.split("<!-- table -->")
    _, end = rest.split("<!-- end of table -->")
    PAGE.write_text(f"{begin}<!-- table -->\n\n{table()}\n\n<!-- end of table -->{end}", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] == ["table"]:
        write_table()
    else:
        main(sys.argv[1:])
