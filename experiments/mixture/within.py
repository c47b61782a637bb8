"""Odds that follow the symbols inside each sequence, and shares from several held-out parts: bits of what is scored.

    python experiments/mixture/within.py FOLDER [--out FILE]

Reads what `crossfit.py` keeps, writes one JSON line a file. Inside a sequence the weights follow Bayes' rule and go
back to the shares at the rate α: W_k ← (1 − α) W_k p_k / p + α w_k, begun anew from w with every sequence. α = 1 are
shares that stay. *Parts follow*: uniform and ends keep their shares; *all follow*: they do not, and w suits that α.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from glnn.predictors.ends import chances_of_ends  # noqa: E402

RESULTS = ROOT / "experiments" / "results" / "mixture" / "within.jsonl"
NAMES = ("contexts", "tree", "ngrams", "network")
BEFORE, UNIFORM, ENDS, LEAST = 0.25, 0.5, 1.0, 0.02
Known = tuple[np.ndarray, np.ndarray, np.ndarray]
RATES = (0.5, 0.3, 0.2, 0.1, 0.05, 0.02)


@numba.njit(cache=True)
def follow(p, first, w, alpha, said):  # type: ignore[no-untyped-def]
    """The probability of each symbol."""
    W = w.copy()
    for t in range(p.shape[0]):
        if first[t]:
            W[:] = w
        total = 0.0
        for k in range(w.size):
            total += W[k] * p[t, k]
        said[t] = total
        for k in range(w.size):
            W[k] = (1.0 - alpha) * W[k] * p[t, k] / total + alpha * w[k]


@numba.njit(cache=True)
def expected(p, first, w, alpha, fresh):  # type: ignore[no-untyped-def]
    """How often each part was taken anew from w, by forward and backward passes over each sequence."""
    T, K = p.shape
    a, c = np.empty((T, K)), np.empty(T)
    prior = np.empty((T, K))
    for t in range(T):
        total = 0.0
        for k in range(K):
            prior[t, k] = w[k] if first[t] else (1.0 - alpha) * a[t - 1, k] + alpha * w[k]
            a[t, k] = prior[t, k] * p[t, k]
            total += a[t, k]
        c[t] = total
        for k in range(K):
            a[t, k] /= total
    b = np.ones(K)
    for t in range(T - 1, -1, -1):
        if t == T - 1 or first[t + 1]:
            b[:] = 1.0
        back = 0.0
        for k in range(K):
            share = w[k] if first[t] else alpha * w[k]
            mine = share * p[t, k] * b[k] / c[t]
            fresh[k] += mine
            back += mine
        for k in range(K):
            # What it means to have been k before: stay k, or a fresh draw.
            b[k] = (1.0 - alpha) * p[t, k] * b[k] / c[t] + (0.0 if first[t] else back)


def fitted(p: np.ndarray, first: np.ndarray, before: np.ndarray, alpha: float, steps: int = 300) -> np.ndarray:
    """The shares under which the sequences cost least."""
    w = np.full(before.size, 1.0 / before.size)
    for _ in range(steps):
        fresh = np.zeros(w.size)
        expected(p, first, w, alpha, fresh)
        better = fresh + before
        better /= better.sum()
        moved = np.abs(better - w).max()
        w = better
        if moved < 1e-6:
            break
    return w


def bits(p: np.ndarray, first: np.ndarray, w: np.ndarray, alpha: float) -> np.ndarray:
    said = np.empty(len(p))
    follow(p, first, w, alpha, said)
    found: np.ndarray = -np.log2(said)
    return found


class Kept:
    """Chances of each symbol by contexts, tree, n-grams, network, uniform and ends; where sequences begin; which."""

    def __init__(self, path: Path) -> None:
        found = dict(np.load(path))
        self.stays, self.way = bool(found["stays"]), found["way"].tolist()
        self.size, self.end = found["scored_contexts"].shape[1], int(found["end"])
        late, members = int(found["late"]), [f"_{name}" for name in NAMES]
        held, sequence = found["held"], found["held_sequence"]
        place = np.arange(held.size)
        parts = [found[f"held{name}"][place, held] for name in members[:3]]
        self.fifth = self._known([*parts, np.zeros(held.size)], held, sequence)
        network = found["held_network"][np.arange(late), held[-late:]]
        self.late = self._known([*(part[-late:] for part in parts), network], held[-late:], sequence[-late:])
        scored = found["scored"]
        parts = [found[f"scored{name}"][np.arange(scored.size), scored] for name in members]
        self.scored = self._known(parts, scored, found["scored_sequence"])
        self.folds = []
        while (name := f"fold{len(self.folds)}") in found:
            own = found[f"{name}_codes"], found[f"{name}_sequence"]
            self.folds.append(self._known(list(found[name].T), *own))
        self.members = found["members"].tolist()

    def _known(self, parts: list[np.ndarray], codes: np.ndarray, sequence: np.ndarray) -> Known:
        uniform, ends = np.full(codes.size, 1.0 / self.size), chances_of_ends(codes, self.end, self.size)
        first = np.append(True, np.diff(sequence) != 0)
        return np.column_stack([*parts, uniform, ends]), first, sequence - sequence[0]


def pooled(parts: list[Known]) -> Known:
    """Several held-out parts one after the other."""
    sequences, last = [], 0
    for _, _, sequence in parts:
        sequences.append(sequence + last)
        last = int(sequences[-1][-1]) + 1
    return np.concatenate([p for p, _, _ in parts]), np.concatenate([f for _, f, _ in parts]), np.concatenate(sequences)


def error(saved: np.ndarray, sequence: np.ndarray) -> tuple[float, float]:
    """What is saved, and its standard error over sequences."""
    each = np.bincount(sequence, saved)
    return float(each.sum()), float(each.std() * np.sqrt(each.size))


def shares(known: Known, network: bool, alpha: float = 1.0) -> np.ndarray:
    """As the mixture takes them, with or without the network, for odds that all follow at a rate."""
    p, first, sequence = known
    before = np.array([BEFORE] * 4 + [UNIFORM, ENDS])

    def best(there: np.ndarray) -> np.ndarray:
        found = np.zeros(6)
        found[there] = fitted(np.ascontiguousarray(p[:, there]), first, before[there], alpha)
        few = there & (found >= LEAST)
        few[[0, 4, 5]] = True
        found[:] = 0.0
        found[few] = fitted(np.ascontiguousarray(p[:, few]), first, before[few], alpha)
        return found

    there = np.array([True, True, True, network, True, True])
    every = best(there)
    if not network:
        return every
    there[1:3] = False
    fewer = best(there)
    saved, by = error(bits(p, first, fewer, alpha) - bits(p, first, every, alpha), sequence)
    return every if saved > by else fewer


def parts_follow(known: Known, w: np.ndarray, alpha: float) -> np.ndarray:
    """Bits where uniform and ends keep their shares."""
    p, first, _ = known
    said, own = np.empty(len(p)), w[:4].sum()
    follow(np.ascontiguousarray(p[:, :4]), first, w[:4] / own, alpha, said)
    found: np.ndarray = -np.log2(own * said + p[:, 4:] @ w[4:])
    return found


def ways(kept: Kept) -> dict[str, Any]:
    """Bits of the scored cases by every way."""
    known, scored = kept.late if kept.stays else kept.fifth, kept.scored
    now = shares(known, kept.stays)
    alone = {name: float(-np.log2(scored[0][:, k]).sum()) for k, name in enumerate(NAMES)}
    found = {"shares stay": float(parts_follow(scored, now, 1.0).sum())}
    for alpha in RATES:
        found[f"parts follow, {alpha:g}"] = float(parts_follow(scored, now, alpha).sum())
    on_held = {alpha: float(parts_follow(known, now, alpha).sum()) for alpha in (1.0, *RATES)}
    suits = min(on_held, key=on_held.__getitem__)
    found["parts follow as suits held-out cases"] = float(parts_follow(scored, now, suits).sum())
    for alpha in (0.3, 0.1):
        w = shares(known, kept.stays, alpha)
        found[f"all follow, {alpha:g}"] = float(bits(*scored[:2], w, alpha).sum())
    # The whole beside its best part.
    best = int(np.argmin(-np.log2(np.maximum(known[0][:, : 4 if kept.stays else 3], 1e-300)).sum(0)))
    two = [np.column_stack([p @ now, p[:, best]]) for p in (known[0], scored[0])]
    for alpha in (0.3, 0.03):
        v = fitted(two[0], known[1], np.array([1.0, 0.25]), alpha)
        found[f"whole and best part, {alpha:g}"] = float(bits(two[1], scored[1], v, alpha).sum())
    told: dict[str, Any] = {
        "way": kept.way,
        "stays": kept.stays,
        "members": kept.members,
        "shares": now.round(5).tolist(),
    }
    if kept.stays and kept.folds:
        of_all = shares(pooled([kept.late, *kept.folds]), True)
        insured = np.append(of_all[:4] * now[:4].sum() / of_all[:4].sum(), now[4:])
        told["shares of all held-out parts"] = of_all.round(5).tolist()
    else:
        of_all = insured = now
    for name, w in (("all held-out parts", insured), ("all held-out parts, their insurance", of_all)):
        found[name] = float(parts_follow(scored, w, 1.0).sum())
        found[f"{name}, parts follow, 0.3"] = float(parts_follow(scored, w, 0.3).sum())
    core = np.append(now[:4] / now[:4].sum(), [0.0, 0.0])
    found["no insurance"] = float(parts_follow(scored, core, 1.0).sum())
    found["shares in hindsight"] = float(parts_follow(scored, shares(scored, kept.stays), 1.0).sum())
    without, beside = shares(kept.fifth, False), shares(kept.late, True)
    found["without the network"] = float(parts_follow(scored, without, 1.0).sum())
    found["with it, parts follow, 0.3"] = float(parts_follow(scored, beside, 0.3).sum())
    for name, part in (("the end", kept.late), ("all", pooled([kept.late, *kept.folds]))):
        saved, by = error(bits(*part[:2], shares(part, False), 1.0) - bits(*part[:2], shares(part, True), 1.0), part[2])
        told[f"gain of the network on {name}, errors"] = round(saved / max(by, 1e-9), 2)
    return {
        "alone": {name: round(one, 1) for name, one in alone.items()},
        "bits": {name: round(one, 1) for name, one in found.items()},
        **told,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    lines = []
    with options.out.open("w") as file:
        for path in sorted(options.folder.glob("*.npz")):
            name, split, budget = path.stem.rsplit("_", 2)
            lines.append({"set": name, "split": float(split), "budget": float(budget), **ways(Kept(path))})
            file.write(json.dumps(lines[-1]) + "\n")
            file.flush()
    print("change in percent where a network stays, and where none does: mean, better, worse, worst")
    for way in lines[0]["bits"]:
        told = []
        for stays in (True, False):
            each = [
                (100 * (line["bits"][way] / line["bits"]["shares stay"] - 1), f"{line['set']} {line['split']}")
                for line in lines
                if line["stays"] == stays
            ]
            if each:
                changes, (worst, where) = [change for change, _ in each], max(each)
                better, worse = sum(c < 0 for c in changes), sum(c > 0 for c in changes)
                told.append(f"{np.mean(changes):+.2f} {better} {worse} of {len(each)}, {worst:+.2f} {where}")
        print(f"{way:50} {' | '.join(told)}")


if __name__ == "__main__":
    main()
