"""Sixteen starts of distant XOR side by side, by Adam's rule on a few lines at a time: do they leave chance?

    python experiments/xor_adam.py [--rate 0.01] [--batch 20] [--longest 200] [--epochs 40] [--apart]

A screening like `xor_side_by_side.py`, whose functions it uses. Time scales go from 2 to `--longest` symbols; the state
at the beginning of a batch comes from the two lines before it (`--apart`: from the start values). A line of JSON a run,
into results/reproduction/xor_adam.jsonl.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from xor_side_by_side import BLOCK, LEFT, NETWORKS, SYMBOLS, UNITS, Lines, Networks, call, compiled, lanes

from glnn.reproduction.running import versions
from glnn.sources import get

RESULTS = Path(__file__).parent / "results" / "reproduction" / "xor_adam.jsonl"
FIRST, SECOND = 0.9, 0.999
BEFORE = 2


class Passes:
    """Likelihoods and gradients of lines, with room for their arrays."""

    def __init__(self, networks: Networks, most: int) -> None:
        self.params: list[Any] = [networks.w, networks.tau.astype(float), networks.V0.astype(float)]
        self.functions, self.states, self.activities = compiled(), lanes(most, UNITS), lanes(most, UNITS)
        self.p = lanes(most, 2)

    def forward(self, lines: Lines) -> tuple[np.ndarray, np.ndarray]:
        """Log-likelihoods and errors."""
        self.w, self.tau, self.V0 = lanes(UNITS + 1, 2), lanes(SYMBOLS, UNITS + 1, UNITS), lanes(UNITS)
        self.w[:], self.tau[:], self.V0[:] = self.params
        value, errors = np.zeros(NETWORKS), np.zeros(NETWORKS)
        call(self.functions.forward, *lines.data, self.tau, self.V0, self.states, self.activities)
        call(self.functions.output, self.activities, self.w, lines.correct, lines.count, 2, self.p, value, errors)
        return value, errors

    def gradients(self, lines: Lines) -> list[np.ndarray]:
        """Of w, the transitions and the start values."""
        self.forward(lines)
        W, h, h0 = (np.zeros((UNITS + 1, 2, NETWORKS)) for _ in range(3))
        call(self.functions.writing, self.activities, self.p, lines.correct, lines.count, 2, W, h, h0)
        G, M = np.zeros((SYMBOLS, UNITS + 1, UNITS, NETWORKS)), np.zeros((SYMBOLS, UNITS, BLOCK, NETWORKS))
        start, unused = lanes(UNITS), [lanes(UNITS) for _ in range(3)]
        # No line is the 2^30-th but the first, which is enough to know that the metric is not wanted.
        call(
            self.functions.backward, *lines.data, self.tau, self.states, self.w, self.p, lines.correct, 2, 1 << 30,
            G, M, start, *unused,
        )  # fmt: skip
        return [W, G, start.astype(float)]


def some(whole: Lines, first: int, count: int, before: int) -> Lines:
    """A few lines, and those before them."""
    first, last = max(first - before, 0), first + count
    begin, end = whole.begin[first], whole.begin[last]
    made = Lines.__new__(Lines)
    made.codes, made.begin = whole.codes[begin:end].copy(), whole.begin[first : last + 1] - begin
    made.place, made.correct = whole.place[first:last] - begin, whole.correct[first:last].copy()
    made.count = last - first
    made.data = (made.codes, made.begin, made.place, made.count)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=0.01)
    parser.add_argument("--batch", type=int, default=20)
    parser.add_argument("--longest", type=float, default=200.0)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--apart", action="store_true")
    parser.add_argument("--seed", type=int, default=100)
    options = parser.parse_args()
    source = get("xor")
    data, valid = (source.encode(source.sample(seed=options.seed + k).text) for k in (0, 1))
    known = sorted({int(code) for code in data.codes[data.mask]})
    whole, held_out = Lines.of(data, known)[0], Lines.of(valid, known)[0]
    passes = Passes(Networks.begun(data, 0, known, options.longest), whole.count)
    mean, square = ([np.zeros_like(one) for one in passes.params] for _ in range(2))
    generator, begun, step = np.random.default_rng(options.seed), time.process_time(), 0
    batches = whole.count // options.batch - 1
    for _ in range(options.epochs):
        offset = int(generator.integers(options.batch))
        for place in generator.permutation(batches).tolist():
            step += 1
            lines = some(whole, offset + place * options.batch, options.batch, 0 if options.apart else BEFORE)
            done = step / (options.epochs * batches)
            rate = options.rate * min(1.0, step / 100, (1.0 - done) / 0.7)
            for k, gradient in enumerate(passes.gradients(lines)):
                mean[k] += (1 - FIRST) * (gradient / lines.count - mean[k])
                square[k] += (1 - SECOND) * ((gradient / lines.count) ** 2 - square[k])
                root = np.sqrt(square[k] / (1 - SECOND**step)) + 1e-8
                passes.params[k] += rate * mean[k] / (1 - FIRST**step) / root
    value, _ = passes.forward(whole)
    _, errors = passes.forward(held_out)
    left = int((-value / np.log(2.0) < LEFT * whole.count).sum())
    line = {
        "options": vars(options),
        **versions(),
        "cpu_seconds": round(time.process_time() - begun, 1),
        "left_chance": left,
        "valid_error": np.round(np.sort(errors), 4).tolist(),
    }
    print(line)
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
