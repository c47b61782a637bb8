"""What the mixture is measured against: PPMd (code length of the scored part after the fitted one), the context tree.

One JSON line a result: data set, method, bits per symbol, CPU seconds.
"""

from __future__ import annotations

import json
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
from data_sets import ALL, Split

RESULTS = Path("experiments/results/mixture/others.jsonl")


def ppmd(split: Split, order: int) -> float:
    import pyppmd

    if split.size > 256:
        return float("nan")

    def length(parts: list[np.ndarray]) -> int:
        coder = pyppmd.Ppmd7Encoder(order, 1 << 26)
        return len(coder.encode(bytes(np.concatenate(parts).astype(np.uint8))) + coder.flush())

    scored = sum(len(part) for part in split.test)
    return 8 * (length(split.train + split.test) - length(split.train)) / scored


def context_tree(split: Split, learning: str, depth: int) -> float:
    from glnn.contexts.tree import ContextTreeSettings, fit_context_tree
    from glnn.sequences import Alphabet, Encoded

    alphabet = Alphabet(range(split.size))

    def encoded(parts: list[np.ndarray]) -> Encoded:
        starts = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
        return Encoded(np.concatenate(parts), starts, np.ones(starts[-1], bool), alphabet)

    trees = fit_context_tree(encoded(split.train), ContextTreeSettings(depth=depth))
    trees = trees.with_learning(learning)
    if len(split.test) == 1:
        trees = trees.continuing()
    return float(-trees.log_likelihoods(encoded(split.test)).mean() / np.log(2))


def main(names: list[str]) -> None:
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    for name in names or ALL:
        split = ALL[name]()
        methods = {f"ppmd-o{order}": partial(ppmd, split, order) for order in (3, 4, 5, 6, 8, 10, 12, 16)}
        for learning in ("online", "frozen"):
            methods[f"tree-{learning}"] = partial(context_tree, split, learning, 16)
        for method, run in methods.items():
            begin = time.process_time()
            bits = run()
            line = {"data": name, "method": method, "bits": bits, "seconds": time.process_time() - begin}
            with RESULTS.open("a") as file:
                file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
