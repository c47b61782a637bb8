"""Steps of a network while symbols arrive: θ ← θ + (N F + ε)⁻¹ G, with G of the last window and F a running metric.

F is the metric of one symbol, so that a step weighs a window against a memory of N symbols: Newton's recursive least
squares. ε is the same for every parameter: without it a symbol that the metric hardly knows would be learned from one
sight. N follows what it is worth: with h ← (1 − n/N) h + step, G·h is what larger steps would have gained on a window
so far, and log N falls by κ G·h / (s L), within bounds, L the window's own cost. So N is small while something drifts
and grows where nothing does; weights and transitions have one each. What is kept does not grow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glnn.metrics import TRANSITION_METHODS, WRITING_METHODS, Scales, Statistics
from glnn.models import Model, Params
from glnn.sequences import Alphabet, Encoded, InputError
from glnn.training.corpus import prepare
from glnn.training.engine import Engine
from glnn.training.parallel import Workers
from glnn.training.results import Sweep

Arrays = dict[str, np.ndarray]

# What the metric of the transitions is made of.
_PARTS = ("diagonal", "cross", "matrices", "start_modulus")
_LEAST_COST = 1e-3


@dataclass(frozen=True)
class OnlineSettings:
    """How a network learns from a stream."""

    window: int = 64
    """Symbols in a step, and how far back derivatives go."""
    memory: float = 30_000.0
    """Symbols that a step is weighed against, in the beginning."""
    least_memory: float = 100.0
    most_memory: float = 1e6
    following: float = 0.1
    """By how much the logarithm of the memory changes in a step, at most; 0 leaves it as it is."""
    worth: float = 0.02
    """What part of a window's cost larger steps must have gained, or lost, for that."""
    metric_memory: float = 3_000.0
    """Symbols over which the metric is averaged."""
    first: int = 512
    """So many symbols only go into the metric, before it is known well enough to step by."""
    longest: float = 1.0
    """A step that would change its own window by more than this many nats a symbol is shortened."""
    metric: str = "qdrbpm"
    output_metric: str = "qdh"
    damping: float = 10.0
    """How often every parameter counts as seen, in addition to what the metric knows."""


class OnlineSteps:
    """The parameters and the running metric; `running` is all that it remembers, apart from the parameters."""

    def __init__(
        self,
        model: Model,
        params: Params,
        alphabet: Alphabet,
        running: Arrays | None = None,
        settings: OnlineSettings | None = None,
    ) -> None:
        self.params, self.settings = params, settings or OnlineSettings()
        self._model, self._alphabet = model, alphabet
        self._method = TRANSITION_METHODS[self.settings.metric]
        self._writing = WRITING_METHODS[self.settings.output_metric]
        self._engine: Engine | None = None
        self.running: Arrays = {name: part.copy() for name, part in (running or {"symbols": np.zeros(1)}).items()}

    def recall(self, params: Params, running: Arrays) -> None:
        """Take up parameters and metric where others left them."""
        check_running(running, params)
        self.params, self.running = params, {name: part.copy() for name, part in running.items()}

    def begin_anew(self, params: Params, slower: float) -> None:
        """Go back to parameters, with a memory this many times as long; the metric stays."""
        self.params = params
        self.running = {name: part for name, part in self.running.items() if not name.startswith("trace.")}
        self.running["memory"] = np.minimum(slower * self._memory, self.settings.most_memory)

    def learn(self, codes: np.ndarray, state: np.ndarray | None) -> None:
        """Learn a window: of a sequence that begins with it, or after the state before it."""
        found = self._sweep(codes, state)
        if found.failure is not None or not np.isfinite(found.log_likelihood):
            return
        n = len(codes)
        seen = self.running["symbols"] = self.running["symbols"] + n
        share = min(1.0, n / min(float(seen[0]), self.settings.metric_memory))
        for name, part in _sums(found).items():
            before, mean = self.running.get(name), part / n
            if before is not None:
                # In place: before + share (mean − before).
                mean -= before
                mean *= share
                mean += before
            self.running[name] = mean
        if seen[0] > self.settings.first:
            self._step(found, n)

    def _step(self, found: Sweep, n: int) -> None:
        params, longest = self.params, self.settings.longest
        gradients = {"writing": found.writing.gradient, "transition": found.transition.gradient}
        self._follow(gradients, -found.log_likelihood)
        steps = {"writing": self._writing_step(found), "transition": self._transition_step(found)}
        # First-order gain of the step on its own window, in nats a symbol.
        gain = sum(float((gradients[name] * step).sum()) for name, step in steps.items()) / n
        shorter = min(1.0, longest / gain) if gain > 0.0 else 0.0
        for k, (name, step) in enumerate(steps.items()):
            kept = max(0.0, 1.0 - n / float(self._memory[k]))
            before = self.running.get(f"trace.{name}")
            self.running[f"trace.{name}"] = shorter * step if before is None else kept * before + shorter * step
        self.params = params.replace(
            w=params.w + shorter * steps["writing"], theta=params.theta + shorter * steps["transition"]
        )

    @property
    def _memory(self) -> np.ndarray:
        """N of the writing weights and of the transitions."""
        return self.running.get("memory", np.full(2, self.settings.memory))

    def _follow(self, gradients: Arrays, cost: float) -> None:
        """Change the memory by what larger steps would have been worth."""
        settings, memory = self.settings, self._memory.copy()
        for k, (name, gradient) in enumerate(gradients.items()):
            trace = self.running.get(f"trace.{name}")
            if trace is not None:
                worth = float((gradient * trace).sum()) / (settings.worth * max(cost, _LEAST_COST))
                memory[k] *= np.exp(-settings.following * min(max(worth, -1.0), 1.0))
        self.running["memory"] = np.clip(memory, settings.least_memory, settings.most_memory)

    def _transition_step(self, found: Sweep) -> np.ndarray:
        N, G, A = float(self._memory[1]), found.transition, len(self._alphabet)
        own = {name: N * self.running[f"transition.{name}"] for name in _PARTS if f"transition.{name}" in self.running}
        sums = Statistics(G.gradient, **own, start_gradient=np.zeros_like(G.start_gradient))
        assert self._engine is not None
        scales = Scales(self.settings.damping, np.full(A, 1.0 / A), round(N))
        return self._method.direction(sums, self._engine.layout, scales).finite().step

    def _writing_step(self, found: Sweep) -> np.ndarray:
        N, damping = float(self._memory[0]), np.full(len(self._alphabet), self.settings.damping)
        diagonal, cross = (N * self.running[f"writing.{name}"] for name in ("diagonal", "cross"))
        step = self._writing(found.writing.gradient, diagonal, cross, damping)
        return np.where(np.isfinite(step), step, 0.0)

    def _sweep(self, codes: np.ndarray, state: np.ndarray | None) -> Sweep:
        codes = np.ascontiguousarray(codes, np.int32)
        n = len(codes)
        data = Encoded(codes, np.array([0, n], np.int64), np.ones(n, bool), self._alphabet)
        corpus = prepare(data, max(n, 1), continues=state is not None)
        if self._engine is None:
            self._engine = Engine(self._model, corpus, Workers(1))
        return self._engine.on(corpus).sweep(self.params, self._method, state)


def check_running(running: Arrays, params: Params) -> None:
    """Refuse what cannot have run along with such parameters."""
    shapes = {
        "symbols": (1,), "transition.diagonal": params.theta.shape, "transition.cross": params.theta.shape,
        "transition.start_modulus": params.V0.shape, "writing.diagonal": params.w.shape,
        "writing.cross": params.w.shape, "memory": (2,), "trace.writing": params.w.shape,
        "trace.transition": params.theta.shape,
    }  # fmt: skip
    for name, part in running.items():
        if part.shape != shapes.get(name) or part.dtype != np.float64 or not np.isfinite(part).all():
            raise InputError(f"the running metric {name!r} of shape {part.shape} is not that of the network")
    if "symbols" not in running or not running["symbols"][0] >= 0.0:
        raise InputError("the running metric does not say how many symbols it is of")
    if "memory" in running and not (running["memory"] >= 1.0).all():
        raise InputError("the running metric has a memory of less than one symbol")


def _sums(found: Sweep) -> Arrays:
    """What the metric is made of."""
    transition = {f"transition.{name}": getattr(found.transition, name) for name in _PARTS}
    writing = {"writing.diagonal": found.writing.diagonal, "writing.cross": found.writing.cross}
    return {name: part for name, part in {**transition, **writing}.items() if part is not None}
