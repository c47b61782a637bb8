"""B and the backpropagated modulus m̃ in one walk back over time: they read the same weights, slopes and edges.

The walk is bound by loads, so reading each edge once for both is a third faster than two walks. The weights come
without loops, as `D`, with the loops apart: the loop's (leak + τ_ii s')² is squared as a whole, since its expansion
cancels when τ_ii s' is near −1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glnn.models.eights import fetch
from glnn.numeric.copying import copy
from glnn.numeric.kernel import CONTRACT, kernel
from glnn.numeric.lanes import (
    LANES,
    add,
    even_pairs,
    evens,
    fma,
    load,
    load_some,
    multiply,
    odd_pairs,
    odds,
    spread,
    store,
    store_some,
    subtract,
)


@kernel(CONTRACT)
def _slopes(a: Any, activation: int) -> Any:
    """s'(V) of eight activities."""
    if activation == 0:
        return subtract(spread(1.0), multiply(a, a))
    if activation == 1:
        return multiply(a, subtract(spread(1.0), a))
    return spread(1.0)


@kernel(CONTRACT)
def _before(leak: Any, loop: Any, slope: Any, reached: Any, spread_out: Any, b: Any, modulus: Any) -> Any:
    """From B^{t+1}, m̃^{t+1} and all that reached the activities of eight units to B^t (`eq:explicitbackprop`), m̃^t."""
    own = fma(loop, slope, leak)
    b = fma(leak, b, multiply(slope, fma(loop, b, reached)))
    return b, fma(multiply(slope, slope), spread_out, multiply(multiply(own, own), modulus))


@kernel(CONTRACT)
def both_sparse(
    x: np.ndarray,
    first: np.ndarray,
    group: np.ndarray,
    leak: float,
    activation: int,
    ptr: np.ndarray,
    ends: np.ndarray,
    D: np.ndarray,
    loops: np.ndarray,
    a: np.ndarray,
    predicted: np.ndarray,
    error: np.ndarray,
    B: np.ndarray,
    B_next: np.ndarray,
    B_start: np.ndarray,
    variance: np.ndarray,
    m: np.ndarray,
    m_next: np.ndarray,
    m_start: np.ndarray,
) -> None:
    """Over the edges out of each unit, in eights. Arrays as in `recurrence.backward_sparse`, those of m̃ alike.

    B and m̃ of a unit stand side by side, as `evens` and `odds` join them, and an edge is one look at both; `ends` are
    places among such pairs.
    """
    N, groups = B.size, ptr.size - 1
    state, reached = np.empty(2 * LANES * groups), np.empty(2 * LANES * groups)
    _join(B, m, state)
    leaks = spread(leak)
    p = predicted.size - 1
    start = B_start.shape[0] - 1
    for t in range(x.size - 1, -1, -1):
        fetch(a, t - 2)
        fetch(B_next, t - 2)
        fetch(m_next, t - 2)
        fetch(error, p - 2)
        fetch(variance, p - 2)
        g = group[x[t]]
        weight = D[g]
        for c in range(groups):
            of_evens, of_odds = spread(0.0), spread(0.0)
            for e in range(ptr[c], ptr[c + 1], LANES):
                tau = load(weight, e)
                square = multiply(tau, tau)
                of_evens = fma(evens(tau, square), even_pairs(state, ends, e), of_evens)
                of_odds = fma(odds(tau, square), odd_pairs(state, ends, e), of_odds)
            store(reached, 2 * LANES * c, of_evens)
            store(reached, 2 * LANES * c + LANES, of_odds)
        heard = p >= 0 and predicted[p] == t
        for i in range(0, N, LANES):
            n = N - i
            one, two = load(state, 2 * i), load(state, 2 * i + LANES)
            b, modulus = evens(one, two), odds(one, two)
            store_some(B_next[t], i, b, n)
            store_some(m_next[t], i, modulus, n)
            one, two = load(reached, 2 * i), load(reached, 2 * i + LANES)
            gathered, spread_out = evens(one, two), odds(one, two)
            if heard:
                gathered = add(gathered, load_some(error[p], i, n))
                spread_out = add(spread_out, load_some(variance[p], i, n))
            slope, loop = _slopes(load_some(a[t], i, n), activation), load_some(loops[g], i, n)
            b, modulus = _before(leaks, loop, slope, gathered, spread_out, b, modulus)
            store(state, 2 * i, evens(b, modulus))
            store(state, 2 * i + LANES, odds(b, modulus))
        if heard:
            p -= 1
        if first[t]:
            _part(state, B_start[start], m_start[start])
            start -= 1
            state[:] = 0.0
    _part(state, B, m)


@kernel(CONTRACT)
def _join(B: np.ndarray, m: np.ndarray, state: np.ndarray) -> None:
    for i in range(0, B.size, LANES):
        b, modulus = load_some(B, i, B.size - i), load_some(m, i, B.size - i)
        store(state, 2 * i, evens(b, modulus))
        store(state, 2 * i + LANES, odds(b, modulus))


@kernel(CONTRACT)
def _part(state: np.ndarray, B: np.ndarray, m: np.ndarray) -> None:
    for i in range(0, B.size, LANES):
        one, two = load(state, 2 * i), load(state, 2 * i + LANES)
        store_some(B, i, evens(one, two), B.size - i)
        store_some(m, i, odds(one, two), B.size - i)


@kernel(CONTRACT)
def both_dense(
    x: np.ndarray,
    first: np.ndarray,
    group: np.ndarray,
    leak: float,
    activation: int,
    D: np.ndarray,
    loops: np.ndarray,
    a: np.ndarray,
    predicted: np.ndarray,
    error: np.ndarray,
    B: np.ndarray,
    B_next: np.ndarray,
    B_start: np.ndarray,
    variance: np.ndarray,
    m: np.ndarray,
    m_next: np.ndarray,
    m_start: np.ndarray,
) -> None:
    """With the transposed matrices `D[g, j, i]` = τ_ij, zero where i = j, in rows of whole vectors."""
    N = B.size
    b, modulus, b_before, m_before = B.copy(), m.copy(), np.empty_like(B), np.empty_like(m)
    leaks = spread(leak)
    whole = N - N % 2
    p = predicted.size - 1
    start = B_start.shape[0] - 1
    for t in range(x.size - 1, -1, -1):
        g = group[x[t]]
        matrix = D[g]
        heard = p >= 0 and predicted[p] == t
        for i in range(0, N, LANES):
            n = N - i
            gathered, spread_out = spread(0.0), spread(0.0)
            if heard:
                gathered, spread_out = load_some(error[p], i, n), load_some(variance[p], i, n)
            for j in range(0, whole, 2):
                one, two = load(matrix[j], i), load(matrix[j + 1], i)
                gathered = add(gathered, fma(spread(b[j]), one, multiply(spread(b[j + 1]), two)))
                one, two = multiply(one, one), multiply(two, two)
                spread_out = add(spread_out, fma(spread(modulus[j]), one, multiply(spread(modulus[j + 1]), two)))
            for j in range(whole, N):
                one = load(matrix[j], i)
                gathered = fma(spread(b[j]), one, gathered)
                spread_out = fma(spread(modulus[j]), multiply(one, one), spread_out)
            own_b, own_m = load_some(b, i, n), load_some(modulus, i, n)
            store_some(B_next[t], i, own_b, n)
            store_some(m_next[t], i, own_m, n)
            slope, loop = _slopes(load_some(a[t], i, n), activation), load_some(loops[g], i, n)
            own_b, own_m = _before(leaks, loop, slope, gathered, spread_out, own_b, own_m)
            store_some(b_before, i, own_b, n)
            store_some(m_before, i, own_m, n)
        b, b_before, modulus, m_before = b_before, b, m_before, modulus
        if heard:
            p -= 1
        if first[t]:
            B_start[start] = b
            m_start[start] = modulus
            start -= 1
            b[:] = 0.0
            modulus[:] = 0.0
    copy(b, B)
    copy(modulus, m)
