"""Whether the data change over time: bits per event, as the model was trained and when it goes on learning.

Bits are averaged over stretches of equal length. A change is the cut k that explains most of the means' variance, t_k =
(m_after − m_before) / (s √(1/k + 1/(K − k))), s the standard deviation of means around their own side's; means of
stretches and not single events, since neighbours are alike. It is reported where |t| is above 5 and the level changes
by 3 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from glnn.predictors.prequential import bits_frozen, bits_learning, learns
from glnn.report.page_data import Change, Drift
from glnn.report.positions import Positions

_STRETCHES = 100
# With fewer events a stretch is mostly chance.
_LEAST = 8
_FEWEST_STRETCHES = 20
_LEAST_T, _LEAST_PART = 5.0, 0.03
# Learning takes about 20 µs per event, so a page is made in seconds.
_MOST_LEARNED = 50_000


def drift_of(model: Any, positions: Positions) -> Drift | None:
    """A model's bits over time on some data; None if there are too few."""
    mask, encoded, predictor = positions.mask, positions.encoded, model.predictor_
    if int(mask.sum()) < _LEAST * _FEWEST_STRETCHES:
        return None
    if getattr(model, "learning_", "frozen") == "online":
        own, learning = bits_frozen(predictor, encoded) + _names(positions, predictor), positions.bits
    else:
        own, learning = positions.bits, None
        if encoded.codes.size <= _MOST_LEARNED and learns(predictor):
            learning = bits_learning(predictor, encoded) + _names(positions, predictor)
    counts, ends, means = _averaged(own[mask])
    others = None if learning is None else _averaged(learning[mask])[2]
    return Drift(ends, counts, means, others, change_of(counts, means), "symbols")


def drift_of_stretches(stretches: Sequence[tuple[int, float]], learned: bool) -> Drift | None:
    """The course that `glnn follow` kept: (events, bits) of stretches of equal length, except the last."""
    if len(stretches) < _FEWEST_STRETCHES:
        return None
    counts, bits = np.array(stretches, float).T
    means = bits / counts
    ends, change = np.cumsum(counts).astype(np.int64), change_of(counts, means)
    return Drift(ends, counts, None if learned else means, means if learned else None, change, "events")


def change_of(counts: np.ndarray, means: np.ndarray) -> Change | None:
    """Where the bits changed most, if they did."""
    number = len(means)
    if number < _FEWEST_STRETCHES or not np.isfinite(means).all():
        return None
    best: tuple[float, int] | None = None
    for cut in range(3, number - 2):
        early, late = means[:cut], means[cut:]
        residual = ((early - early.mean()) ** 2).sum() + ((late - late.mean()) ** 2).sum()
        spread = np.sqrt(residual / (number - 2)) * np.sqrt(1.0 / cut + 1.0 / (number - cut))
        t = abs(late.mean() - early.mean()) / max(float(spread), 1e-12)
        if best is None or t > best[0]:
            best = float(t), cut
    assert best is not None
    t, cut = best
    weights = np.asarray(counts, float)
    before = float(np.average(means[:cut], weights=weights[:cut]))
    after = float(np.average(means[cut:], weights=weights[cut:]))
    if t < _LEAST_T or abs(after - before) < _LEAST_PART * max(before, 1e-12):
        return None
    return Change(int(weights[:cut].sum()), before, after)


def _names(positions: Positions, predictor: Any) -> np.ndarray:
    """What the names of symbols that the model does not know cost, after the escape."""
    names, escape = np.zeros(positions.bits.size), positions.alphabet.escape
    if escape is not None:
        unknown = positions.encoded.codes == escape
        names[unknown] = positions.bits[unknown] + np.log2(predictor.probability)
    return names


def _averaged(bits: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Events of each stretch, where each ends, and its bits per event."""
    stretches = min(_STRETCHES, bits.size // _LEAST)
    edges = np.linspace(0, bits.size, stretches + 1).astype(np.int64)
    counts = np.diff(edges)
    return counts, edges[1:], np.add.reduceat(bits, edges[:-1]) / counts
