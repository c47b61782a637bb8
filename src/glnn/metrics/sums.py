"""The loops that add up G = Σ B r and the needed terms of M̃ = Σ m r rᵀ (`eq:tildeM`) over the times of some symbols.

Times are taken symbol by symbol, in chunks that fit the cache, in which each signal is one contiguous row, so that
every entry is a dot product.
"""

from __future__ import annotations

import numpy as np

from glnn.metrics.gather import CHUNK, STRIDE, dot_products, gather
from glnn.numeric.kernel import REASSOCIATE, kernel


@kernel(REASSOCIATE)
def add_gradient(
    ptr: np.ndarray,
    rows_of: np.ndarray,
    signals: np.ndarray,
    B: np.ndarray,
    m: np.ndarray,
    order: np.ndarray,
    groups: np.ndarray,
    low: int,
    high: int,
    shared: bool,
    gradient: np.ndarray,
    symbol_gradient: np.ndarray,
) -> None:
    """G_k += Σ r_k B_j over the times of the symbols low ≤ y < high, a set of sums per symbol or one for all."""
    E, U = ptr[-1], ptr.size - 1
    rows = np.ones((signals.shape[1] + 1, STRIDE))
    b_rows = np.empty((U, STRIDE))
    for y in range(low, high):
        base = 0 if shared else y * E
        for s in range(groups[y], groups[y + 1], CHUNK):
            n = min(CHUNK, groups[y + 1] - s)
            gather(signals, order, s, n, rows[1:])
            gather(B, order, s, n, b_rows)
            for j in range(U):
                b = b_rows[j, :n]
                for k in range(ptr[j], ptr[j + 1]):
                    r = rows[rows_of[k], :n]
                    total = 0.0
                    for t in range(n):
                        total += r[t] * b[t]
                    gradient[base + k] += total
                    if shared and k == ptr[j]:
                        symbol_gradient[y, j] += total


@kernel(REASSOCIATE)
def add_quasi(
    ptr: np.ndarray,
    rows_of: np.ndarray,
    signals: np.ndarray,
    B: np.ndarray,
    m: np.ndarray,
    order: np.ndarray,
    groups: np.ndarray,
    low: int,
    high: int,
    shared: bool,
    with_cross: bool,
    gradient: np.ndarray,
    diagonal: np.ndarray,
    cross: np.ndarray,
    symbol_gradient: np.ndarray,
    symbol_modulus: np.ndarray,
) -> None:
    """G_k += Σ r_k B_j, M_kk += Σ r_k² m_j and M_0k += Σ r_k m_j."""
    E, U = ptr[-1], ptr.size - 1
    rows = np.ones((signals.shape[1] + 1, STRIDE))
    b_rows, m_rows = np.empty((U, STRIDE)), np.empty((U, STRIDE))
    for y in range(low, high):
        base = 0 if shared else y * E
        for s in range(groups[y], groups[y + 1], CHUNK):
            n = min(CHUNK, groups[y + 1] - s)
            gather(signals, order, s, n, rows[1:])
            gather(B, order, s, n, b_rows)
            gather(m, order, s, n, m_rows)
            for j in range(U):
                b, c = b_rows[j, :n], m_rows[j, :n]
                for k in range(ptr[j], ptr[j + 1]):
                    r = rows[rows_of[k], :n]
                    first, second, third = 0.0, 0.0, 0.0
                    for t in range(n):
                        weighted = r[t] * c[t]
                        first += r[t] * b[t]
                        second += r[t] * weighted
                        third += weighted
                    gradient[base + k] += first
                    diagonal[base + k] += second
                    if with_cross:
                        cross[base + k] += third
                    if shared and k == ptr[j]:
                        symbol_gradient[y, j] += first
                        symbol_modulus[y, j] += second


@kernel(REASSOCIATE)
def add_full(
    ptr: np.ndarray,
    rows_of: np.ndarray,
    signals: np.ndarray,
    B: np.ndarray,
    m: np.ndarray,
    order: np.ndarray,
    groups: np.ndarray,
    low: int,
    high: int,
    shared: bool,
    square_ptr: np.ndarray,
    gradient: np.ndarray,
    matrices: np.ndarray,
    symbol_gradient: np.ndarray,
    symbol_modulus: np.ndarray,
    symbol_cross: np.ndarray,
) -> None:
    """G_k += Σ r_k B_j and M_kk' += Σ r_k r_k' m_j, two by four entries at a time so that loads are shared.

    The first column of a block, that of its constant, is the sum of the scaled signals themselves.
    """
    E, U = ptr[-1], ptr.size - 1
    widest = 0
    for j in range(U):
        widest = max(widest, ptr[j + 1] - ptr[j])
    rows = np.ones((signals.shape[1] + 1, STRIDE))
    b_rows, m_rows = np.empty((U, STRIDE)), np.empty((U, STRIDE))
    scaled = np.empty((widest, STRIDE))
    block = np.empty((widest + 1, widest + 4))
    for y in range(low, high):
        base = 0 if shared else y * E
        for s in range(groups[y], groups[y + 1], CHUNK):
            n = min(CHUNK, groups[y + 1] - s)
            gather(signals, order, s, n, rows[1:])
            gather(B, order, s, n, b_rows)
            gather(m, order, s, n, m_rows)
            for j in range(U):
                k0, K = ptr[j], ptr[j + 1] - ptr[j]
                corner = square_ptr[j] if shared else square_ptr[y * U + j]
                b, c = b_rows[j, :n], m_rows[j, :n]
                for k in range(K):
                    r, out = rows[rows_of[k0 + k], :n], scaled[k]
                    first, third = 0.0, 0.0
                    for t in range(n):
                        weighted = r[t] * c[t]
                        out[t] = weighted
                        first += r[t] * b[t]
                        third += weighted
                    gradient[base + k0 + k] += first
                    matrices[corner + k * K] += third
                    if shared:
                        symbol_cross[y, k0 + k] += third
                        if k == 0:
                            symbol_gradient[y, j] += first
                            symbol_modulus[y, j] += third
                for k in range(1, K, 2):
                    # Past the last row or column, the last one is used again and its result dropped.
                    k1 = min(k + 1, K - 1)
                    x0, x1 = scaled[k, :n], scaled[k1, :n]
                    for q in range(1, k1 + 1, 4):
                        y0 = rows[rows_of[k0 + q], :n]
                        y1 = rows[rows_of[k0 + min(q + 1, K - 1)], :n]
                        y2 = rows[rows_of[k0 + min(q + 2, K - 1)], :n]
                        y3 = rows[rows_of[k0 + min(q + 3, K - 1)], :n]
                        dot_products(x0, x1, y0, y1, y2, y3, block[k : k + 2, q : q + 4])
                for k in range(1, K):
                    own, found = matrices[corner + k * K : corner + k * K + K], block[k]
                    for q in range(1, k + 1):
                        own[q] += found[q]
    # So far only the lower triangles are filled.
    for place in range((0 if shared else low * U), (U if shared else high * U)):
        K = ptr[place % U + 1] - ptr[place % U]
        corner = square_ptr[place]
        for k in range(K):
            for q in range(k):
                matrices[corner + q * K + k] = matrices[corner + k * K + q]
