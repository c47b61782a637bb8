"""What RNN, GNN and GLNN share: V_j^{t+1} = leak · V_j^t + bias_{j x_t} + Σ_i τ_ij(x_t) s(V_i^t).

They differ in the leak, in how the parameters become matrices, and in where they begin. Weights are used as matrices
where the graph is dense enough, else on its edges.
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from glnn.models import recurrence, recurrence_both
from glnn.models.base import NO_NOISE, Evidence, Flow, Model, Params, Signals
from glnn.models.eights import in_eights
from glnn.models.gated_side_by_side import GatedSideBySide
from glnn.models.stepping import Stepper
from glnn.models.stepping_linear import LinearStepper
from glnn.network import Graph
from glnn.numeric.lanes import LANES
from glnn.numeric.scratch import aligned

Activation = Literal["tanh", "logistic", "linear"]

# Measured: a place of a dense matrix costs this many times less than an edge of the sparse one.
DENSE_ADVANTAGE = 4.5
DENSE_BYTES = 1 << 28


class DenseWeights(NamedTuple):
    """Transition weights as matrices: forward, transposed, transposed without loops; loops and biases."""

    D: np.ndarray
    transposed: np.ndarray
    between: np.ndarray
    diagonal: np.ndarray
    bias: np.ndarray


class SparseWeights:
    """Transition weights in eights, each form made when it is first wanted: a rejected step never walks back."""

    def __init__(self, model: LinearRecurrence, tau: np.ndarray, bias: np.ndarray) -> None:
        self._model, self._tau, self.bias = model, tau, bias

    @cached_property
    def into(self) -> np.ndarray:
        """On the edges into units."""
        return self._model.into.arranged(self._tau)

    @cached_property
    def out_of(self) -> np.ndarray:
        """On the edges out of units."""
        return self._model.out_of.arranged(self._tau[:, self._model.by_source])

    @cached_property
    def between(self) -> np.ndarray:
        """On the edges out of units, without loops."""
        return self._model.between.arranged(self._tau[:, self._model.by_source])

    @cached_property
    def diagonal(self) -> np.ndarray:
        """On the loops."""
        return np.ascontiguousarray(self._tau[:, self._model.loops])


class LinearRecurrence(Model):
    """What RNN, GNN and GLNN share: V_j^{t+1} = leak · V_j^t + bias_{j x_t} + Σ_i τ_ij(x_t) s(V_i^t)."""

    name: str
    leak: float
    signals: Signals
    group: np.ndarray
    """The matrix that each symbol uses: its own in gated networks, the only one in the RNN."""

    def __init__(self, graph: Graph, alphabet_size: int, activation: Activation = "tanh") -> None:
        if activation not in recurrence.ACTIVATIONS:
            choices = ", ".join(recurrence.ACTIVATIONS)
            raise ValueError(f"activation is {activation!r}: it must be one of {choices}")
        self.graph = graph
        self.units = self.trace_width = self.state_size = self.inner_units = graph.units
        self.alphabet_size = alphabet_size
        self.activation = activation
        self.activation_code = recurrence.ACTIVATIONS[activation]
        # Where, among a unit's signals, the constant and the edges stand.
        self.ptr = graph.in_ptr + np.arange(graph.units + 1)
        self.constants = self.ptr[:-1]
        self.edge_positions = np.arange(graph.edges) + graph.edge_targets + 1
        self.rows = np.zeros(self.ptr[-1], np.int64)
        self.rows[self.edge_positions] = graph.sources + 1
        self._edge_targets = graph.edge_targets
        self.loops = np.flatnonzero(graph.sources == self._edge_targets)
        self.by_source = np.lexsort((self._edge_targets, graph.sources))
        self.loops_by_source = np.flatnonzero((graph.sources == self._edge_targets)[self.by_source])
        self.into = in_eights(graph.in_ptr, graph.sources)
        self.out_of = in_eights(graph.out_ptr, graph.targets)
        self.between = in_eights(graph.out_ptr, graph.targets, self.loops_by_source)
        self.pairs = self.between.of_pairs()

    def split(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Edge weights (matrices, edges) and biases (A, N) of flat transition parameters."""
        raise NotImplementedError

    def theta_to_logistic(self, theta: np.ndarray) -> np.ndarray:
        """Transition parameters of the logistic network that behaves as this tanh network."""
        raise NotImplementedError

    def from_tanh(self, params: Params) -> Params:
        """Parameters meant for tanh, in the terms of this network's own activation.

        The logistic function is s(V) = (1 + tanh(V/2))/2, so V doubles and a becomes (a + 1)/2; the affine change goes
        into the weights, and both networks then have the same outputs. The linear activation takes them as they are.
        """
        if self.activation != "logistic":
            return params
        w = 2.0 * params.w
        w[0] = params.w[0] - params.w[1:].sum(axis=0)
        return Params(w, self.theta_to_logistic(params.theta), 2.0 * params.V0)

    def _sum_over_edges(self, tau: np.ndarray) -> np.ndarray:
        """Σ_i τ_ij for every unit j, rows of (matrices, edges) to rows of (matrices, N)."""
        return np.add.reduceat(tau, self.graph.in_ptr[:-1], axis=1)

    @property
    def dense(self) -> bool:
        """Whether matrices are used rather than compressed rows."""
        N = self.units
        matrices = int(self.group.max()) + 1
        if matrices * N * N * 8 > DENSE_BYTES:
            return False
        return self.graph.edges * DENSE_ADVANTAGE >= N * N

    def weights(self, theta: np.ndarray) -> DenseWeights | SparseWeights:
        """The transition parameters as matrices or on compressed rows."""
        return self.arrange(*self.split(theta))

    def arrange(self, tau: np.ndarray, bias: np.ndarray) -> DenseWeights | SparseWeights:
        """Edge weights (matrices, edges) and biases in the form that the recurrences want."""
        if not self.dense:
            return SparseWeights(self, tau, bias)
        N, sources, targets = self.units, self.graph.sources, self._edge_targets
        # Rows of whole vectors: what is past the last unit stays 0.
        D, transposed, between = (aligned(len(tau), N, N + -N % LANES, dtype=tau.dtype) for _ in range(3))
        for matrix in (D, transposed, between):
            matrix[:] = 0.0
        D[:, sources, targets] = transposed[:, targets, sources] = between[:, targets, sources] = tau
        diagonal = np.ascontiguousarray(np.diagonal(D, axis1=1, axis2=2))
        between[:, np.arange(N), np.arange(N)] = 0.0
        return DenseWeights(D, transposed, between, diagonal, bias)

    def begin(self, V0: np.ndarray) -> np.ndarray:
        """A writable state, equal to the start state."""
        return np.array(V0)

    def forward(
        self,
        weights: DenseWeights | SparseWeights,
        V0: np.ndarray,
        x: np.ndarray,
        first: np.ndarray,
        state: np.ndarray,
        trace: np.ndarray,
        noise: np.ndarray = NO_NOISE,
    ) -> None:
        """Fill the activities of a stretch; `state` is V before it and becomes V after it; `noise` is added to V."""
        common = (x, first, self.group, self.leak, self.activation_code)
        if isinstance(weights, DenseWeights):
            recurrence.forward_dense(*common, weights.D, weights.bias, V0, state, trace, noise)
        else:
            recurrence.forward_sparse(*common, *self.into[:2], weights.into, weights.bias, V0, state, trace, noise)

    def stepper(self, params: Params) -> Stepper:
        """Compiled steps over the edges."""
        return LinearStepper(self, params)

    def activities(self, trace: np.ndarray) -> np.ndarray:
        """The trace of these models is the activities."""
        return trace

    def incoming(self, trace: np.ndarray) -> np.ndarray:
        """The signals between units are the activities."""
        return trace

    def backward(
        self,
        weights: DenseWeights | SparseWeights,
        trace: np.ndarray,
        given: Evidence,
        carry: np.ndarray,
        out: np.ndarray,
        start: np.ndarray,
    ) -> None:
        """B^{t+1} for every position of a stretch; `carry` is B after it and becomes B at its first position."""
        common = (given.x, given.first, self.group, self.leak, self.activation_code)
        rest = (trace, given.predicted, given.error, carry, out, start)
        if isinstance(weights, DenseWeights):
            recurrence.backward_dense(*common, weights.transposed, *rest)
        else:
            recurrence.backward_sparse(*common, *self.out_of[:2], weights.out_of, *rest)

    def backward_with_modulus(
        self, weights: DenseWeights | SparseWeights, trace: np.ndarray, given: Evidence, B: Flow, m: Flow
    ) -> None:
        """B^{t+1} and m̃^{t+1}, by each model's own ∂V^{t+1}/∂V^t, in one walk."""
        common = (given.x, given.first, self.group, self.leak, self.activation_code)
        rest = (weights.diagonal, trace, given.predicted, given.error, *B, given.variance, *m)
        if isinstance(weights, DenseWeights):
            recurrence_both.both_dense(*common, weights.between, *rest)
        else:
            recurrence_both.both_sparse(*common, self.between.ptr, self.pairs, weights.between, *rest)


class Gated(LinearRecurrence):
    """One set of transition parameters for each symbol: θ is (A, E) flattened."""

    def __init__(self, graph: Graph, alphabet_size: int, activation: Activation = "tanh") -> None:
        super().__init__(graph, alphabet_size, activation)
        self.group = np.arange(alphabet_size)
        self.signals = Signals(self.ptr, self.rows, "gate")

    def side_by_side(self) -> GatedSideBySide:
        """Streams side by side."""
        return GatedSideBySide(self)

    def split(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Edge weights τ_ijy as (A, edges) and biases τ_0jy as (A, N)."""
        tau = theta.reshape(self.alphabet_size, -1)
        return np.ascontiguousarray(tau[:, self.edge_positions]), np.ascontiguousarray(tau[:, self.constants])

    def join(self, tau: np.ndarray, bias: np.ndarray) -> np.ndarray:
        """The inverse of `split`."""
        theta = np.empty((self.alphabet_size, self.ptr[-1]))
        theta[:, self.edge_positions] = tau
        theta[:, self.constants] = bias
        return theta.ravel()

    def theta_to_logistic(self, theta: np.ndarray) -> np.ndarray:
        """Edges times 4, biases 2 τ_0 − 2 Σ_i τ_i, for each symbol."""
        tau, bias = self.split(theta)
        return self.join(4.0 * tau, 2.0 * (bias - self._sum_over_edges(tau)))
