"""How a chunk's sums become a step of the parameters: by Adam's rule, or by a metric that runs along.

Adam: m ← m + (1 − β₁)(g − m), v ← v + (1 − β₂)(g² − v), step η m / √v. No number moves by more than about η, whatever
a chunk that few symbols feed may say: that is why nothing breaks. Its scale is the paper's RMS rescaling, seen over
chunks. Running metric: M ← M + γ (M_chunk − M), step η M⁻¹ G, with its length in its own metric bounded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Protocol

import numpy as np

from glnn.metrics import Layout, Scales, Statistics, TransitionMethod, WritingDirection, hessian_damping
from glnn.models import Model, Params
from glnn.numeric.kernel import REASSOCIATE, kernel
from glnn.training.passes import Found

ADAM_RATE = 0.01
FEW = 25_000
"""Symbols: with fewer, steps are shorter in a network that asks for it."""
_MOMENTUM, _SQUARES = 0.9, 0.99
_TINY = 1e-8
_LONGEST_GRADIENT = 1.0
_OCCURRENCES = 8.0
"""A symbol that a chunk meets so often moves half by its own gradient; a rarer one by that of all symbols too."""

_FOLLOW = 0.02
_LONGEST = {"transition": 1e-5, "writing": 1e-3}
"""Bounds on η² Gᵀ M⁻¹ G, in nats a symbol."""

Arrays = dict[str, np.ndarray]


def longest(model: Model, symbols: int, unhurried: bool) -> float:
    """How long the longest steps by Adam's rule are for a network on so many symbols, in times of `ADAM_RATE`.

    Few data are soon known by heart, and where there is time, more and shorter steps end in a better place
    (`experiments/learning.md`).
    """
    return model.rate_for_chunks * (min(1.0, max(model.least_rate, symbols / FEW)) if unhurried else 1.0)


class Update(Protocol):
    """A rule that steps by what chunks say; what it remembers is plain arrays, so that a run can be resumed."""

    memory: Arrays

    def __call__(self, params: Params, found: Found, rate: float) -> Params:
        """The parameters after a chunk; `rate` is 1 at the most and falls to 0."""
        ...


class Adam:
    """Adam's rule; in gated networks, what a unit learns from all symbols together is a step of its own.

    The matrices of rare symbols follow the others, and go their own way as far as they occur.
    """

    def __init__(self, params: Params, layout: Layout, own: np.ndarray, memory: Mapping[str, np.ndarray] | None = None):
        self._layout, self.own = layout, own
        self.memory: Arrays = {"steps": np.zeros(1)}
        for name, part in self._parts(params.w, params.theta, params.V0).items():
            self.memory[f"mean.{name}"] = np.zeros(part.shape)
            self.memory[f"square.{name}"] = np.zeros(part.shape)
        self.memory.update({name: np.array(part) for name, part in (memory or {}).items()})

    def __call__(self, params: Params, found: Found, rate: float) -> Params:
        """One step."""
        n = max(found.predicted, 1.0)
        sums = found.transition
        gradients = {"w": found.writing.gradient, "theta": sums.gradient, "V0": sums.start_gradient}
        square = sum(squared_length(gradient.reshape(-1)) for gradient in gradients.values())
        numbers = (scale_of_gradient(square, n), *self.begin_steps([rate])[0])
        w, V0 = (self._step(name, gradients[name], getattr(params, name), numbers) for name in ("w", "V0"))
        if not self._layout.gated:
            return Params(w, self._step("theta", sums.gradient, params.theta, numbers), V0)
        by_symbol = sums.gradient.reshape(self._layout.symbols, -1)
        together = by_symbol.sum(axis=0)
        shared = self._step("shared", together, np.zeros(together.size), numbers)
        theta = np.array(params.theta)
        own, mean, squares = (
            part.reshape(by_symbol.shape) for part in (theta, self.memory["mean.theta"], self.memory["square.theta"])
        )
        step_of_symbols(by_symbol, mean, squares, *numbers, self.own, shared, own)
        return Params(w, theta, V0)

    def begin_steps(self, rates: Sequence[float]) -> list[tuple[float, float]]:
        """Count steps; what the length of each, and its squares, are multiplied and divided by."""
        # Plain numbers: those of numpy take five times as long, to the same bits.
        before = float(self.memory["steps"][0])
        self.memory["steps"] = self.memory["steps"] + float(len(rates))
        counted = enumerate(rates, 1)
        return [
            (ADAM_RATE * rate / (1.0 - _MOMENTUM ** (before + k)), 1.0 - _SQUARES ** (before + k))
            for k, rate in counted
        ]

    def _step(
        self, name: str, gradient: np.ndarray, before: np.ndarray, numbers: tuple[float, float, float]
    ) -> np.ndarray:
        out = np.array(before)
        mean, square = self.memory[f"mean.{name}"], self.memory[f"square.{name}"]
        flat = (gradient.reshape(-1), mean.reshape(-1), square.reshape(-1))
        step_of_part(*flat, *numbers, out.reshape(-1))
        return out

    def _parts(self, w: np.ndarray, theta: np.ndarray, V0: np.ndarray) -> Arrays:
        parts = {"w": w, "theta": theta, "V0": V0}
        if self._layout.gated:
            parts["shared"] = theta.reshape(self._layout.symbols, -1).sum(axis=0)
        return parts


@kernel(REASSOCIATE)
def squared_length(part: np.ndarray) -> float:
    """Σ of the squares."""
    total = 0.0
    for k in range(part.size):
        total += part[k] * part[k]
    return total


@kernel()
def scale_of_gradient(square: float, n: float) -> float:
    """What a gradient of n positions with this squared length is multiplied by: its length a position is bounded."""
    return min(1.0, _LONGEST_GRADIENT / max(np.sqrt(square) / n, _TINY)) / n


@kernel()
def step_of_part(
    gradient: np.ndarray,
    mean: np.ndarray,
    square: np.ndarray,
    factor: float,
    scale: float,
    root: float,
    params: np.ndarray,
) -> None:
    """Adam's rule, in place."""
    for k in range(gradient.size):
        g = factor * gradient[k]
        mean[k] += (1.0 - _MOMENTUM) * (g - mean[k])
        square[k] += (1.0 - _SQUARES) * (g * g - square[k])
        params[k] += scale * mean[k] / (np.sqrt(square[k] / root) + _TINY)


@kernel()
def step_of_symbols(
    gradient: np.ndarray,
    mean: np.ndarray,
    square: np.ndarray,
    factor: float,
    scale: float,
    root: float,
    own: np.ndarray,
    shared: np.ndarray,
    params: np.ndarray,
) -> None:
    """The same for each symbol's matrix, as far as it goes its own way, and the step of all symbols together."""
    for y in range(own.size):
        share, rest = own[y] * scale, max(1.0 - 2.0 * own[y], 0.0)
        g_y, m, s, now = gradient[y], mean[y], square[y], params[y]
        for k in range(shared.size):
            g = factor * g_y[k]
            m[k] += (1.0 - _MOMENTUM) * (g - m[k])
            s[k] += (1.0 - _SQUARES) * (g * g - s[k])
            now[k] = now[k] + share * m[k] / (np.sqrt(s[k] / root) + _TINY) + rest * shared[k]


def own_share(counts: np.ndarray, positions: int) -> np.ndarray:
    """How far each symbol's matrix moves by its own gradient: n/(n + 8) for n occurrences a chunk."""
    occurrences = positions * counts / max(counts.sum(), 1.0)
    return occurrences / (occurrences + _OCCURRENCES)


class RunningMetric:
    """Any metric of the paper: sums per position run along, and a chunk's gradient is measured by them.

    Seen as sums over the window that they run over, about n/γ positions, so that damping means what it always does.
    """

    def __init__(
        self,
        layout: Layout,
        method: TransitionMethod,
        writing: WritingDirection,
        scales: Scales,
        counts: np.ndarray,
        memory: Mapping[str, np.ndarray] | None = None,
    ) -> None:
        self._layout, self._method, self._writing, self._scales = layout, method, writing, scales
        self._counts = counts
        self.memory: Arrays = {name: np.array(part) for name, part in (memory or {"steps": np.zeros(1)}).items()}

    def __call__(self, params: Params, found: Found, rate: float) -> Params:
        """One step."""
        n = max(found.predicted, 1.0)
        k = self.memory["steps"] = self.memory["steps"] + 1.0
        follow = max(_FOLLOW, 1.0 / k[0])
        transition, writing = found.transition * (1.0 / n), found.writing * (1.0 / n)
        for kind, sums in (("transition", _named(transition)), ("writing", writing._asdict())):
            for name, part in sums.items():
                key = f"{kind}.{name}"
                before = self.memory.get(key)
                self.memory[key] = part.copy() if before is None else before + follow * (part - before)
        window = n / follow
        running = {name: window * part for name, part in self._of("transition").items()}
        fresh = {"gradient": window * transition.gradient, "start_gradient": window * transition.start_gradient}
        scales = self._scales._replace(length=max(1, round(window)))
        found_step = self._method.direction(Statistics(**{**running, **fresh}), self._layout, scales).finite()
        squares = float(transition.gradient @ found_step.step + transition.start_gradient @ found_step.start)
        reach = rate * min(1.0 / params.V0.size, _bounded(_LONGEST["transition"], squares))
        h = self._of("writing")
        damping = hessian_damping(self._counts)
        of_w = self._writing(window * writing.gradient, window * h["diagonal"], window * h["cross"], damping)
        of_w = np.where(np.isfinite(of_w), of_w, 0.0)
        reach_w = rate * min(1.0, _bounded(_LONGEST["writing"], float((writing.gradient * of_w).sum())))
        return Params(
            params.w + reach_w * of_w, params.theta + reach * found_step.step, params.V0 + reach * found_step.start
        )

    def _of(self, kind: str) -> Arrays:
        start = len(kind) + 1
        return {name[start:]: part for name, part in self.memory.items() if name.startswith(f"{kind}.")}


def _named(statistics: Statistics) -> Arrays:
    parts = {field.name: getattr(statistics, field.name) for field in fields(statistics)}
    return {name: part for name, part in parts.items() if part is not None}


def _bounded(longest: float, square: float) -> float:
    """The rate at which a step of the given squared length is as long as it may be."""
    return float(np.sqrt(longest / square)) if square > 0.0 else 1.0


_GROWTH = 10.0


def average(mean: Params, latest: Params, steps: int, window: float) -> Params:
    """The average with the parameters of step number `steps` (from 0) added; a window of 1 or less keeps them alone."""
    weight = weight_of_latest(steps, window)
    if weight >= 1.0:
        return latest
    return Params(*(_between(getattr(mean, part), getattr(latest, part), weight) for part in ("w", "theta", "V0")))


def weight_of_latest(steps: int, window: float) -> float:
    """The weight in the average of what step number `steps` led to."""
    return max(1.0 / max(window, 1.0), _GROWTH / (steps + _GROWTH))


def finite(params: Params) -> bool:
    """Whether all numbers are."""
    return all(zero(part.reshape(-1)) == 0.0 for part in (params.w, params.theta, params.V0))


def _between(mean: np.ndarray, latest: np.ndarray, weight: float) -> np.ndarray:
    out = np.array(mean)
    draw_near(out.reshape(-1), latest.reshape(-1), weight)
    return out


@kernel()
def draw_near(mean: np.ndarray, latest: np.ndarray, weight: float) -> None:
    """An average with a weight of the latest numbers, in place; the latest alone where that is 1."""
    for k in range(mean.size):
        mean[k] = mean[k] + weight * (latest[k] - mean[k]) if weight < 1.0 else latest[k]


@kernel(REASSOCIATE)
def zero(part: np.ndarray) -> float:
    """0 times every number: NaN where one is not finite."""
    total = 0.0
    for k in range(part.size):
        total += 0.0 * part[k]
    return total
