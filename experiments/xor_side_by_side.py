"""Sixteen starts of distant XOR side by side, to see how many leave chance and when, for the price of three runs.

    python experiments/xor_side_by_side.py [--stretches 10] [--half-count] [--passes 500] [--seed 100] [--first 0]

A screening, not a result: all starts share one training sequence, activities are in single precision, and the metric
comes from one line in so many (`--every`). Steps and rates are the paper's, each network with its own; one that was
refused tries half the rate in the next round. `--stretches K` makes each step on one of K parts of the sequence. Needs
a C compiler (`cc`, with 512-bit vectors for speed). A line of JSON a run, into
results/reproduction/xor_side_by_side.jsonl.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from glnn.models import MODELS
from glnn.network import random_graph
from glnn.reproduction.running import versions
from glnn.reproduction.starts import silenced
from glnn.sources import get

RESULTS = Path(__file__).parent / "results" / "reproduction" / "xor_side_by_side.jsonl"
NETWORKS, UNITS, SYMBOLS, BLOCK = 16, 10, 6, 66
# A training sequence that costs less than this part of a bit a line has left chance.
LEFT = 0.98


def compiled() -> ctypes.CDLL:
    """The functions of the C file, for this processor."""
    source, target = Path(__file__).with_suffix(".c"), Path(tempfile.mkdtemp()) / "xor.so"
    flags = ["-O3", "-march=native", "-ffast-math", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, "-o", str(target), str(source), "-lm"], check=True)
    return ctypes.CDLL(str(target))


def lanes(*shape: int) -> np.ndarray:
    """An array of single precision, a vector of networks last, that begins where vectors may."""
    size = int(np.prod(shape)) * NETWORKS
    room = np.zeros(size + 16, np.float32)
    first = (-room.ctypes.data % 64) // 4
    return room[first : first + size].reshape(*shape, NETWORKS)


def call(function: Any, *arguments: Any) -> None:
    """Call a function of the C file with arrays and numbers."""
    function(*(ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else a for a in arguments))


class Lines:
    """A stretch of whole lines: symbols, where lines begin, which symbols are to be predicted."""

    def __init__(self, codes: np.ndarray, place: np.ndarray, begin: np.ndarray, known: list[int]) -> None:
        self.codes = np.ascontiguousarray(codes, np.uint8)
        self.begin, self.place = begin.astype(np.int32), place.astype(np.int32)
        self.correct = np.array([known.index(code) for code in codes[place]], np.int32)
        self.count = len(place)
        self.data = (self.codes, self.begin, self.place, self.count)

    @classmethod
    def of(cls, data: Any, known: list[int], parts: int = 1) -> list[Lines]:
        """The lines of a sequence in so many stretches."""
        place = np.flatnonzero(data.mask)
        # A line ends with the newline after the bit to be predicted.
        begin = np.concatenate([[0], place[:-1] + 2, [data.codes.size]])
        cuts = np.linspace(0, len(place), parts + 1).round().astype(int)
        return [
            cls(data.codes[begin[a] : begin[b]], place[a:b] - begin[a], begin[a : b + 1] - begin[a], known)
            for a, b in pairwise(cuts)
        ]


@dataclass
class Networks:
    """Parameters, rates and counts of all networks."""

    w: np.ndarray
    tau: np.ndarray
    V0: np.ndarray
    rates: np.ndarray = field(default_factory=lambda: np.full((2, NETWORKS), 1.0 / UNITS))
    passes: np.ndarray = field(default_factory=lambda: np.zeros(NETWORKS, int))

    @classmethod
    def begun(cls, data: Any, first: int, known: list[int], longest: float = 0.0) -> Networks:
        """Starts of the seeds from `first` on."""
        counts, predicted = (
            np.bincount(codes, minlength=SYMBOLS).astype(float) for codes in (data.codes, data.codes[data.mask])
        )
        w, tau, V0 = np.zeros((UNITS + 1, len(known), NETWORKS)), lanes(SYMBOLS, UNITS + 1, UNITS), lanes(UNITS)
        for lane in range(NETWORKS):
            generator = np.random.default_rng(first + lane)
            graph = random_graph(UNITS, UNITS, generator)
            scales = {"time_scales": 1.0 / np.geomspace(2.0, longest, UNITS)} if longest else {}
            model: Any = MODELS["glnn"](graph, SYMBOLS, **scales)
            params = model.initial(predicted, counts, generator)
            if len(known) < SYMBOLS:
                params = silenced(params, predicted)
            edges, bias = model.split(params.theta)
            tau[:, 0, :, lane], V0[:, lane] = bias, params.V0
            tau[:, graph.sources + 1, graph.edge_targets, lane] = edges
            w[:, :, lane] = params.w[:, known]
        return cls(w, tau, V0)


class Training:
    """Rounds of steps; each has an update of w for networks whose last one of the transitions was taken."""

    def __init__(
        self,
        networks: Networks,
        parts: list[Lines],
        frequencies: np.ndarray,
        every: int,
        seed: int,
        metric_damping: float = 1.0,
        dwell: int = 1,
        least_rate: float = 0.0,
    ) -> None:
        self.networks, self.parts, self.every, self.metric_damping = networks, parts, every, metric_damping
        self.damping = frequencies[:, None] + np.finfo(float).eps
        self.dwell, self.stayed, self.least_rate = dwell, 0, least_rate
        self.generator, self.order, self.functions = np.random.default_rng(seed), [], compiled()
        most, symbols = max(part.count for part in parts), networks.w.shape[1]
        self.states, self.activities, self.trial_states, self.trial_activities = (lanes(most, UNITS) for _ in range(4))
        self.p, self.trial_p = lanes(most, symbols), lanes(most, symbols)
        self.taken, self.lines = np.ones(NETWORKS, bool), None
        self.low, self.high = lanes(UNITS), lanes(UNITS)

    def round(self) -> None:
        """A round on the next stretch."""
        self._begin()
        if self.taken.any():
            self._write()
        self._move()

    def _begin(self) -> None:
        self.stayed += 1
        if self.lines is not None and (len(self.parts) == 1 or self.stayed < self.dwell):
            return
        self.stayed = 0
        self.networks.rates[:] = np.maximum(self.networks.rates, self.least_rate)
        if not self.order:
            self.order = list(self.generator.permutation(len(self.parts)))
        self.lines = self.parts[self.order.pop()]
        self.value = self.score(self.lines, self.states, self.activities, self.p)[0]
        self.taken[:] = True

    def score(self, lines: Lines, states: np.ndarray, activities: np.ndarray, p: np.ndarray) -> Any:
        """Log-likelihoods and errors of the networks as they are."""
        call(self.functions.forward, *lines.data, self.networks.tau, self.networks.V0, states, activities)
        return self.output(lines, activities, self.networks.w, p)

    def output(self, lines: Lines, activities: np.ndarray, w: np.ndarray, p: np.ndarray) -> Any:
        """Log-likelihoods and errors with these writing weights; leaves the probabilities in p."""
        value, errors, single = np.zeros(NETWORKS), np.zeros(NETWORKS), lanes(*w.shape[:2])
        single[:] = w
        symbols = w.shape[1]
        call(self.functions.output, activities, single, lines.correct, lines.count, symbols, p, value, errors)
        return value, errors

    def _write(self) -> None:
        networks, lines = self.networks, self.lines
        W, h, h0 = (np.zeros(networks.w.shape) for _ in range(3))
        symbols = networks.w.shape[1]
        call(self.functions.writing, self.activities, self.p, lines.correct, lines.count, symbols, W, h, h0)
        h += self.damping
        step = np.zeros_like(W)
        step[1:] = (W[1:] - W[0] * h0[1:] / h[0]) / (h[1:] - h0[1:] ** 2 / h[0])
        step[0] = W[0] / h[0] - (h0[1:] / h[0] * step[1:]).sum(axis=0)
        left, rates = self.taken.copy(), networks.rates[0]
        while left.any():
            tried = networks.w + np.where(left, rates, 0.0) * step
            value, _ = self.output(lines, self.activities, tried, self.trial_p)
            good = left & ((value >= self.value) | (rates < 1e-12))
            networks.w[..., good], self.value[good] = tried[..., good], value[good]
            self.p[..., good] = self.trial_p[..., good]
            left &= ~good
            rates[good] *= 1.1
            rates[left] /= 2.0
            networks.passes[good] += 1

    def _move(self) -> None:
        networks, lines = self.networks, self.lines
        G, M = np.zeros((SYMBOLS, UNITS + 1, UNITS, NETWORKS)), np.zeros((SYMBOLS, UNITS, BLOCK, NETWORKS))
        step, gradient, modulus, w = np.zeros_like(G), lanes(UNITS), lanes(UNITS), lanes(*networks.w.shape[:2])
        w[:] = networks.w
        call(
            self.functions.backward, *lines.data, networks.tau, self.states, w, self.p, lines.correct, w.shape[1],
            self.every, G, M, gradient, modulus, self.low, self.high,
        )  # fmt: skip
        call(self.functions.solve, G, M, ctypes.c_double(self.metric_damping), step)
        rates = networks.rates[1]
        kept = networks.tau.copy(), networks.V0.copy()
        networks.tau += rates * np.nan_to_num(step, posinf=0.0, neginf=0.0)
        networks.V0 += rates * gradient / (modulus + self.metric_damping)
        value, _ = self.score(lines, self.trial_states, self.trial_activities, self.trial_p)
        good = (value >= self.value) & np.isfinite(value)
        networks.tau[..., ~good], networks.V0[..., ~good] = kept[0][..., ~good], kept[1][..., ~good]
        self.value[good] = value[good]
        for mine, trial in (
            (self.states, self.trial_states),
            (self.activities, self.trial_activities),
            (self.p, self.trial_p),
        ):
            mine[..., good] = trial[..., good]
        rates[good] *= 1.1
        rates[~good] /= 2.0
        networks.passes[good] += 1
        self.taken = good


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stretches", type=int, default=1)
    parser.add_argument("--half-count", action="store_true")
    parser.add_argument("--passes", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=np.inf)
    parser.add_argument("--seed", type=int, default=100, help="of the training sequence; the next one is validation")
    parser.add_argument("--first", type=int, default=0, help="the first of sixteen seeds of starts")
    parser.add_argument("--lines", type=int, default=10000)
    parser.add_argument("--length", type=int, default=0, help="the T of the lines; 0 is the paper's 100")
    parser.add_argument("--every", type=int, default=8, help="the metric comes from one line in so many")
    parser.add_argument("--longest", type=float, default=0.0, help="time scales from 2 to so many symbols")
    parser.add_argument("--dwell", type=int, default=1, help="rounds on a stretch before the next one")
    parser.add_argument("--least-rate", type=float, default=0.0, help="rates begin a stretch with no less than this")
    parser.add_argument("--damping", type=float, default=1.0, help="added to the diagonal of the metric")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    source = get("xor", **({"length": options.length} if options.length else {}))
    data, valid = (source.encode(source.sample(options.lines, options.seed + k).text) for k in (0, 1))
    known = list(range(SYMBOLS)) if options.half_count else sorted({int(code) for code in data.codes[data.mask]})
    networks = Networks.begun(data, options.first, known, options.longest)
    frequencies = np.bincount(data.codes, minlength=SYMBOLS)[known] / data.codes.size
    parts = Lines.of(data, known, options.stretches)
    ways = options.damping, options.dwell, options.least_rate
    training = Training(networks, parts, frequencies, options.every, options.seed, *ways)
    whole, held_out = Lines.of(data, known)[0], Lines.of(valid, known)[0]
    room = lanes(options.lines, UNITS), lanes(options.lines, UNITS), lanes(options.lines, len(known))
    points, rounds, begun = [], 0, time.process_time()
    while not points or (points[-1]["passes"] < options.passes and time.process_time() - begun < options.seconds):
        for _ in range(20 * options.stretches):
            training.round()
        rounds += 20 * options.stretches
        value, _ = training.score(whole, *room)
        _, errors = training.score(held_out, *room)
        constant = (np.minimum(abs(training.low), abs(training.high)) > 0.99) & (training.low * training.high > 0)
        points.append(
            {
                "rounds": rounds,
                "passes": round(float(networks.passes.mean()) / options.stretches, 1),
                "seconds": round(time.process_time() - begun, 1),
                "bits": np.round(-value / np.log(2.0), 1).tolist(),
                "valid_error": np.round(errors, 4).tolist(),
                "transition_rate": [float(f"{rate:.2e}") for rate in networks.rates[1]],
                "constants": constant.sum(axis=0).tolist(),
            }
        )
        left = sum(bits < LEFT * options.lines for bits in points[-1]["bits"])
        done = sum(error < 0.01 for error in points[-1]["valid_error"])
        print(f"{points[-1]['passes']} passes, {left} have left chance, {done} under 1 %", flush=True)
    asked = {name: value for name, value in vars(options).items() if name != "out" and value != np.inf}
    with options.out.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"options": asked, **versions(), "points": points}) + "\n")


if __name__ == "__main__":
    main()
