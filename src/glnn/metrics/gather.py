"""Times in the order of their symbols, in chunks that fit the cache, each column a contiguous row, and dot products."""

from __future__ import annotations

import numpy as np

from glnn.numeric.kernel import REASSOCIATE, kernel
from glnn.numeric.lanes import LANES, prefetch, transpose

CHUNK = 256
# Rows a power of two apart would share a few lines of the cache.
STRIDE = CHUNK + 8


@kernel(inline="always")
def gather(source: np.ndarray, order: np.ndarray, s: int, n: int, out: np.ndarray) -> None:
    """out[k, t] = source[order[s + t], k] for t < n: columns become contiguous rows, eight by eight."""
    R, last = source.shape[1], order.size - 1
    if n < LANES or R < LANES:
        for t in range(n):
            for k in range(R):
                out[k, t] = source[order[s + t], k]
        return
    for place in range(0, n, LANES):
        # The last eight may overlap those before them.
        t = min(place, n - LANES)
        for column in range(0, R, LANES):
            ahead = order[min(s + t + 2 * LANES + column // LANES, last)]
            for k in range(0, R, LANES):
                prefetch(source, ahead, k)
            transpose(source, order, s + t, min(column, R - LANES), out, t)


@kernel(REASSOCIATE, inline="always")
def dot_products(
    u0: np.ndarray,
    u1: np.ndarray,
    v0: np.ndarray,
    v1: np.ndarray,
    v2: np.ndarray,
    v3: np.ndarray,
    out: np.ndarray,
) -> None:
    """out[j, c] = Σ_t u_j v_c: eight sums at once share their loads, and keep both multipliers busy."""
    s00, s01, s02, s03, s10, s11, s12, s13 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for t in range(u0.size):
        s00 += u0[t] * v0[t]
        s01 += u0[t] * v1[t]
        s02 += u0[t] * v2[t]
        s03 += u0[t] * v3[t]
        s10 += u1[t] * v0[t]
        s11 += u1[t] * v1[t]
        s12 += u1[t] * v2[t]
        s13 += u1[t] * v3[t]
    out[0, 0], out[0, 1], out[0, 2], out[0, 3] = s00, s01, s02, s03
    out[1, 0], out[1, 1], out[1, 2], out[1, 3] = s10, s11, s12, s13
