"""The loops of `gated_side_by_side`: all streams a time step forth, and a time step back with the gradient.

Streams do not wait for each other, so that the processor works on several at once where one would wait for itself.
States and sums are double, activities single precision. Weights stand in eights (`models.eights`): slot 8 k + q of a
group is the k-th edge of its q-th unit; where the graph is `dense` the k-th edge of every unit has the same end k.
"""

from __future__ import annotations

import numpy as np

from glnn.numeric.copying import copy
from glnn.numeric.elementary import logistic_single, tanh_single
from glnn.numeric.kernel import CONTRACT, kernel
from glnn.numeric.lanes import (
    LANES,
    add,
    fma,
    load,
    load_some,
    multiply,
    numbers_at,
    spread,
    store,
    store_some,
    subtract,
)


@kernel(CONTRACT)
def arrange(theta: np.ndarray, places: np.ndarray, out: np.ndarray) -> None:
    """out[y, s] = theta[y, places[s]], 0 where the place is none (-1)."""
    for y in range(out.shape[0]):
        own, row = theta[y], out[y]
        for s in range(places.size):
            row[s] = own[places[s]] if places[s] >= 0 else 0.0


@kernel(CONTRACT)
def collect(sums: np.ndarray, places: np.ndarray, theta: np.ndarray) -> None:
    """The way back: theta[y, places[s]] = sums[y, s]."""
    for y in range(sums.shape[0]):
        own, row = sums[y], theta[y]
        for s in range(places.size):
            if places[s] >= 0:
                row[places[s]] = own[s]


@kernel(CONTRACT)
def _activate(V: np.ndarray, activation: int, a: np.ndarray) -> None:
    if activation == 0:
        for j in range(V.size):
            a[j] = tanh_single(np.float32(V[j]))
    elif activation == 1:
        for j in range(V.size):
            a[j] = logistic_single(np.float32(V[j]))
    else:
        for j in range(V.size):
            a[j] = V[j]


@kernel(CONTRACT)
def gated_forward(
    x: np.ndarray,
    first: np.ndarray,
    leak: float,
    activation: int,
    dense: bool,
    ptr: np.ndarray,
    ends: np.ndarray,
    tau: np.ndarray,
    bias: np.ndarray,
    V0: np.ndarray,
    V: np.ndarray,
    a: np.ndarray,
    noise: np.ndarray,
) -> None:
    """a[t] = s(V^t), V^{t+1} = leak V^t + bias_{x_t} + Σ τ_{x_t} a^t + noise.

    `x` is (L, K), `a` (L, K, N), `V` (K, N).
    """
    L, K, N = a.shape
    leaks, noisy = spread(leak), noise.shape[0] > 0
    for t in range(L):
        for k in range(K):
            if first[t, k]:
                copy(V0, V[k])
        _activate(V.reshape(-1), activation, a[t].reshape(-1))
        for k in range(K):
            v, now, y = V[k], a[t, k], x[t, k]
            weight, row = tau[y], bias[y]
            for group in range(ptr.size - 1):
                j = LANES * group
                total = fma(leaks, load_some(v, j, N - j), load_some(row, j, N - j))
                if noisy:
                    total = add(total, load_some(noise[t * K + k], j, N - j))
                begin, end = ptr[group], ptr[group + 1]
                if dense:
                    for i in range(N):
                        total = fma(load(weight, begin + LANES * i), spread(now[i]), total)
                else:
                    for e in range(begin, end, LANES):
                        total = fma(load(weight, e), numbers_at(now, ends, e), total)
                store_some(v, j, total, N - j)


@kernel(CONTRACT)
def gated_backward(
    x: np.ndarray,
    first: np.ndarray,
    leak: float,
    activation: int,
    dense: bool,
    ptr: np.ndarray,
    ends: np.ndarray,
    tau: np.ndarray,
    a: np.ndarray,
    error: np.ndarray,
    sums: np.ndarray,
    of_bias: np.ndarray,
    start: np.ndarray,
) -> None:
    """From the last time to the first; adds Σ_t a_i B_j to `sums` (A, slots) and Σ_t B_j to `of_bias`, by symbol.

    Weights and sums stand on the edges out of units: B_j at the end of an edge is looked up once for both.
    """
    L, K, N = a.shape
    B, reached = np.zeros((K, N)), np.empty(LANES * (ptr.size - 1))
    leaks, one = spread(leak), spread(1.0)
    for t in range(L - 1, -1, -1):
        for k in range(K):
            b, now, wrong, y = B[k], a[t, k], error[t, k], x[t, k]
            weight, own, row = tau[y], sums[y], of_bias[y]
            for group in range(ptr.size - 1):
                i = LANES * group
                active, total = load_some(now, i, N - i), load_some(wrong, i, N - i)
                begin, end = ptr[group], ptr[group + 1]
                if dense:
                    for j in range(N):
                        e, after = begin + LANES * j, spread(b[j])
                        total = fma(load(weight, e), after, total)
                        store(own, e, fma(active, after, load(own, e)))
                else:
                    for e in range(begin, end, LANES):
                        after = numbers_at(b, ends, e)
                        total = fma(load(weight, e), after, total)
                        store(own, e, fma(active, after, load(own, e)))
                if activation == 0:
                    total = multiply(total, subtract(one, multiply(active, active)))
                elif activation == 1:
                    total = multiply(total, multiply(active, subtract(one, active)))
                before = load_some(b, i, N - i)
                store_some(row, i, add(load_some(row, i, N - i), before), N - i)
                store(reached, i, fma(leaks, before, total))
            for i in range(N):
                b[i] = reached[i]
            if first[t, k]:
                for i in range(N):
                    start[i] += b[i]
                    b[i] = 0.0
