"""Times in the order of their symbols, in chunks that fit the cache, each column as one contiguous row."""

from __future__ import annotations

import numpy as np

from glnn.numeric.kernel import kernel

CHUNK = 256
# Rows a power of two apart would share a few lines of the cache.
STRIDE = CHUNK + 8


@kernel(inline="always")
def gather(source: np.ndarray, order: np.ndarray, s: int, n: int, out: np.ndarray) -> None:
    """out[k, t] = source[order[s + t], k] for t < n: columns become contiguous rows, four times at once."""
    whole = n - n % 4
    for t in range(0, whole, 4):
        r0, r1 = source[order[s + t]], source[order[s + t + 1]]
        r2, r3 = source[order[s + t + 2]], source[order[s + t + 3]]
        for k in range(source.shape[1]):
            row = out[k]
            row[t] = r0[k]
            row[t + 1] = r1[k]
            row[t + 2] = r2[k]
            row[t + 3] = r3[k]
    for t in range(whole, n):
        for k in range(source.shape[1]):
            out[k, t] = source[order[s + t], k]
