"""Odds that follow the symbols inside each sequence, and shares from several held-out parts: bits of what is scored.

    python experiments/mixture/within.py FOLDER [--out FILE]

Reads what `crossfit.py` keeps, writes one JSON line a file. Inside a sequence the weights follow Bayes' rule and go
back to the shares at the rate α: W_k ← (1 − α) W_k p_k / p + α w_k, begun anew from w with every sequence. α = 1 is
the mixture as it is. The shares w suit the held-out cases at each α (expectation–maximisation).
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
RATES = (1.0, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.003, 0.001)


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
    """Columns of the chances of each symbol by every part, uniform and ends last; firsts of sequences."""

    def __init__(self, path: Path) -> None:
        found = dict(np.load(path))
        self.name, self.network = path.stem, bool(found["stays"])
        names = NAMES if self.network else NAMES[:3]
        self.parts = names
        late = int(found["late"]) if self.network else found["held"].size
        self.size, self.end = found["scored_contexts"].shape[1], int(found["end"])
        self.held = self._columns([found[f"held_{n}"][-late:] for n in names], found["held"][-late:])
        self.scored = self._columns([found[f"scored_{n}"] for n in names], found["scored"])
        self.first = _first(found["held_sequence"][-late:]), _first(found["scored_sequence"])
        self.sequence = found["held_sequence"][-late:] - found["held_sequence"][-late], found["scored_sequence"]
        self.codes = found["held"][-late:], found["scored"]
        self.folds = []
        number = 0
        while f"fold{number}" in found:
            codes = found[f"fold{number}_codes"]
            columns = self._with_insurance(list(found[f"fold{number}"].T[: len(names)]), codes)
            self.folds.append((columns, _first(found[f"fold{number}_sequence"]), found[f"fold{number}_sequence"]))
            number += 1
        self.network_alone = float(
            -np.log2(found["scored_network"][np.arange(found["scored"].size), found["scored"]]).sum()
        )
        self.members = found["members"].tolist()

    def _columns(self, rows: list[np.ndarray], codes: np.ndarray) -> np.ndarray:
        return self._with_insurance([one[np.arange(codes.size), codes] for one in rows], codes)

    def _with_insurance(self, columns: list[np.ndarray], codes: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(
            np.column_stack(
                [*columns, np.full(codes.size, 1.0 / self.size), chances_of_ends(codes, self.end, self.size)]
            )
        )

    @property
    def before(self) -> np.ndarray:
        return np.array([BEFORE] * len(self.parts) + [UNIFORM, ENDS])


def _first(sequence: np.ndarray) -> np.ndarray:
    return np.append(True, np.diff(sequence) != 0)


def error(saved: np.ndarray, sequence: np.ndarray) -> tuple[float, float]:
    each = np.bincount(sequence - sequence[0], saved)
    return float(each.sum()), float(each.std() * np.sqrt(each.size))


def shares(kept: Kept, p: np.ndarray, first: np.ndarray, sequence: np.ndarray, alpha: float) -> np.ndarray:
    """As the mixture takes them, at a rate."""
    before, n = kept.before, p.shape[1]

    def best(there: np.ndarray) -> np.ndarray:
        found = np.zeros(n)
        found[there] = fitted(np.ascontiguousarray(p[:, there]), first, before[there], alpha)
        few = there & (found >= LEAST)
        few[[0, n - 2, n - 1]] = True
        found[:] = 0.0
        found[few] = fitted(np.ascontiguousarray(p[:, few]), first, before[few], alpha)
        return found

    every = best(np.ones(n, bool))
    if not kept.network:
        return every
    own = np.ones(n, bool)
    own[1:3] = False
    fewer = best(own)
    saved, by = error(bits(p, first, fewer, alpha) - bits(p, first, every, alpha), sequence)
    return every if saved > by else fewer


def ways(kept: Kept) -> dict[str, Any]:
    p, q = kept.held, kept.scored
    alone = {name: float(-np.log2(q[:, k]).sum()) for k, name in enumerate(kept.parts)}
    held_alone = {name: float(-np.log2(p[:, k]).sum()) for k, name in enumerate(kept.parts)}
    found, held, told = {}, {}, {}
    by_rate = {}
    for alpha in RATES:
        w = shares(kept, p, kept.first[0], kept.sequence[0], alpha)
        by_rate[alpha] = w
        held[alpha] = bits(p, kept.first[0], w, alpha)
        found[f"alpha {alpha:g}"] = float(bits(q, kept.first[1], w, alpha).sum())
    best = min(RATES, key=lambda a: held[a].sum())
    found["alpha that suits held-out"] = found[f"alpha {best:g}"]
    saved, by = error(held[1.0] - held[best], kept.sequence[0])
    sure = best if saved > by else 1.0
    found["alpha if it saves a standard error"] = found[f"alpha {sure:g}"]
    sure = best if saved > 2 * by else 1.0
    found["alpha if it saves two"] = found[f"alpha {sure:g}"]
    told["alpha"], told["saved, errors"] = best, round(saved / max(by, 1e-9), 2)
    # The shares of the mixture as it is, whatever the rate.
    for alpha in (0.3, 0.1, 0.03):
        found[f"the same shares, alpha {alpha:g}"] = float(bits(q, kept.first[1], by_rate[1.0], alpha).sum())
    # The whole beside its best part.
    w = by_rate[1.0]
    whole, after = p @ w, q @ w
    k = int(np.argmin([held_alone[name] for name in kept.parts]))
    two_p, two_q = (np.column_stack([one, part[:, k]]) for one, part in ((whole, p), (after, q)))
    for alpha in (0.3, 0.1, 0.03, 0.01):
        v = fitted(two_p, kept.first[0], np.array([1.0, 0.25]), alpha)
        found[f"whole and best part, alpha {alpha:g}"] = float(bits(two_q, kept.first[1], v, alpha).sum())
        found[f"whole and best part evenly, alpha {alpha:g}"] = float(
            bits(two_q, kept.first[1], np.array([0.5, 0.5]), alpha).sum()
        )
    if kept.folds:
        every = np.concatenate([p, *(fold[0] for fold in kept.folds)])
        first = np.concatenate([kept.first[0], *(fold[1] for fold in kept.folds)])
        sequence, last = [kept.sequence[0]], kept.sequence[0][-1] + 1
        for fold in kept.folds:
            sequence.append(fold[2] - fold[2][0] + last)
            last = sequence[-1][-1] + 1
        order = np.concatenate(sequence)
        for alpha in (1.0, 0.3, 0.1):
            w = shares(kept, every, first, order, alpha)
            found[f"shares from {'all' if alpha == 1 else 'all,'} parts held out, alpha {alpha:g}"] = float(
                bits(q, kept.first[1], w, alpha).sum()
            )
            if alpha == 1.0:
                told["shares of all parts"] = w.round(5).tolist()
        told["folds"] = [
            {name: round(float(-np.log2(fold[0][:, k]).sum()), 1) for k, name in enumerate(kept.parts)}
            for fold in kept.folds
        ]
    w = fitted(q, kept.first[1], kept.before, 1.0)
    found["shares in hindsight"] = float(bits(q, kept.first[1], w, 1.0).sum())
    told["shares in hindsight"] = w.round(5).tolist()
    core = by_rate[1.0].copy()
    core[-2:] = 0.0
    found["as it is, without insurance"] = float(-np.log2(q @ (core / core.sum())).sum())
    told["shares"] = by_rate[1.0].round(5).tolist()
    told["held-out symbols"], told["members"] = len(p), kept.members
    return {
        "network": kept.network,
        "alone": {name: round(one, 1) for name, one in alone.items()},
        "network alone": round(kept.network_alone, 1),
        "held out, alone": {name: round(one, 1) for name, one in held_alone.items()},
        "held out, as it is": round(float(held[1.0].sum()), 1),
        "bits": {name: round(one, 1) for name, one in found.items()},
        **told,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    changes: dict[str, list[tuple[float, str]]] = {}
    with options.out.open("w") as file:
        for path in sorted(options.folder.glob("*.npz")):
            kept = Kept(path)
            name, split, budget = path.stem.rsplit("_", 2)
            found = {"set": name, "split": float(split), "budget": float(budget), **ways(kept)}
            file.write(json.dumps(found) + "\n")
            now, best = found["bits"]["alpha 1"], min(found["alone"].values())
            changes.setdefault("as it is, against the best part", []).append((100 * (now / best - 1), path.stem))
            for way, cost in found["bits"].items():
                changes.setdefault(way, []).append((100 * (cost / now - 1), path.stem))
    print("change in percent: mean, worst, best")
    for way, each in changes.items():
        worst, best = max(each), min(each)
        mean = np.mean([change for change, _ in each])
        print(f"{way:45} {mean:+.3f} ({len(each)}) worst {worst[0]:+.2f} {worst[1]}, best {best[0]:+.2f} {best[1]}")


if __name__ == "__main__":
    main()
