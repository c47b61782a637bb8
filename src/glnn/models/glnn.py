"""The gated leaky neural network, `def:glnn`:  V_j^{t+1} = V_j^t + Σ_i τ_{ij x_t} a_i^t,  a = s(V).

The weights control the variation of V, so a unit keeps its value until something changes it.
"""

from __future__ import annotations

import numpy as np

from glnn import registry
from glnn.models.base import Params, centred_reading_rates, initial_writing_weights
from glnn.models.linear import Activation, Gated
from glnn.network import Graph


@registry.network("glnn", "the gated leaky network: a unit keeps its value until a symbol changes it")
class GLNN(Gated):
    """Leak 1 and one transition matrix per symbol.

    `alpha` is the strength of each unit's feedback at the start, `time_scales` the μ_j (1/μ_j is about how many
    symbols unit j remembers then); by default ½ and 1/(j+1), j = 1, 2, … as in the paper.
    """

    name = "glnn"
    leak = 1.0

    def __init__(
        self,
        graph: Graph,
        alphabet_size: int,
        activation: Activation = "tanh",
        alpha: float = 0.5,
        time_scales: np.ndarray | None = None,
    ) -> None:
        super().__init__(graph, alphabet_size, activation)
        mu = 1.0 / np.arange(2.0, graph.units + 2) if time_scales is None else np.asarray(time_scales, float)
        if mu.shape != (graph.units,):
            raise ValueError(f"time_scales has shape {mu.shape}: one μ for each of the {graph.units} units is needed")
        if not alpha > 0 or not np.all((mu > 0) & (mu <= alpha)):
            raise ValueError(f"alpha is {alpha} and μ lies in [{mu.min()}, {mu.max()}]: 0 < μ ≤ α must hold")
        self.alpha = float(alpha)
        self.time_scales = mu

    def initial(self, predicted_counts: np.ndarray, counts: np.ndarray, generator: np.random.Generator) -> Params:
        """`eq:initdiag`, `eq:initread`: each unit is a random leaky average of the recent symbols."""
        beta = -np.sqrt(self.alpha * (self.alpha - self.time_scales))
        tau = np.zeros((self.alphabet_size, self.graph.edges))
        tau[:, self.loops] = -self.alpha
        bias = beta + self.time_scales / 4.0 * centred_reading_rates(self.units, counts, generator)
        w = initial_writing_weights(self.units, predicted_counts)
        return self.from_tanh(Params(w, self.join(tau, bias), np.arctanh(beta / self.alpha)))
