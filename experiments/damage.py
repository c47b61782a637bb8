"""Which ranking of cases finds damage best: one event of a case swapped, dropped, inserted or replaced.

    python experiments/damage.py --out experiments/results/damage.jsonl [LOG ...]

A model learns the first four fifths of a log. Every case of the last fifth is scored as it is and damaged; the area
under the curve (AUC) is the chance that a damaged case ranks above an undamaged one, ties counting half. "at 1 %" is
the share of damaged cases above the bound that one in a hundred undamaged ones passes. Each result is written at once,
and what is there is not done again.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import glnn
from glnn.sequences import Reader, Sequences

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))
from data_sets import ALL

Case = list[str]
LOGS = ("receipt", "teleclaims", "bpic2013_closed", "bpi_12_w", "env_permit")
KINDS = ("swap", "drop", "insert", "replace")
MODELS: dict[str, Callable[[], Any]] = {
    "mixture": lambda: glnn.Mixture(networks=0, unknown="escape", verbose=0),
    "tree": lambda: glnn.ContextTree(unknown="escape", verbose=0),
    "glnn 20s": lambda: glnn.GLNN(budget="20s", unknown="escape", random_state=0, verbose=0),
}


def damaged(case: Case, kind: str, alphabet: list[str], chance: random.Random) -> Case | None:
    """The case with one thing wrong; None where that cannot be done."""
    events = list(case)
    if kind == "swap":
        places = [place for place, (one, next_) in enumerate(pairwise(events)) if one != next_]
        if not places:
            return None
        place = chance.choice(places)
        events[place], events[place + 1] = events[place + 1], events[place]
    elif kind == "drop":
        if len(events) < 2:
            return None
        del events[chance.randrange(len(events))]
    elif kind == "insert":
        events.insert(chance.randrange(len(events) + 1), chance.choice(alphabet))
    else:
        place = chance.randrange(len(events))
        events[place] = chance.choice([symbol for symbol in alphabet if symbol != events[place]])
    return None if events == list(case) else events


def looked_at(model: Any, cases: list[Case]) -> list[dict[str, np.ndarray]]:
    """For each case, position by position: bits b, their expectation H and deviation, and bits of the tail."""
    encoded = Reader(model.alphabet_).read(Sequences(cases)).encoded
    rows: dict[str, list[np.ndarray]] = {name: [] for name in ("bits", "entropy", "deviation", "tail", "instead")}
    begin = 0
    for pi in model.predictor_.distributions(encoded.kept(np.ones(encoded.codes.size, bool))):
        codes = encoded.codes[begin : begin + len(pi)]
        begin += len(pi)
        given = pi[np.arange(len(pi)), codes]
        costs = -np.log2(np.maximum(pi, 1e-300))
        entropy = (pi * costs).sum(1)
        rows["bits"].append(-np.log2(given))
        rows["entropy"].append(entropy)
        rows["deviation"].append(np.sqrt((pi * (costs - entropy[:, None]) ** 2).sum(1)))
        rows["tail"].append(-np.log2(np.where(pi <= given[:, None] * (1 + 1e-9), pi, 0.0).sum(1)))
        rows["instead"].append(np.log2(pi.max(1) / given))
    flat = {name: np.concatenate(parts) for name, parts in rows.items()}
    return [{name: values[one:end] for name, values in flat.items()} for one, end in pairwise(encoded.starts.tolist())]


def largest(values: np.ndarray, number: int) -> float:
    return float(np.sort(values)[::-1][:number].sum())


RANKINGS: dict[str, Callable[[dict[str, np.ndarray]], float]] = {
    "mean": lambda at: float(at["bits"].mean()),
    "total": lambda at: float(at["bits"].sum()),
    "peak": lambda at: float(at["bits"].max()),
    "two strangest": lambda at: largest(at["bits"], 2),
    "three strangest": lambda at: largest(at["bits"], 3),
    "neighbours": lambda at: float((at["bits"] + np.append(at["bits"][1:], 0.0)).max()),
    "peak - entropy": lambda at: float((at["bits"] - at["entropy"]).max()),
    "total - entropy": lambda at: float((at["bits"] - at["entropy"]).sum()),
    "total excess": lambda at: float(np.maximum(at["bits"] - at["entropy"], 0.0).sum()),
    "standardised": lambda at: float((at["bits"] - at["entropy"]).sum() / np.sqrt((at["deviation"] ** 2).sum() + 1.0)),
    "peak of tail": lambda at: float(at["tail"].max()),
    "three of tail": lambda at: largest(at["tail"], 3),
    "total of tail": lambda at: float(at["tail"].sum()),
    "tail by length": lambda at: float(at["tail"].max() - np.log2(len(at["tail"]))),
    "peak, instead": lambda at: float(at["instead"].max()),
    "three, instead": lambda at: largest(at["instead"], 3),
    "total, instead": lambda at: float(at["instead"].sum()),
}


def area(damage: np.ndarray, normal: np.ndarray) -> float:
    ordered = np.sort(normal)
    below = np.searchsorted(ordered, damage, "left") + np.searchsorted(ordered, damage, "right")
    return float(below.mean() / 2 / len(normal))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", nargs="*", default=list(LOGS))
    parser.add_argument("--models", nargs="*", default=["mixture"], choices=list(MODELS))
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    done = set()
    if given.out.exists():
        done = {tuple(json.loads(line)[key] for key in ("log", "model")) for line in given.out.open()}
    for log in given.logs:
        for name in given.models:
            if (log, name) in done:
                continue
            data = ALL[log]()
            model = MODELS[name]().fit(Sequences(data.fit))
            chance, alphabet = random.Random(0), sorted(set().union(*map(set, data.fit)))
            normal = looked_at(model, list(data.score))
            lines = []
            for kind in KINDS:
                pairs = [(place, damaged(list(case), kind, alphabet, chance)) for place, case in enumerate(data.score)]
                found = looked_at(model, [case for _, case in pairs if case is not None])
                for ranking, score in RANKINGS.items():
                    whole = np.array([score(at) for at in normal])
                    broken = np.array([score(at) for at in found])
                    bound = np.sort(whole)[::-1][int(0.01 * len(whole))]
                    lines.append(
                        {
                            "log": log, "model": name, "damage": kind, "ranking": ranking, "cases": len(found),
                            "auc": area(broken, whole), "at_1_percent": float(np.mean(broken > bound)),
                        }
                    )  # fmt: skip
            with given.out.open("a") as file:
                file.write("".join(json.dumps(line) + "\n" for line in lines))
            print(log, name, "done", flush=True)


if __name__ == "__main__":
    main()
