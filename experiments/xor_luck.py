"""Whether chance in the training sequence decides which runs of distant XOR leave chance.

    python experiments/xor_luck.py

In the population the XOR is correlated with neither marked bit; in a sample of 10,000 lines it is, by about a per cent.
A network at chance can learn only such correlations, and one that has learned to carry a marked bit is on its way to
the XOR. Prints, for each run of `results/reproduction/xor.jsonl` as the paper has it, the correlations of its training
sequence and the least validation error.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from glnn.sources import get

RESULTS = Path(__file__).parent / "results" / "reproduction" / "xor.jsonl"


def correlations(seed: int) -> tuple[float, float]:
    """Of the XOR with the first and the second marked bit, per cent."""
    rows = []
    for line in get("xor").sample(seed=seed).text.splitlines():
        bits, result = line.split("=")
        first = bits.index("X")
        rows.append([int(bits[first + 1]), int(bits[bits.index("X", first + 1) + 1]), int(result)])
    both = 100.0 * np.corrcoef(np.array(rows).T)[:2, 2]
    return float(both[0]), float(both[1])


def main() -> None:
    print("start, metric, seed: first bit, second bit, least error")
    for text in RESULTS.read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        setting = line["setting"]
        forms = ("apart", "coherence", "longest", "fold", "length", "batches", "restart", "size")
        if any(setting.get(name) for name in forms) or (line["passes"] < 2000 and line["success_passes"] is None):
            continue
        first, second = correlations(line["sequence_seeds"][0])
        start = "log 0" if setting.get("silent") else "half a count"
        error = 100.0 * line["best_valid_error"]
        print(f"{start}, {setting['metric']}, {setting['seed']}: {first:.2f}, {second:.2f}, {error:.1f} %")


if __name__ == "__main__":
    main()
