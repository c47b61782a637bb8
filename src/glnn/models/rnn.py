"""The recurrent neural network, `eq:rnn`:  V_j^{t+1} = ρ_{j x_t} + Σ_i τ_ij a_i^t,  a = s(V).

One transition matrix; the symbol enters as an input. Its incoming parameters are the constant, the edges and one ρ
per symbol, so a unit's full metric is quadratic in the alphabet.
"""

from __future__ import annotations

import numpy as np

from glnn import registry
from glnn.models.base import Params, Signals, centred_reading_rates, initial_writing_weights, random_writing_weights
from glnn.models.linear import Activation, LinearRecurrence
from glnn.models.side_by_side import RNNSideBySide
from glnn.network import Graph

_HEARD = 0.2
"""The length of what a unit hears of the others at first, in stochastic training."""


@registry.network("rnn", "the recurrent network, which reads symbols as inputs")
class RNN(LinearRecurrence):
    """No leak and one transition matrix for all symbols."""

    name = "rnn"
    leak = 0.0
    # Nothing shields what it remembers: with longer steps it forgets what it had learned.
    rate_for_chunks = 0.4

    def __init__(self, graph: Graph, alphabet_size: int, activation: Activation = "tanh") -> None:
        super().__init__(graph, alphabet_size, activation)
        self.group = np.zeros(alphabet_size, np.int64)
        self.signals = Signals(self.ptr, self.rows, "input")
        # In each unit the A input weights follow its constant and its edges.
        earlier_inputs = alphabet_size * np.arange(graph.units)
        self._constants = self.constants + earlier_inputs
        self._edges = self.edge_positions + earlier_inputs[graph.edge_targets]
        self._inputs = (self.ptr[1:] + earlier_inputs)[:, None] + np.arange(alphabet_size)

    def split(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Edge weights τ_ij as (1, edges) and biases τ_0j + ρ_jy as (A, N)."""
        bias = theta[self._constants][:, None] + theta[self._inputs]
        return theta[self._edges][None], np.ascontiguousarray(bias.T)

    def join(self, constants: np.ndarray, tau: np.ndarray, rho: np.ndarray) -> np.ndarray:
        """Flat parameters from the constants τ_0j (N,), the edges τ_ij and the inputs ρ (A, N)."""
        theta = np.empty(self.ptr[-1] + rho.size)
        theta[self._constants] = constants
        theta[self._edges] = tau
        theta[self._inputs] = rho.T
        return theta

    def theta_to_logistic(self, theta: np.ndarray) -> np.ndarray:
        """Edges times 4, constants 2 τ_0 − 2 Σ_i τ_i, inputs times 2."""
        tau = theta[self._edges][None]
        constants = theta[self._constants] - self._sum_over_edges(tau)[0]
        return self.join(2.0 * constants, 4.0 * tau[0], 2.0 * theta[self._inputs].T)

    def side_by_side(self) -> RNNSideBySide:
        """Streams side by side."""
        return RNNSideBySide(self)

    def initial(self, predicted_counts: np.ndarray, counts: np.ndarray, generator: np.random.Generator) -> Params:
        """τ_ii = 1 − 1/i, ρ_jy = ½(u_jy − Σ ν̃ u), the rest 0 (Section 4, "Reference RNN training")."""
        tau = np.zeros(self.graph.edges)
        tau[self.loops] = 1.0 - 1.0 / np.arange(1.0, self.units + 1)
        rho = 0.5 * centred_reading_rates(self.units, counts, generator)
        w = initial_writing_weights(self.units, predicted_counts)
        return self.from_tanh(Params(w, self.join(np.zeros(self.units), tau, rho), np.zeros(self.units)))

    def initial_for_chunks(
        self, predicted_counts: np.ndarray, counts: np.ndarray, generator: np.random.Generator
    ) -> Params:
        """The same, with writing weights that are heard from the first step on, and half of the units hearing others.

        Loops alone remember long and mix nothing; random edges into all units, or none, are worse on some data.
        """
        params = self.initial(predicted_counts, counts, generator)
        if self.activation != "tanh":
            return params
        w = random_writing_weights(self.units, predicted_counts, generator)
        theta = params.theta.copy()
        hearing = self._edges[self.graph.edge_targets < self.units // 2]
        theta[hearing] += _HEARD * generator.normal(size=hearing.size) / np.sqrt(self.graph.edges / self.units)
        return Params(w, theta, params.V0)
