"""Context tree weighting and hidden Markov models on the paper's sources, three pairs of samples each.

    python experiments/baseline_table.py             all runs that are not there yet: some 20 CPU minutes
    python experiments/baseline_table.py table       what is there, written into experiments/baselines.md

Train has seed 2k, valid 2k + 1. Each finished run is one line of JSON in results/baselines.jsonl, written at once;
what is there is skipped. Regret is the bits of valid less those of the true model. A context tree reads valid as the
continuation of train, learning on; an HMM is scored with the paper's regularisation, best over its training steps.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from glnn.baselines.hmm import EMStep, fit_hmm, initial_hmm
from glnn.contexts.tree import ContextTreeSettings, fit_context_tree
from glnn.predictors import bits
from glnn.sequences import Alphabet, Encoded, encode
from glnn.sources import Insertions, Sample, Source, get

RESULTS = Path(__file__).parent / "results" / "baselines.jsonl"
PAGE = Path(__file__).parent / "baselines.md"
PAIRS = 3
SOURCES: dict[str, Source] = {
    "insertions": get("insertions"),
    "insertions, not after 9": Insertions(after_last_digit=False),
    "music": get("music"),
    "anbn": get("anbn"),
}
TITLES = {"anbn": "aⁿbⁿ"}
PAPER = {
    "ctw": {"insertions": 18272.1, "insertions, not after 9": 18272.1, "music": 3611.0, "anbn": 143.5},
    "hmm": {"insertions": 10212.0, "insertions, not after 9": 10212.0, "music": 4818.1, "anbn": 125.7},
}
# In the proportion of the paper's 30, 10 and 10 minutes; the other reading of insertions is for context trees only.
HMM_SECONDS = {"insertions": 30, "music": 10, "anbn": 10}
LONG = 150
HMM_STATES = (4, 8, 16, 32, 64, 128, 256)
DEPTHS = (2, 3, 6, 9, 12, 16)
# Bounds as in programs made for small memories: |log2 β| ≤ 8 and counts in 7 bits.
BOUNDED = {"weight_limit": 8.0, "count_limit": 127}
BYTES = Alphabet([chr(code) for code in range(256)])
# Enough for the exact mixture in every run; FEW shows what less does, on insertions.
MANY_NODES = 10_000_000
FEW_NODES = (10_000, 100_000, 1_000_000)


def runs() -> Iterator[dict[str, Any]]:
    """Every run of the table, the quick ones first."""
    for source in SOURCES:
        for pair in range(PAIRS):
            for symbols in ("huffman", "balanced", "bytes"):
                for estimator in ("kt", "zero_redundancy"):
                    common = {"model": "ctw", "source": source, "pair": pair}
                    tree = {"symbols": symbols, "estimator": estimator}
                    for depth in DEPTHS if source != "insertions, not after 9" else (3, 12, 16):
                        yield {**common, **tree, "depth": depth}
            yield {**common, "symbols": "bytes", "estimator": "zero_redundancy", "depth": 6, **BOUNDED}
            if source == "insertions":
                for nodes in FEW_NODES:
                    yield {**common, "symbols": "huffman", "estimator": "kt", "depth": 12, "max_nodes": nodes}
    for source, seconds in HMM_SECONDS.items():
        for pair in range(PAIRS):
            # With fewer states than half the letters there is nothing to see.
            for states in HMM_STATES if source == "anbn" else HMM_STATES[2:]:
                yield {"model": "hmm", "source": source, "pair": pair, "states": states, "seconds": seconds}
    # 256 states are far from done after 30 seconds.
    yield {"model": "hmm", "source": "insertions", "pair": 0, "states": 256, "seconds": LONG}


@cache
def samples(source: str, pair: int) -> tuple[Sample, Sample]:
    return SOURCES[source].sample(seed=2 * pair), SOURCES[source].sample(seed=2 * pair + 1)


def context_tree(run: dict[str, Any], train: Sample, valid: Sample) -> dict[str, Any]:
    """The cost of valid after train, the trees learning on."""
    alphabet = BYTES if run["symbols"] == "bytes" else SOURCES[run["source"]].alphabet
    settings = ContextTreeSettings.paper(
        depth=run["depth"],
        decomposition="balanced" if run["symbols"] == "bytes" else run["symbols"],
        estimator=run["estimator"],
        max_nodes=run.get("max_nodes", MANY_NODES),
        weight_limit=run.get("weight_limit", math.inf),
        count_limit=run.get("count_limit", 2**30),
    )
    before = time.process_time()
    model = fit_context_tree(encode(train.text, alphabet), settings)
    cost = bits(model.continuing(), encode(valid.text, alphabet))
    frozen = bits(model.with_learning("frozen"), encode(valid.text, alphabet))
    return {
        "regret": cost - valid.bits,
        "frozen_regret": frozen - valid.bits,
        "nodes": int(model.forest.used[0]),
        "cpu_seconds": time.process_time() - before,
    }


def hidden_markov(run: dict[str, Any], train: Sample, valid: Sample) -> dict[str, Any]:
    """EM until the CPU seconds are over, the best model on valid kept; looking at valid is not charged."""
    source = SOURCES[run["source"]]
    data, held_out = source.encode(train.text), source.encode(valid.text)
    model = initial_hmm(data, run["states"], random_state=run["pair"])
    warm_up(data, run["states"])
    watch = Watch(run["seconds"], lambda step: bits(step.model, held_out, regularised=True) - valid.bits)
    fit_hmm(data, model, steps=10**6, tolerance=1e-9, callback=watch)
    return {
        "regret": watch.best,
        "best_step": watch.best_step,
        "steps": watch.step,
        "last_regret": watch.last,
        "train_bits": -watch.log_likelihood / math.log(2),
        "true_train_bits": train.bits,
        "cpu_seconds": watch.spent,
    }


class Watch:
    """Stops EM when its CPU seconds are over, or when valid has not become better for as long again as it took."""

    def __init__(self, seconds: float, score: Callable[[EMStep], float]) -> None:
        self.seconds, self.score = seconds, score
        self.spent, self.mark = 0.0, time.process_time()
        self.best, self.last, self.best_step, self.step, self.log_likelihood = math.inf, math.inf, 0, 0, 0.0

    def __call__(self, step: EMStep) -> bool:
        self.spent += time.process_time() - self.mark
        over = self.spent >= self.seconds
        self.step, self.log_likelihood = step.step, step.log_likelihood
        if over or step.step % 5 == 0:
            self.last = self.score(step)
            if self.last < self.best:
                self.best, self.best_step = self.last, step.step
        self.mark = time.process_time()
        return over or step.step > 100 + 2 * self.best_step


def warm_up(data: Encoded, states: int) -> None:
    """Compile outside the budget: two steps on the beginning of the data."""
    start = encode(data.alphabet.decode(data.codes[:100]), data.alphabet)
    fit_hmm(start, initial_hmm(start, states), steps=2)


def finished() -> list[dict[str, Any]]:
    return [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []


def work() -> None:
    there = [entry["run"] for entry in finished()]
    for run in runs():
        if run in there:
            continue
        train, valid = samples(run["source"], run["pair"])
        result = (context_tree if run["model"] == "ctw" else hidden_markov)(run, train, valid)
        RESULTS.parent.mkdir(exist_ok=True)
        with RESULTS.open("a") as file:
            file.write(json.dumps({"run": run, "true_bits": valid.bits, **result}) + "\n")
        print(run, f"regret {result['regret']:.1f} after {result['cpu_seconds']:.1f} s", flush=True)


def mean_regrets(entries: list[dict[str, Any]], varying: str, field: str = "regret") -> dict[Any, float]:
    """The mean over the pairs for each value of one setting."""
    by_value: dict[Any, list[float]] = {}
    for entry in entries:
        by_value.setdefault(entry["run"][varying], []).append(entry[field])
    return {value: float(np.mean(regrets)) for value, regrets in sorted(by_value.items())}


def chosen(entries: list[dict[str, Any]], **settings: Any) -> list[dict[str, Any]]:
    """The entries with these settings; those with bounds of any kind only when asked for."""
    settings = {"weight_limit": None, "max_nodes": None, **settings}
    return [e for e in entries if all(e["run"].get(name) == value for name, value in settings.items())]


def figure(value: float) -> str:
    return f"{value:,.1f}" if value < 1000 else f"{value:,.0f}"


def against(value: float, paper: float) -> str:
    return f"{figure(value)} ({value / paper - 1:+.1%})"


def summary(entries: list[dict[str, Any]]) -> Iterator[str]:
    yield "| source | true bits | context tree | paper | HMM, best size | paper |"
    yield "|---|---|---|---|---|---|"
    for source in SOURCES:
        trees = chosen(entries, model="ctw", source=source, symbols="huffman", estimator="kt", depth=16)
        each = " ".join(figure(entry["regret"]) for entry in trees)
        mean = float(np.mean([entry["regret"] for entry in trees]))
        models = mean_regrets(chosen(entries, model="hmm", source=source), "states")
        markov = "", ""
        if models:
            states, regret = min(models.items(), key=lambda item: item[1])
            pairs = chosen(entries, model="hmm", source=source, states=states)
            listed = " ".join(figure(entry["regret"]) for entry in pairs)
            paper = PAPER["hmm"][source]
            markov = f"{states} states: {listed}, mean {against(regret, paper)}", figure(paper)
        true = figure(float(np.mean([entry["true_bits"] for entry in trees])))
        paper = PAPER["ctw"][source]
        columns = (
            TITLES.get(source, source),
            true,
            f"{each}, mean {against(mean, paper)}",
            figure(paper),
            *markov,
        )
        yield f"| {' | '.join(columns)} |"


def tree_table(entries: list[dict[str, Any]]) -> Iterator[str]:
    yield f"| source | symbols | estimator | {' | '.join(f'depth {depth}' for depth in DEPTHS)} | frozen, 16 |"
    yield "|---" * (len(DEPTHS) + 4) + "|"
    for source in SOURCES:
        for symbols in ("huffman", "balanced", "bytes"):
            for estimator in ("kt", "zero_redundancy"):
                some = chosen(entries, model="ctw", source=source, symbols=symbols, estimator=estimator)
                means = mean_regrets(some, "depth")
                frozen = mean_regrets(some, "depth", "frozen_regret")
                cells = [figure(means[depth]) if depth in means else "" for depth in DEPTHS]
                title = f"{TITLES.get(source, source)} | {symbols} | {estimator.replace('_', ' ')}"
                yield f"| {title} | {' | '.join(cells)} | {figure(frozen[16])} |"
        bounded = mean_regrets(chosen(entries, model="ctw", source=source, weight_limit=8.0), "depth")
        cells = [figure(bounded[depth]) if depth in bounded else "" for depth in DEPTHS]
        yield f"| {TITLES.get(source, source)} | bytes | zero redundancy, bounded | {' | '.join(cells)} | |"


def memory_table(entries: list[dict[str, Any]]) -> Iterator[str]:
    some = chosen(entries, model="ctw", source="insertions", symbols="huffman", estimator="kt", depth=12)
    used = max(entry["nodes"] for entry in some)
    yield f"| nodes | {' | '.join(f'{nodes:,}' for nodes in FEW_NODES)} | all, {used:,} after train |"
    yield "|---" * (len(FEW_NODES) + 2) + "|"
    cells = []
    for nodes in (*FEW_NODES, None):
        few = chosen(some if nodes is None else entries, source="insertions", max_nodes=nodes)
        cells.append(figure(float(np.mean([entry["regret"] for entry in few]))))
    yield f"| regret | {' | '.join(cells)} |"


def markov_table(entries: list[dict[str, Any]]) -> Iterator[str]:
    yield f"| source | CPU seconds | {' | '.join(f'{states} states' for states in HMM_STATES)} | paper |"
    yield "|---" * (len(HMM_STATES) + 3) + "|"
    for source, seconds in HMM_SECONDS.items():
        cells = []
        for states in HMM_STATES:
            pairs = chosen(entries, model="hmm", source=source, states=states, seconds=seconds)
            if not pairs:
                cells.append("")
                continue
            steps = ", ".join(str(entry["steps"]) for entry in pairs)
            mean = float(np.mean([entry["regret"] for entry in pairs]))
            cells.append(f"{figure(mean)} ({steps} steps)")
        yield f"| {TITLES.get(source, source)} | {seconds} | {' | '.join(cells)} | {figure(PAPER['hmm'][source])} |"


def render() -> None:
    """Put the tables between their marks on the page."""
    entries, page = finished(), PAGE.read_text()
    for name, table in (
        ("summary", summary),
        ("trees", tree_table),
        ("memory", memory_table),
        ("hmm", markov_table),
    ):
        opening, closing = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, rest = page.split(opening)
        page = f"{before}{opening}\n" + "\n".join(table(entries)) + f"\n\n{closing}{rest.split(closing)[1]}"
    PAGE.write_text(page)


if __name__ == "__main__":
    render() if sys.argv[1:] == ["table"] else work()
