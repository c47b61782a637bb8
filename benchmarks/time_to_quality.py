"""CPU seconds until a quality is reached: PyTorch's LSTM and GRU along their curves, `glnn.GLNN()` with larger budgets.

    python benchmarks/time_to_quality.py [--only music progc ...] [--models GLNN LSTM GRU] [--table]

On the sources, the peers have the best setting of their grid (`peers.py`, by validation), whose search is free; on
files they are those of `torch_lstm.py`. Their curves tell the best so far of one run of 60 s. A GLNN's rates fall
within its budget, so it has no such curve: every budget is a run of its own, with nothing set. One thread, one seed.
One line of JSON a run, at once; runs that are there are skipped.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import glnn
from benchmarks import peers
from benchmarks.data_sets import ALL
from benchmarks.real_data import bits_after
from benchmarks.records import RESULTS, Record, about, append, markdown, read
from benchmarks.torch_lstm import bits_of_peer

PATH = RESULTS / "time_to_quality.jsonl"
SECONDS = 60.0
BUDGETS = (2.0, 4.0, 8.0, 15.0, 30.0, 60.0)
SOURCES, FILES = ("insertions", "music", "anbn"), ("paper1", "jigs", "bpi_12_w", "progc")
PEERS = ("LSTM", "GRU")
EARLY = 15.0
"""Levels are what a peer has reached after this many seconds, and what it reaches in the end."""


@cache
def texts(name: str) -> peers.Texts:
    return peers.texts(name)


def tuned(name: str, kind: str) -> peers.Peer:
    """The setting with the best validation score of the peer's grid."""
    line = peers.best_of_grid(read(RESULTS / "peers.jsonl"), name, kind)
    assert line is not None, f"run peers.py for {kind} on {name} first"
    return peers.Peer(**line["setting"])


def run_peer(name: str, kind: str) -> Record:
    """A run of 60 s and its best so far: regret on the second sequence, or bits a symbol of what is scored."""
    if name in SOURCES:
        peer = tuned(name, kind)
        found = peers.train_peer(peer, texts(name), SECONDS)
        return {"setting": peer._asdict(), "curve": found["curve"], "value": found["test_regret"]}
    data = ALL[name]()
    found = bits_of_peer(data, SECONDS, kind)
    return {"curve": found["curve"], "value": round(found["bits"] / data.scored_symbols, 5)}


def run_ours(name: str, budget: float) -> Record:
    """A GLNN with this budget: regret on the third sequence, or bits a symbol of what is scored."""
    given: dict[str, Any] = {"budget": budget, "random_state": 0, "verbose": 0, "n_jobs": 1}
    if name in SOURCES:
        sequences = texts(name)
        model = glnn.GLNN(**given).fit(sequences.encoded[0], validation=sequences.encoded[1])
        value = model.bits(sequences.encoded[2], regularised=True) - sequences.bits[2]
    else:
        data = ALL[name]()
        model = glnn.GLNN(alphabet=data.alphabet, **given)
        model.fit(glnn.Sequences(data.fit) if data.several else data.fit)
        bits = model.bits(glnn.Sequences(data.score)) if data.several else bits_after(model, data)
        value = float(bits) / data.scored_symbols
    chosen = {"units": model.units_, "degree": model.degree_, "members": len(model.members_)}
    return {"value": round(float(value), 5), "charged": round(model.total_seconds_, 2), "chosen": chosen}


def run(names: Iterable[str], models: Sequence[str], budgets: Sequence[float]) -> None:
    """All runs that are not in the file yet."""
    for name in names:
        for model in models:
            for budget in budgets if model == "GLNN" else [SECONDS]:
                key = {"data": name, "model": model, "budget": budget}
                if any(key == {field: line[field] for field in key} for line in read(PATH)):
                    continue
                begin = time.process_time()
                found = run_ours(name, budget) if model == "GLNN" else run_peer(name, model)
                told = {"cpu_seconds": round(time.process_time() - begin, 1)}
                append(PATH, {**key, **found, **told, **about()})
                print(key, found["value"], flush=True)


def first_at(points: Iterable[Sequence[float]], level: float) -> float | None:
    """When a value at or under the level was first reached."""
    return min((seconds for seconds, value in points if value <= level), default=None)


def table(lines: Sequence[Record]) -> str:
    """For each problem and peer, the seconds of both to the peer's own early and last quality, and their ratio."""
    rows = []
    for name in (*SOURCES, *FILES):
        ours = [(line["charged"], line["value"]) for line in lines if (line["data"], line["model"]) == (name, "GLNN")]
        if not ours:
            continue
        for line in (line for line in lines if line["data"] == name and line["model"] in PEERS):
            curve = line["curve"]
            reached = [value for seconds, value in curve if seconds <= EARLY]
            for level in dict.fromkeys([*reached[-1:], curve[-1][1]]):
                theirs, own = first_at(curve, level), first_at(ours, level)
                assert theirs is not None
                shown = f"{level:,.0f}" if name in SOURCES else f"{level:.3f}"
                best = min(ours, key=lambda point: point[1])
                ending = f"{best[1]:,.0f}" if name in SOURCES else f"{best[1]:.3f}"
                ratio = "**not reached**" if own is None else f"{own / theirs:.2f}"
                seconds = "" if own is None else f"{own:.1f}"
                rows.append(
                    [name, line["model"], shown, f"{theirs:.1f}", seconds, ratio, f"{ending} at {best[0]:.0f} s"]
                )
    columns = ("data", "peer", "regret or bits", "peer, s", "GLNN, s", "ratio", "GLNN's best")
    return markdown(columns, rows, left=2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=[*SOURCES, *FILES], default=[*SOURCES, *FILES])
    parser.add_argument("--models", nargs="+", choices=["GLNN", *PEERS], default=["GLNN", *PEERS])
    parser.add_argument("--budgets", nargs="+", type=float, default=list(BUDGETS), help="of the GLNN")
    parser.add_argument("--table", action="store_true", help="print what is there, run nothing")
    options = parser.parse_args()
    if not options.table:
        run(options.only, options.models, options.budgets)
    print(table(read(PATH)))


if __name__ == "__main__":
    main()
