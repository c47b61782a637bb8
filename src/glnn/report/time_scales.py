"""How many symbols a unit remembers, in two ways.

Alone: V_j^t changed by ε changes V_j^{t+1} by (leak + τ_jj(x_t) s'(V_j^t)) ε through the unit's own loop, so the change
lives for −1 / ⟨log |leak + τ_jj s'|⟩ symbols; before training a GLNN's units have 1/μ_j (the paper's Section "init").
Measured: the lag at which the correlation of a_j with itself has fallen to 1/e, whatever the cause.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

_SMALLEST = 1e-300


def derivative_of(activities: np.ndarray, activation: str) -> np.ndarray:
    """s'(V) from a = s(V)."""
    if activation == "tanh":
        return 1.0 - activities * activities
    if activation == "logistic":
        return activities * (1.0 - activities)
    if activation == "linear":
        return np.ones_like(activities)
    raise ValueError(f"activation is {activation!r}: tanh, logistic and linear are known")


def own_memory(loops: np.ndarray, codes: np.ndarray, derivative: np.ndarray, leak: float) -> np.ndarray:
    """Symbols for which each unit's loop alone keeps a change, (N,); infinite where changes do not die out.

    `loops` is (A, N), the loop of each unit for each symbol; `derivative` is s'(V), (T, N).
    """
    factors = np.abs(leak + loops[codes] * derivative)
    rate = np.log(np.maximum(factors, _SMALLEST)).mean(axis=0)
    memory = np.full(rate.size, np.inf)
    np.divide(-1.0, rate, out=memory, where=rate < 0.0)
    return memory


def correlation_time(activities: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """The lag at which each unit's autocorrelation falls to 1/e, (N,), interpolated; NaN for units that never move.

    Sequences are not continued into one another. A unit that stays correlated for as long as can be seen gets the
    longest lag considered, half of the longest sequence.
    """
    centred = activities - activities.mean(axis=0)
    still = np.ptp(activities, axis=0) <= 1e-9 * np.maximum(1.0, np.abs(activities).max(axis=0, initial=0.0))
    longest = max(int(np.diff(starts).max()) // 2, 1)
    total = np.zeros((longest + 1, activities.shape[1]))
    pairs = np.zeros(longest + 1)
    for begin, end in pairwise(np.unique(starts)):
        lags = min(longest + 1, int(end - begin))
        # Transforms of twice the length, so that the end does not run into the beginning.
        size = 1 << (2 * int(end - begin)).bit_length()
        spectrum = np.fft.rfft(centred[begin:end], size, axis=0)
        total[:lags] += np.fft.irfft(np.abs(spectrum) ** 2, size, axis=0)[:lags]
        pairs[:lags] += end - begin - np.arange(lags)
    covariance = total / np.maximum(pairs, 1.0)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = covariance / covariance[0]
    times = np.array([_crossing(column) for column in correlation.T])
    return np.where(still, np.nan, times)


def _crossing(correlation: np.ndarray) -> float:
    """Where a curve that begins at 1 first falls below 1/e, between two lags by a straight line."""
    below = np.flatnonzero(correlation < np.exp(-1.0))
    if not below.size:
        return float(correlation.size - 1)
    lag = int(below[0])
    before, after = correlation[lag - 1], correlation[lag]
    return lag - 1 + float((before - np.exp(-1.0)) / (before - after))
