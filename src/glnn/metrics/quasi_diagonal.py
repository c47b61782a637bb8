"""The quasi-diagonal inverse of a metric (Section 2, "Non-sparse networks"; `eq:qdw1`, `eq:qdw2` for w).

In a block with the constant as index 0 only M_00, M_0k and M_kk are used: signals are taken as orthogonal to each
other but not to the constant, which keeps the invariance under affine changes of each unit's activity.
"""

from __future__ import annotations

import numpy as np

from glnn.numeric.kernel import kernel

ROUNDING = 1e-14
"""What differences in a metric are in doubt by, beside the numbers that they are differences of."""


def quasi_diagonal(gradient: np.ndarray, diagonal: np.ndarray, cross: np.ndarray, block_ptr: np.ndarray) -> np.ndarray:
    """The quasi-diagonal inverse applied to the gradient, block by block; `diagonal` has its damping already."""
    out = np.empty_like(gradient)
    _fill(gradient, diagonal, cross, block_ptr, out)
    return out


@kernel()
def solve_block(G: np.ndarray, diagonal: np.ndarray, cross: np.ndarray, out: np.ndarray) -> None:
    """One block: out_k = (G_k − G_0 M_0k/M_00) / (M_kk − M_0k²/M_00), and the constant takes up the rest.

    The denominator is at least the damping in it. Where M is so large that rounding swallows that, the difference can
    come out 0 or negative, and the step infinite or downhill: it counts as its own rounding error then.
    """
    M00 = diagonal[0]
    rest = G[0] / M00
    for k in range(1, G.size):
        ratio = cross[k] / M00
        variance = diagonal[k] - cross[k] * ratio
        if variance < ROUNDING * diagonal[k]:
            variance = ROUNDING * diagonal[k]
        step = (G[k] - G[0] * ratio) / variance
        out[k] = step
        rest -= ratio * step
    out[0] = rest


@kernel()
def _fill(G: np.ndarray, diagonal: np.ndarray, cross: np.ndarray, block_ptr: np.ndarray, out: np.ndarray) -> None:
    for b in range(block_ptr.size - 1):
        s, e = block_ptr[b], block_ptr[b + 1]
        solve_block(G[s:e], diagonal[s:e], cross[s:e], out[s:e])
