"""The gated neural network, `eq:cnn`:  V_j^{t+1} = Σ_i τ_{ij x_t} a_i^t,  a = s(V).

One transition matrix per symbol, as in a finite automaton; with a linear activation and output it is a hidden Markov
model.
"""

from __future__ import annotations

import numpy as np

from glnn import registry
from glnn.models.base import Params, centred_reading_rates, initial_writing_weights
from glnn.models.linear import Gated


@registry.network("gnn", "the gated network: every symbol has transitions of its own")
class GNN(Gated):
    """No leak and one transition matrix per symbol."""

    name = "gnn"
    leak = 0.0

    def initial(self, predicted_counts: np.ndarray, counts: np.ndarray, generator: np.random.Generator) -> Params:
        """τ_iiy = 1 − 1/i, τ_0jy = ½(u_jy − Σ ν̃ u), the rest 0: the RNN's initialisation for every symbol."""
        tau = np.zeros((self.alphabet_size, self.graph.edges))
        tau[:, self.loops] = 1.0 - 1.0 / np.arange(1.0, self.units + 1)
        bias = 0.5 * centred_reading_rates(self.units, counts, generator)
        w = initial_writing_weights(self.units, predicted_counts)
        return self.from_tanh(Params(w, self.join(tau, bias), np.zeros(self.units)))
