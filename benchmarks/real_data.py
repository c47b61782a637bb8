"""Every model as it comes beside what people would use instead, on real data, in equal CPU time on one thread.

    python benchmarks/real_data.py [--sets NAME ...] [--models NAME ...] [--budget 60] [--out FILE]
    python benchmarks/real_data.py --later ...   the sets that were fetched last, into a file of their own
    python benchmarks/real_data.py --page        puts the tables into docs/results.md and benchmarks/real_data.md

Each run is a line of JSON at once, and what is there is not run again. Alphabets are given to all, so that nobody
pays for a symbol first met in what is scored. PPMd reads what is fitted and goes on; its best order of 4 to 16 counts.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.data_sets import ALL, CLEAN, KINDS, LATER, PUBLIC, DataSet
from benchmarks.records import about, append, markdown, read

RESULTS = Path(__file__).parent / "results" / "real_data.jsonl"
PAGE = Path(__file__).resolve().parents[1] / "docs" / "results.md"
RECORD = Path(__file__).with_name("real_data.md")
"""For what a reader of the page does not need."""
RESULTS_OF_HMM = RESULTS.with_name("hmm.jsonl")
RESULTS_LATER = RESULTS.with_name("later_sets.jsonl")
ORDERS = range(4, 17)
BUDGET = 60.0
"""Of the tables; other budgets are for those of the networks."""


def of_ours(name: str, **parameters: Any) -> Callable[[DataSet, float, int], dict[str, Any]]:
    """A model of the package with nothing set but the budget, the alphabet and what is named."""

    def run(data: DataSet, seconds: float, seed: int) -> dict[str, Any]:
        import inspect

        import glnn

        kind = getattr(glnn, name)
        known = inspect.signature(kind).parameters
        given: dict[str, Any] = {"alphabet": data.alphabet, "verbose": 0, **parameters}
        given |= {key: value for key, value in (("budget", seconds), ("random_state", seed)) if key in known}
        model = kind(**given)
        started = time.process_time()
        model.fit(glnn.Sequences(data.fit) if data.several else data.fit)
        spent = time.process_time() - started
        bits = model.bits(glnn.Sequences(data.score)) if data.several else bits_after(model, data)
        told = {field: getattr(model, field) for field in ("trials_", "shares_") if hasattr(model, field)}
        return {"bits": float(bits), "cpu_seconds": spent, **told, **members_alone(model, data)}

    return run


def members_alone(model: Any, data: DataSet) -> dict[str, Any]:
    """What each part of a mixture needs for the same by itself."""
    import numpy as np

    import glnn

    if not isinstance(model, glnn.Mixture):
        return {}
    encoded = model._given(glnn.Sequences(data.score) if data.several else data.score, None, None, None, None).train
    predictor: Any = getattr(model.predictor_, "inner", model.predictor_)
    contexts = getattr(predictor, "mixture", predictor)
    parts = {type(part).__name__: part for part in getattr(predictor, "beside", ())}
    parts |= {"with networks" if contexts.members else "contexts": contexts}
    networks = (*contexts.members, *getattr(predictor, "networks", ()))
    parts |= {f"network {place}": network for place, network in enumerate(dict.fromkeys(networks))}
    found = {}
    for name, part in parts.items():
        own = replace(encoded, alphabet=part.alphabet)
        found[name] = float(-part.log_likelihoods(own).sum() / np.log(2.0))
    return {"members": found}


def bits_after(model: Any, data: DataSet) -> float:
    """The bits of what is scored, with the last 2,000 symbols of what was fitted read before it at no cost.

    A tree that goes on learning stands where it stopped reading, and needs none of them.
    """
    import numpy as np

    before = data.fit[-2000:]
    if getattr(model, "learning_", None) == "online":
        return float(model.bits(data.score))
    mask = np.arange(len(before) + len(data.score)) >= len(before)
    return float(model.bits(before + data.score, mask=mask))


def ppmd(data: DataSet, seconds: float, seed: int) -> dict[str, Any]:
    """The bits that PPMd adds for what is scored, at its best order; a symbol is a byte, or two."""
    import pyppmd

    codes = {symbol: code for code, symbol in enumerate(data.alphabet)}
    end = [len(codes)] if data.several else []
    width = 1 if len(codes) + len(end) <= 256 else 2

    def packed(part: Any) -> bytes:
        sequences = part if data.several else [part]
        every = (code for sequence in sequences for code in [*(codes[symbol] for symbol in sequence), *end])
        return b"".join(code.to_bytes(width, "big") for code in every)

    def size(content: bytes, order: int) -> int:
        encoder = pyppmd.Ppmd7Encoder(order, 1 << 26)
        return len(encoder.encode(content) + encoder.flush())

    started = time.process_time()
    first, both = packed(data.fit), packed(data.fit) + packed(data.score)
    added = {order: 8.0 * (size(both, order) - size(first, order)) for order in ORDERS}
    best = min(added, key=added.__getitem__)
    return {"bits": added[best], "order": best, "cpu_seconds": time.process_time() - started}


def torch_peer(kind: str) -> Callable[[DataSet, float, int], dict[str, Any]]:
    """A network of PyTorch."""

    def run(data: DataSet, seconds: float, seed: int) -> dict[str, Any]:
        from benchmarks.torch_lstm import bits_of_peer

        return bits_of_peer(data, seconds, kind, seed)

    return run


def hmmlearn_peer(states: int) -> Callable[[DataSet, float, int], dict[str, Any]]:
    """The hidden Markov model of hmmlearn."""

    def run(data: DataSet, seconds: float, seed: int) -> dict[str, Any]:
        from benchmarks.hmm_peer import bits_of_hmmlearn

        return bits_of_hmmlearn(data, seconds, seed, states)

    return run


MODELS: dict[str, Callable[[DataSet, float, int], dict[str, Any]]] = {
    "Mixture": of_ours("Mixture"),
    "Mixture online": of_ours("Mixture", learning="online"),
    "Mixture contexts": of_ours("Mixture", networks=0),
    "Mixture contexts online": of_ours("Mixture", networks=0, learning="online"),
    "GLNN": of_ours("GLNN"),
    "GNN": of_ours("GNN"),
    "RNN": of_ours("RNN"),
    "LSTM": of_ours("LSTM"),
    "GLNN paper": of_ours("GLNN", recipe="paper"),
    "HMM": of_ours("HMM"),
    "ContextTree": of_ours("ContextTree"),
    "ContextTree online": of_ours("ContextTree", learning="online"),
    "NGram": of_ours("NGram"),
    "NGram online": of_ours("NGram", learning="online"),
    "PPMd": ppmd,
    "PyTorch LSTM": torch_peer("LSTM"),
    "PyTorch GRU": torch_peer("GRU"),
    "hmmlearn": hmmlearn_peer(32),
    "hmmlearn, 60 states": hmmlearn_peer(60),
}


LEARNING = (
    "Mixture online",
    "Mixture contexts online",
    "ContextTree online",
    "NGram online",
    "PPMd",
    "GLNN",
    "LSTM",
    "HMM",
    "PyTorch LSTM",
)
"""What goes on learning from what is scored, as PPMd does; networks do not."""
FROZEN = (
    "Mixture",
    "Mixture contexts",
    "ContextTree",
    "NGram",
    "HMM",
    "GLNN",
    "LSTM",
    "GLNN paper",
    "PyTorch LSTM",
    "hmmlearn",
)
ON_THE_PAGE = {
    "one sequence": ("Mixture", "Mixture contexts online", "ContextTree online", "PPMd", "PyTorch LSTM"),
    "learning": ("Mixture contexts online", "PPMd"),
    "frozen": ("Mixture", "Mixture contexts", "HMM", "PyTorch LSTM"),
}
"""The columns that docs/results.md shows; benchmarks/real_data.md has all."""
LATER_COLUMNS = {
    "one": ("Mixture", "Mixture contexts online", "ContextTree online", "NGram online", "PPMd", "PyTorch LSTM"),
    "learning": ("Mixture contexts online", "PPMd"),
    "frozen": ("Mixture", "Mixture contexts", "ContextTree", "NGram", "HMM", "PyTorch LSTM"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=list(ALL))
    parser.add_argument("--later", action="store_true", help="the sets that were fetched when everything was chosen")
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--budget", type=float, default=BUDGET, help="CPU seconds for each network")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--again", action="store_true", help="run what is there once more; the last run counts")
    parser.add_argument("--page", action="store_true", help="put what is there into the page, run nothing")
    options = parser.parse_args()
    out = options.out or (RESULTS_LATER if options.later else RESULTS)
    if options.page:
        write_page(out)
        return
    sets = options.sets or list(LATER if options.later else PUBLIC)
    run(sets, options.models, options.budget, options.seed, out, options.again)
    print(table(out, budget=options.budget))


def run(sets: list[str], models: list[str], budget: float, seed: int, path: Path, again: bool = False) -> None:
    """All runs that are not in the file yet, or all of them once more."""
    for set_name in sets:
        data = None
        for model in models:
            key = {"set": set_name, "model": model, "budget": budget, "seed": seed}
            if not again and any(key == {field: line[field] for field in key} for line in read(path)):
                continue
            data = data or ALL[set_name]()
            result = MODELS[model](data, budget, seed)
            each = result["bits"] / data.scored_symbols
            append(path, {**key, **result, "symbols": data.scored_symbols, "each": round(each, 5), **about()})
            print(f"{set_name:16} {model:18} {each:.4f} bits per symbol, {result['cpu_seconds']:.1f} CPU s", flush=True)


def table(
    path: Path,
    models: Sequence[str] | None = None,
    kinds: Sequence[str] | None = None,
    budget: float | None = BUDGET,
    others: Sequence[dict[str, Any]] = (),
    groups: Sequence[Sequence[str]] = (),
) -> str:
    """Bits a symbol within a budget, a row a set, a column a model, the best in bold; the mean over seeds.

    ° marks a clean set. `others` are runs of any budget. With `groups` of models, the best of each is bold.
    """
    lines = [line for line in latest(read(path)) if budget in (None, line["budget"])] + list(others)
    chosen = [m for m in (models or MODELS) if any(line["model"] == m for line in lines)]
    rows = []
    for set_name in [name for name in ALL if any(line["set"] == name for line in lines)]:
        if kinds is not None and KINDS[set_name] not in kinds:
            continue
        found: dict[str, float] = {}
        for model in chosen:
            each = [line["each"] for line in lines if line["set"] == set_name and line["model"] == model]
            if each:
                found[model] = sum(each) / len(each)
        if not found:
            continue
        best = {min((found[m] for m in group if m in found), default=None) for group in groups or [chosen]}
        cells = [f"{found[m]:.3f}" if m in found else "" for m in chosen]
        cells = [f"**{cell}**" if found.get(m, -1.0) in best else cell for m, cell in zip(chosen, cells, strict=True)]
        rows.append([f"{set_name} °" if set_name in CLEAN else set_name, KINDS[set_name], *cells])
    return markdown(["", "", *chosen], rows, left=2)


def latest(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of runs with the same set, model, budget and seed, the last one."""
    return list({tuple(line[field] for field in ("set", "model", "budget", "seed")): line for line in lines}.values())


def write_page(path: Path) -> None:
    """The tables of the pages, between their markers."""
    from benchmarks import large_text, mixture_sources, network_tables
    from benchmarks.page import filled

    one, several = ("text", "tunes", "DNA"), ("log", "sequences")
    with_states = latest(read(RESULTS_OF_HMM))
    text = filled(PAGE.read_text(), "one sequence", table(path, ON_THE_PAGE["one sequence"], one))
    groups = [ON_THE_PAGE["learning"], ON_THE_PAGE["frozen"]]
    shown = table(path, [model for group in groups for model in group], several, others=with_states, groups=groups)
    text = filled(text, "several sequences", shown)
    text = filled(text, "later, one sequence", table(RESULTS_LATER, LATER_COLUMNS["one"], one))
    groups = [LATER_COLUMNS["learning"], LATER_COLUMNS["frozen"]]
    # They have a budget of their own there too.
    of_later = [line for line in latest(read(RESULTS_LATER)) if line["model"] == "HMM"]
    columns = [model for group in groups for model in group]
    shown = table(RESULTS_LATER, columns, several, others=of_later, groups=groups)
    text = filled(text, "later, several", shown)
    PAGE.write_text(text)
    lines = latest(read(path))
    # After one sequence a mixture goes on learning by itself.
    text = filled(RECORD.read_text(), "one sequence", table(path, ("Mixture", *LEARNING[1:]), one))
    text = filled(text, "several learning", table(path, LEARNING, several))
    text = filled(text, "several frozen", table(path, FROZEN, several, others=with_states))
    text = filled(text, "networks", network_tables.networks(lines))
    text = filled(text, "sources", mixture_sources.table())
    text = filled(text, "large text", large_text.table())
    text = filled(text, "large code", large_text.table(kind="code"))
    text = filled(text, "large books", large_text.table(kind="books"))
    text = filled(text, "times", network_tables.times(lines))
    hidden = table(RESULTS_OF_HMM, ("HMM", "hmmlearn", "hmmlearn, 60 states"), budget=None)
    RECORD.write_text(filled(text, "hmmlearn", hidden))


if __name__ == "__main__":
    main()
