"""What stands between trained networks and their prediction: start states, shares of the uniform, weights by entropy.

All are chosen on the validation data, each knowing the ones before it: a start state for each network, a share of the
uniform distribution in each, their weights, and a share in what comes of it. Shares come before weights as well, since
one network that thinks possible things impossible would spoil a geometric mean. Where nothing validates, the networks
keep their start states, several are mixed evenly, and shares are the least.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glnn.models import Params
from glnn.output import softmax, uniform
from glnn.output.uniform import best_share
from glnn.predictors.calibration import FEWEST_FOR_MIDDLE, EntropyWeights, equal_weights, mixed
from glnn.predictors.calibration_fit import HeldOut, fit_weights
from glnn.sequences import Encoded, TrainingData
from glnn.training.continuing import clearly_better
from glnn.training.corpus import prepare, stretch_length
from glnn.training.engine import Engine
from glnn.training.parallel import single_threaded_blas
from glnn.training.race import Run, Training
from glnn.training.short import beginning
from glnn.training.typical_start import automatic_start, typical_start

MOST_NUMBERS = 1 << 23
"""Probabilities kept at most, 8 bytes each; of more validation data, stretches from all over are taken."""
LEAST_OWN = 1e-3
"""Networks get a share of their own from here on."""
LATER = 0.95
"""By how much predictions are less sure than suits held-out data that stand at the end of what was given: what comes
later is less like the training data than what comes next, and being too sure costs more than being too careful."""
SURPRISES, IN_THOUGHT = 1.0, 100
"""So many surprises are thought to be among the symbols of such held-out data and so many more, though none was there.
It bounds what each of those costs that come later; should none come in as many symbols, it has cost a nat in all."""
WORTH_THE_RISK = 0.05
"""What part of the cost a weight for each must save, where a median is safer."""
_STRETCHES = 64
_MOST_READ = 200_000
_BITS = 1.0 / float(np.log(2.0))


@dataclass(frozen=True)
class Combination:
    """How networks predict together: a start state for each (None: as trained), their weights, the share."""

    starts: tuple[np.ndarray | None, ...]
    weights: EntropyWeights | None
    """None for one network as it is."""
    share: float
    shares: tuple[float, ...] = (0.0,)
    """Of the uniform distribution: in the prediction, and in each network before they are weighed."""
    bits: tuple[float, ...] = ()
    """Bits a symbol of validation data: of each network, of all mixed evenly, and as they are weighed; may be empty."""
    before: tuple[np.ndarray | None, ...] = ()
    """The start states of the networks as they were when they were chosen, before they went on over all data."""


def combine(training: Training, runs: Sequence[Run], calibrate: bool, start: str, share: float | None) -> Combination:
    """Choose everything for the runs that are kept; `share` is given, or None to choose it too.

    The weights are those of the networks that held out the end: they are as sure as one may be of what comes after the
    data. Networks that held out other parts, and come last, share them.
    """
    parts, limit = training.judged or training.split, training.most_read
    starts = tuple(_start_of(run, _best_of(run), run.own or parts, start, limit) for run in runs)
    # Weights and shares are chosen with networks that have not learned the validation data.
    finally_at = tuple(
        one if run.final is None else _start_of(run, run.chosen, run.own or parts, start, limit)
        for run, one in zip(runs, starts, strict=True)
    )
    least = 1.0 / (parts.train.codes.size + 2.0)
    weights = equal_weights(len(runs)) if len(runs) > 1 else None
    if parts.validation is None:
        shares = (least if share is None and weights is not None else 0.0,) * len(runs)
        return Combination(finally_at, weights, least if share is None else share, shares)
    at_end = [run for run in runs if run.own is None]
    which = _positions(parts, len(at_end))
    rows = np.stack([_rows(run, parts, one, which, limit) for run, one in zip(at_end, starts, strict=False)])
    codes = parts.validation.codes[which]
    inside = [_logs_inside(run, one) for run, one in zip(runs, starts, strict=True) if run.own is not None]
    shares = (0.0,) * len(runs)
    if share is None and (calibrate or weights is not None):
        all_logs = [*(_logs(one, codes) for one in rows), *inside]
        own = [best_share(one, len(parts.train.alphabet), least) for one in all_logs]
        # A weight under 1 would blow up a small share.
        shares = tuple(one if one >= LEAST_OWN else 0.0 for one in own)
        rows = np.stack([uniform.mixed(one, part) for one, part in zip(rows, shares, strict=False)])
    if len(at_end) > 1:
        weights = equal_weights(len(at_end))
    if calibrate:
        weights = _fitted(rows, codes, len(runs) >= FEWEST_FOR_MIDDLE and all(map(_in_batches, runs)))
        if parts.continues:
            weights = weights.at_most_even()
        if parts.held_out:
            weights = weights.times(LATER)
    plain = mixed(rows, equal_weights(len(at_end)))
    chosen = plain if weights is None or weights.members > len(at_end) else mixed(rows, weights)
    logs = [*(_logs(one, codes) for one in rows), *inside, _logs(plain, codes), _logs(chosen, codes)]
    if share is None:
        if parts.held_out:
            least = max(least, SURPRISES / (codes.size + IN_THOUGHT))
        share = best_share(logs[-1], len(parts.train.alphabet), least)
    if weights is not None and weights.members == len(at_end) < len(runs):
        weights = weights.shared_with(len(runs) - len(at_end))
    return Combination(finally_at, weights, share, shares, tuple(float(-_BITS * one.mean()) for one in logs), starts)


def _in_batches(run: Run) -> bool:
    return run.own is None and run.settings is not None and run.settings.training == "batch"


def _fitted(rows: np.ndarray, codes: np.ndarray, safely: bool) -> EntropyWeights:
    """The weights that suit the data best; `safely`, that of the median unless a weight for each is clearly better.

    Networks that were trained on all data at once foresee what they were trained and validated on, and yet one of them
    may lose count on another line, for good. The data don't tell which: the others outvote it.
    """
    weights = fit_weights(HeldOut.of(rows, codes))
    if not safely:
        return weights
    of_middle = fit_weights(HeldOut.of(mixed(rows, equal_weights(1))[np.newaxis], codes))
    each, middle = (_logs(mixed(rows, one), codes) for one in (weights, of_middle))
    better = clearly_better(each, middle) and each.sum() > (1.0 - WORTH_THE_RISK) * middle.sum()
    return weights if better else of_middle


def _logs(rows: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """log of the probabilities of the symbols that came."""
    given: np.ndarray = rows[np.arange(codes.size), codes]
    return np.log(np.maximum(given, 1e-300))


def _logs_inside(run: Run, start: np.ndarray | None) -> np.ndarray:
    """The same that a network gives to what it held out inside the data."""
    assert run.own is not None and run.own.validation is not None
    which = _positions(run.own, 1)
    return _logs(_rows(run, run.own, start, which), run.own.validation.codes[which])


def _best_of(run: Run) -> Params:
    assert run.progress is not None
    return run.progress.best


def _start_of(run: Run, params: Params, parts: TrainingData, start: str, limit: int | None) -> np.ndarray | None:
    if start == "trained":
        return None
    train = parts.train if limit is None else beginning(parts.train, limit)
    given = (run.model, params, train, parts.validation)
    return typical_start(*given) if start == "typical" else automatic_start(*given, parts.continues)


def _positions(parts: TrainingData, members: int) -> np.ndarray:
    """The predicted positions of the validation data; stretches from all over where all are too many."""
    assert parts.validation is not None
    which = np.flatnonzero(parts.validation.mask)
    most = max(MOST_NUMBERS // (members * len(parts.train.alphabet)), _STRETCHES)
    if which.size <= most:
        return which
    places = np.arange(which.size)
    length = which.size / _STRETCHES
    return which[places % length < most / _STRETCHES]


def _end_of(data: Encoded, limit: int | None) -> Encoded:
    """What the state at the end of the data follows from: very long data are forgotten by then."""
    most = _MOST_READ if limit is None else limit
    if data.codes.size <= most:
        return data
    begin = max(int(data.starts[-2]), data.codes.size - most)
    starts = np.array([0, data.codes.size - begin], np.int64)
    return Encoded(data.codes[begin:], starts, data.mask[begin:], data.alphabet)


def _rows(
    run: Run, parts: TrainingData, start: np.ndarray | None, which: np.ndarray, limit: int | None = None
) -> np.ndarray:
    """The network's distributions at such positions of the validation data."""
    assert parts.validation is not None
    model, params, data = run.model, _best_of(run), parts.validation
    first = data.first
    V0 = params.V0 if start is None else start
    weights, state = model.weights(params.theta), model.begin(V0)
    with single_threaded_blas():
        if parts.continues:
            corpus = prepare(_end_of(parts.train, limit), stretch_length(model.units))
            state, first[0] = Engine(model, corpus, memory=0).forward(params).state.copy(), False
        codes, rows, block = np.ascontiguousarray(data.codes, np.int32), [], 4096
        for begin in range(0, len(codes), block):
            x = codes[begin : begin + block]
            trace = np.empty((len(x), model.trace_width))
            model.forward(weights, V0, x, first[begin : begin + block], state, trace)
            here = which[(which >= begin) & (which < begin + block)] - begin
            if here.size:
                rows.append(softmax.distributions(np.ascontiguousarray(model.activities(trace)[here]), params.w))
    return np.concatenate(rows)
