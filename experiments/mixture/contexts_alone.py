"""The mixture of contexts alone on every data set: online, and frozen after several sequences.

One JSON line a result: data set, method, bits per symbol, the dearest symbol, CPU seconds, symbols read in all.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
from data_sets import ALL, Split

from glnn.contexts.mixing import firsts, fit_mixing
from glnn.contexts.mixing_script import script_of

RESULTS = Path("experiments/results/mixture/contexts.jsonl")


def joined(parts: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Codes end to end, and where each sequence starts."""
    return np.concatenate(parts), np.concatenate([[0], np.cumsum([len(part) for part in parts])])


def measure(split: Split, online: bool) -> dict[str, float]:
    """Bits a symbol of the scored part, after the fitted one."""
    several = len(split.train) > 1
    codes, starts = joined(split.train)
    scored, scored_starts = joined(split.test)
    begin = time.process_time()
    model = fit_mixing(codes, starts, split.size, script_of(split.symbols), online)
    first = firsts(scored_starts)
    first[0] = several
    bits = -np.log2(model.reader(continuing=not several).read(scored, first))
    return {
        "bits": float(bits.mean()),
        "dearest": float(bits.max()),
        "seconds": time.process_time() - begin,
        "symbols": codes.size + scored.size,
    }


def main(names: list[str]) -> None:
    """Measure the named sets, or all."""
    measure(ALL["anbn"](), True)
    for name in names or ALL:
        split = ALL[name]()
        for online in (True, False) if len(split.train) > 1 else (True,):
            method = f"contexts-{'online' if online else 'frozen'}"
            line = {"data": name, "method": method, **measure(split, online)}
            print(line, flush=True)
            with RESULTS.open("a") as file:
                file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
