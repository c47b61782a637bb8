"""Passes over the data: forward with its likelihood, statistics of w, backward with statistics of the transitions.

Works stretch by stretch: a recurrence is sequential and has a thread of its own, while the others do what the stretch
before it is wanted for. Activities are kept while they fit the memory budget; otherwise only the state at the beginning
of each stretch is, and they are computed again from there, to the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, Literal, TypeVar

import numpy as np

from glnn.metrics import Layout, Statistics, TransitionMethod
from glnn.models import Evidence, Flow, Model, Params
from glnn.numeric.scratch import Workspace, aligned
from glnn.output import softmax
from glnn.training.corpus import ALL, Corpus, Stretch
from glnn.training.noise import Noise
from glnn.training.parallel import Started, Workers
from glnn.training.results import Derivatives, Forward, NotFinite, Rewritten, Sweep, born_backwards, born_forwards

Precision = Literal["float64", "float32"]
DEFAULT_MEMORY = 1 << 29

Result = TypeVar("Result")

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
        self._array = partial(self._space.array, dtype=self._dtype)

    def on(self, corpus: Corpus) -> Engine:
        """An engine for other data of the same alphabet: it shares all arrays, so the two take turns."""
        other = copy(self)
        other.corpus, other._keep = corpus, other._fits(corpus)
        return other

    def sweep(self, params: Params, method: TransitionMethod, state: np.ndarray | None = None) -> Sweep:
        """One pass forth and back: likelihood, statistics of w and of the transitions, and the state after it.

        `state` is the one before the data, for a corpus that continues another; derivatives stop there. Where numbers
        stop being finite on the way, the failure is reported and the statistics that it spoils are 0.
        """
        stretches, model = self.corpus.stretches, self.model
        recursion = method.modulus is not None and method.modulus.recursion
        kept: list[np.ndarray | None] = [None] * len(stretches)
        evidence = None
        if self._keep:
            kept = [self._array(f"sweep{k}", len(one.x), model.trace_width) for k, one in enumerate(stretches)]
            evidence = [self._room(one, recursion, f"sweep{k}") for k, one in enumerate(stretches)]
        room = Forward(params, None, np.empty((len(kept), model.state_size)), kept, np.empty(0), -np.inf)
        current = self.forward(params, room, state, evidence)
        if current.failure is not None:
            nothing = softmax.no_statistics(model.units, params.w.shape[1])
            return Sweep(-np.inf, nothing, self._no_sums(method), current.state, current.failure)
        found = self.derivatives(current, method, evidence)
        sums = found.statistics if found.failure is None else self._no_sums(method)
        return Sweep(current.log_likelihood, self.writing_statistics(current), sums, current.state, found.failure)

    def forward(
        self,
        params: Params,
        reuse: Forward | None = None,
        state: np.ndarray | None = None,
        evidence: list[Evidence] | None = None,
    ) -> Forward:
        """Run the network over the data and score it; the arrays of `reuse`, a pass no longer wanted, are taken.

        It begins from the start state, or from a given one where the corpus continues another. `evidence` is filled
        with what the way back wants of the output, for `derivatives`.
        """
        model, stretches = self.model, self.corpus.stretches
        if state is not None and stretches[0].first[0]:
            raise ValueError("the data begin a sequence of their own: prepare them with continues=True for a state")
        checkpoints = np.empty((len(stretches), model.state_size)) if reuse is None else reuse.checkpoints
        traces: list[np.ndarray | None] = [None] * len(stretches) if reuse is None else reuse.traces
        weights, state = model.weights(params.theta), model.begin(params.V0 if state is None else state)
        total, writing = 0.0, softmax.no_statistics(model.units, params.w.shape[1])
        before: tuple[Stretch, np.ndarray, np.ndarray, list[Started[_Written]]] | None = None
        for k, stretch in enumerate((*stretches, None)):
            waiting, before = before, None
            if stretch is not None:
                checkpoints[k] = state
                trace = traces[k]
                if trace is None:
                    trace = self._trace_for(stretch, k)
                    traces[k] = trace if self._keep else None
                # Most trials are accepted, and the next thing wanted is then the statistics of w at the same outputs.
                room = None if evidence is None else evidence[k]
                started = []
                for piece in stretch.pieces if self.workers.threads > 1 else (ALL,):
                    self._run(weights, params.V0, stretch, state, trace, piece)
                    jobs = self._jobs(softmax.writing_statistics, stretch, trace, params.w, room, piece)
                    started.append(self.workers.start(jobs))
                before = stretch, trace, state.copy(), started
            if waiting is None:
                continue
            # Others have scored the last stretch while this thread walked over the next one.
            for some in waiting[3]:
                some.help()
            for some in waiting[3]:
                for part, value in some.results():
                    writing, total = writing + part, total + value
            if not np.isfinite(total):
                failure = born_forwards(*waiting[:3])
                return Forward(params, weights, checkpoints, traces, state, -np.inf, failure)
        return Forward(params, weights, checkpoints, traces, state, total, writing=writing)

    def rewrite(
        self, current: Forward, w: np.ndarray, method: TransitionMethod, reuse: Rewritten | None = None
    ) -> Rewritten:
        """The log-likelihood with other writing weights: the activities do not depend on them.

        What the backward pass of `method` wants of the same outputs comes with it, where activities are kept, for
        `derivatives`. The arrays of `reuse`, a result of the same method that is no longer wanted, are taken.
        """
        variance, total = method.modulus is not None and method.modulus.recursion, 0.0
        kept: list[Evidence] | None = None if reuse is None else reuse.evidence
        if self._keep and kept is None:
            kept = [self._room(stretch, variance) for stretch in self.corpus.stretches]
        for k, (stretch, trace) in enumerate(self.walk(current)):
            room = kept[k] if kept else self._room(stretch, variance, "used again")
            total += sum(self.workers.run(self._jobs(softmax.source_terms, stretch, trace, w, room)), 0.0)
        return Rewritten(total if np.isfinite(total) else -np.inf, kept)

    def walk(self, current: Forward, backwards: bool = False) -> Iterator[tuple[Stretch, np.ndarray]]:
        """Every stretch with its trace, kept or computed again (then valid until the next but one)."""
        indices = range(len(self.corpus.stretches))
        for k in reversed(indices) if backwards else indices:
            stretch = self.corpus.stretches[k]
            trace = current.traces[k]
            if trace is None:
                trace = self._trace_for(stretch, k)
                self._run(current.weights, current.params.V0, stretch, current.checkpoints[k].copy(), trace)
            yield stretch, trace

    def writing_statistics(self, current: Forward) -> softmax.WritingStatistics:
        """W, h_ii and h_0i, summed over all predicted positions."""
        if current.writing is not None:
            return current.writing
        total = softmax.no_statistics(self.model.units, current.params.w.shape[1])
        for stretch, trace in self.walk(current):
            for part, _ in self.workers.run(self._jobs(softmax.writing_statistics, stretch, trace, current.params.w)):
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
        # Whether the modulus runs back through the network along with B, from the variance of the output.
        recursion = modulus is not None and modulus.recursion
        failure: NotFinite | None = None
        adding: Started[None] | None = None
        for k, (stretch, trace) in enumerate(self.walk(current, backwards=True)):
            if evidence is not None:
                given = evidence[-1 - k]
                if recursion and given.variance.shape != given.error.shape:
                    raise ValueError(f"evidence for {method.name} has to come from a rewriting for {method.name}")
            else:
                given = self._room(stretch, recursion, "used again")
                self.workers.run(self._jobs(softmax.source_terms, stretch, trace, current.params.w, given))
            n, begun = len(stretch.x), len(stretch.start_weight)
            # Two arrays in turn: the stretch before may still be added up.
            B, B_start = self._array(f"B{k % 2}", n, units), np.zeros((begun, starts))
            m, m_start = self._array(f"m{k % 2}", n, units), np.zeros((begun, starts))
            if recursion:
                of_B, of_m = Flow(carried_B, B, B_start), Flow(carried_m, m, m_start)
                model.backward_with_modulus(weights, trace, given, of_B, of_m)
            else:
                model.backward(weights, trace, given, carried_B, B, B_start)
            # What is not finite stays so back to the beginning of its sequence, or of the stretch: seen there.
            if failure is None and not (np.isfinite(B_start).all() and np.isfinite(carried_B).all()):
                failure = born_backwards("the derivative B", stretch, B, B_start, carried_B)
            if failure is None and recursion and not (np.isfinite(m_start).all() and np.isfinite(carried_m).all()):
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
        found: list[np.ndarray] = []
        waiting: Started[np.ndarray] | None = None
        for k, stretch in enumerate(self.corpus.stretches):
            trace = self._trace_for(stretch, k)
            first = stretch.first
            if k == 0:
                # The given state stands in for the start state of the first sequence only.
                first = first.copy()
                first[0] = False
            model.forward(weights, params.V0, stretch.x, first, state, trace)
            parts = stretch.parts(model.activities(trace))
            jobs = [partial(softmax.symbol_log_likelihoods, a, y, params.w) for _, a, y, _ in parts]
            before, waiting = waiting, self.workers.start(jobs)
            found += [] if before is None else before.results()
        found += [] if waiting is None else waiting.results()
        return np.concatenate(found)

    def _no_sums(self, method: TransitionMethod) -> Statistics:
        """The statistics of no data."""
        sums, nothing = method.statistic.accumulator(self.layout).result(), np.zeros(self.model.state_size)
        return replace(sums, start_gradient=nothing, start_modulus=nothing)

    def _fits(self, corpus: Corpus) -> bool:
        """Whether activities can be kept: a step holds two passes, its trial's too, and two terms of the output."""
        numbers = 2 * (corpus.length * self.model.trace_width + corpus.predicted * self.model.units)
        return numbers * self._dtype.itemsize <= self._memory

    def _run(
        self, weights: Any, V0: np.ndarray, stretch: Stretch, state: np.ndarray, trace: np.ndarray, piece: slice = ALL
    ) -> None:
        """Forwards over a stretch, or a piece of it, with noise where there is any."""
        x = stretch.x[piece]
        noise: tuple[np.ndarray, ...] = ()
        if self.noise.sigma != 0.0:
            noise = (self.noise.rows(self.draw, stretch.begin + (piece.start or 0), len(x), self.model.units),)
        self.model.forward(weights, V0, x, stretch.first[piece], state, trace[piece], *noise)

    def _trace_for(self, stretch: Stretch, k: int) -> np.ndarray:
        if self._keep:
            return aligned(len(stretch.x), self.model.trace_width, dtype=self._dtype)
        return self._array(f"trace{k % 2}", len(stretch.x), self.model.trace_width)

    def _room(self, stretch: Stretch, variance: bool, name: str = "") -> Evidence:
        """Arrays for the output's terms of a stretch; those of a name are used again."""
        shapes = [(len(stretch.predicted) * wanted, self.model.units) for wanted in (True, variance)]
        if name:
            arrays = [self._array(f"{which}, {name}", *shape) for which, shape in enumerate(shapes)]
        else:
            arrays = [aligned(*shape, dtype=self._dtype) for shape in shapes]
        return Evidence(stretch.x, stretch.first, stretch.predicted, *arrays)

    def _jobs(
        self,
        terms: Callable[..., Result],
        stretch: Stretch,
        trace: np.ndarray,
        w: np.ndarray,
        room: Evidence | None = None,
        piece: slice = ALL,
    ) -> list[Callable[[], Result]]:
        """Jobs that compute terms of the output of a stretch, part by part, those of `room` into its arrays."""
        jobs: list[Callable[[], Result]] = []
        for rows, a, y, weight in stretch.parts(self.model.activities(trace[piece]), piece):
            into = () if room is None else (room.error[rows], room.variance[rows] if len(room.variance) else None)
            jobs.append(partial(terms, a, y, weight, w, *into))
        return jobs
