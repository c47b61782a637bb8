"""A start state for a network that was trained on one long text: V⁰ as trained expects the very beginning of that text.

Asked about anything else it would be far off for hundreds of symbols. A typical start is a state like those in the
middle of the data: their mean, the mean after one of the frequent symbols, or one that was visited; whichever makes
short snippets of held-out data most likely.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from glnn.models import Model, Params
from glnn.sequences import Encoded
from glnn.training.corpus import prepare, stretch_length
from glnn.training.engine import Engine
from glnn.training.parallel import single_threaded_blas

MANY = 10
"""So many sequences have taught what beginnings are like, and V⁰ stays."""
SNIPPETS = 64
LENGTH = 48
"""How many snippets decide at most, and how long they are."""
# A start is forgotten if, so many symbols on, another costs less than so many nats and part of all more.
_SOON, _FAR, _NATS, _PART = 1000, 20_000, 7.0, 0.01
_VISITED = 400
_MOST_SYMBOLS = 200_000
_FREQUENT = 4
_SINGLE = 8
# By how many standard errors a candidate must be better than the mean.
_CERTAIN = 2.0
_TRAINED, _MEAN = 0, 1


def automatic_start(
    model: Model, params: Params, train: Encoded, held: Encoded | None, continues: bool
) -> np.ndarray | None:
    """A typical start where the data ask for one; None where V⁰ as trained should stay.

    It stays after many sequences, and where validation data of their own begin as the training data do. Held-out data
    that go on where the training data end (`continues`) say nothing about beginnings; V⁰ stays there in networks that
    never forget it, as those that count: what begins like the training data would cost more for ever.
    """
    if len(train) >= MANY:
        return None
    start = typical_start(model, params, train, held)
    if start is None:
        return None
    if held is None or continues:
        return start if _is_forgotten(model, params, start, train) else None
    # Over all of them: where something is counted, a wrong start is felt for thousands of symbols.
    trained, typical = (float(_by_sequence(model, params.replace(V0=V0), held).sum()) for V0 in (params.V0, start))
    return start if typical > trained else None


def typical_start(model: Model, params: Params, train: Encoded, held: Encoded | None) -> np.ndarray | None:
    """The start state under which snippets of `held` (or else of the training data) are most likely.

    The mean of all states, unless another is certainly better; None where V⁰ as trained is, or data are too few.
    """
    snippets = cut_snippets(train if held is None else held)
    if snippets is None:
        return None
    candidates = list(_candidates(model, params, train))
    values = np.array([_by_sequence(model, params.replace(V0=V0), snippets) for V0 in candidates])
    values = np.where(np.isfinite(values), values, -1e300)
    gains = values - values[_MEAN]
    errors = np.sqrt(gains.shape[1]) * gains.std(axis=1)
    gains = np.where(gains.sum(axis=1) > _CERTAIN * errors, gains.sum(axis=1), 0.0)
    best = int(np.argmax(gains)) if gains.max() > 0.0 else _MEAN
    return None if best == _TRAINED else candidates[best]


def _by_sequence(model: Model, params: Params, data: Encoded) -> np.ndarray:
    """log-likelihood of each sequence."""
    engine = Engine(model, prepare(data, stretch_length(model.units)), memory=0)
    with single_threaded_blas():
        values = engine.log_likelihoods(params)
    places = np.zeros(len(data.codes))
    places[data.mask] = values
    return np.add.reduceat(places, data.starts[:-1])


def cut_snippets(data: Encoded) -> Encoded | None:
    """Short sequences from all over the data; None where there is too little."""
    begins = [
        begin
        for first, end in itertools.pairwise(data.starts)
        for begin in range(int(first), int(end) - LENGTH + 1, LENGTH)
        if data.mask[begin : begin + LENGTH].any()
    ]
    if len(begins) < 2:
        return None
    chosen = [begins[k * len(begins) // SNIPPETS] for k in range(SNIPPETS)] if len(begins) > SNIPPETS else begins
    places = (np.array(chosen)[:, None] + np.arange(LENGTH)).ravel()
    starts = np.arange(len(chosen) + 1, dtype=data.starts.dtype) * LENGTH
    return Encoded(data.codes[places], starts, data.mask[places], data.alphabet)


def _is_forgotten(model: Model, params: Params, start: np.ndarray, data: Encoded) -> bool:
    """Whether data that begin as those trained on cost no more with another start, once it is some way back."""
    first = int(np.argmax(np.diff(data.starts)))
    begin, end = int(data.starts[first]), min(int(data.starts[first + 1]), int(data.starts[first]) + _FAR)
    mask = data.mask[begin:end].copy()
    mask[:_SOON] = False
    if not mask.any():
        return True
    far = Encoded(data.codes[begin:end], np.array([0, end - begin], data.starts.dtype), mask, data.alphabet)
    trained, other = (float(_by_sequence(model, params.replace(V0=V0), far).sum()) for V0 in (params.V0, start))
    return trained - other < _NATS - _PART * trained


def visited_states(model: Model, params: Params, data: Encoded) -> tuple[np.ndarray, np.ndarray]:
    """States after some of the symbols, (n, S), in the order of time, and the code of the symbol before each."""
    codes = np.ascontiguousarray(data.codes[:_MOST_SYMBOLS], np.int32)
    first = np.zeros(codes.size, bool)
    first[data.starts[:-1][data.starts[:-1] < codes.size]] = True
    # Unequal steps, or else a period in the data would show only some of its states.
    generator = np.random.default_rng(0)
    ends = np.unique(np.sort(generator.integers(1, codes.size + 1, _VISITED)))
    weights, state = model.weights(params.theta), model.begin(params.V0)
    states, begin = np.empty((ends.size, state.size)), 0
    for k, end in enumerate(ends):
        trace = np.empty((end - begin, model.trace_width))
        model.forward(weights, params.V0, codes[begin:end], first[begin:end], state, trace)
        states[k], begin = state, end
    return states, codes[ends - 1]


def _candidates(model: Model, params: Params, data: Encoded) -> Iterator[np.ndarray]:
    """Start states to choose among: V⁰ as trained, the mean, others."""
    yield params.V0
    states, before = visited_states(model, params, data)
    # What is learned by heart about the beginning is no typical state.
    states, before = states[states.shape[0] // 10 :], before[before.size // 10 :]
    mean = states.mean(axis=0)
    yield mean
    counts = np.bincount(before)
    for code in np.argsort(-counts)[:_FREQUENT]:
        if counts[code] > 1:
            yield states[before == code].mean(axis=0)
    spread = states.std(axis=0)
    distances = (((states - mean) / np.where(spread > 0.0, spread, 1.0)) ** 2).sum(axis=1)
    for k in np.argsort(distances, kind="stable")[:_SINGLE]:
        yield states[k].copy()
