"""The sums over time behind W and h (`eq:hessian`) for few units and symbols, four positions at a time.

A matrix product with a handful of columns spends its time on everything but multiplying; here the three sums are made
in one go, from activities that are read once, eight units at a time.
"""

from __future__ import annotations

import numpy as np

from glnn.numeric.kernel import CONTRACT, REASSOCIATE, kernel
from glnn.numeric.lanes import LANES, add, fma, load_some, multiply, spread, store_some


@kernel(CONTRACT)
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
    last = n - 1
    error, weighed = np.zeros((A, 4)), np.zeros((A, 4))
    for t in range(0, n, 4):
        given = min(4, n - t)
        for q in range(given):
            c = weight[t + q]
            for k in range(A):
                p = pi[t + q, k]
                error[k, q] = -c * p
                weighed[k, q] = c * p * (1.0 - p)
            error[y[t + q], q] += c
        # Past the last position, zeros times whatever is there.
        for q in range(given, 4):
            error[:, q] = 0.0
            weighed[:, q] = 0.0
        a0, a1, a2, a3 = a[t], a[min(t + 1, last)], a[min(t + 2, last)], a[min(t + 3, last)]
        for k in range(A):
            g, h, f = gradient[k], diagonal[k], cross[k]
            e0, e1, e2, e3 = error[k, 0], error[k, 1], error[k, 2], error[k, 3]
            p0, p1, p2, p3 = weighed[k, 0], weighed[k, 1], weighed[k, 2], weighed[k, 3]
            g[N] += (e0 + e1) + (e2 + e3)
            h[N] += (p0 + p1) + (p2 + p3)
            for i in range(0, N, LANES):
                s = N - i
                u0, u1, u2, u3 = load_some(a0, i, s), load_some(a1, i, s), load_some(a2, i, s), load_some(a3, i, s)
                total = fma(spread(e1), u1, fma(spread(e0), u0, load_some(g, i, s)))
                store_some(g, i, fma(spread(e3), u3, fma(spread(e2), u2, total)), s)
                q0, q1 = multiply(spread(p0), u0), multiply(spread(p1), u1)
                q2, q3 = multiply(spread(p2), u2), multiply(spread(p3), u3)
                store_some(f, i, add(add(add(q0, q1), add(q2, q3)), load_some(f, i, s)), s)
                store_some(h, i, fma(u3, q3, fma(u2, q2, fma(u1, q1, fma(u0, q0, load_some(h, i, s))))), s)


@kernel(REASSOCIATE)
def add_moments_of_singles(
    a: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    pi: np.ndarray,
    gradient: np.ndarray,
    diagonal: np.ndarray,
    cross: np.ndarray,
) -> None:
    """The same of activities in single precision, in the order that the compiler chose before there were vectors."""
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
