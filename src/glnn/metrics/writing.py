"""Update directions for the writing weights w: plain gradient, diagonal Hessian (DH), quasi-diagonal Hessian (QDH).

W is the gradient, h_ii and h_0i the terms of `eq:hessian`; each symbol's column of w is a block of its own, with the
constant unit as index 0.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from glnn.metrics.dense import quasi_diagonal_blocks
from glnn.metrics.inverses import quasi_diagonal


class WritingDirection(Protocol):
    """One way to turn the sums over time into a step of w, which are (N + 1, A); `damping` is ε_y."""

    def __call__(
        self, gradient: np.ndarray, diagonal: np.ndarray, cross: np.ndarray, damping: np.ndarray
    ) -> np.ndarray:
        """The step, (N + 1, A)."""
        ...

    def dense(self, diagonal: np.ndarray, cross: np.ndarray, damping: np.ndarray) -> np.ndarray:
        """The metric of each symbol's column, (A, N + 1, N + 1)."""
        ...


class Plain:
    """The gradient W itself."""

    def __call__(
        self, gradient: np.ndarray, diagonal: np.ndarray, cross: np.ndarray, damping: np.ndarray
    ) -> np.ndarray:
        """W."""
        return gradient.copy()

    def dense(self, diagonal: np.ndarray, cross: np.ndarray, damping: np.ndarray) -> np.ndarray:
        """The identity."""
        return np.tile(np.eye(len(diagonal)), (diagonal.shape[1], 1, 1))


class DiagonalHessian:
    """Each weight by its own second derivative."""

    def __call__(
        self, gradient: np.ndarray, diagonal: np.ndarray, cross: np.ndarray, damping: np.ndarray
    ) -> np.ndarray:
        """W_iy / h_ii^y."""
        return gradient / (diagonal + damping)

    def dense(self, diagonal: np.ndarray, cross: np.ndarray, damping: np.ndarray) -> np.ndarray:
        """h_ii + ε_y on the diagonal."""
        return (diagonal + damping).T[:, :, None] * np.eye(len(diagonal))


class QuasiDiagonalHessian:
    """`eq:qdw1` and `eq:qdw2`."""

    def __call__(
        self, gradient: np.ndarray, diagonal: np.ndarray, cross: np.ndarray, damping: np.ndarray
    ) -> np.ndarray:
        """The quasi-diagonal inverse of each symbol's block."""
        rows, symbols = gradient.shape
        by_symbol = [np.ascontiguousarray(part.T).ravel() for part in (gradient, diagonal + damping, cross)]
        step = quasi_diagonal(by_symbol[0], by_symbol[1], by_symbol[2], np.arange(symbols + 1) * rows)
        return np.ascontiguousarray(step.reshape(symbols, rows).T)

    def dense(self, diagonal: np.ndarray, cross: np.ndarray, damping: np.ndarray) -> np.ndarray:
        """The constant's row and column and the diagonal; the rest as if activities were orthogonal."""
        rows, symbols = diagonal.shape
        ptr = np.arange(symbols + 1) * rows
        return np.array(quasi_diagonal_blocks((diagonal + damping).T.ravel(), cross.T.ravel(), ptr))


WRITING_METHODS: dict[str, WritingDirection] = {
    "qdh": QuasiDiagonalHessian(),
    "dh": DiagonalHessian(),
    "plain": Plain(),
}


def hessian_damping(counts: np.ndarray) -> np.ndarray:
    """ε_y: the frequency of y in the training data plus the machine epsilon."""
    return counts / counts.sum() + np.finfo(float).eps
