"""Steps of a network while symbols arrive: θ ← θ + M⁻¹ G, G the gradient of the last window, M the metric of a memory.

M is N times a running mean over windows of the metric of one symbol, so that a step weighs a window against N symbols
that came before: Newton's recursive least squares with a memory of N symbols. Where nothing drifts, what steps cost is
about a half over N a parameter and symbol, and N is large for that reason. What is kept does not grow.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from glnn.metrics import TRANSITION_METHODS, WRITING_METHODS, Scales, Statistics
from glnn.models import Model, Params
from glnn.sequences import Alphabet, Encoded, InputError
from glnn.training.corpus import prepare
from glnn.training.engine import Engine
from glnn.training.parallel import Workers
from glnn.training.results import Sweep

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class OnlineSettings:
    """How a network learns from a stream."""

    window: int = 64
    """Symbols in a step, and how far back derivatives go."""
    memory: float = 30_000.0
    """Symbols that a step is weighed against: fewer follow a drift faster, more do less harm without one."""
    metric_memory: float = 3_000.0
    """Symbols over which the metric is averaged."""
    first: int = 512
    """So many symbols only go into the metric, before it is known well enough to step by."""
    longest: float = 0.05
    """A step that would change its own window by more than so many nats a symbol is shortened."""
    metric: str = "qdrbpm"
    output_metric: str = "qdh"
    damping: float = 1.0


class OnlineSteps:
    """The parameters and the metric that runs along; `running` is all that it remembers, beside the parameters."""

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

    def learn(self, codes: np.ndarray, state: np.ndarray | None) -> None:
        """Learn a window: of a sequence that begins with it, or after the state before it."""
        found = self._sweep(codes, state)
        if found.failure is not None or not np.isfinite(found.log_likelihood):
            return
        n = len(codes)
        seen = self.running["symbols"] = self.running["symbols"] + n
        share = min(1.0, n / min(float(seen[0]), self.settings.metric_memory))
        for name, part in _sums(found).items():
            before = self.running.get(name)
            self.running[name] = part / n if before is None else before + share * (part / n - before)
        if seen[0] > self.settings.first:
            self._step(found, n)

    def _step(self, found: Sweep, n: int) -> None:
        settings, params, N = self.settings, self.params, self.settings.memory
        metric = {name: N * part for name, part in self.running.items() if name != "symbols"}
        own = {name.partition(".")[2]: part for name, part in metric.items() if name.startswith("transition.")}
        G = found.transition
        sums = Statistics(G.gradient, **own, start_gradient=np.zeros_like(G.start_gradient))
        frequencies = np.full(len(self._alphabet), 1.0 / len(self._alphabet))
        assert self._engine is not None
        scales = Scales(settings.damping, frequencies, round(N))
        step = self._method.direction(sums, self._engine.layout, scales).finite().step
        of_w = self._writing(
            found.writing.gradient, metric["writing.diagonal"], metric["writing.cross"], np.full(len(frequencies), 1.0)
        )
        of_w = np.where(np.isfinite(of_w), of_w, 0.0)
        # First-order gain of the step on its own window, in nats a symbol.
        gain = (float(G.gradient @ step) + float((found.writing.gradient * of_w).sum())) / n
        shorter = min(1.0, settings.longest / gain) if gain > 0.0 else 0.0
        self.params = params.replace(w=params.w + shorter * of_w, theta=params.theta + shorter * step)

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
        "writing.cross": params.w.shape,
    }  # fmt: skip
    for name, part in running.items():
        if part.shape != shapes.get(name) or part.dtype != np.float64 or not np.isfinite(part).all():
            raise InputError(f"the running metric {name!r} of shape {part.shape} is not that of the network")
    if "symbols" not in running:
        raise InputError("the running metric does not say how many symbols it is of")


def _sums(found: Sweep) -> Arrays:
    """What the metric is made of."""
    transition = {
        f"transition.{one.name}": getattr(found.transition, one.name)
        for one in fields(found.transition)
        if one.name in ("diagonal", "cross", "matrices", "start_modulus")
    }
    writing = {"writing.diagonal": found.writing.diagonal, "writing.cross": found.writing.cross}
    return {name: part for name, part in {**transition, **writing}.items() if part is not None}
