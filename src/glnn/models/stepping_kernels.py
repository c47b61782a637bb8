"""The compiled steps of RNN, GNN and GLNN: V ← leak · V + bias_{x} + Σ_i τ_i(x) s(V_i), then the softmax of the output.

No flag of fast arithmetic here: what is written is what is computed, in this order, on every processor. Loops are split
so that LLVM makes vectors of them all the same. The coder's loops (`coding_kernels.py`) are made of these kernels.
"""

from __future__ import annotations

import numpy as np

from glnn.numeric.kernel import kernel
from glnn.numeric.portable import exp, logistic, tanh


@kernel()
def activities(V: np.ndarray, activation: int, a: np.ndarray) -> None:
    """a = s(V)."""
    if activation == 0:
        for i in range(V.size):
            a[i] = tanh(V[i])
    elif activation == 1:
        for i in range(V.size):
            a[i] = logistic(V[i])
    else:
        for i in range(V.size):
            a[i] = V[i]


@kernel()
def outputs(a: np.ndarray, w: np.ndarray, added: float, p: np.ndarray) -> None:
    """p_y = exp(w_0y + Σ_i w_iy a_i − the largest of these), units in their order, four in one go.

    `added` times the sum of all p is then added to each, for the share of the uniform distribution.
    """
    constant = w[0]
    for y in range(p.size):
        p[y] = constant[y]
    whole = a.size - a.size % 4
    for i in range(0, whole, 4):
        a0, a1, a2, a3 = a[i], a[i + 1], a[i + 2], a[i + 3]
        w0, w1, w2, w3 = w[i + 1], w[i + 2], w[i + 3], w[i + 4]
        for y in range(p.size):
            p[y] = (((p[y] + a0 * w0[y]) + a1 * w1[y]) + a2 * w2[y]) + a3 * w3[y]
    for i in range(whole, a.size):
        a0, w0 = a[i], w[i + 1]
        for y in range(p.size):
            p[y] += a0 * w0[y]
    top = _largest(p)
    for y in range(p.size):
        p[y] = exp(p[y] - top)
    if added > 0.0:
        total = 0.0
        for y in range(p.size):
            total += p[y]
        for y in range(p.size):
            p[y] += added * total


@kernel()
def _largest(p: np.ndarray) -> float:
    """The maximum, by four independent ones: no rounding, so any order gives the same bits."""
    t0 = t1 = t2 = t3 = p[0]
    whole = p.size - p.size % 4
    for y in range(0, whole, 4):
        t0 = p[y] if p[y] > t0 else t0
        t1 = p[y + 1] if p[y + 1] > t1 else t1
        t2 = p[y + 2] if p[y + 2] > t2 else t2
        t3 = p[y + 3] if p[y + 3] > t3 else t3
    for y in range(whole, p.size):
        t0 = p[y] if p[y] > t0 else t0
    t0 = t1 if t1 > t0 else t0
    t2 = t3 if t3 > t2 else t2
    return t2 if t2 > t0 else t0


@kernel()
def write(a: np.ndarray, w: np.ndarray, pi: np.ndarray) -> None:
    """π_y = softmax(w_0y + Σ_i w_iy a_i); its sum runs in the order of the symbols."""
    outputs(a, w, 0.0, pi)
    total = 0.0
    for y in range(pi.size):
        total += pi[y]
    for y in range(pi.size):
        pi[y] /= total


@kernel()
def move(
    V: np.ndarray,
    a: np.ndarray,
    x: int,
    group: np.ndarray,
    leak: float,
    in_ptr: np.ndarray,
    sources: np.ndarray,
    tau: np.ndarray,
    bias: np.ndarray,
) -> None:
    """V_j ← leak · V_j + bias_jx + Σ_i τ_ij(x) a_i, edges into each unit in their order."""
    edges = tau[group[x]]
    for j in range(V.size):
        total = leak * V[j] + bias[x, j]
        for e in range(in_ptr[j], in_ptr[j + 1]):
            total += edges[e] * a[sources[e]]
        V[j] = total


@kernel()
def probabilities_linear(V: np.ndarray, activation: int, w: np.ndarray, pi: np.ndarray) -> None:
    """The output at the activities s(V)."""
    a = np.empty(V.size)
    activities(V, activation, a)
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
    """The recurrence alone; `w` is not used."""
    a = np.empty(V.size)
    activities(V, activation, a)
    move(V, a, x, group, leak, in_ptr, sources, tau, bias)


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
    """Output and recurrence, symbol after symbol."""
    a = np.empty(V.size)
    for t in range(codes.size):
        activities(V, activation, a)
        write(a, w, rows[t])
        move(V, a, codes[t], group, leak, in_ptr, sources, tau, bias)
