"""One pass over a chunk of every stream, forth and back: its likelihood and all sums over time that a step needs.

Two ways give the same sums. The general one runs any model, stream after stream, and adds up whatever a metric wants.
Where a model has a matrix that all symbols share (RNN, LSTM), the streams can run side by side, a matrix product a
time step, in single precision: several times as fast, for the gradient only.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from glnn.metrics import Layout, Statistics, TransitionMethod
from glnn.models import Evidence, Flow, Model, Params
from glnn.models.side_by_side import SideBySide
from glnn.numeric.scratch import Workspace
from glnn.output import softmax
from glnn.output.gradient import gradient_terms
from glnn.training.corpus import Chunk
from glnn.training.noise import Noise
from glnn.training.results import NotFinite
from glnn.training.settings import ADAM


class Found(NamedTuple):
    """What a pass over a chunk found; where it failed, the sums are not to be used."""

    log_likelihood: float
    predicted: float
    """The weights of all predicted positions together."""
    writing: softmax.WritingStatistics
    transition: Statistics
    failure: NotFinite | None = None


class Pass(Protocol):
    """A way to run over chunks; it keeps the state of every stream."""

    state: np.ndarray

    def __call__(self, params: Params, chunk: Chunk, noise: Noise, draw: int) -> Found:
        """Run over the next chunk, from the states on that the last one left."""
        ...


def pass_for(model: Model, method: TransitionMethod, streams: int, params: Params) -> Pass:
    """The faster way, where there is one and no more than the gradient is wanted."""
    beside = model.side_by_side() if method is ADAM else None
    if beside is not None:
        return BesidePass(model, beside, streams, params)
    return GeneralPass(model, method, streams, params, np.float32 if method is ADAM else np.float64)


class GeneralPass:
    """Any model, any method: stream after stream, in double precision.

    With Adam's rule the output can be computed in single precision, which is most of the work where units are many.
    """

    def __init__(
        self, model: Model, method: TransitionMethod, streams: int, params: Params, precision: type = np.float64
    ) -> None:
        self._model, self._method, self._precision = model, method, precision
        signals = model.signals
        self._layout = Layout(signals.ptr, signals.rows, model.alphabet_size, signals.symbols == "gate")
        self.state = np.tile(model.begin(params.V0), (streams, 1))
        self._space = Workspace()

    def __call__(self, params: Params, chunk: Chunk, noise: Noise, draw: int) -> Found:
        """Run over the next chunk, from the states on that the last one left."""
        model, method, room = self._model, self._method, self._space.array
        K, L = chunk.x.shape
        n, units, starts = K * L, model.inner_units, model.state_size
        weights = model.weights(params.theta)
        trace = room("trace", n, model.trace_width)
        drawn = noise.rows(draw, 0, n, model.units)
        for k in range(K):
            rows = slice(k * L, (k + 1) * L)
            own = (drawn[rows],) if drawn.size else ()
            model.forward(weights, params.V0, chunk.read[k], chunk.first[k], self.state[k], trace[rows], *own)
        output = _Output(chunk.x.ravel(), chunk.mask.ravel(), None if chunk.weight is None else chunk.weight.ravel())
        recursion = method.modulus is not None and method.modulus.recursion
        a = output.rows(model.activities(trace))
        error = room("error", *a.shape)
        variance = room("variance", *(a.shape if recursion else (0, 0)))
        if method is ADAM:
            terms = room("terms", *a.shape, dtype=self._precision)
            read: np.ndarray = a.astype(self._precision, copy=False)
            writing, total = gradient_terms(read, output.y, output.weight, params.w, terms)
            error[:] = terms
        else:
            writing, total = softmax.writing_statistics(a, output.y, output.weight, params.w)
            softmax.source_terms(a, output.y, output.weight, params.w, error, variance if recursion else None)
        accumulator = method.statistic.accumulator(self._layout)
        if not np.isfinite(total):
            sums = replace(accumulator.result(), start_gradient=np.zeros(starts), start_modulus=np.zeros(starts))
            return Found(-np.inf, output.predicted, writing, sums, born(model.activities(trace)))
        B, m = room("B", n, units), room("m", *((n, units) if method.modulus is not None else (0, 0)))
        start_gradient, start_modulus = np.zeros(starts), np.zeros(starts)
        cuts = np.searchsorted(output.places, np.arange(K + 1) * L).tolist()
        begun, after = chunk.first.sum(axis=1).tolist(), np.zeros((2, K, starts))
        for k in range(K):
            rows, part = slice(k * L, (k + 1) * L), slice(cuts[k], cuts[k + 1])
            B_start, m_start = np.zeros((begun[k], starts)), np.zeros((begun[k], starts))
            places = output.places[part] - np.int32(k * L)
            given = Evidence(chunk.read[k], chunk.first[k], places, error[part], variance[part])
            if recursion:
                of_B, of_m = Flow(after[0, k], B[rows], B_start), Flow(after[1, k], m[rows], m_start)
                model.backward_with_modulus(weights, trace[rows], given, of_B, of_m)
            else:
                model.backward(weights, trace[rows], given, after[0, k], B[rows], B_start)
            if method.modulus is not None:
                own_weight = None if chunk.weight is None else chunk.weight[k]
                method.modulus.fill(B[rows], own_weight, m[rows])
                method.modulus.fill(B_start, None if own_weight is None else own_weight[chunk.first[k]], m_start)
            if begun[k]:
                start_modulus += m_start.sum(axis=0)
                start_gradient += B_start.sum(axis=0)
        x = chunk.read.ravel()
        order = np.argsort(x, kind="stable").astype(np.int32)
        groups = np.concatenate([[0], np.cumsum(np.bincount(x, minlength=model.alphabet_size))])
        for job in accumulator.jobs(model.incoming(trace), B, m if method.modulus is not None else None, order, groups):
            job()
        sums = replace(accumulator.result(), start_gradient=start_gradient, start_modulus=start_modulus)
        return Found(total, output.predicted, writing, sums)


class BesidePass:
    """All streams side by side, in single precision: the gradient only."""

    def __init__(self, model: Model, beside: SideBySide, streams: int, params: Params) -> None:
        self.model, self.beside = model, beside
        self._space = Workspace()
        self.state: np.ndarray = np.tile(model.begin(params.V0).astype(beside.precision), (streams, 1))

    def __call__(self, params: Params, chunk: Chunk, noise: Noise, draw: int) -> Found:
        """Run over the next chunk, from the states on that the last one left."""
        parts = (chunk.read, chunk.x, chunk.first, chunk.mask)
        read, x, first, mask = (np.ascontiguousarray(part.T) for part in parts)
        drawn = noise.side_by_side(draw, x.shape, self.model.units, self._space)
        activities = self.beside.forward(params, read, first, self.state, drawn)
        weight = None if chunk.weight is None else chunk.weight.T.ravel()
        output = _Output(x.ravel(), mask.ravel(), weight)
        a = output.rows(activities)
        error = self._space.array("error", *a.shape, dtype=np.float32)
        writing, total = gradient_terms(a, output.y, output.weight, params.w, error)
        starts = np.zeros(self.model.state_size)
        if not np.isfinite(total):
            nothing = Statistics(np.zeros_like(params.theta), start_gradient=starts, start_modulus=starts)
            return Found(-np.inf, output.predicted, writing, nothing, born(activities))
        if len(output.y) != x.size:
            sparse, error = error, np.zeros(activities.shape, np.float32)
            error[output.places] = sparse
        gradient, start = self.beside.backward(params, read, first, error)
        return Found(total, output.predicted, writing, Statistics(gradient, start_gradient=start, start_modulus=starts))


class _Output:
    """Which rows are to be predicted, and what stands there."""

    def __init__(self, x: np.ndarray, mask: np.ndarray, weight: np.ndarray | None) -> None:
        self._all = bool(mask.all())
        self._mask = mask
        self.y = x if self._all else x[self.places]
        self.weight = np.ones(len(self.y)) if weight is None else weight if self._all else weight[self.places]
        self.predicted = float(self.weight.sum())

    @cached_property
    def places(self) -> np.ndarray:
        return np.flatnonzero(self._mask).astype(np.int32)

    def rows(self, activities: np.ndarray) -> np.ndarray:
        return activities if self._all else activities[self.places]


def born(activities: np.ndarray) -> NotFinite:
    """Where an activity, or with finite activities the output, was first not finite; times count within the chunk."""
    bad = np.argwhere(~np.isfinite(activities))
    if len(bad):
        return NotFinite("the activity", int(bad[0, 1]), int(bad[0, 0]))
    return NotFinite("the output", None, 0)
