"""G and M̃ where every unit receives the same signals, as in a fully connected network.

The products r_k r_k' are then the same for all units: they are made once, and every entry of every M̃_j is the dot
product over time of m_j with one of them. Eight at a time, so that loads are shared (a matrix product of BLAS spends
as long on copying the products as on multiplying them with so few units).
"""

from __future__ import annotations

import numpy as np

from glnn.metrics.gather import CHUNK, STRIDE, dot_products, gather
from glnn.numeric.kernel import REASSOCIATE, kernel


@kernel(REASSOCIATE)
def _add_dot_products(u: np.ndarray, v: np.ndarray, n: int, out: np.ndarray) -> None:
    """out_jc += Σ_{t<n} u_jt v_ct; the numbers of rows are multiples of 2 and 4."""
    block = np.empty((2, 4))
    for c in range(0, v.shape[0], 4):
        v0, v1, v2, v3 = v[c, :n], v[c + 1, :n], v[c + 2, :n], v[c + 3, :n]
        for j in range(0, u.shape[0], 2):
            dot_products(u[j, :n], u[j + 1, :n], v0, v1, v2, v3, block)
            for row in range(2):
                for column in range(4):
                    out[j + row, c + column] += block[row, column]


@kernel(REASSOCIATE)
def add_full_shared(
    rows_of: np.ndarray,
    signals: np.ndarray,
    B: np.ndarray,
    m: np.ndarray,
    order: np.ndarray,
    groups: np.ndarray,
    low: int,
    high: int,
    gradient: np.ndarray,
    matrices: np.ndarray,
) -> None:
    """As `sums.add_full` for gated networks; `gradient` is (A, U, K) and `matrices` (A, U, K, K)."""
    K, U = rows_of.size, B.shape[1]
    pairs = K * (K + 1) // 2
    rows = np.ones((signals.shape[1] + 1, STRIDE))
    # Rows that fill up the blocks of two and four stay zero.
    own, products = np.zeros((K + (-K) % 4, STRIDE)), np.zeros((pairs + (-pairs) % 4, STRIDE))
    b_rows, m_rows = np.zeros((U + U % 2, STRIDE)), np.zeros((U + U % 2, STRIDE))
    first, second = np.empty((U + U % 2, own.shape[0])), np.empty((U + U % 2, products.shape[0]))
    for y in range(low, high):
        first[:] = 0.0
        second[:] = 0.0
        for s in range(groups[y], groups[y + 1], CHUNK):
            n = min(CHUNK, groups[y + 1] - s)
            gather(signals, order, s, n, rows[1:])
            gather(B, order, s, n, b_rows)
            gather(m, order, s, n, m_rows)
            place = 0
            for k in range(K):
                left = own[k]
                left[:n] = rows[rows_of[k], :n]
                for q in range(k + 1):
                    right, out = own[q], products[place]
                    for t in range(n):
                        out[t] = left[t] * right[t]
                    place += 1
            _add_dot_products(b_rows, own, n, first)
            _add_dot_products(m_rows, products, n, second)
        for j in range(U):
            gradient[y, j] += first[j, :K]
            place = 0
            for k in range(K):
                for q in range(k + 1):
                    matrices[y, j, k, q] += second[j, place]
                    matrices[y, j, q, k] = matrices[y, j, k, q]
                    place += 1
