"""Update directions for the writing weights w: plain gradient, diagonal Hessian (DH), quasi-diagonal Hessian (QDH).

W is the gradient, h_ii and h_0i the terms of `eq:hessian`; each symbol's column of w is a block of its own, with the
constant unit as index 0.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from glnn.metrics.quasi_diagonal import quasi_diagonal


def plain(gradient: np.ndarray, diagonal: np.ndarray, cross: np.ndarray, damping: np.ndarray) -> np.ndarray:
    """The gradient W itself."""
    return gradient.copy()


def diagonal_hessian(gradient: np.ndarray, diagonal: np.ndarray, cross: np.ndarray, damping: np.ndarray) -> np.ndarray:
    """W_iy / h_ii^y."""
    return gradient / (diagonal + damping)


def quasi_diagonal_hessian(
    gradient: np.ndarray, diagonal: np.ndarray, cross: np.ndarray, damping: np.ndarray
) -> np.ndarray:
    """`eq:qdw1` and `eq:qdw2`."""
    rows, symbols = gradient.shape
    by_symbol = [np.ascontiguousarray(part.T).ravel() for part in (gradient, diagonal + damping, cross)]
    step = quasi_diagonal(by_symbol[0], by_symbol[1], by_symbol[2], np.arange(symbols + 1) * rows)
    return np.ascontiguousarray(step.reshape(symbols, rows).T)


Direction = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]

WRITING_METHODS: dict[str, Direction] = {
    "qdh": quasi_diagonal_hessian,
    "dh": diagonal_hessian,
    "plain": plain,
}


def hessian_damping(counts: np.ndarray) -> np.ndarray:
    """ε_y: the frequency of y in the training data plus the machine epsilon."""
    return counts / counts.sum() + np.finfo(float).eps
