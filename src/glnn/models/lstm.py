"""The LSTM with peepholes (Graves 2013, eqs 7–11), each gate and each cell input a unit of its own.

Symbol x_t with h^t and c^t makes c^{t+1} and h^{t+1}; the output reads h^t at time t. Every parameter enters one of the
4N pre-activations linearly, so all the metrics apply; docs/lstm.md derives the modulus through cell and hidden state.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from glnn import registry
from glnn.models import lstm_kernels
from glnn.models.base import (
    NO_NOISE,
    Evidence,
    Flow,
    Model,
    Params,
    Signals,
    initial_writing_weights,
    random_writing_weights,
)
from glnn.models.linear import Activation
from glnn.models.side_by_side import LSTMSideBySide
from glnn.models.stepping_lstm import LSTMStepper
from glnn.network import Graph

GATES = ("input", "forget", "output", "cell input")
"""The units of a cell, in the order of the parameters."""

LARGE, RATE_OF_LARGE = 128, 0.4
"""Networks of more units take shorter steps on larger chunks."""
LEAST_RATE = 0.33
"""The part to which the steps of the others are shortened where data are few."""
INITIAL_RANGE = 0.1
INPUT_SCALE = 0.3

# How the hidden activity is written down, (scale, shift) of o tanh c: in (−1, 1) or in (0, 1).
_REPRESENTATIONS = {"tanh": (1.0, 0.0), "logistic": (0.5, 0.5)}


class LSTMWeights(NamedTuple):
    """The transition parameters for the recurrences; `dense` says that edges are matrices.

    `into` is (N, 4N), or (edges, 4) by target; `out_of` and its square are (4N, N), or (edges, 4) by source. `bias` is
    (A, 4N), the constant and the symbol's input together; `peephole` is (3, N).
    """

    into: np.ndarray
    out_of: np.ndarray
    squared: np.ndarray
    dense: bool
    bias: np.ndarray
    peephole: np.ndarray


@registry.network("lstm", "the LSTM with peepholes")
class LSTM(Model):
    """N cells on a sparse graph; unit 4j + g is gate g of cell j.

    Unit 4j + g receives the constant, the hidden activities of the cells i → j and, unless it is the cell input, the
    cell's own value: before the step for input and forget gate, after it for the output gate. With the activation
    "logistic" hidden activities are written as (1 + o tanh c)/2: the same network in other coordinates.
    """

    name = "lstm"

    def __init__(self, graph: Graph, alphabet_size: int, activation: Activation = "tanh") -> None:
        if activation not in _REPRESENTATIONS:
            choices = ", ".join(_REPRESENTATIONS)
            raise ValueError(f"activation is {activation!r}: the LSTM's hidden activity is one of {choices}")
        N, A = graph.units, alphabet_size
        self.graph, self.activation = graph, activation
        self.units, self.alphabet_size = N, A
        self.many_streams, self.misreads = N > LARGE, True
        self.rate_for_chunks, self.least_rate = (RATE_OF_LARGE, 1.0) if N > LARGE else (1.0, LEAST_RATE)
        self.trace_width = lstm_kernels.TRACE_COLUMNS * N
        self.state_size, self.inner_units = 2 * N, 4 * N
        self.scale, self.shift = _REPRESENTATIONS[activation]
        gates = np.arange(4)
        sizes = 1 + graph.in_degrees[:, None] + np.where(gates < 3, 1, 0)
        ptr = np.concatenate([[0], np.cumsum(sizes)])
        ends = ptr[1:].reshape(N, 4)
        place = np.arange(graph.edges) - graph.in_ptr[graph.edge_targets] + 1
        edges = ptr[:-1].reshape(N, 4)[graph.edge_targets] + place[:, None]
        rows = np.zeros(ptr[-1], np.int64)
        rows[edges] = 1 + graph.sources[:, None]
        # The signals are h, c before the step and c after it, N columns each.
        rows[ends[:, :3] - 1] = 1 + np.array([N, N, 2 * N]) + np.arange(N)[:, None]
        self.signals = Signals(ptr, rows, "input")
        # In each unit the A input weights follow its signals.
        earlier = A * np.arange(4 * N)
        of_cell = earlier.reshape(N, 4)
        self._constants = ptr[:-1] + earlier
        self._edges = edges + of_cell[graph.edge_targets]
        self._peepholes = ends[:, :3] - 1 + of_cell[:, :3]
        self._inputs = (ptr[1:] + earlier)[:, None] + np.arange(A)
        self._by_source = np.lexsort((graph.edge_targets, graph.sources))

    @property
    def dense(self) -> bool:
        """Whether matrices are used rather than edges: they win from a quarter of all possible edges on."""
        return self.graph.edges >= self.units**2 / 4

    def split(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Constants (N, 4), edges (edges, 4), peepholes (N, 3) and inputs (A, N, 4) of flat parameters."""
        N = self.units
        inputs = theta[self._inputs].T.reshape(self.alphabet_size, N, 4)
        return theta[self._constants].reshape(N, 4), theta[self._edges], theta[self._peepholes], inputs

    def join(self, constants: np.ndarray, edges: np.ndarray, peepholes: np.ndarray, inputs: np.ndarray) -> np.ndarray:
        """The inverse of `split`."""
        theta = np.empty(self.signals.ptr[-1] + self._inputs.size)
        theta[self._constants] = constants.ravel()
        theta[self._edges] = edges
        theta[self._peepholes] = peepholes
        theta[self._inputs] = inputs.reshape(self.alphabet_size, -1).T
        return theta

    def initial(self, predicted_counts: np.ndarray, counts: np.ndarray, generator: np.random.Generator) -> Params:
        """Every transition weight uniform in [−0.1, 0.1]; w_0y = log ν_y, the rest of w and the start state 0."""
        theta = generator.uniform(-INITIAL_RANGE, INITIAL_RANGE, self.signals.ptr[-1] + self._inputs.size)
        w = initial_writing_weights(self.units, predicted_counts)
        return self.from_tanh(Params(w, theta, np.zeros(self.state_size)))

    def initial_for_chunks(
        self, predicted_counts: np.ndarray, counts: np.ndarray, generator: np.random.Generator
    ) -> Params:
        """Wider than `initial`: what enters a unit has a size of order 1, and forget gates begin open."""
        N, reach = self.units, 1.0 / np.sqrt(self.units)
        constants = generator.uniform(-reach, reach, (N, 4))
        constants[:, GATES.index("forget")] += 1.0
        edges = generator.uniform(-1.0, 1.0, (self.graph.edges, 4)) / np.sqrt(max(self.graph.edges / N, 1.0))
        peepholes = 0.1 * generator.uniform(-reach, reach, (N, 3))
        inputs = INPUT_SCALE * generator.standard_normal((self.alphabet_size, N, 4))
        w = random_writing_weights(N, predicted_counts, generator)
        return self.from_tanh(Params(w, self.join(constants, edges, peepholes, inputs), np.zeros(self.state_size)))

    def from_tanh(self, params: Params) -> Params:
        """Parameters meant for hidden activities in (−1, 1), in the terms of this network's own.

        With h = 2h' − 1, what multiplies h doubles and the constant beside it takes the rest; outputs stay the same.
        """
        if self.activation == "tanh":
            return params
        w = 2.0 * params.w
        w[0] = params.w[0] - params.w[1:].sum(axis=0)
        constants, edges, peepholes, inputs = self.split(params.theta)
        into = np.zeros_like(constants)
        np.add.at(into, self.graph.edge_targets, edges)
        V0 = params.V0.copy()
        V0[self.units :] = 0.5 * (1.0 + V0[self.units :])
        return Params(w, self.join(constants - into, 2.0 * edges, peepholes, inputs), V0)

    def weights(self, theta: np.ndarray) -> LSTMWeights:
        """The transition parameters as the recurrences want them."""
        constants, edges, peepholes, inputs = self.split(theta)
        bias = np.ascontiguousarray((constants + inputs).transpose(0, 2, 1)).reshape(self.alphabet_size, -1)
        peephole = np.ascontiguousarray(peepholes.T)
        if not self.dense:
            out_of = edges[self._by_source]
            return LSTMWeights(edges, out_of, np.square(out_of), False, bias, peephole)
        N = self.units
        matrix = np.zeros((N, N, 4))
        matrix[self.graph.sources, self.graph.edge_targets] = edges
        into = np.ascontiguousarray(matrix.transpose(0, 2, 1)).reshape(N, 4 * N)
        out_of = np.ascontiguousarray(matrix.reshape(N, 4 * N).T)
        return LSTMWeights(into, out_of, np.square(out_of), True, bias, peephole)

    def begin(self, V0: np.ndarray) -> np.ndarray:
        """A writable state (c, h), equal to the start state."""
        return np.array(V0)

    def forward(
        self,
        weights: LSTMWeights,
        V0: np.ndarray,
        x: np.ndarray,
        first: np.ndarray,
        state: np.ndarray,
        trace: np.ndarray,
        noise: np.ndarray = NO_NOISE,
    ) -> None:
        """Fill the trace of a stretch; `state` is (c, h) before it and becomes that after it."""
        graph = (self.graph.in_ptr, self.graph.sources, weights.into, weights.dense)
        lstm_kernels.forward(
            x, first, *graph, weights.bias, weights.peephole, self.scale, self.shift, V0, state, trace, noise
        )

    def stepper(self, params: Params) -> LSTMStepper:
        """Compiled steps."""
        return LSTMStepper(self, params)

    def activities(self, trace: np.ndarray) -> np.ndarray:
        """The hidden activities h^t."""
        return trace[:, : self.units]

    def incoming(self, trace: np.ndarray) -> np.ndarray:
        """h^t, c^t and c^{t+1}: what edges and peepholes carry."""
        return trace[:, : 3 * self.units]

    def side_by_side(self) -> LSTMSideBySide:
        """Streams side by side."""
        return LSTMSideBySide(self)

    def backward(
        self,
        weights: LSTMWeights,
        trace: np.ndarray,
        given: Evidence,
        carry: np.ndarray,
        out: np.ndarray,
        start: np.ndarray,
    ) -> None:
        """Derivatives with respect to the 4N pre-activations made at each position, and to the start state."""
        graph = (self.graph.out_ptr, self.graph.targets, weights.out_of, weights.dense)
        common = (given.x, given.first, *graph, weights.peephole, self.scale, trace)
        lstm_kernels.backward(*common, given.predicted, given.error, carry, out, start)

    def backward_with_modulus(self, weights: LSTMWeights, trace: np.ndarray, given: Evidence, B: Flow, m: Flow) -> None:
        """The same, and the backpropagated modulus of the same quantities."""
        self.backward(weights, trace, given, *B)
        graph = (self.graph.out_ptr, self.graph.targets, weights.squared, weights.dense)
        common = (given.x, given.first, *graph, weights.peephole, self.scale, trace)
        lstm_kernels.modulus(*common, given.predicted, given.variance, *m)
