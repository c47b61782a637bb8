"""One prediction made of one or several, by how sure they are: p(y) ∝ exp Σ_k w_k(h) log p_k(y).

h is the entropy of the plain geometric mean, which for one predictor is its own entropy, and w_k(h) runs straight
between the values at a few nodes. One predictor with w(h) = β(h) is calibration: β under 1 undoes what was learned by
heart about the unpredictable. One weight for several predictors is that of their middle, p(y) ∝ exp β(h) med_k log
p_k(y): where some of them may be sure and wrong, a mean would listen to them, and a median does not. float64, fixed
order, no libm: the same bits on every machine, as compression needs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glnn.numeric.kernel import kernel
from glnn.numeric.portable import exp, log

# A logarithm below this only says that nobody believed in the symbol; a negative weight must not blow it up.
LEAST_LOG = -50.0
FEWEST_FOR_MIDDLE = 3
"""Of two there is none but the mean."""


@dataclass(frozen=True)
class EntropyWeights:
    """w_k(h): `weights[b, k]` at the entropy `nodes[b]` (nats, rising), straight between nodes, constant outside."""

    nodes: np.ndarray
    weights: np.ndarray

    def __post_init__(self) -> None:
        nodes = np.ascontiguousarray(self.nodes, np.float64)
        weights = np.ascontiguousarray(self.weights, np.float64)
        if nodes.ndim != 1 or nodes.size < 1 or weights.ndim != 2 or weights.shape[0] != nodes.size:
            raise ValueError(f"{nodes.shape} nodes and {weights.shape} weights: expected (B,) and (B, members), B ≥ 1")
        if weights.shape[1] < 1 or not np.isfinite(weights).all():
            raise ValueError("the weights must be finite, of one member at least")
        if not np.isfinite(nodes).all() or (np.diff(nodes) <= 0.0).any():
            raise ValueError("the nodes must be finite and rise")
        object.__setattr__(self, "nodes", nodes)
        object.__setattr__(self, "weights", weights)

    @property
    def members(self) -> int:
        """How many predictors they weigh."""
        return int(self.weights.shape[1])

    def suit(self, members: int) -> bool:
        """Whether they can mix this many predictors; a single weight is for the median of three or more."""
        return self.members == members or (self.members == 1 and members >= FEWEST_FOR_MIDDLE)

    def times(self, factor: float) -> EntropyWeights:
        """The same with all weights this many times as large: less than 1 is less sure."""
        return EntropyWeights(self.nodes, factor * self.weights)

    def shared_with(self, others: int) -> EntropyWeights:
        """The same sums for so many members more, each of which weighs what one does on average."""
        known, every = self.members, self.members + others
        more = np.repeat(self.weights.mean(axis=1, keepdims=True), others, axis=1)
        return EntropyWeights(self.nodes, np.concatenate([self.weights, more], axis=1) * (known / every))

    def at_most_even(self) -> EntropyWeights:
        """The same with sums of 1 at most: never surer than the members themselves."""
        sums = self.weights.sum(axis=1, keepdims=True)
        return EntropyWeights(self.nodes, self.weights / np.maximum(sums, 1.0))

    def at(self, entropies: np.ndarray) -> np.ndarray:
        """The weights at such entropies, a row for each."""
        columns = [np.interp(entropies, self.nodes, column) for column in self.weights.T]
        return np.stack(columns, axis=-1)


def equal_weights(members: int) -> EntropyWeights:
    """The plain geometric mean; one member alone stays as it is."""
    return EntropyWeights(np.zeros(1), np.full((1, members), 1.0 / members))


def mixed(rows: np.ndarray, weights: EntropyWeights) -> np.ndarray:
    """The distributions made of `rows[k, t]`, those of member k: (K, T, A) becomes (T, A)."""
    if rows.ndim != 3 or not rows.shape[0] or not weights.suit(rows.shape[0]):
        raise ValueError(f"rows of shape {rows.shape} for {weights.members} members: expected (members, T, A)")
    out = np.empty(rows.shape[1:])
    mix_rows(np.ascontiguousarray(rows, np.float64), weights.nodes, weights.weights, out)
    return out


@kernel()
def mix_rows(rows: np.ndarray, nodes: np.ndarray, weights: np.ndarray, out: np.ndarray) -> None:
    """Row after row of `out`."""
    K, T, A = rows.shape
    logs, w = np.empty((K, A)), np.empty(K)
    for t in range(T):
        for k in range(K):
            take_logs(rows[k, t], logs[k])
        mix(logs, nodes, weights, w, out[t])
        total = 0.0
        for y in range(A):
            total += out[t, y]
        for y in range(A):
            out[t, y] /= total


@kernel()
def take_logs(p: np.ndarray, logs: np.ndarray) -> None:
    """log p_y, from LEAST_LOG on."""
    for y in range(p.size):
        logs[y] = max(log(p[y]), LEAST_LOG)


@kernel()
def mix(logs: np.ndarray, nodes: np.ndarray, weights: np.ndarray, w: np.ndarray, p: np.ndarray) -> None:
    """p_y ∝ exp Σ_k w_k(h) logs[k, y], the largest being 1; `w` is room for K numbers. One weight is for the middle."""
    if weights.shape[1] < logs.shape[0]:
        take_middle(logs, w)
        logs = logs[:1]
    entropy_weights(mean_entropy(logs, p), nodes, weights, w)
    K, A = logs.shape
    w_0, logs_0 = w[0], logs[0]
    for y in range(A):
        p[y] = w_0 * logs_0[y]
    for k in range(1, K):
        w_k, logs_k = w[k], logs[k]
        for y in range(A):
            p[y] += w_k * logs_k[y]
    top = largest(p)
    for y in range(A):
        p[y] = exp(p[y] - top)


@kernel()
def take_middle(logs: np.ndarray, room: np.ndarray) -> None:
    """The median over members of each symbol's logarithm, written over those of the first one."""
    K, A = logs.shape
    for y in range(A):
        for k in range(K):
            value, place = logs[k, y], k
            while place > 0 and room[place - 1] > value:
                room[place] = room[place - 1]
                place -= 1
            room[place] = value
        logs[0, y] = 0.5 * (room[(K - 1) // 2] + room[K // 2])


@kernel()
def mean_entropy(logs: np.ndarray, p: np.ndarray) -> float:
    """h = log Z − Σ_y z_y e^{z_y} / Z, with z the mean of the members' logs, less its largest; `p` is room for z."""
    K, A = logs.shape
    share, logs_0 = 1.0 / K, logs[0]
    for y in range(A):
        p[y] = share * logs_0[y]
    for k in range(1, K):
        logs_k = logs[k]
        for y in range(A):
            p[y] += share * logs_k[y]
    top = largest(p)
    total, first = 0.0, 0.0
    for y in range(A):
        z = p[y] - top
        e = exp(z)
        total += e
        first += z * e
    # Rounding may leave a certain prediction a little under 0.
    return max(log(total) - first / total, 0.0)


@kernel()
def entropy_weights(h: float, nodes: np.ndarray, weights: np.ndarray, w: np.ndarray) -> None:
    """w_k(h)."""
    B, K = weights.shape
    if h <= nodes[0]:
        for k in range(K):
            w[k] = weights[0, k]
        return
    if h >= nodes[B - 1]:
        for k in range(K):
            w[k] = weights[B - 1, k]
        return
    b = 0
    while nodes[b + 1] < h:
        b += 1
    part = (h - nodes[b]) / (nodes[b + 1] - nodes[b])
    for k in range(K):
        w[k] = weights[b, k] + part * (weights[b + 1, k] - weights[b, k])


@kernel()
def largest(p: np.ndarray) -> float:
    """The maximum."""
    top = p[0]
    for y in range(1, p.size):
        top = p[y] if p[y] > top else top
    return top
