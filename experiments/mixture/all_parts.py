"""Whether a network stays, and with what shares, from the end alone and from all parts that members held out.

    python experiments/mixture/all_parts.py FOLDER [--out FILE]

Reads what `crossfit.py` keeps, writes one JSON line a file: how many standard errors the network saves on the end and
on all parts; bits of what is scored without it, and with it by shares from the end, from all parts (*all*), with the
end as often as all others together (*half*), and with contexts, tree and n-grams relative to each other from all parts
and the rest from the end (*relative*). Beside the network shares follow the symbols inside a sequence, as they do in
the mixture.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from experiments.mixture.within import (  # noqa: E402
    BEFORE,
    ENDS,
    LEAST,
    NAMES,
    UNIFORM,
    Kept,
    Known,
    bits,
    error,
    fitted,
    parts_follow,
    pooled,
    shares,
)

RESULTS = ROOT / "experiments" / "results" / "mixture" / "all_parts.jsonl"
INSIDE = 0.3


def gain(known: Known) -> float:
    """What a network saves, in standard errors."""
    without, beside = (bits(*known[:2], shares(known, network), 1.0) for network in (False, True))
    saved, by = error(without - beside, known[2])
    return saved / max(by, 1e-9)


def insured(of_all: np.ndarray, of_end: np.ndarray) -> np.ndarray:
    """The first shares, with what the second set aside for the unforeseen."""
    return np.append(of_all[:4] * of_end[:4].sum() / of_all[:4].sum(), of_end[4:])


def relative(of_all: np.ndarray, end: Known) -> np.ndarray:
    """Contexts, tree and n-grams have their shares relative to each other, and what they have together from the end."""
    own = of_all[:3] / of_all[:3].sum()
    given = np.column_stack([end[0][:, :3] @ own, end[0][:, 3:]])
    before = np.array([BEFORE, BEFORE, UNIFORM, ENDS])
    found = fitted(given, end[1], before, 1.0)
    if found[1] < LEAST:
        found[[0, 2, 3]] = fitted(np.ascontiguousarray(given[:, [0, 2, 3]]), end[1], before[[0, 2, 3]], 1.0)
        found[1] = 0.0
    return np.concatenate([found[0] * own, found[1:]])


def line(kept: Kept) -> dict[str, Any]:
    """All that is said of one split."""
    every, end = pooled([kept.late, *kept.folds]), kept.late
    of_end, of_all = shares(end, True), shares(every, True)
    of_half = shares(pooled([*[end] * len(kept.folds), *kept.folds]), True)
    ways = {"end": of_end, "all": insured(of_all, of_end), "half": insured(of_half, of_end)}
    ways["relative"] = relative(of_all, end)
    found = {"without": parts_follow(kept.scored, shares(kept.fifth, False), 1.0).sum()}
    found |= {name: parts_follow(kept.scored, own, INSIDE).sum() for name, own in ways.items()}
    alone = -np.log2(kept.scored[0][:, : len(NAMES)]).sum(0)
    return {
        "no order": kept.way[0],
        "parts": 1 + len(kept.folds),
        "errors on the end": round(gain(end), 2),
        "errors on all": round(gain(every), 2),
        "bits": {name: round(float(one), 1) for name, one in found.items()},
        "alone": dict(zip(NAMES, alone.round(1).tolist(), strict=True)),
        "shares": {name: own.round(4).tolist() for name, own in ways.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    with options.out.open("w") as file:
        for path in sorted(options.folder.glob("*.npz")):
            name, split, budget = path.stem.rsplit("_", 2)
            kept = Kept(path)
            if not kept.folds:
                continue
            told = line(kept)
            file.write(json.dumps({"set": name, "split": float(split), "budget": float(budget), **told}) + "\n")
            file.flush()
            of_end = told["bits"]["end"]
            changes = (f"{way} {100 * (one / of_end - 1):+.2f}" for way, one in told["bits"].items())
            errors = f"{told['errors on the end']:.1f} {told['errors on all']:.1f}"
            print(f"{name:20} {split} {told['no order']!s:6} {told['parts']} {errors:12} {'  '.join(changes)}")


if __name__ == "__main__":
    main()
