"""The compiled steps of RNN, GNN and GLNN: V ← leak · V + bias_{x} + Σ_i τ_i(x) s(V_i), then the softmax of the output.

No flag of fast arithmetic here: what is written is what is computed, in this order, on every processor.
"""

from __future__ import annotations

import numpy as np

from glnn.numeric.kernel import kernel
from glnn.numeric.portable import exp, logistic, tanh


@kernel()
def activity(V: float, activation: int) -> float:
    """s(V)."""
    if activation == 0:
        return tanh(V)
    if activation == 1:
        return logistic(V)
    return V


@kernel()
def softmax(pi: np.ndarray) -> None:
    """Logits become probabilities in place; the sum runs in the order of the symbols."""
    top = pi[0]
    for y in range(1, pi.size):
        if pi[y] > top:
            top = pi[y]
    total = 0.0
    for y in range(pi.size):
        pi[y] = exp(pi[y] - top)
        total += pi[y]
    for y in range(pi.size):
        pi[y] /= total


@kernel()
def write(a: np.ndarray, w: np.ndarray, pi: np.ndarray) -> None:
    """π_y = softmax(w_0y + Σ_i w_iy a_i), units in their order."""
    for y in range(pi.size):
        pi[y] = w[0, y]
    for i in range(a.size):
        for y in range(pi.size):
            pi[y] += a[i] * w[i + 1, y]
    softmax(pi)


@kernel()
def probabilities_linear(V: np.ndarray, activation: int, w: np.ndarray, pi: np.ndarray) -> None:
    """The output at the activities s(V)."""
    a = np.empty(V.size)
    for i in range(V.size):
        a[i] = activity(V[i], activation)
    write(a, w, pi)


@kernel()
def advance_linear(
    V: np.ndarray,
    x: int,
    group: np.ndarray,
    leak: float,
    activation: int,
    in_ptr: np.ndarray,
    sources: np.ndarray,
    tau: np.ndarray,
    bias: np.ndarray,
    w: np.ndarray,
) -> None:
    """The recurrence, edges into each unit in their order."""
    a = np.empty(V.size)
    for i in range(V.size):
        a[i] = activity(V[i], activation)
    edges = tau[group[x]]
    for j in range(V.size):
        total = leak * V[j] + bias[x, j]
        for e in range(in_ptr[j], in_ptr[j + 1]):
            total += edges[e] * a[sources[e]]
        V[j] = total


@kernel()
def run_linear(
    V: np.ndarray,
    codes: np.ndarray,
    group: np.ndarray,
    leak: float,
    activation: int,
    in_ptr: np.ndarray,
    sources: np.ndarray,
    tau: np.ndarray,
    bias: np.ndarray,
    w: np.ndarray,
    rows: np.ndarray,
) -> None:
    """`probabilities_linear` then `advance_linear`, symbol after symbol."""
    for t in range(codes.size):
        probabilities_linear(V, activation, w, rows[t])
        advance_linear(V, codes[t], group, leak, activation, in_ptr, sources, tau, bias, w)
