"""The yardstick: one update of w (QDH) and one of τ (RUOP or RBPM) of a GLNN in plain C++, on numpy arrays.

An update ends with its trial: a forward pass with the new parameters, and their log-likelihood. The activities
of the trial serve the next update, as in any program that accepts or rejects, so a pair of updates is two passes.
`python -m benchmarks.yardstick` prints milliseconds and GFlop/s of every part on the benchmark problems.
"""

from __future__ import annotations

import argparse
import ctypes
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from benchmarks.plain import compiler
from benchmarks.plain.flops import Sizes
from benchmarks.plain.layout import CProblem, edge_lists, row_starts
from benchmarks.plain.problems import NAMES, Parameters, Problem, problem, problems
from glnn.network.graph import Graph
from glnn.sequences import Encoded

__all__ = [
    "NAMES",
    "Parameters",
    "Problem",
    "Update",
    "Yardstick",
    "problem",
    "problems",
    "timed_update",
    "update_tau",
    "update_w",
]

DAMPING = 1.0
Clock = Callable[[], float]


@dataclass(frozen=True)
class WritingStatistics:
    """The sums of an update of w, each (N+1, A); `h_ii` holds its damping ε_y, its row 0 is h_00."""

    W: np.ndarray
    h_ii: np.ndarray
    h_0i: np.ndarray


@dataclass(frozen=True)
class TransitionStatistics:
    """The sums of an update of τ: `B` and `m` (T, N), row t for time t, `G` (A, E), and M̃ without damping.

    They live in the yardstick's own arrays until its next update of τ.
    """

    B: np.ndarray
    m: np.ndarray
    G: np.ndarray
    incoming: np.ndarray
    lower: np.ndarray

    def M(self, unit: int, letter: int) -> np.ndarray:
        """The matrix M̃ of one unit and one letter, (1 + in-degree) square, the constant first."""
        end = np.cumsum(self.incoming**2)[unit]
        n = self.incoming[unit]
        lower = self.lower[letter, end - n * n : end].reshape(n, n)
        return lower + np.tril(lower, -1).T


@dataclass(frozen=True)
class Update:
    """New parameters, the sums behind them, log-likelihood before and after, seconds and flops by part.

    `seconds["forward before"]` is there only if no earlier trial left the activities of these parameters.
    """

    parameters: Parameters
    statistics: WritingStatistics | TransitionStatistics
    before: float
    after: float
    seconds: dict[str, float]
    flops: dict[str, int]


class Yardstick:
    """The C++ program on one graph and one set of data; it allocates its arrays once."""

    def __init__(self, graph: Graph, data: Encoded, clock: Clock = time.perf_counter) -> None:
        self._library = compiler.library()
        self._clock = clock
        self._graph = graph
        letters, units, symbols = len(data.alphabet), graph.units, data.codes.size
        predicted = int(data.mask.sum())
        incoming = graph.in_degrees + 1
        self.sizes = Sizes(symbols, predicted, len(data), letters, incoming)
        frequencies = np.bincount(data.codes, minlength=letters) / symbols
        self._epsilon = frequencies + np.finfo(np.float64).eps
        # The C++ side holds plain addresses: this list keeps what they point to.
        self._arrays: list[np.ndarray] = [
            np.ascontiguousarray(data.starts, np.int64),
            np.ascontiguousarray(data.codes, np.int32),
            np.ascontiguousarray(data.mask, np.uint8),
            *edge_lists(graph),
            row_starts(incoming**2).astype(np.int64),
        ]
        counts = (symbols, units, letters, int(incoming.sum()), len(data))
        self._c_problem = CProblem(*counts, *[array.ctypes.data for array in self._arrays])
        self._a, self._pi = _touched(symbols, units + 1), _touched(predicted, letters)
        self._B, self._m = _touched(symbols, units), _touched(symbols, units)
        self._G, self._M = _touched(letters, counts[3]), _touched(letters, int((incoming**2).sum()))
        self._at: Parameters | None = None
        self._log_likelihood = np.nan

    def update_w(self, parameters: Parameters, eta: float) -> Update:
        """One quasi-diagonal step of the writing weights, and its trial."""
        seconds = self._forward_before(parameters)
        before = self._log_likelihood
        W, h_ii, h_0i, w = (np.empty_like(parameters.w) for _ in range(4))
        seconds["terms"], _ = self._call("writing_terms", self._a, self._pi, self._epsilon, W, h_ii, h_0i)
        seconds["step"], _ = self._call("writing_step", W, h_ii, h_0i, eta, parameters.w, w)
        new = Parameters(self._graph, w, parameters.tau, parameters.V0)
        seconds |= self._forward(new)
        flops = {
            "terms": self.sizes.writing_terms(),
            "step": self.sizes.writing_step(),
        } | self._forward_flops()
        return Update(new, WritingStatistics(W, h_ii, h_0i), before, self._log_likelihood, seconds, flops)

    def update_tau(self, parameters: Parameters, eta: float, metric: str = "rbpm") -> Update:
        """One step of τ and V⁰ with a full solve at each unit and letter, and its trial."""
        if metric not in ("rbpm", "ruop"):
            raise ValueError(f"metric is {metric!r}: the yardstick knows 'rbpm' and 'ruop'")
        seconds = self._forward_before(parameters)
        before = self._log_likelihood
        w, tau, V0, B, m, G, M = (
            parameters.w,
            parameters.tau,
            parameters.V0,
            self._B,
            self._m,
            self._G,
            self._M,
        )
        seconds["backward"], _ = self._call(f"backward_{metric}", w, tau, self._a, self._pi, B, m)
        seconds["filling M"], _ = self._call("metric_terms", self._a, B, m, G, M)
        new = Parameters(self._graph, w, np.empty_like(tau), np.empty_like(V0))
        seconds["step"], failed = self._call(
            "transition_step", B, m, G, M, DAMPING, eta, tau, V0, new.tau, new.V0, result=ctypes.c_int64
        )
        if failed >= 0:
            letter, unit = divmod(failed, self.sizes.units)
            raise ArithmeticError(f"M̃ of unit {unit} and letter {letter} is not positive definite: no step can be made")
        seconds |= self._forward(new)
        flops = {
            "backward": self.sizes.backward(metric),
            "filling M": self.sizes.metric_terms(),
            "step": self.sizes.transition_step(),
        } | self._forward_flops()
        statistics = TransitionStatistics(B, m, G, self.sizes.incoming, M)
        return Update(new, statistics, before, self._log_likelihood, seconds, flops)

    def _forward_before(self, parameters: Parameters) -> dict[str, float]:
        if self._at is parameters:
            return {}
        self._check(parameters)
        return {"forward before": sum(self._forward(parameters).values())}

    def _forward(self, parameters: Parameters) -> dict[str, float]:
        recurrence, _ = self._call("activities", parameters.tau, parameters.V0, self._a)
        output, log_likelihood = self._call("output", parameters.w, self._a, self._pi, result=ctypes.c_double)
        self._at, self._log_likelihood = parameters, float(log_likelihood)
        return {"trial: activities": recurrence, "trial: output": output}

    def _forward_flops(self) -> dict[str, int]:
        return {"trial: activities": self.sizes.activities(), "trial: output": self.sizes.output()}

    def _call(self, name: str, *arguments: np.ndarray | float, result: Any = None) -> tuple[float, Any]:
        function = getattr(self._library, name)
        function.restype = result
        passed = [
            ctypes.c_void_p(value.ctypes.data) if isinstance(value, np.ndarray) else ctypes.c_double(value)
            for value in arguments
        ]
        start = self._clock()
        returned = function(ctypes.byref(self._c_problem), *passed)
        return self._clock() - start, returned

    def _check(self, parameters: Parameters) -> None:
        expected = {
            "w": (self.sizes.units + 1, self.sizes.letters),
            "tau": (self.sizes.letters, int(self.sizes.incoming.sum())),
            "V0": (self.sizes.units,),
        }
        for name, shape in expected.items():
            array = getattr(parameters, name)
            if array.shape != shape or array.dtype != np.float64 or not array.flags.c_contiguous:
                raise ValueError(
                    f"{name} is {array.dtype} of shape {array.shape}: "
                    f"expected a C-ordered float64 array of shape {shape}"
                )


def update_w(parameters: Parameters, data: Encoded, eta: float) -> Update:
    """One update of w on the data."""
    return Yardstick(parameters.graph, data).update_w(parameters, eta)


def update_tau(parameters: Parameters, data: Encoded, eta: float, metric: str = "rbpm") -> Update:
    """One update of τ and V⁰ on the data."""
    return Yardstick(parameters.graph, data).update_tau(parameters, eta, metric)


def timed_update(problem: Problem, metric: str = "rbpm", clock: Clock = time.perf_counter) -> dict[str, float]:
    """Seconds of one update of w and one of τ, by part, with their sums "w", "tau" and "total".

    The forward pass at the problem's own parameters is left out: in training an earlier trial has done it.
    On a busy machine `clock=time.thread_time` counts only the time that the one thread really ran.
    """
    return {name: seconds for name, (seconds, _) in _measured(problem, metric, clock).items()}


def _measured(problem: Problem, metric: str, clock: Clock) -> dict[str, tuple[float, int]]:
    yardstick = _yardstick(problem, clock)
    of_w = yardstick.update_w(problem.parameters, problem.eta)
    of_tau = yardstick.update_tau(of_w.parameters, problem.eta, metric)
    parts: dict[str, tuple[float, int]] = {}
    for name, update in (("w", of_w), ("tau", of_tau)):
        parts |= {f"{name} {part}": (update.seconds[part], flops) for part, flops in update.flops.items()}
    sums = {name: _added(parts, name) for name in ("w", "tau")}
    return parts | sums | {"total": _added(sums, "")}


def _added(parts: dict[str, tuple[float, int]], prefix: str) -> tuple[float, int]:
    chosen = [value for name, value in parts.items() if name.startswith(prefix)]
    return sum(seconds for seconds, _ in chosen), sum(flops for _, flops in chosen)


@lru_cache(maxsize=1)
def _yardstick(problem: Problem, clock: Clock) -> Yardstick:
    return Yardstick(problem.parameters.graph, problem.data, clock)


def _touched(*shape: int) -> np.ndarray:
    """Zeros whose memory is already there: its arrival is not the yardstick's time."""
    array = np.empty(shape)
    array.fill(0.0)
    return array


def _print(problem: Problem, metric: str, repeats: int) -> None:
    runs = [_measured(problem, metric, time.thread_time) for _ in range(repeats)]
    sizes = _yardstick(problem, time.thread_time).sizes
    print(
        f"\n{problem.name}: {sizes.symbols} symbols, {sizes.predicted} to be predicted, "
        f"{sizes.letters} letters; {metric}, CPU time, best of {repeats}"
    )
    for name, (_, flops) in runs[0].items():
        seconds = min(run[name][0] for run in runs)
        print(f"  {name:24}{1e3 * seconds:10.1f} ms{flops / seconds / 1e9:8.2f} GFlop/s")


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the plain C++ update of w and of τ, part by part.")
    parser.add_argument("problem", nargs="*", default=NAMES, help=f"of {', '.join(map(repr, NAMES))}")
    parser.add_argument("--metric", choices=["rbpm", "ruop"], default="rbpm")
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    print(compiler.version())
    for name in options.problem:
        _print(problem(name), options.metric, options.repeats)


if __name__ == "__main__":
    main()
