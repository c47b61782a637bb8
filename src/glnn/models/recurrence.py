"""The recurrences that RNN, GNN and GLNN share, forward and backward, as compiled loops over time.

All three are  V_j^{t+1} = leak · V_j^t + bias_{j x_t} + Σ_i D_{ij}(x_t) a_i^t,  a = s(V):  GLNN has leak 1 and a matrix
per symbol (`def:glnn`), GNN leak 0 and a matrix per symbol (`eq:cnn`), RNN leak 0 and one matrix (`eq:rnn`).
Small or dense networks use N×N matrices, large sparse ones edges in groups of eight units; sums keep a fixed order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glnn.models.eights import fetch, sum_over_edges
from glnn.numeric.copying import copy
from glnn.numeric.elementary import logistic, tanh
from glnn.numeric.kernel import CONTRACT, kernel
from glnn.numeric.lanes import LANES, add, fma, load, load_some, multiply, spread, store_some

ACTIVATIONS = {"tanh": 0, "logistic": 1, "linear": 2}


@kernel(CONTRACT, inline="always")
def _activate(V: np.ndarray, activation: int, a: np.ndarray) -> None:
    if activation == 0:
        for j in range(V.size):
            a[j] = tanh(V[j])
    elif activation == 1:
        for j in range(V.size):
            a[j] = logistic(V[j])
    else:
        for j in range(V.size):
            a[j] = V[j]


@kernel(CONTRACT, inline="always")
def _slope(a: np.ndarray, activation: int, slope: np.ndarray) -> None:
    """s'(V) from the activity: every activation here has a derivative that is a polynomial in a."""
    if activation == 0:
        for j in range(a.size):
            slope[j] = 1.0 - a[j] * a[j]
    elif activation == 1:
        for j in range(a.size):
            slope[j] = a[j] * (1.0 - a[j])
    else:
        for j in range(a.size):
            slope[j] = 1.0


@kernel(CONTRACT, inline="always")
def _copy(source: np.ndarray, out: np.ndarray) -> None:
    """A plain loop: the assignment of an array looks for overlaps first, which takes longer than a short copy."""
    for j in range(source.size):
        out[j] = source[j]


@kernel(CONTRACT)
def _add_noise(z: np.ndarray, V: np.ndarray) -> None:
    for j in range(V.size):
        V[j] += z[j]


@kernel(CONTRACT, inline="always")
def _add_product(D: np.ndarray, a: np.ndarray, out: np.ndarray) -> None:
    """out_j += Σ_i a_i D_ij, four rows at a time."""
    N = a.size
    whole = N - N % 4
    for i in range(0, whole, 4):
        a0, a1, a2, a3 = a[i], a[i + 1], a[i + 2], a[i + 3]
        D0, D1, D2, D3 = D[i], D[i + 1], D[i + 2], D[i + 3]
        for j in range(out.size):
            out[j] += (a0 * D0[j] + a1 * D1[j]) + (a2 * D2[j] + a3 * D3[j])
    for i in range(whole, N):
        a0 = a[i]
        D0 = D[i]
        for j in range(out.size):
            out[j] += a0 * D0[j]


@kernel(CONTRACT)
def with_product(D: np.ndarray, a: np.ndarray, j: int, total: Any) -> Any:
    """total + Σ_i a_i D_ij for eight columns from j on, in the order of `_add_product`."""
    whole = a.size - a.size % 4
    for i in range(0, whole, 4):
        one = fma(spread(a[i]), load(D[i], j), multiply(spread(a[i + 1]), load(D[i + 1], j)))
        two = fma(spread(a[i + 2]), load(D[i + 2], j), multiply(spread(a[i + 3]), load(D[i + 3], j)))
        total = add(total, add(one, two))
    for i in range(whole, a.size):
        total = fma(spread(a[i]), load(D[i], j), total)
    return total


@kernel(CONTRACT)
def forward_dense(
    x: np.ndarray,
    first: np.ndarray,
    group: np.ndarray,
    leak: float,
    activation: int,
    D: np.ndarray,
    bias: np.ndarray,
    V0: np.ndarray,
    V: np.ndarray,
    a: np.ndarray,
    noise: np.ndarray,
) -> None:
    """Fill the activities a[t]; `V` holds the state before the first position and, in the end, that after the last.

    Row t of `noise` is added to V^{t+1}; it has no rows where there is none. The matrices have rows of whole vectors.
    """
    N = V.size
    leaks = spread(leak)
    for t in range(x.size):
        if first[t]:
            copy(V0, V)
        now, row, matrix = a[t], bias[x[t]], D[group[x[t]]]
        _activate(V, activation, now)
        for j in range(0, N, LANES):
            n = N - j
            reached = fma(leaks, load_some(V, j, n), load_some(row, j, n))
            store_some(V, j, with_product(matrix, now, j, reached), n)
        if noise.shape[0] > 0:
            _add_noise(noise[t], V)


@kernel(CONTRACT)
def forward_sparse(
    x: np.ndarray,
    first: np.ndarray,
    group: np.ndarray,
    leak: float,
    activation: int,
    ptr: np.ndarray,
    ends: np.ndarray,
    tau: np.ndarray,
    bias: np.ndarray,
    V0: np.ndarray,
    V: np.ndarray,
    a: np.ndarray,
    noise: np.ndarray,
) -> None:
    """As `forward_dense`, over the edges into each unit, in eights."""
    N = V.size
    gathered = np.empty(LANES * (ptr.size - 1))
    for t in range(x.size):
        if first[t]:
            copy(V0, V)
        now = a[t]
        _activate(V, activation, now)
        sum_over_edges(ptr, ends, tau[group[x[t]]], now, gathered)
        row = bias[x[t]]
        for j in range(N):
            V[j] = (leak * V[j] + row[j]) + gathered[j]
        if noise.shape[0] > 0:
            _add_noise(noise[t], V)


@kernel(CONTRACT)
def backward_dense(
    x: np.ndarray,
    first: np.ndarray,
    group: np.ndarray,
    leak: float,
    activation: int,
    transposed: np.ndarray,
    a: np.ndarray,
    predicted: np.ndarray,
    error: np.ndarray,
    B: np.ndarray,
    B_next: np.ndarray,
    B_start: np.ndarray,
) -> None:
    """B^t_i = leak · B^{t+1}_i + s'(V^t_i)(error^t_i + Σ_j τ_{ij x_t} B^{t+1}_j), from the last position to the first.

    `B` enters as the derivative after the last position and leaves as that of the first;
    `B_next[t]` becomes B^{t+1}, and row k of `B_start` the derivative at the k-th sequence start.
    `error` has one row for each position in `predicted` (the others have χ = 0).
    """
    N = B.size
    gathered = np.empty_like(B)
    slope = np.empty_like(B)
    p = predicted.size - 1
    start = B_start.shape[0] - 1
    for t in range(x.size - 1, -1, -1):
        _copy(B, B_next[t])
        _slope(a[t], activation, slope)
        if p >= 0 and predicted[p] == t:
            copy(error[p], gathered)
            p -= 1
        else:
            gathered[:] = 0.0
        _add_product(transposed[group[x[t]]], B, gathered)
        for i in range(N):
            B[i] = leak * B[i] + slope[i] * gathered[i]
        if first[t]:
            B_start[start] = B
            start -= 1
            B[:] = 0.0


@kernel(CONTRACT)
def backward_sparse(
    x: np.ndarray,
    first: np.ndarray,
    group: np.ndarray,
    leak: float,
    activation: int,
    ptr: np.ndarray,
    ends: np.ndarray,
    tau: np.ndarray,
    a: np.ndarray,
    predicted: np.ndarray,
    error: np.ndarray,
    B: np.ndarray,
    B_next: np.ndarray,
    B_start: np.ndarray,
) -> None:
    """As `backward_dense`, over the edges out of each unit, in eights."""
    N = B.size
    gathered, slope = np.empty(LANES * (ptr.size - 1)), np.empty_like(B)
    p = predicted.size - 1
    start = B_start.shape[0] - 1
    for t in range(x.size - 1, -1, -1):
        fetch(a, t - 2)
        fetch(B_next, t - 2)
        _copy(B, B_next[t])
        _slope(a[t], activation, slope)
        sum_over_edges(ptr, ends, tau[group[x[t]]], B, gathered)
        if p >= 0 and predicted[p] == t:
            fetch(error, p - 2)
            row = error[p]
            for i in range(N):
                B[i] = leak * B[i] + slope[i] * (row[i] + gathered[i])
            p -= 1
        else:
            for i in range(N):
                B[i] = leak * B[i] + slope[i] * gathered[i]
        if first[t]:
            B_start[start] = B
            start -= 1
            B[:] = 0.0
