"""Encode and decode with a hidden Markov model: p_y = (1 − δ) Σ_i α_i b_iy + δ / A, then α_j ← Σ_i f_i a_ij.

f_i = α_i b_ix / Σ_k α_k b_kx. Sums run over the states in their order, so that a dense matrix and compressed rows give
the same bits: each is used where it is faster.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from glnn.coding.quantised import decode_symbol, encode_symbol, known_counts
from glnn.coding.range_coder import MARGIN, TOTAL, encode, has_bytes, has_room
from glnn.numeric.kernel import kernel

if TYPE_CHECKING:
    from glnn.baselines.hmm import HiddenMarkovModel

# From this share of all N² edges on, a dense matrix is faster.
_DENSE_FROM = 1 / 6
# Smaller masses are 0: they would sink into denormal numbers, which are slow.
_NEGLIGIBLE = 1e-200


class HiddenMarkovSteps:
    """A hidden Markov model with the share δ of the uniform distribution."""

    portable = True
    margin = MARGIN

    def __init__(self, model: HiddenMarkovModel, share: float, escape: float | None) -> None:
        N, graph = model.states, model.graph
        dense = graph.edges >= _DENSE_FROM * N**2
        self._start = np.ascontiguousarray(model.start, np.float64)
        self._given = (
            np.ascontiguousarray(model.transition_matrix if dense else np.empty((0, N))),
            np.ascontiguousarray(model.transitions, np.float64),
            np.ascontiguousarray(graph.out_ptr, np.int64),
            np.ascontiguousarray(graph.targets, np.int64),
            np.ascontiguousarray(model.emissions, np.float64),
            float(share),
            known_counts(escape),
        )
        self._alpha = self._start.copy()

    def restart(self) -> None:
        """The distribution of the first hidden state."""
        self._alpha[:] = self._start

    def encode(self, codes: np.ndarray, coder: np.ndarray, out: np.ndarray) -> int:
        """Encode symbols; gives how many `out` had room for."""
        return int(encode_hmm(codes, self._alpha, *self._given, coder, out))

    def encode_escape(self, coder: np.ndarray, out: np.ndarray) -> None:
        """An escape leaves the state as it is."""
        encode(self._given[-1], TOTAL, coder, out)

    def decode(self, codes: np.ndarray, end: int, coder: np.ndarray, source: np.ndarray) -> int:
        """Decode symbols; gives how many."""
        return int(decode_hmm(codes, end, self._alpha, *self._given, coder, source))

    def identity(self) -> Iterator[Any]:
        """The model, whichever way its transitions are stored."""
        yield "hmm"
        yield self._start
        yield from self._given[1:]

    def place(self) -> np.ndarray:
        """The distribution of the hidden state."""
        return self._alpha


@kernel()
def _write(alpha: np.ndarray, b: np.ndarray, share: float, p: np.ndarray) -> None:
    for y in range(p.size):
        p[y] = 0.0
    for i in range(alpha.size):
        mass = alpha[i]
        if mass > 0.0:
            for y in range(p.size):
                p[y] += mass * b[i, y]
    for y in range(p.size):
        p[y] = (1.0 - share) * p[y] + share / p.size


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
    """An impossible symbol tells nothing about the state: then it goes on from what was expected."""
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
def encode_hmm(
    codes: np.ndarray,
    alpha: np.ndarray,
    matrix: np.ndarray,
    a: np.ndarray,
    out_ptr: np.ndarray,
    targets: np.ndarray,
    b: np.ndarray,
    share: float,
    M: np.uint64,
    coder: np.ndarray,
    out: np.ndarray,
) -> int:
    """Encode symbols from the state α on; gives how many `out` had room for."""
    p, C, f = np.empty(b.shape[1]), np.empty(b.shape[1] + 1), np.empty(alpha.size)
    for t in range(codes.size):
        if not has_room(coder, out, MARGIN):
            return t
        _write(alpha, b, share, p)
        encode_symbol(codes[t], p, C, M, coder, out)
        _advance(alpha, codes[t], matrix, a, out_ptr, targets, b, f)
    return codes.size


@kernel()
def decode_hmm(
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
    source: np.ndarray,
) -> int:
    """Fill `codes` until `end`, an escape (the code A) or the end of `source`; gives how many."""
    p, C, f = np.empty(b.shape[1]), np.empty(b.shape[1] + 1), np.empty(alpha.size)
    for t in range(codes.size):
        if not has_bytes(coder, source, MARGIN):
            return t
        _write(alpha, b, share, p)
        y = decode_symbol(p, C, M, coder, source)
        codes[t] = y
        if y == end or y == p.size:
            return t + 1
        _advance(alpha, y, matrix, a, out_ptr, targets, b, f)
    return codes.size
