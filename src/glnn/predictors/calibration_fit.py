"""The weights by entropy that make held-out data most likely: concave, so by Newton's method.

With z_y = Σ_k w_k(h) log p_k(y) and p = softmax z, the log-likelihood of x has in w_k the gradient
log p_k(x) − E_p log p_k and the Hessian −Cov_p(log p_k, log p_l). A prior holds every weight near 1 / K and
neighbouring nodes together; how firmly is chosen by predicting one half of the data with what the other half taught,
and few data decide little.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glnn.numeric.elementary import exp
from glnn.numeric.kernel import CONTRACT, kernel
from glnn.predictors.calibration import EntropyWeights, equal_weights, mean_entropy, take_logs

Strength = tuple[float, float]

NODES = 12
"""So many values of h at most."""
STRENGTHS = ((2000.0, 200_000.0), (200.0, 20_000.0), (20.0, 2000.0), (2.0, 200.0), (1.0, 10.0))
"""Precision of the prior around 1 / K, and between neighbouring nodes, in nats² of variance; the firmest first."""
FEWEST = 64
"""Fewer positions decide nothing."""
# A strength times the number of positions: with less, a lucky hundred would move the weights far.
_FIRM = 1000.0
# By how many standard errors a gain must show to be believed, over blocks of the data.
_CERTAIN = 1.5
_BLOCKS = 16
# Newton's method ends when a step promises less, in nats.
_CLOSE = 1e-4


@dataclass(frozen=True)
class HeldOut:
    """What the members say on data they were not trained on: logs (T, K, A), the symbols x_t, the entropies h_t."""

    logs: np.ndarray
    codes: np.ndarray
    entropies: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray, codes: np.ndarray) -> HeldOut:
        """From distributions rows[k, t] of the members, (K, T, A), and the codes that came."""
        K, T, A = rows.shape
        if codes.shape != (T,):
            raise ValueError(f"{codes.shape} codes for {T} rows: expected one for each")
        logs, entropies = np.empty((T, K, A)), np.empty(T)
        _prepare(np.ascontiguousarray(rows, np.float64), logs, entropies)
        return cls(logs, np.ascontiguousarray(codes, np.int64), entropies)

    @property
    def members(self) -> int:
        """How many members there are."""
        return int(self.logs.shape[1])


def fit_weights(held: HeldOut) -> EntropyWeights:
    """The most likely weights under the prior; equal ones where nothing better is certain."""
    plain = equal_weights(held.members)
    if held.codes.size < FEWEST:
        return plain
    problem = Problem(held, entropy_nodes(held.entropies))
    strength = _best_strength(problem)
    if strength is None:
        return plain
    every = np.arange(held.codes.size)
    return EntropyWeights(problem.nodes, problem.maximise(every, strength, problem.start))


def entropy_nodes(entropies: np.ndarray) -> np.ndarray:
    """Nodes so that each stretch between two has as many positions, and those weighed by entropy as well.

    Where most predictions are certain, plain quantiles would leave all others to the last two nodes.
    """
    ordered = np.sort(entropies)
    mass = np.cumsum(1.0 / ordered.size + ordered / max(float(ordered.sum()), 1e-300))
    places = np.searchsorted(mass, np.linspace(0.0, mass[-1], NODES)[1:-1])
    ends = ordered[[round(0.01 * (ordered.size - 1)), round(0.99 * (ordered.size - 1))]]
    nodes = np.unique(np.concatenate([ends, ordered[np.minimum(places, ordered.size - 1)]]))
    nodes = nodes[(nodes >= ends[0]) & (nodes <= ends[1])]
    # Nodes that all but meet would divide by nothing.
    kept = [float(nodes[0])]
    for node in nodes[1:]:
        if node - kept[-1] > 1e-3 * max(float(ends[1]), 1e-6):
            kept.append(float(node))
    return np.array(kept)


class Problem:
    """Weights at given nodes for given held-out data."""

    def __init__(self, held: HeldOut, nodes: np.ndarray) -> None:
        self.held, self.nodes = held, nodes
        last = nodes.size - 1
        self._below = np.clip(np.searchsorted(nodes, held.entropies, side="right") - 1, 0, last)
        above = np.minimum(self._below + 1, last)
        gap = np.where(above > self._below, nodes[above] - nodes[self._below], 1.0)
        self._part = np.clip((held.entropies - nodes[self._below]) / gap, 0.0, 1.0) * (above > self._below)

    @property
    def start(self) -> np.ndarray:
        """Equal weights at every node."""
        return np.full((self.nodes.size, self.held.members), 1.0 / self.held.members)

    def likelihood(self, which: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """log-likelihood of the positions `which`, its gradient (B, K) and minus its Hessian (B K, B K)."""
        B, K = weights.shape
        gradient, curvature = np.zeros((B, K)), np.zeros((B, K, B, K))
        values = np.empty(which.size)
        arrays = (self.held.logs, self.held.codes, self._below, self._part)
        _likelihood(*arrays, np.ascontiguousarray(which), weights, values, gradient, curvature)
        return float(values.sum()), gradient, curvature.reshape(B * K, B * K)

    def values(self, which: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """log-likelihood of each of the positions `which`."""
        values = np.empty(which.size)
        arrays = (self.held.logs, self.held.codes, self._below, self._part)
        none = np.empty((0, 0)), np.empty((0, 0, 0, 0))
        _likelihood(*arrays, np.ascontiguousarray(which), weights, values, *none)
        return values

    def prior(self, strength: Strength) -> np.ndarray:
        """The precision of the prior, (B K, B K)."""
        alone, together = strength
        B, K = self.start.shape
        differences = np.diff(np.eye(B), axis=0)
        nodes = alone * np.eye(B) + together * differences.T @ differences
        return np.kron(nodes, np.eye(K))

    def maximise(self, which: np.ndarray, strength: Strength, weights: np.ndarray) -> np.ndarray:
        """The weights of the greatest likelihood times prior, from `weights` on."""
        prior, shape = self.prior(strength), weights.shape

        def penalty(given: np.ndarray) -> float:
            off = (given - self.start).ravel()
            return 0.5 * float(off @ prior @ off)

        value, gradient, curvature = self.likelihood(which, weights)
        value -= penalty(weights)
        for _ in range(30):
            slope = gradient.ravel() - prior @ (weights - self.start).ravel()
            step = np.linalg.solve(curvature + prior, slope)
            if float(slope @ step) < _CLOSE:
                break
            length = 1.0
            while length > 1e-6:
                trial = weights + length * step.reshape(shape)
                after, gradient_after, curvature_after = self.likelihood(which, trial)
                after -= penalty(trial)
                if after > value:
                    break
                length *= 0.5
            else:
                break
            weights, value, gradient, curvature = trial, after, gradient_after, curvature_after
        return weights


def _best_strength(problem: Problem) -> Strength | None:
    """The prior under which each half of the data predicts the other best; None where equal weights do as well."""
    T = problem.held.codes.size
    block = np.arange(T) * _BLOCKS // T
    halves = [np.flatnonzero(block % 2 == half) for half in (0, 1)]
    plain = np.concatenate([problem.values(half, problem.start) for half in halves])
    blocks = np.concatenate([block[half] for half in halves])
    starts, gains = [problem.start, problem.start], []
    for strength in STRENGTHS:
        if strength[0] * T < _FIRM:
            break
        starts = [problem.maximise(half, strength, start) for half, start in zip(halves, starts, strict=True)]
        values = [problem.values(half, other) for half, other in zip(halves, starts[::-1], strict=True)]
        gains.append(np.bincount(blocks, np.concatenate(values) - plain, minlength=_BLOCKS))
        if len(gains) > 1 and gains[-1].sum() < gains[-2].sum():
            break
    best = max(gains, key=np.sum)
    if not _certain(best, _CERTAIN):
        return None
    # The firmest that is not certainly worse: the best of several is a little lucky.
    return next(strength for strength, gain in zip(STRENGTHS, gains, strict=False) if not _certain(best - gain, 1.0))


def _certain(gains: np.ndarray, errors: float) -> bool:
    """Whether blocks gain in sum more than this many times what they differ by chance."""
    return bool(gains.sum() > errors * np.sqrt(gains.size) * gains.std())


@kernel()
def _prepare(rows: np.ndarray, logs: np.ndarray, entropies: np.ndarray) -> None:
    """Logarithms, position after position, and the entropy that the prediction will take its weights by."""
    K, T, A = rows.shape
    room = np.empty(A)
    for t in range(T):
        for k in range(K):
            take_logs(rows[k, t], logs[t, k])
        entropies[t] = mean_entropy(logs[t], room)


@kernel(CONTRACT)
def _likelihood(
    logs: np.ndarray,
    codes: np.ndarray,
    below: np.ndarray,
    part: np.ndarray,
    which: np.ndarray,
    weights: np.ndarray,
    values: np.ndarray,
    gradient: np.ndarray,
    curvature: np.ndarray,
) -> None:
    """log p(x_t) of each position; sums of the gradient and of minus the Hessian, unless these are empty."""
    B, K = weights.shape
    A = logs.shape[2]
    p, w, mean, covariance = np.empty(A), np.empty(K), np.empty(K), np.empty((K, K))
    for n in range(which.size):
        t = which[n]
        low, f = below[t], part[t]
        high = min(low + 1, B - 1)
        for y in range(A):
            p[y] = 0.0
        for k in range(K):
            w[k] = weights[low, k] + f * (weights[high, k] - weights[low, k])
            for y in range(A):
                p[y] += w[k] * logs[t, k, y]
        top = p[0]
        for y in range(1, A):
            top = max(top, p[y])
        x_value = p[codes[t]] - top
        total = 0.0
        for y in range(A):
            p[y] = exp(p[y] - top)
            total += p[y]
        values[n] = x_value - np.log(total)
        if gradient.size == 0:
            continue
        for y in range(A):
            p[y] /= total
        for k in range(K):
            mean[k] = 0.0
            for y in range(A):
                mean[k] += p[y] * logs[t, k, y]
        for k in range(K):
            for other in range(k + 1):
                sum_of = 0.0
                for y in range(A):
                    sum_of += p[y] * (logs[t, k, y] - mean[k]) * (logs[t, other, y] - mean[other])
                covariance[k, other] = covariance[other, k] = sum_of
        for k in range(K):
            g = logs[t, k, codes[t]] - mean[k]
            gradient[low, k] += (1.0 - f) * g
            gradient[high, k] += f * g
            for other in range(K):
                c = covariance[k, other]
                curvature[low, k, low, other] += (1.0 - f) * (1.0 - f) * c
                curvature[high, k, high, other] += f * f * c
                curvature[low, k, high, other] += (1.0 - f) * f * c
                curvature[high, k, low, other] += f * (1.0 - f) * c
