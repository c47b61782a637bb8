"""Encode and decode with a hidden Markov model: p_y = (1 − δ) Σ_i α_i b_iy + δ / A, then α_j ← Σ_i f_i a_ij.

f_i = α_i b_ix / Σ_k α_k b_kx. Sums run over the states in their order, so that a dense matrix and compressed rows give
the same bits: each is used where it is faster.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from glnn.coding.loops import LoopSteps
from glnn.coding.quantised import code_symbol
from glnn.coding.range_coder import MARGIN, fits
from glnn.numeric.kernel import kernel
from glnn.output.uniform import mix_in

if TYPE_CHECKING:
    from glnn.baselines.hmm_model import HiddenMarkovModel

# From this share of all N² edges on, a dense matrix is faster.
_DENSE_FROM = 1 / 6
# Smaller masses are 0: they would sink into denormal numbers, which are slow.
_NEGLIGIBLE = 1e-200


class HiddenMarkovSteps(LoopSteps):
    """A hidden Markov model with the share δ of the uniform distribution; the state is α."""

    def __init__(self, model: HiddenMarkovModel, share: float, escape: float | None) -> None:
        N, graph = model.states, model.graph
        dense = graph.edges >= _DENSE_FROM * N**2
        given = (
            np.ascontiguousarray(model.transition_matrix if dense else np.empty((0, N))),
            np.ascontiguousarray(model.transitions, np.float64),
            np.ascontiguousarray(graph.out_ptr, np.int64),
            np.ascontiguousarray(graph.targets, np.int64),
            np.ascontiguousarray(model.emissions, np.float64),
            float(share),
        )
        super().__init__("hmm", np.ascontiguousarray(model.start, np.float64), given, code_hmm, escape)

    def identity(self) -> Iterator[Any]:
        """The model, whichever way its transitions are stored."""
        yield self._name
        yield self._start
        yield from (*self._given[1:], self._M)


@kernel()
def _write(alpha: np.ndarray, b: np.ndarray, share: float, p: np.ndarray) -> None:
    for y in range(p.size):
        p[y] = 0.0
    for i in range(alpha.size):
        mass = alpha[i]
        if mass > 0.0:
            for y in range(p.size):
                p[y] += mass * b[i, y]
    mix_in(p, share)


@kernel()
def _advance(
    alpha: np.ndarray,
    x: int,
    matrix: np.ndarray,
    a: np.ndarray,
    out_ptr: np.ndarray,
    targets: np.ndarray,
    b: np.ndarray,
    f: np.ndarray,
) -> None:
    """An impossible symbol says nothing about the state: it continues from what was expected."""
    c = 0.0
    for i in range(alpha.size):
        f[i] = alpha[i] * b[i, x]
        c += f[i]
    for i in range(alpha.size):
        f[i] = f[i] / c if c > 0.0 else alpha[i]
        alpha[i] = 0.0
    for i in range(alpha.size):
        mass = f[i]
        if mass > _NEGLIGIBLE:
            if matrix.shape[0] > 0:
                for j in range(alpha.size):
                    alpha[j] += mass * matrix[i, j]
            else:
                for e in range(out_ptr[i], out_ptr[i + 1]):
                    alpha[targets[e]] += mass * a[e]


@kernel()
def code_hmm(
    decoding: bool,
    codes: np.ndarray,
    end: int,
    alpha: np.ndarray,
    matrix: np.ndarray,
    a: np.ndarray,
    out_ptr: np.ndarray,
    targets: np.ndarray,
    b: np.ndarray,
    share: float,
    M: np.uint64,
    coder: np.ndarray,
    buffer: np.ndarray,
) -> int:
    """Code symbols from the state α on, until `end`, an escape or the end of the buffer; returns how many."""
    p, C, f = np.empty(b.shape[1]), np.empty(b.shape[1] + 1), np.empty(alpha.size)
    for t in range(codes.size):
        if not fits(decoding, coder, buffer, MARGIN):
            return t
        _write(alpha, b, share, p)
        y = code_symbol(decoding, codes[t], p, C, M, coder, buffer)
        codes[t] = y
        if y == end or y == p.size:
            return t + 1
        _advance(alpha, y, matrix, a, out_ptr, targets, b, f)
    return codes.size
