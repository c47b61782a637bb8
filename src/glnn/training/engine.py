"""Passes over the data: forward with its likelihood, statistics of w, backward with statistics of the transitions.

Works stretch by stretch: a recurrence is sequential and has a thread of its own, while the others do what the stretch
before it is wanted for. Activities are kept while they fit the memory budget; otherwise only the state at the beginning
of each stretch is, and they are computed again from there, to the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from glnn.metrics import Layout, Statistics, TransitionMethod
from glnn.models import Evidence, Flow, Model, Params
from glnn.numeric.scratch import Workspace
from glnn.output import softmax
from glnn.training.corpus import Corpus, Stretch
from glnn.training.noise import Noise
from glnn.training.parallel import Started, Workers, one_behind
from glnn.training.results import Derivatives, Forward, NotFinite, Rewritten, Sweep, born_backwards, born_forwards

Precision = Literal["float64", "float32"]
DEFAULT_MEMORY = 1 << 29
_ROWS_PER_JOB = 4096

_Written = tuple[softmax.WritingStatistics, float]


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
        self._memory = memory
        self.noise, self.draw = Noise(0.0), 0
        """The noise on the state and the number of its draw: the same for a step and its trials."""
        self._keep = self._fits(corpus)
        self._space = Workspace()

    def on(self, corpus: Corpus) -> Engine:
        """An engine for other data of the same alphabet: it shares everything, so the two take turns.

        Nothing is allocated for it: an engine for each of many chunks costs as much as one.
        """
        other = copy(self)
        other.corpus, other._keep = corpus, other._fits(corpus)
        return other

    def sweep(self, params: Params, method: TransitionMethod, state: np.ndarray | None = None) -> Sweep:
        """One pass forth and back: likelihood, statistics of w and of the transitions, and the state after it.

        `state` is the one before the data, for a corpus that continues another; derivatives stop there. Where numbers
        stop being finite on the way, the failure is reported and the statistics that it spoils are 0.
        """
        kept: list[np.ndarray | None] = [
            self._array(f"sweep{k}", len(stretch.x), self.model.trace_width) if self._keep else None
            for k, stretch in enumerate(self.corpus.stretches)
        ]
        current = self._forward(params, np.empty((len(kept), self.model.state_size)), kept, state)
        if current.failure is not None:
            nothing = softmax.no_statistics(self.model.units, params.w.shape[1])
            return Sweep(-np.inf, nothing, self._no_sums(method), current.state, current.failure)
        found, writing = self.derivatives(current, method), self.writing_statistics(current)
        sums = found.statistics if found.failure is None else self._no_sums(method)
        return Sweep(current.log_likelihood, writing, sums, current.state, found.failure)

    def forward(self, params: Params, reuse: Forward | None = None, state: np.ndarray | None = None) -> Forward:
        """Run the network over the data and score it; the arrays of `reuse`, a pass no longer wanted, are taken.

        It begins from the start state, or from a given one where the corpus continues another.
        """
        if reuse is not None:
            return self._forward(params, reuse.checkpoints, reuse.traces, state)
        stretches = len(self.corpus.stretches)
        return self._forward(params, np.empty((stretches, self.model.state_size)), [None] * stretches, state)

    def _forward(
        self, params: Params, checkpoints: np.ndarray, traces: list[np.ndarray | None], before: np.ndarray | None
    ) -> Forward:
        model, stretches = self.model, self.corpus.stretches
        if before is not None and stretches[0].first[0]:
            raise ValueError(
                "the data begin with a sequence of their own: prepare them with continues=True for a state"
            )
        weights = model.weights(params.theta)
        state = model.begin(params.V0 if before is None else before)
        total, writing = 0.0, softmax.no_statistics(model.units, params.w.shape[1])

        def walked() -> Iterator[tuple[Stretch, np.ndarray, np.ndarray, Started[_Written]]]:
            for k, stretch in enumerate(stretches):
                checkpoints[k] = state
                trace = traces[k]
                if trace is None:
                    trace = self._trace_for(stretch, k)
                    traces[k] = trace if self._keep else None
                model.forward(weights, params.V0, stretch.x, stretch.first, state, trace, *self._drawn(stretch))
                # Most trials are accepted, and the next thing wanted is then the statistics of w at the same outputs.
                yield stretch, trace, state.copy(), self.workers.start(self._writing_jobs(stretch, trace, params.w))

        for stretch, trace, behind, started in one_behind(walked()):
            for part, value in started.results():
                writing, total = writing + part, total + value
            if not np.isfinite(total):
                failure = born_forwards(stretch, trace, behind)
                return Forward(params, weights, checkpoints, traces, state, -np.inf, failure)
        return Forward(params, weights, checkpoints, traces, state, total, writing=writing)

    def rewrite(
        self, current: Forward, w: np.ndarray, method: TransitionMethod, reuse: Rewritten | None = None
    ) -> Rewritten:
        """The log-likelihood with other writing weights: the activities do not depend on them.

        What the backward pass of `method` wants of the same outputs comes with it, where activities are kept: give it
        to `derivatives` if these weights are taken. The arrays of `reuse`, a result of the same method that is no
        longer wanted, are taken.
        """
        variance, total = _with_recursion(method), 0.0
        kept: list[Evidence] | None = None if reuse is None else reuse.evidence
        if self._keep and kept is None:
            kept = [self._empty_evidence(stretch, variance) for stretch in self.corpus.stretches]
        for k, (stretch, trace) in enumerate(self.walk(current)):
            _, value = self._evidence(stretch, trace, w, variance, kept[k] if kept else None)
            total += value
        return Rewritten(total if np.isfinite(total) else -np.inf, kept)

    def walk(self, current: Forward, backwards: bool = False) -> Iterator[tuple[Stretch, np.ndarray]]:
        """Every stretch with its trace, kept or computed again (then valid until the next but one)."""
        indices = range(len(self.corpus.stretches))
        for k in reversed(indices) if backwards else indices:
            stretch = self.corpus.stretches[k]
            trace = current.traces[k]
            if trace is None:
                trace = self._trace_for(stretch, k)
                state = current.checkpoints[k].copy()
                self.model.forward(
                    current.weights, current.params.V0, stretch.x, stretch.first, state, trace, *self._drawn(stretch)
                )
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

    def derivatives(self, current: Forward, method: TransitionMethod, evidence: Any = None) -> Derivatives:
        """Backward pass: B, the method's modulus and the sums that it needs of them.

        `evidence` is what `rewrite` gave for the writing weights of `current` and the same method, where there is such.
        """
        model, weights = self.model, current.weights
        units, starts = model.inner_units, model.state_size
        accumulator, modulus = method.statistic.accumulator(self.layout), method.modulus
        carried_B, carried_m = np.zeros(starts), np.zeros(starts)
        start_gradient, start_modulus = np.zeros(starts), np.zeros(starts)
        recursion = _with_recursion(method)
        failure: NotFinite | None = None
        adding: Started[None] | None = None
        for k, (stretch, trace) in enumerate(self.walk(current, backwards=True)):
            if evidence is not None:
                given = evidence[-1 - k]
                if recursion and given.variance.shape != given.error.shape:
                    raise ValueError(f"evidence for {method.name} has to come from a rewriting for {method.name}")
            else:
                given, _ = self._evidence(stretch, trace, current.params.w, recursion)
            n, begun = len(stretch.x), len(stretch.start_weight)
            # Two arrays in turn: the stretch before may still be added up.
            B, B_start = self._array(f"B{k % 2}", n, units), np.zeros((begun, starts))
            m, m_start = self._array(f"m{k % 2}", n, units), np.zeros((begun, starts))
            if recursion:
                of_B, of_m = Flow(carried_B, B, B_start), Flow(carried_m, m, m_start)
                model.backward_with_modulus(weights, trace, given, of_B, of_m)
            else:
                model.backward(weights, trace, given, carried_B, B, B_start)
            if failure is None:
                failure = born_backwards("the derivative B", stretch, B, B_start, carried_B)
            if failure is None and recursion:
                failure = born_backwards("the modulus m", stretch, m, m_start, carried_m)
            if modulus is not None:
                weighed = stretch.sequence_weight is not None
                modulus.fill(B, stretch.sequence_weight, m)
                modulus.fill(B_start, stretch.start_weight if weighed else None, m_start)
                start_modulus += m_start.sum(axis=0)
            start_gradient += B_start.sum(axis=0)
            if adding is not None:
                adding.results()
            signals, weights_in_time = model.incoming(trace), None if modulus is None else m
            adding = self.workers.start(accumulator.jobs(signals, B, weights_in_time, stretch.order, stretch.groups))
        if adding is not None:
            adding.results()
        sums = replace(accumulator.result(), start_gradient=start_gradient, start_modulus=start_modulus)
        return Derivatives(sums, failure)

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

    def _no_sums(self, method: TransitionMethod) -> Statistics:
        """The statistics of no data."""
        nothing = np.zeros(self.model.state_size)
        return replace(
            method.statistic.accumulator(self.layout).result(), start_gradient=nothing, start_modulus=nothing
        )

    def _fits(self, corpus: Corpus) -> bool:
        """Whether activities can be kept: a step holds two passes, its trial's too, and two terms of the output."""
        numbers = 2 * (corpus.length * self.model.trace_width + corpus.predicted * self.model.units)
        return numbers * self._dtype.itemsize <= self._memory

    def _drawn(self, stretch: Stretch) -> tuple[np.ndarray, ...]:
        """The noise of a stretch, as the last argument of a model's forward pass where there is any."""
        if self.noise.sigma == 0.0:
            return ()
        return (self.noise.rows(self.draw, stretch.begin, len(stretch.x), self.model.units),)

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

    def _empty_evidence(self, stretch: Stretch, with_variance: bool) -> Evidence:
        """Arrays for the output's terms that stay valid."""
        shape = len(stretch.predicted), self.model.units
        error, variance = (np.empty(size, self._dtype) for size in (shape, shape if with_variance else (0, 0)))
        return Evidence(stretch.x, stretch.first, stretch.predicted, error, variance)

    def _evidence(
        self, stretch: Stretch, trace: np.ndarray, w: np.ndarray, with_variance: bool, into: Evidence | None = None
    ) -> tuple[Evidence, float]:
        """The output's terms for the backward pass, in the arrays of `into` if given, and the log-likelihood."""
        n, units = len(stretch.predicted), self.model.units
        if into is None:
            error = self._array("error", n, units)
            variance = self._array("variance", *((n, units) if with_variance else (0, 0)))
        else:
            error, variance = into.error, into.variance
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


def _with_recursion(method: TransitionMethod) -> bool:
    """Whether the modulus runs back through the network beside B, from the variance of the output."""
    return method.modulus is not None and method.modulus.recursion
