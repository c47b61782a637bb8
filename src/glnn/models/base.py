"""What a model gives: initial parameters, forward pass, backward pass, modulus recursion, incoming signals.

Every parameter enters the pre-activation of one unit linearly, V_j^{t+1} = (…) + Σ_k θ_jk r_k^t. A model says which
signals r enter each unit; how parameters are updated from them is not its business (see `glnn.metrics`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np

from glnn.models import recurrence, recurrence_both
from glnn.models.stepping import ForwardStepper, Stepper
from glnn.models.stepping_linear import LinearStepper
from glnn.network import Graph

if TYPE_CHECKING:
    from glnn.models.side_by_side import SideBySide

Activation = Literal["tanh", "logistic", "linear"]

# Measured: a place of a dense matrix costs this many times less than an edge of the sparse one.
DENSE_ADVANTAGE = 4.5
DENSE_BYTES = 1 << 28
NO_NOISE = np.empty((0, 0), np.float32)
"""What stands for the noise where there is none."""

# What a class cannot change without changing the step too.
_COMPUTED = frozenset({"weights", "arrange", "begin", "forward", "activities"})


@dataclass(frozen=True)
class Params:
    """The parameters of a network: writing weights, transition parameters, start values.

    `w` is (N + 1, A), row 0 the constant unit; `theta` is flat, one block of a unit's incoming parameters after
    the other, each beginning with its constant; `V0` is the start state.
    """

    w: np.ndarray
    theta: np.ndarray
    V0: np.ndarray

    def replace(self, **changes: np.ndarray) -> Params:
        """The same parameters with some arrays exchanged."""
        return replace(self, **changes)


@dataclass(frozen=True)
class Signals:
    """The signals that enter each unit, and how the symbol does.

    Unit j receives the rows `rows[ptr[j]:ptr[j + 1]]` of the model's signals, where row 0 is the constant 1 (always
    first) and row k the k-th column of the trace's signals. With `symbols="gate"` there is one such set of parameters
    for each symbol, flat order (symbol, unit, signal); with `symbols="input"` there is one set, and one more
    parameter per symbol follows in each unit, flat order (unit, signal then symbol).
    """

    ptr: np.ndarray
    rows: np.ndarray
    symbols: Literal["gate", "input"]


class Evidence(NamedTuple):
    """What the backward recurrences read at the positions of a stretch: the data and the output's terms."""

    x: np.ndarray
    first: np.ndarray
    predicted: np.ndarray
    error: np.ndarray
    variance: np.ndarray


class Model(Protocol):
    """A recurrent network over a finite alphabet, as the trainer sees it. A model of your own derives from it.

    A class that changes what the network computes and not its step takes its steps through the forward pass: right at
    once, and fast when it brings a `stepper` of its own.
    """

    name: str
    units: int
    alphabet_size: int
    trace_width: int
    state_size: int
    inner_units: int
    signals: Signals

    def initial(self, predicted_counts: np.ndarray, counts: np.ndarray, generator: np.random.Generator, /) -> Params:
        """Parameters before training, from how often each symbol is to be predicted and occurs at all."""
        ...

    def initial_for_chunks(
        self, predicted_counts: np.ndarray, counts: np.ndarray, generator: np.random.Generator, /
    ) -> Params:
        """Parameters before stochastic training: the same, unless a model knows better."""
        return self.initial(predicted_counts, counts, generator)

    def weights(self, theta: np.ndarray) -> Any:
        """The transition parameters in the form that the recurrences want."""
        ...

    def begin(self, V0: np.ndarray) -> np.ndarray:
        """A writable state, equal to the start state."""
        ...

    def forward(
        self,
        weights: Any,
        V0: np.ndarray,
        x: np.ndarray,
        first: np.ndarray,
        state: np.ndarray,
        trace: np.ndarray,
        noise: np.ndarray = NO_NOISE,
    ) -> None:
        """Run over a stretch, from `state` (overwritten by the state after it), filling `trace`.

        Row t of `noise` (S, N), where there is any, is added to the units' own state after position t.
        """
        ...

    def stepper(self, params: Params) -> Stepper:
        """The network with these parameters, one step at a time: by its forward pass, unless a model knows better."""
        return ForwardStepper(self, params)

    def side_by_side(self) -> SideBySide | None:
        """A faster pass over several streams at once, where there is one."""
        return None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in ("stepper", "side_by_side"):
            for owner in cls.__mro__:
                if name in vars(owner):
                    break
                if not _COMPUTED.isdisjoint(vars(owner)):
                    # What is inherited is that of another network.
                    setattr(cls, name, getattr(Model, name))
                    break

    def activities(self, trace: np.ndarray) -> np.ndarray:
        """The activities that the output reads, (S, N)."""
        ...

    def incoming(self, trace: np.ndarray) -> np.ndarray:
        """The signals of the stretch, (S, R), without the constant."""
        ...

    def backward(
        self,
        weights: Any,
        trace: np.ndarray,
        given: Evidence,
        carry: np.ndarray,
        out: np.ndarray,
        start: np.ndarray,
    ) -> None:
        """Derivatives of the log-likelihood with respect to pre-activations: `out[t]` is B^{t+1}."""
        ...

    def backward_with_modulus(self, weights: Any, trace: np.ndarray, given: Evidence, B: Flow, m: Flow) -> None:
        """The derivatives B and the backpropagated modulus m̃, for the metrics that want both."""
        ...


class Flow(NamedTuple):
    """A quantity that runs back over a stretch, as `backward` takes it: carried along, for every time, at starts."""

    carry: np.ndarray
    out: np.ndarray
    start: np.ndarray


class DenseWeights(NamedTuple):
    """Transition weights as matrices: forward, transposed, transposed without loops; loops and biases."""

    D: np.ndarray
    transposed: np.ndarray
    between: np.ndarray
    diagonal: np.ndarray
    bias: np.ndarray


class SparseWeights(NamedTuple):
    """Transition weights on the edges into units, out of units, out of units without loops; loops and biases."""

    tau: np.ndarray
    tau_out: np.ndarray
    between_out: np.ndarray
    diagonal: np.ndarray
    bias: np.ndarray


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
        self.loops = np.flatnonzero(graph.sources == graph.edge_targets)
        self._by_source = np.lexsort((graph.edge_targets, graph.sources))
        self.loops_by_source = np.flatnonzero((graph.sources == graph.edge_targets)[self._by_source])
        self._into = (graph.in_ptr.astype(np.uint32), graph.sources.astype(np.uint32))
        self._out_of = (graph.out_ptr.astype(np.uint32), graph.targets.astype(np.uint32))

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
    def matrices(self) -> int:
        """How many transition matrices there are."""
        return int(self.group.max()) + 1

    @property
    def dense(self) -> bool:
        """Whether matrices are used rather than compressed rows."""
        N = self.units
        if self.matrices * N * N * 8 > DENSE_BYTES:
            return False
        return self.graph.edges * DENSE_ADVANTAGE >= N * N

    def weights(self, theta: np.ndarray) -> DenseWeights | SparseWeights:
        """The transition parameters as matrices or on compressed rows."""
        return self.arrange(*self.split(theta))

    def arrange(self, tau: np.ndarray, bias: np.ndarray) -> DenseWeights | SparseWeights:
        """Edge weights (matrices, edges) and biases in the form that the recurrences want."""
        if not self.dense:
            by_source = np.ascontiguousarray(tau[:, self._by_source])
            between = by_source.copy()
            between[:, self.loops_by_source] = 0.0
            diagonal = np.ascontiguousarray(tau[:, self.loops])
            return SparseWeights(tau, by_source, between, diagonal, bias)
        N, sources, targets = self.units, self.graph.sources, self.graph.edge_targets
        D = np.zeros((len(tau), N, N), tau.dtype)
        D[:, sources, targets] = tau
        transposed = np.ascontiguousarray(D.transpose(0, 2, 1))
        between = transposed.copy()
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
            recurrence.forward_sparse(*common, *self._into, weights.tau, weights.bias, V0, state, trace, noise)

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
            recurrence.backward_sparse(*common, *self._out_of, weights.tau_out, *rest)

    def backward_with_modulus(
        self, weights: DenseWeights | SparseWeights, trace: np.ndarray, given: Evidence, B: Flow, m: Flow
    ) -> None:
        """B^{t+1} and m̃^{t+1}, by each model's own ∂V^{t+1}/∂V^t, in one walk."""
        common = (given.x, given.first, self.group, self.leak, self.activation_code)
        rest = (weights.diagonal, trace, given.predicted, given.error, *B, given.variance, *m)
        if isinstance(weights, DenseWeights):
            recurrence_both.both_dense(*common, weights.between, *rest)
        else:
            recurrence_both.both_sparse(*common, *self._out_of, weights.between_out, *rest)


class Gated(LinearRecurrence):
    """One set of transition parameters for each symbol: θ is (A, E) flattened."""

    def __init__(self, graph: Graph, alphabet_size: int, activation: Activation = "tanh") -> None:
        super().__init__(graph, alphabet_size, activation)
        self.group = np.arange(alphabet_size)
        self.signals = Signals(self.ptr, self.rows, "gate")

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


def initial_writing_weights(units: int, predicted_counts: np.ndarray) -> np.ndarray:
    """`eq:initw`: w_0y = log ν_y and zeros; a symbol never to be predicted counts as half an occurrence."""
    w = np.zeros((units + 1, predicted_counts.size))
    w[0] = np.log(np.maximum(predicted_counts, 0.5) / max(predicted_counts.sum(), 1.0))
    return w


def random_writing_weights(units: int, predicted_counts: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """`eq:initw`, with w_iy uniform in ±1/√N: where steps are bounded, units have to be heard from the first one on."""
    w = initial_writing_weights(units, predicted_counts)
    w[1:] = generator.uniform(-1.0, 1.0, w[1:].shape) / np.sqrt(units)
    return w


def centred_reading_rates(units: int, counts: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """u_jy − Σ_y' ν̃_y' u_jy' with u uniform in [0, 1]: random reactions of zero mean over the data, (A, N)."""
    u = generator.random((units, counts.size))
    return np.ascontiguousarray((u - (u @ (counts / counts.sum()))[:, None]).T)
