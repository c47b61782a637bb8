"""Passes over the data: forward with its likelihood, statistics of w, backward with statistics of the transitions.

Works stretch by stretch: a recurrence is sequential and has a thread of its own, while the others do what the stretch
before it is wanted for. Activities are kept while they fit the memory budget; otherwise only the state at the beginning
of each stretch is, and they are computed again from there, to the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from glnn.metrics import Layout, Statistics, TransitionMethod
from glnn.models import Evidence, Flow, Model, Params
from glnn.numeric.scratch import Workspace
from glnn.output import softmax
from glnn.training.corpus import Corpus, Stretch
from glnn.training.parallel import Started, Workers, one_behind

Precision = Literal["float64", "float32"]
DEFAULT_MEMORY = 1 << 29
_ROWS_PER_JOB = 4096

_Written = tuple[softmax.WritingStatistics, float]


@dataclass(frozen=True)
class NotFinite:
    """A number that stopped being finite, and where."""

    what: str
    unit: int | None
    time: int

    def __str__(self) -> str:
        where = f"time {self.time}" if self.unit is None else f"unit {self.unit}, time {self.time}"
        return f"{self.what} is not finite at {where}"


@dataclass
class Forward:
    """The result of a forward pass. `traces[k]` is None where activities are to be computed again."""

    params: Params
    weights: Any
    checkpoints: np.ndarray
    traces: list[np.ndarray | None]
    state: np.ndarray
    log_likelihood: float
    failure: NotFinite | None = None
    writing: softmax.WritingStatistics | None = None
    """The statistics of w, where a pass had them at hand."""


@dataclass(frozen=True)
class Derivatives:
    """The statistics of a backward pass, with B⁰ and m̃⁰ summed over the sequences."""

    statistics: Statistics
    start_gradient: np.ndarray
    start_modulus: np.ndarray
    failure: NotFinite | None = None


class Engine:
    """Computes what training needs of one model on one corpus.

    `precision` is that of everything stored for each time (activities, B, m̃) and of the output's matrix products;
    states that are carried along and sums over time are always double.
    """

    def __init__(
        self,
        model: Model,
        corpus: Corpus,
        workers: Workers | None = None,
        memory: int = DEFAULT_MEMORY,
        precision: Precision = "float64",
    ) -> None:
        self._dtype = np.dtype(precision)
        self.model, self.corpus = model, corpus
        self.workers = workers or Workers()
        signals = model.signals
        self.layout = Layout(signals.ptr, signals.rows, corpus.alphabet_size, signals.symbols == "gate")
        # A step holds two passes, the current one and its trial, and two terms of the output where it predicts.
        numbers = 2 * (corpus.length * model.trace_width + corpus.predicted * model.units)
        self._keep = numbers * self._dtype.itemsize <= memory
        self._space = Workspace()
        self._terms: _OutputTerms | None = None

    def forward(self, params: Params, reuse: Forward | None = None) -> Forward:
        """Run the network over the data and score it; the arrays of `reuse`, a pass no longer wanted, are taken."""
        model, stretches = self.model, self.corpus.stretches
        weights = model.weights(params.theta)
        state = model.begin(params.V0)
        checkpoints = np.empty((len(stretches), state.size)) if reuse is None else reuse.checkpoints
        traces: list[np.ndarray | None] = [None] * len(stretches) if reuse is None else reuse.traces
        total, writing = 0.0, softmax.no_statistics(model.units, params.w.shape[1])

        def walked() -> Iterator[tuple[Stretch, np.ndarray, np.ndarray, Started[_Written]]]:
            for k, stretch in enumerate(stretches):
                checkpoints[k] = state
                trace = traces[k]
                if trace is None:
                    trace = self._trace_for(stretch, k)
                    traces[k] = trace if self._keep else None
                model.forward(weights, params.V0, stretch.x, stretch.first, state, trace)
                # Most trials are accepted, and the next thing wanted is then the statistics of w at the same outputs.
                yield stretch, trace, state.copy(), self.workers.start(self._writing_jobs(stretch, trace, params.w))

        for stretch, trace, behind, started in one_behind(walked()):
            for part, value in started.results():
                writing, total = writing + part, total + value
            if not np.isfinite(total):
                failure = _born_forwards(stretch, trace, behind)
                return Forward(params, weights, checkpoints, traces, state, -np.inf, failure)
        return Forward(params, weights, checkpoints, traces, state, total, writing=writing)

    def rewrite(self, current: Forward, w: np.ndarray, method: TransitionMethod) -> float:
        """The log-likelihood with other writing weights: the activities do not depend on them.

        What the backward pass of `method` will want of the same outputs is kept, where activities are.
        """
        self._terms = None
        kept = []
        total = 0.0
        for k, (stretch, trace) in enumerate(self.walk(current)):
            name = str(k) if self._keep else ""
            given, value = self._evidence(stretch, trace, w, method.modulus == "backpropagated", name)
            total += value
            kept.append(given)
        if self._keep:
            self._terms = _OutputTerms(w, current.traces, method, kept)
        return total if np.isfinite(total) else -np.inf

    def walk(self, current: Forward, backwards: bool = False) -> Iterator[tuple[Stretch, np.ndarray]]:
        """Every stretch with its trace, kept or computed again (then valid until the next but one)."""
        indices = range(len(self.corpus.stretches))
        for k in reversed(indices) if backwards else indices:
            stretch = self.corpus.stretches[k]
            trace = current.traces[k]
            if trace is None:
                trace = self._trace_for(stretch, k)
                state = current.checkpoints[k].copy()
                self.model.forward(current.weights, current.params.V0, stretch.x, stretch.first, state, trace)
            yield stretch, trace

    def writing_statistics(self, current: Forward) -> softmax.WritingStatistics:
        """W, h_ii and h_0i, summed over all predicted positions."""
        if current.writing is not None:
            return current.writing
        total = softmax.no_statistics(self.model.units, current.params.w.shape[1])
        walked = (
            self.workers.start(self._writing_jobs(stretch, trace, current.params.w))
            for stretch, trace in self.walk(current)
        )
        for started in one_behind(walked):
            for part, _ in started.results():
                total = total + part
        return total

    def derivatives(self, current: Forward, method: TransitionMethod) -> Derivatives:
        """Backward pass: B, the method's modulus and the sums that it needs of them."""
        model, weights = self.model, current.weights
        units, starts = model.inner_units, model.state_size
        accumulator = self.layout.accumulator(method.terms)
        carried_B, carried_m = np.zeros(starts), np.zeros(starts)
        start_gradient, start_modulus = np.zeros(starts), np.zeros(starts)
        backpropagated = method.modulus == "backpropagated"
        failure: NotFinite | None = None
        terms = self._terms if self._terms is not None and self._terms.belongs_to(current, method) else None
        adding: Started[None] | None = None
        for k, (stretch, trace) in enumerate(self.walk(current, backwards=True)):
            if terms is not None:
                given = terms.evidence[-1 - k]
            else:
                given, _ = self._evidence(stretch, trace, current.params.w, backpropagated)
            n, begun = len(stretch.x), len(stretch.start_weight)
            # Two arrays in turn: the stretch before may still be added up.
            B, B_start = self._array(f"B{k % 2}", n, units), np.zeros((begun, starts))
            m, m_start = self._array(f"m{k % 2}", n, units), np.zeros((begun, starts))
            if backpropagated:
                of_B, of_m = Flow(carried_B, B, B_start), Flow(carried_m, m, m_start)
                model.backward_with_modulus(weights, trace, given, of_B, of_m)
            else:
                model.backward(weights, trace, given, carried_B, B, B_start)
            if failure is None:
                failure = _born_backwards("the derivative B", stretch, B, B_start, carried_B)
            if failure is None and backpropagated:
                failure = _born_backwards("the modulus m", stretch, m, m_start, carried_m)
            if method.modulus == "outer":
                np.square(B, out=m)
                np.square(B_start, out=m_start)
                if stretch.sequence_weight is not None:
                    # B has its sequence's weight c already; the metric wants c B², not c² B².
                    m /= stretch.sequence_weight[:, None]
                    m_start /= stretch.start_weight[:, None]
            modulus = None if method.modulus is None else m
            if adding is not None:
                adding.results()
            jobs = accumulator.jobs(model.incoming(trace), B, modulus, stretch.order, stretch.groups)
            adding = self.workers.start(jobs)
            start_gradient += B_start.sum(axis=0)
            if method.modulus is not None:
                start_modulus += m_start.sum(axis=0)
        if adding is not None:
            adding.results()
        return Derivatives(accumulator.result(), start_gradient, start_modulus, failure)

    def log_likelihoods(self, params: Params, state: np.ndarray | None = None) -> np.ndarray:
        """log π_t(x_t) at every predicted position, from the start or from a given state."""
        model = self.model
        weights = model.weights(params.theta)
        state = model.begin(params.V0 if state is None else state)

        def walked() -> Iterator[Started[np.ndarray]]:
            for k, stretch in enumerate(self.corpus.stretches):
                trace = self._trace_for(stretch, k)
                first = stretch.first
                if k == 0:
                    # The given state stands in for the start state of the first sequence only.
                    first = first.copy()
                    first[0] = False
                model.forward(weights, params.V0, stretch.x, first, state, trace)
                jobs = [
                    lambda a=a, y=y: softmax.symbol_log_likelihoods(a, y, params.w)  # type: ignore[misc]
                    for a, y, _ in self._parts(stretch, trace)
                ]
                yield self.workers.start(jobs)

        return np.concatenate([part for started in one_behind(walked()) for part in started.results()])

    def _trace_for(self, stretch: Stretch, k: int) -> np.ndarray:
        if self._keep:
            return np.empty((len(stretch.x), self.model.trace_width), self._dtype)
        return self._array(f"trace{k % 2}", len(stretch.x), self.model.trace_width)

    def _array(self, name: str, *shape: int) -> np.ndarray:
        return self._space.array(name, *shape, dtype=self._dtype)

    def _parts(self, stretch: Stretch, trace: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """The predicted rows in parts of a fixed size: activities, symbols, weights."""
        a = self.model.activities(trace)
        if not stretch.complete:
            a = a[stretch.predicted]
        for start in range(0, len(a), _ROWS_PER_JOB):
            rows = slice(start, start + _ROWS_PER_JOB)
            yield a[rows], stretch.y[rows], stretch.weight[rows]

    def _writing_jobs(self, stretch: Stretch, trace: np.ndarray, w: np.ndarray) -> list[Callable[[], _Written]]:
        """Jobs that give the statistics of w and the log-likelihood of the parts of a stretch."""
        return [
            lambda a=a, y=y, weight=weight: softmax.writing_statistics(a, y, weight, w)  # type: ignore[misc]
            for a, y, weight in self._parts(stretch, trace)
        ]

    def _evidence(
        self, stretch: Stretch, trace: np.ndarray, w: np.ndarray, with_variance: bool, name: str = ""
    ) -> tuple[Evidence, float]:
        """The output's terms for the backward pass, in arrays of the given name, and the log-likelihood."""
        n = len(stretch.predicted)
        error = self._array("error" + name, n, self.model.units)
        variance = self._array("variance" + name, *((n, self.model.units) if with_variance else (0, 0)))
        jobs: list[Callable[[], float]] = []
        for k, (a, y, weight) in enumerate(self._parts(stretch, trace)):
            rows = slice(k * _ROWS_PER_JOB, (k + 1) * _ROWS_PER_JOB)
            spread = variance[rows] if with_variance else None
            jobs.append(
                lambda a=a, y=y, weight=weight, rows=rows, spread=spread: softmax.source_terms(  # type: ignore[misc]
                    a, y, weight, w, error[rows], spread
                )
            )
        total = sum(self.workers.run(jobs), 0.0)
        return Evidence(stretch.x, stretch.first, stretch.predicted, error, variance), total


class _OutputTerms(NamedTuple):
    """The output's terms at certain writing weights and activities, for one method."""

    w: np.ndarray
    traces: list[np.ndarray | None]
    method: TransitionMethod
    evidence: list[Evidence]

    def belongs_to(self, current: Forward, method: TransitionMethod) -> bool:
        """Whether they were computed at the parameters of this very pass."""
        return self.w is current.params.w and self.traces is current.traces and self.method is method


def _born_forwards(stretch: Stretch, trace: np.ndarray, state: np.ndarray) -> NotFinite:
    """Where an activity, or behind finite activities the output, was first not finite."""
    bad = np.argwhere(~np.isfinite(trace))
    if len(bad):
        return NotFinite("the activity", int(bad[0, 1]), stretch.begin + int(bad[0, 0]))
    if not np.isfinite(state).all():
        return NotFinite("the activity", int(np.argmax(~np.isfinite(state))), stretch.end)
    return NotFinite("the output", None, stretch.begin + int(stretch.predicted[0]))


def _born_backwards(
    what: str, stretch: Stretch, following: np.ndarray, start: np.ndarray, carry: np.ndarray
) -> NotFinite | None:
    """Where B or m̃ was first not finite on the way back, if anywhere; `following[t]` is its value at t + 1."""
    # What is not finite stays so back to the beginning of its sequence, or of the stretch: look there first.
    if np.isfinite(start).all() and np.isfinite(carry).all():
        return None
    later, begun = np.argwhere(~np.isfinite(following)), np.argwhere(~np.isfinite(start))
    places = [(0, int(np.argmax(~np.isfinite(carry))))]
    if len(later):
        places.append((int(later[-1, 0]) + 1, int(later[-1, 1])))
    if len(begun):
        places.append((int(np.flatnonzero(stretch.first)[begun[-1, 0]]), int(begun[-1, 1])))
    time, unit = max(places)
    return NotFinite(what, unit, stretch.begin + time)
