"""Ways to join the parts of a frozen mixture, from the rows that `later.py` keeps: bits, one JSON line a file.

python experiments/mixture/later_joins.py FOLDER [--out FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from glnn.predictors.ends import chances_of_ends  # noqa: E402

RESULTS = ROOT / "experiments" / "results" / "mixture" / "later.jsonl"
NAMES = ("contexts", "tree", "ngrams", "network")
BEFORE, UNIFORM, ENDS, LEAST = 0.25, 0.5, 1.0, 0.02


class Kept:
    """One file: rows of the parts that are there, over the end of what was fitted and over what is scored."""

    def __init__(self, path: Path) -> None:
        found = dict(np.load(path))
        self.name = path.stem
        self.network = "held_network" in found and bool(found["stays"])
        late = int(found["late"]) if self.network else found["held"].size
        names = NAMES if self.network else NAMES[:3]
        self.codes = found["held"][-late:], found["scored"]
        self.rows = (
            [found[f"held_{name}"][-late:] for name in names],
            [found[f"scored_{name}"] for name in names],
        )
        self.sequence = found["held_sequence"][-late:], found["scored_sequence"]
        self.size, self.end = self.rows[0][0].shape[1], int(found["end"])
        if "held_network" in found:
            self.scored_network = found["scored_network"]
        self.stale, self.stretch, self.whole = found["stale"], found["stretch"], found["held"]
        self.fresh = found["held_contexts"]
        self.fifth = [found[f"held_{name}"] for name in NAMES[:3]]

    def insurance(self, part: int) -> list[np.ndarray]:
        """The rows of the uniform distribution and of ends."""
        n = self.codes[part].size
        row = chances_of_ends(np.arange(self.size), self.end, self.size)
        return [np.full((n, self.size), 1.0 / self.size), np.broadcast_to(row, (n, self.size))]


def at(rows: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The chances of the symbols that came."""
    return rows[np.arange(codes.size), codes]


def softer(rows: np.ndarray, power: float) -> np.ndarray:
    """p^β, normalised."""
    found = np.maximum(rows, 1e-15) ** power
    return found / found.sum(1, keepdims=True)


def bits(chances: np.ndarray) -> float:
    return float(-np.log2(chances).sum())


def maximised(given: np.ndarray, before: np.ndarray, steps: int = 300, weight: np.ndarray | None = None) -> np.ndarray:
    """Expectation–maximisation from even shares."""
    shares = np.full(before.size, 1.0 / before.size)
    for _ in range(steps):
        parts = given * shares
        parts /= parts.sum(1, keepdims=True)
        better = (parts.sum(0) if weight is None else weight @ parts) + before
        better /= better.sum()
        moved = np.abs(better - shares).max()
        shares = better
        if moved < 1e-6:
            break
    return shares


def error(saved: np.ndarray, sequence: np.ndarray) -> tuple[float, float]:
    """What is saved, and its standard error over sequences."""
    each = np.bincount(sequence - sequence[0], saved)
    return float(each.sum()), float(each.std() * np.sqrt(each.size))


def shares_of(
    kept: Kept, columns: np.ndarray, before: np.ndarray, fit: Callable[..., np.ndarray] = maximised
) -> np.ndarray:
    """As the mixture takes them: without who has hardly any, and beside a network without tree and n-grams unless
    they save a standard error. The columns end with uniform and ends."""
    n = columns.shape[1]

    def best(there: np.ndarray) -> np.ndarray:
        found = np.zeros(n)
        found[there] = fit(columns[:, there], before[there])
        few = there & (found >= LEAST)
        few[[0, n - 2, n - 1]] = True
        found[:] = 0.0
        found[few] = fit(columns[:, few], before[few])
        return found

    every = best(np.ones(n, bool))
    if not kept.network:
        return every
    own = np.ones(n, bool)
    own[1:3] = False
    fewer = best(own)
    saved, by = error(np.log2(columns @ every) - np.log2(columns @ fewer), kept.sequence[0])
    return every if saved > by else fewer


def priors(kept: Kept, ends: float = ENDS, uniform: float = UNIFORM, more: int = 0) -> np.ndarray:
    return np.array([BEFORE] * (len(kept.rows[0]) + more) + [uniform, ends])


def joined(
    kept: Kept,
    held: list[np.ndarray] | None = None,
    scored: list[np.ndarray] | None = None,
    before: np.ndarray | None = None,
    fit: Callable[..., np.ndarray] = maximised,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of the sum over the held-out and the scored cases, and its shares."""
    held = [*(held or kept.rows[0]), *kept.insurance(0)]
    scored = [*(scored or kept.rows[1]), *kept.insurance(1)]
    columns = np.column_stack([at(rows, kept.codes[0]) for rows in held])
    shares = shares_of(kept, columns, priors(kept) if before is None else before, fit)
    sums = [sum(w * r for w, r in zip(shares, rows, strict=True) if w > 0) for rows in (held, scored)]
    return sums[0], sums[1], shares  # type: ignore[return-value]


def powered(rows: np.ndarray, codes: np.ndarray, power: float) -> np.ndarray:
    """p^β, normalised, of the symbols that came."""
    return at(softer(rows, power), codes)


def of_core(kept: Kept, part: int, shares: np.ndarray, power: float) -> np.ndarray:
    """The sum of the parts to a power; uniform and ends are added afterwards."""
    own = shares[:-2].sum()
    core = sum(w * r for w, r in zip(shares, kept.rows[part], strict=False) if w > 0) / own
    insurance = [at(rows, kept.codes[part]) for rows in kept.insurance(part)]
    found: np.ndarray = own * powered(core, kept.codes[part], power) + np.dot(shares[-2:], insurance)
    return found


def best_power(rows: np.ndarray, codes: np.ndarray) -> float:
    return round(float(min(POWERS, key=lambda power: bits(powered(rows, codes, power)))), 2)


def resampled(kept: Kept) -> Callable[..., np.ndarray]:
    """The mean of the shares over 16 samples of the held-out cases, drawn with replacement."""
    sequence = kept.sequence[0] - kept.sequence[0][0]
    rng = np.random.default_rng(0)
    weights = [rng.multinomial(sequence[-1] + 1, np.full(sequence[-1] + 1, 1 / (sequence[-1] + 1))) for _ in range(16)]

    def fit(given: np.ndarray, before: np.ndarray) -> np.ndarray:
        found = [maximised(given, before, 100, times[sequence].astype(float)) for times in weights]
        return np.mean(found, axis=0)

    return fit


def geometric(kept: Kept, total: float) -> list[np.ndarray]:
    """p ∝ Π p_k^{w_k} of contexts and network, or contexts and tree; the weights sum to `total`."""
    other = 3 if kept.network else 1

    def rows(part: int, own: float) -> np.ndarray:
        logs = [np.log(np.maximum(kept.rows[part][k], 1e-12)) for k in (0, other)]
        found = np.exp(total * (own * logs[0] + (1 - own) * logs[1]))
        return found / found.sum(1, keepdims=True)

    own = min(np.arange(0, 1.01, 0.1), key=lambda share: bits(at(rows(0, share), kept.codes[0])))
    return [rows(0, own), rows(1, own)]


POWERS = np.arange(0.8, 1.31, 0.02)


def ways(kept: Kept) -> dict[str, Any]:
    """The bits of the scored cases by every way, the powers that would suit best, and what a case cut short costs."""
    codes = kept.codes[1]
    alone = {name: bits(at(rows, codes)) for name, rows in zip(NAMES, kept.rows[1], strict=False)}
    _, scored, shares = joined(kept)
    found = {"as it is": bits(at(scored, codes))}
    for power in (0.95, 0.98, 1.02, 1.05):
        found[f"sum to the power {power}"] = bits(of_core(kept, 1, shares, power))
    fitted = float(min(POWERS, key=lambda power: bits(of_core(kept, 0, shares, power))))
    found["sum to the power that suits held-out cases"] = bits(of_core(kept, 1, shares, fitted))
    found["the same, half of the way"] = bits(of_core(kept, 1, shares, 0.5 + fitted / 2))
    found["the same times 0.95"] = bits(of_core(kept, 1, shares, 0.95 * fitted))
    last = kept.stretch >= 4
    of_stale, of_fresh = (best_power(rows[last], kept.whole[last]) for rows in (kept.stale, kept.fresh))
    found["sum to the power of the drift"] = bits(of_core(kept, 1, shares, min(1.0, of_stale / of_fresh)))
    both = min(1.0, of_stale / of_fresh) * fitted
    found["drift times held-out"] = bits(of_core(kept, 1, shares, both))
    for power in (0.95, 0.98):
        softened = [[softer(rows[0], power), *rows[1:]] for rows in kept.rows]
        found[f"contexts to the power {power}"] = bits(at(joined(kept, *softened)[1], codes))
        found[f"contexts to the power {power}, scored only"] = bits(at(joined(kept, None, softened[1])[1], codes))
    columns = np.column_stack([at(rows, kept.codes[0]) for rows in [*kept.rows[0], *kept.insurance(0)]])
    later = np.column_stack([at(rows, codes) for rows in [*kept.rows[1], *kept.insurance(1)]])
    every = maximised(columns, priors(kept))
    found["all parts always"] = bits(later @ every)
    found["all parts, to the power 1.02"] = bits(of_core(kept, 1, every, 1.02))
    found["all parts, to the power 1.05"] = bits(of_core(kept, 1, every, 1.05))
    mean = resampled(kept)
    found["mean of shares of resampled cases"] = bits(at(joined(kept, fit=mean)[1], codes))
    found["the same, all parts always"] = bits(later @ mean(columns, priors(kept)))
    least = np.maximum(every, np.append(np.full(every.size - 2, 0.05), [0.0, 0.0]))
    found["all parts, a twentieth each at least"] = bits(later @ (least / least.sum()))
    for total in (0.95, 1.0, 1.05):
        more = geometric(kept, total)
        held_with, scored_with = ([*rows, one] for rows, one in zip(kept.rows, more, strict=True))
        rows = joined(kept, held_with, scored_with, priors(kept, more=1))[1]
        found[f"with a geometric mean, weights {total}"] = bits(at(rows, codes))
        late, after = (
            np.column_stack([c, at(r, x)]) for c, r, x in zip((columns, later), more, kept.codes, strict=True)
        )
        everything = maximised(late, np.append(priors(kept), BEFORE))
        found[f"the same, weights {total}, all parts always"] = bits(after @ everything)
    inside = codes != kept.end
    cut_short = {"as it is": float(-np.log2(scored[inside, kept.end]).mean())}
    for ends, uniform in ((0.25, 0.5), (0.5, 0.5), (0.25, 0.25), (2.0, 0.5)):
        rows = joined(kept, before=priors(kept, ends, uniform))[1]
        way = f"ends {ends}, uniform {uniform}"
        found[way], cut_short[way] = bits(at(rows, codes)), float(-np.log2(rows[inside, kept.end]).mean())
    powers = {
        "held-out sum": fitted,
        "scored sum": float(min(POWERS, key=lambda power: bits(of_core(kept, 1, shares, power)))),
        "contexts, read on": of_fresh,
        "contexts, not read on": of_stale,
        "scored contexts": best_power(kept.rows[1][0], codes),
    }
    return {
        "alone": {name: round(one, 1) for name, one in alone.items()},
        "bits": {name: round(one, 1) for name, one in found.items()},
        "powers": {name: round(one, 2) for name, one in powers.items()},
        "shares": shares.round(5).tolist(),
        "ends held out": int((kept.codes[0] == kept.end).sum()),
        "an end anywhere else": {name: round(one, 2) for name, one in cut_short.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    changes: dict[str, list[tuple[float, str]]] = {}
    networks: set[str] = set()
    with options.out.open("w") as file:
        for path in sorted(options.folder.glob("*.npz")):
            kept = Kept(path)
            name, split, budget = path.stem.rsplit("_", 2)
            found = {"set": name, "split": float(split), "budget": float(budget), "network": kept.network, **ways(kept)}
            file.write(json.dumps(found) + "\n")
            networks |= {path.stem} if kept.network else set()
            now, best = found["bits"]["as it is"], min(found["alone"].values())
            changes.setdefault("as it is, against the best part", []).append((100 * (now / best - 1), path.stem))
            for way, cost in found["bits"].items():
                changes.setdefault(way, []).append((100 * (cost / now - 1), path.stem))
    print("change in percent: mean, mean where a network stays, worst, best")
    for way, each in changes.items():
        beside = np.mean([change for change, name in each if name in networks])
        worst, best = max(each), min(each)
        mean = np.mean([change for change, _ in each])
        print(f"{way:45} {mean:+.3f} {beside:+.3f} worst {worst[0]:+.2f} {worst[1]}, best {best[0]:+.2f} {best[1]}")


if __name__ == "__main__":
    main()
