"""Gated networks that read vectors, V_j^{t+1} = leak · V_j^t + Σ_i a_i^t Σ_k x_t^k τ_ijk  (Section 1.2.2, GNN).

The components of x_t weigh K transition matrices; one-hot vectors are symbols. The coefficients Σ_k x_t^k τ_ijk of
every time are formed in blocks, and the recurrences then see a network in which each time has a matrix of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from glnn.models.base import (
    Activation,
    DenseWeights,
    Evidence,
    Flow,
    LinearRecurrence,
    Params,
    Signals,
    SparseWeights,
    initial_writing_weights,
)
from glnn.models.glnn import GLNN
from glnn.network import Graph

_BLOCK_ELEMENTS = 1 << 18


class VectorGated(LinearRecurrence):
    """What GNN and GLNN share when they read vectors of K components.

    θ is flat in the order (unit, component, signal), each unit's constant first. The trace holds the activities and
    behind them the vectors, since both make the incoming signals x^k a_i.
    """

    def __init__(self, graph: Graph, alphabet_size: int, components: int, activation: Activation = "tanh") -> None:
        super().__init__(graph, alphabet_size, activation)
        if components < 1:
            raise ValueError(f"components is {components}: a vector has at least 1")
        self.components = components
        self.trace_width = graph.units + components
        self.signals = Signals(self.ptr, self.rows, "vector")
        self.group = np.arange(max(1, _BLOCK_ELEMENTS // (graph.edges + 1)))
        # Row k of `_flat` says where the parameters of component k stand, in the order of a symbol's in `Gated`.
        sizes = np.diff(self.ptr)
        within = np.arange(self.ptr[-1]) - np.repeat(self.ptr[:-1], sizes)
        begin = np.repeat(self.ptr[:-1] * components, sizes)
        self._flat = begin + within + np.arange(components)[:, None] * np.repeat(sizes, sizes)

    def split(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Edge weights τ_ijk as (K, edges) and biases τ_0jk as (K, N)."""
        tau = theta[self._flat]
        return np.ascontiguousarray(tau[:, self.edge_positions]), np.ascontiguousarray(tau[:, self.constants])

    def join(self, tau: np.ndarray, bias: np.ndarray) -> np.ndarray:
        """The inverse of `split`."""
        both = np.empty((self.components, self.ptr[-1]))
        both[:, self.edge_positions] = tau
        both[:, self.constants] = bias
        theta = np.empty(both.size)
        theta[self._flat] = both
        return theta

    def theta_to_logistic(self, theta: np.ndarray) -> np.ndarray:
        """Edges times 4, biases 2 τ_0 − 2 Σ_i τ_i, for each component."""
        tau, bias = self.split(theta)
        return self.join(4.0 * tau, 2.0 * (bias - self._sum_over_edges(tau)))

    @property
    def dense(self) -> bool:
        """Never: a full matrix for every time would be mostly zeros to fill."""
        return False

    def weights(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[override]
        """τ_ijk and τ_0jk, to be mixed at every time."""
        return self.split(theta)

    def forward(
        self,
        weights: tuple[np.ndarray, np.ndarray],  # type: ignore[override]
        V0: np.ndarray,
        x: np.ndarray,
        first: np.ndarray,
        state: np.ndarray,
        trace: np.ndarray,
    ) -> None:
        """As for symbols, with x the vectors (S, K); the trace keeps them behind the activities."""
        if x.shape[1:] != (self.components,):
            raise ValueError(f"the model reads vectors of {self.components} components: given were {x.shape[1:]}")
        trace[:, self.units :] = x
        for block, own in self._blocks(len(x)):
            activities = np.empty((len(own), self.units))
            super().forward(self._mixed(weights, x[block]), V0, own, first[block], state, activities)
            trace[block, : self.units] = activities

    def activities(self, trace: np.ndarray) -> np.ndarray:
        """The activities without the vectors."""
        return trace[:, : self.units]

    def backward(
        self,
        weights: tuple[np.ndarray, np.ndarray],  # type: ignore[override]
        trace: np.ndarray,
        given: Evidence,
        carry: np.ndarray,
        out: np.ndarray,
        start: np.ndarray,
    ) -> None:
        """B^{t+1} for every position of a stretch."""
        for block, part, starts, mixed in self._backwards(weights, given):
            activities = np.ascontiguousarray(trace[block, : self.units])
            super().backward(mixed, activities, part, carry, out[block], start[starts])

    def backward_with_modulus(
        self,
        weights: tuple[np.ndarray, np.ndarray],  # type: ignore[override]
        trace: np.ndarray,
        given: Evidence,
        B: Flow,
        m: Flow,
    ) -> None:
        """B and m̃ for every position: (∂V_j^{t+1}/∂V_i^t)² with the coefficients mixed first, then squared."""
        for block, part, starts, mixed in self._backwards(weights, given):
            activities = np.ascontiguousarray(trace[block, : self.units])
            flows = [Flow(flow.carry, flow.out[block], flow.start[starts]) for flow in (B, m)]
            super().backward_with_modulus(mixed, activities, part, *flows)

    def _mixed(self, weights: tuple[np.ndarray, np.ndarray], x: np.ndarray) -> DenseWeights | SparseWeights:
        """Σ_k x_t^k τ_ijk at every time, in the place of the matrix of every symbol."""
        tau, bias = weights
        return self.arrange(x @ tau, x @ bias)

    def _blocks(self, length: int) -> Iterator[tuple[slice, np.ndarray]]:
        size = len(self.group)
        for begin in range(0, length, size):
            end = min(begin + size, length)
            # Inside a block, the time itself is the symbol that chooses the matrix.
            yield slice(begin, end), np.arange(end - begin, dtype=np.int32)

    def _backwards(
        self, weights: tuple[np.ndarray, np.ndarray], given: Evidence
    ) -> Iterator[tuple[slice, Evidence, slice, DenseWeights | SparseWeights]]:
        """The blocks from the last to the first: evidence, sequences that begin, coefficients at every time."""
        begun = np.concatenate([[0], np.cumsum(given.first)])
        with_variance = len(given.variance) > 0
        for block, own in reversed(list(self._blocks(len(given.x)))):
            rows = slice(*np.searchsorted(given.predicted, (block.start, block.stop)))
            part = Evidence(
                own,
                given.first[block],
                given.predicted[rows] - np.int32(block.start),
                given.error[rows],
                given.variance[rows] if with_variance else given.variance,
            )
            yield block, part, slice(begun[block.start], begun[block.stop]), self._mixed(weights, given.x[block])

    def _steady(self, inputs: np.ndarray) -> np.ndarray:
        """Coefficients c with Σ_k c_k x_t^k as near 1 as can be over the data: all 1 for one-hot vectors.

        A weight that is to act at every time, such as the feedback −α of a GLNN, begins as −α c_k.
        """
        return np.linalg.lstsq(inputs, np.ones(len(inputs)), rcond=None)[0]

    def _reading(self, inputs: np.ndarray, steady: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """Random reactions to the components, (K, N), whose mean over the data is 0."""
        mean = inputs.mean(axis=0)
        u = generator.random((self.units, self.components))
        level = float(mean @ steady)
        return (u - np.outer(u @ mean, steady / level if level else steady)).T


class VectorGNN(VectorGated):
    """No leak and one transition matrix per component."""

    name = "vector gnn"
    leak = 0.0

    def initial(self, predicted_counts: np.ndarray, inputs: np.ndarray, generator: np.random.Generator) -> Params:
        """As the GNN, from how often each symbol is to be predicted and the vectors (T, K) that are read."""
        steady = self._steady(inputs)
        tau = np.zeros((self.components, self.graph.edges))
        tau[:, self.loops] = np.outer(steady, 1.0 - 1.0 / np.arange(1.0, self.units + 1))
        bias = 0.5 * self._reading(inputs, steady, generator)
        w = initial_writing_weights(self.units, predicted_counts)
        return self.from_tanh(Params(w, self.join(tau, bias), np.zeros(self.units)))


class VectorGLNN(VectorGated):
    """Leak 1 and one transition matrix per component; `alpha` and `time_scales` as in `GLNN`."""

    name = "vector glnn"
    leak = 1.0

    def __init__(
        self,
        graph: Graph,
        alphabet_size: int,
        components: int,
        activation: Activation = "tanh",
        alpha: float = 0.5,
        time_scales: np.ndarray | None = None,
    ) -> None:
        super().__init__(graph, alphabet_size, components, activation)
        symbolic = GLNN(graph, alphabet_size, activation, alpha, time_scales)
        self.alpha, self.time_scales = symbolic.alpha, symbolic.time_scales

    def initial(self, predicted_counts: np.ndarray, inputs: np.ndarray, generator: np.random.Generator) -> Params:
        """As the GLNN, from how often each symbol is to be predicted and the vectors (T, K) that are read."""
        steady = self._steady(inputs)
        beta = -np.sqrt(self.alpha * (self.alpha - self.time_scales))
        tau = np.zeros((self.components, self.graph.edges))
        tau[:, self.loops] = -self.alpha * steady[:, None]
        bias = np.outer(steady, beta) + self.time_scales / 4.0 * self._reading(inputs, steady, generator)
        w = initial_writing_weights(self.units, predicted_counts)
        return self.from_tanh(Params(w, self.join(tau, bias), np.arctanh(beta / self.alpha)))
