"""What units hold besides their activities: V_j in the networks, the cell c_j in the LSTM.

A GLNN's V changes by Σ_i τ_ij(x_t) a_i^t per step and has no bounds, so a unit can count far beyond where tanh V is 1
to the last digit; its activity then shows nothing until it comes back.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from glnn.report.page_data import Weights


def pre_activations(
    weights: Weights, activities: np.ndarray, codes: np.ndarray, starts: np.ndarray, V0: np.ndarray, leak: float
) -> np.ndarray:
    """V^t of every unit, (T, N), from the activities and V^{t+1} = leak · V^t + bias(x_t) + Σ_i τ_i(x_t) a_i^t."""
    if leak not in (0.0, 1.0):
        raise ValueError(f"leak is {leak}: networks keep V (1) or compute it afresh at each step (0)")
    units = activities.shape[1]
    change = np.empty_like(activities)
    for code in np.unique(codes):
        matrix = np.zeros((units, units))
        edges = weights.edges[0]
        matrix[weights.sources, weights.targets] = edges[code if len(edges) > 1 else 0]
        at = codes == code
        change[at] = activities[at] @ matrix + weights.biases[0, code]
    V = np.empty_like(activities)
    for begin, end in pairwise(np.unique(starts)):
        V[begin] = V0
        inner = change[begin : end - 1]
        V[begin + 1 : end] = V0 + np.cumsum(inner, axis=0) if leak else inner
    return V


def cells(network: Any, params: Any, codes: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """c^t of an LSTM, (T, N), by running it again."""
    first = np.zeros(codes.size, bool)
    first[starts[:-1]] = True
    trace = np.empty((codes.size, network.trace_width))
    x = np.ascontiguousarray(codes, np.int32)
    network.forward(network.weights(params.theta), params.V0, x, first, network.begin(params.V0), trace)
    held: np.ndarray = network.incoming(trace)[:, network.units : 2 * network.units]
    return held
