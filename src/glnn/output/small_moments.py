"""The sums over time behind W and h (`eq:hessian`) for few units and symbols, four positions at a time.

A matrix product with a handful of columns spends its time on everything but multiplying; here the three sums are made
in one go, from activities that are read once.
"""

from __future__ import annotations

import numpy as np

from glnn.numeric.kernel import REASSOCIATE, kernel


@kernel(REASSOCIATE)
def add_moments(
    a: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    pi: np.ndarray,
    gradient: np.ndarray,
    diagonal: np.ndarray,
    cross: np.ndarray,
) -> None:
    """Add Σ a (1_y − π), Σ a² π (1 − π) and Σ a π (1 − π), (A, N + 1) each, the last column that of the constant."""
    n, N = a.shape
    A = pi.shape[1]
    error, spread = np.zeros((A, 4)), np.zeros((A, 4))
    for t in range(0, n, 4):
        given = min(4, n - t)
        for q in range(given):
            c = weight[t + q]
            for k in range(A):
                p = pi[t + q, k]
                error[k, q] = -c * p
                spread[k, q] = c * p * (1.0 - p)
            error[y[t + q], q] += c
        # Past the last position, zeros times whatever is there.
        for q in range(given, 4):
            error[:, q] = 0.0
            spread[:, q] = 0.0
        last = n - 1
        a0, a1, a2, a3 = a[t], a[min(t + 1, last)], a[min(t + 2, last)], a[min(t + 3, last)]
        for k in range(A):
            e0, e1, e2, e3 = error[k, 0], error[k, 1], error[k, 2], error[k, 3]
            p0, p1, p2, p3 = spread[k, 0], spread[k, 1], spread[k, 2], spread[k, 3]
            g, h, f = gradient[k], diagonal[k], cross[k]
            g[N] += (e0 + e1) + (e2 + e3)
            h[N] += (p0 + p1) + (p2 + p3)
            for i in range(N):
                g[i] += (e0 * a0[i] + e1 * a1[i]) + (e2 * a2[i] + e3 * a3[i])
                q0, q1, q2, q3 = p0 * a0[i], p1 * a1[i], p2 * a2[i], p3 * a3[i]
                f[i] += (q0 + q1) + (q2 + q3)
                h[i] += (q0 * a0[i] + q1 * a1[i]) + (q2 * a2[i] + q3 * a3[i])
