"""Units that count: they ramp while one symbol is repeated, up during the a's of aⁿbⁿ and back during the b's.

A run is a maximal stretch of equal symbols. Within a run the activity is compared with a straight line; a unit ramps
strongly when lines explain it (r²) and span much of its range. Runs laid over one another, by their starts or by their
ends, show what a unit counts: where they fall on one curve, the activity shows how many symbols went by, or are left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

SHORTEST = 8
_LEAST_SHARE = 0.2
_MOST_COMPARED = 2_000
_MOST_RUNS = 10
_POINTS = 33
_MOST_SYMBOLS = 4


@dataclass(frozen=True, eq=False)
class Fold:
    """The runs of one symbol: how many of its symbols were read, `positions` (R, P), and what was shown then.

    Each array of `shown` is (R, P, N). The last position of run r is `lengths[r]`: the network has read the whole run
    and predicts what follows it.
    """

    code: int
    lengths: np.ndarray
    positions: np.ndarray
    shown: dict[str, np.ndarray]


def find_runs(codes: np.ndarray, starts: np.ndarray, shortest: int = SHORTEST) -> np.ndarray:
    """Begin, end and code of the runs of at least `shortest` symbols, (R, 3); runs end where sequences do.

    None where runs are an exception: a network does not count a row of dashes in a text.
    """
    if not codes.size:
        return np.zeros((0, 3), np.int64)
    new = np.ones(codes.size, bool)
    new[1:] = codes[1:] != codes[:-1]
    new[starts[:-1]] = True
    begins = np.flatnonzero(new)
    ends = np.append(begins[1:], codes.size)
    kept = ends - begins >= shortest
    runs = np.stack([begins[kept], ends[kept], codes[begins[kept]]], axis=1).astype(np.int64)
    if np.sum(runs[:, 1] - runs[:, 0]) < _LEAST_SHARE * codes.size:
        return runs[:0]
    return runs[:_MOST_COMPARED]


def ramp_strength(activities: np.ndarray, runs: np.ndarray) -> np.ndarray:
    """For each unit, between 0 and 1: r² of a line times the part of the unit's range it spans, over all runs."""
    units = activities.shape[1]
    # A jump between two runs is not part of the range that ramps are compared with.
    span = np.ptp(np.percentile(activities, [1.0, 99.0], axis=0), axis=0)
    moves = span > 1e-6
    strength, weight = np.zeros(units), 0.0
    for begin, end, _ in runs:
        a = activities[begin:end] - activities[begin:end].mean(axis=0)
        t = np.arange(end - begin) - (end - begin - 1) / 2.0
        slope = (t @ a) / (t @ t)
        variance = np.einsum("tj,tj->j", a, a)
        explained = np.divide(slope**2 * (t @ t), variance, out=np.zeros(units), where=variance > 1e-18)
        spanned = np.divide(np.abs(slope) * (end - begin), span, out=np.zeros(units), where=moves)
        strength += (end - begin) * explained * np.minimum(spanned, 1.0)
        weight += end - begin
    return strength / weight if weight else strength


def fold(shown: Mapping[str, np.ndarray], runs: np.ndarray, starts: np.ndarray) -> list[Fold]:
    """The symbols with most of the runs' length and at least two runs, each run at evenly spaced positions.

    A run that ends with its sequence is left out: the state after it was not traced.
    """
    runs = runs[~np.isin(runs[:, 1], starts)]
    total = np.bincount(runs[:, 2], weights=runs[:, 1] - runs[:, 0])
    by_code = {int(code): total[code] for code in np.unique(runs[:, 2])}
    folds = []
    for code in sorted(by_code, key=lambda code: -by_code[code])[:_MOST_SYMBOLS]:
        chosen = runs[runs[:, 2] == code][:_MOST_RUNS]
        if len(chosen) < 2:
            continue
        positions = np.stack([np.linspace(0, end - begin, _POINTS).round() for begin, end, _ in chosen])
        at = (positions + chosen[:, :1]).astype(np.int64)
        lengths = chosen[:, 1] - chosen[:, 0]
        folds.append(Fold(code, lengths, positions.astype(np.int64), {name: a[at] for name, a in shown.items()}))
    return sorted(folds, key=lambda found: found.code)
