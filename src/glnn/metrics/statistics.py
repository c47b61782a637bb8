"""Sums over time from which every update direction is made: G = Σ B r and the needed terms of M̃ = Σ m r rᵀ.

`eq:tildeM` asks, for each unit j and symbol y, for Σ_t 1_{x_t=y} a_i a_i' m_j^{t+1}. Times are taken symbol by symbol,
in chunks that fit the cache, in which each signal is one contiguous row, so that every entry is a dot product.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from glnn.metrics.gather import CHUNK, gather
from glnn.metrics.shared_signals import add_full_shared
from glnn.numeric.kernel import REASSOCIATE, kernel

Terms = Literal["gradient", "diagonal", "quasi", "full"]

# Rows a power of two apart would share a few lines of the cache.
_STRIDE = CHUNK + 8
# Fixed, whatever the number of threads: where parts are added up, their order is part of the result.
_JOBS = 4


@dataclass(frozen=True)
class Layout:
    """How a unit's incoming signals and the symbols make blocks of parameters.

    `ptr`, `rows`: the signals of each unit, the constant (row 0) first. `gated`: a block per (symbol, unit); otherwise
    one block per unit, in which one parameter per symbol follows the signals.
    """

    ptr: np.ndarray
    rows: np.ndarray
    symbols: int
    gated: bool

    @property
    def units(self) -> int:
        """Number of units that have incoming parameters."""
        return len(self.ptr) - 1

    @cached_property
    def same_signals(self) -> bool:
        """Whether every unit receives the same signals in the same order, as in a fully connected network."""
        sizes = np.diff(self.ptr)
        return bool((sizes == sizes[0]).all() and (self.rows.reshape(self.units, -1) == self.rows[: sizes[0]]).all())

    @cached_property
    def block_sizes(self) -> np.ndarray:
        """Number of parameters in each block, in flat order."""
        sizes = np.diff(self.ptr)
        return np.tile(sizes, self.symbols) if self.gated else sizes + self.symbols

    @cached_property
    def block_ptr(self) -> np.ndarray:
        """Where each block begins among the flat parameters."""
        return np.concatenate([[0], np.cumsum(self.block_sizes)])

    @cached_property
    def square_ptr(self) -> np.ndarray:
        """Where each block's matrix begins among the packed matrices."""
        return np.concatenate([[0], np.cumsum(self.block_sizes**2)])

    @property
    def reduced_ptr(self) -> np.ndarray:
        """Where each block of the quasi-diagonal reduction begins."""
        return self.block_ptr

    @property
    def tied(self) -> np.ndarray:
        """The flat positions of the parameters tied to each symbol, (A, as many as each has)."""
        if self.gated:
            return np.arange(self.symbols * self.ptr[-1]).reshape(self.symbols, -1)
        return self.symbol_positions

    def accumulator(self, terms: Terms) -> Accumulator:
        """What adds up the statistics over stretches of time."""
        return Accumulator(self, terms)

    @cached_property
    def signal_positions(self) -> np.ndarray:
        """Without gates: the flat positions of the parameters of signals, unit after unit."""
        sizes = np.diff(self.ptr)
        return np.arange(self.ptr[-1]) + np.repeat(np.arange(self.units), sizes) * self.symbols

    @cached_property
    def symbol_positions(self) -> np.ndarray:
        """Without gates: the flat positions of the parameters of symbols, (A, units)."""
        return (self.block_ptr[1:] - self.symbols) + np.arange(self.symbols)[:, None]


@dataclass(frozen=True)
class Statistics:
    """The gradient and, as far as the reduction needs them, terms of M̃, all without damping.

    `gradient`, `diagonal` (M_kk) and `cross` (M_0k, with 0 the block's constant) are flat over the parameters;
    `matrices` holds the blocks' matrices one after the other, both triangles filled.
    """

    gradient: np.ndarray
    diagonal: np.ndarray | None = None
    cross: np.ndarray | None = None
    matrices: np.ndarray | None = None

    def __add__(self, other: Statistics) -> Statistics:
        def add(a: np.ndarray | None, b: np.ndarray | None) -> np.ndarray | None:
            return None if a is None or b is None else a + b

        return Statistics(
            self.gradient + other.gradient,
            add(self.diagonal, other.diagonal),
            add(self.cross, other.cross),
            add(self.matrices, other.matrices),
        )


class Accumulator:
    """Adds up the statistics of stretches of time."""

    def __init__(self, layout: Layout, terms: Terms) -> None:
        self.layout, self.terms = layout, terms
        E = int(layout.ptr[-1])
        groups = layout.symbols if layout.gated else 1
        sizes = np.tile(np.diff(layout.ptr), groups)
        self._square_ptr = np.concatenate([[0], np.cumsum(sizes**2)])
        # Without gates all symbols add to the same entries: each job has entries of its own, added up at the end.
        copies = 1 if layout.gated else _JOBS
        self._gradient = np.zeros((copies, groups * E))
        self._diagonal = np.zeros((copies, groups * E if terms in ("diagonal", "quasi") else 0))
        self._cross = np.zeros((copies, groups * E if terms == "quasi" else 0))
        self._matrices = np.zeros((copies, self._square_ptr[-1] if terms == "full" else 0))
        A, U = (0, 0) if layout.gated else (layout.symbols, layout.units)
        self._symbol_gradient = np.zeros((A, U))
        self._symbol_modulus = np.zeros((A, U))
        self._symbol_cross = np.zeros((A, E if terms == "full" else 0))

    def add(
        self,
        signals: np.ndarray,
        B: np.ndarray,
        m: np.ndarray | None,
        order: np.ndarray,
        groups: np.ndarray,
        run: Callable[[Sequence[Callable[[], None]]], Any],
    ) -> None:
        """Add a stretch: signals (S, R), `B` and `m` (S, units); `order` are its times sorted by symbol, from `groups`.

        `run` executes a list of jobs that write to places of their own, in any order.
        """
        m = B if m is None else m
        cuts = np.searchsorted(groups, np.linspace(0, groups[-1], _JOBS + 1))
        cuts[-1] = len(groups) - 1
        jobs = []
        for k in range(_JOBS):
            low, high = int(cuts[k]), int(cuts[k + 1])
            if low < high:
                copy = 0 if self.layout.gated else k
                jobs.append(self._job(signals, B, m, order, groups, low, high, copy))
        run(jobs)

    def _job(
        self,
        signals: np.ndarray,
        B: np.ndarray,
        m: np.ndarray,
        order: np.ndarray,
        groups: np.ndarray,
        low: int,
        high: int,
        copy: int,
    ) -> Callable[[], None]:
        layout = self.layout
        given = (layout.ptr, layout.rows, signals, B, m, order, groups, low, high, not layout.gated)
        gradient = self._gradient[copy]
        symbols = (self._symbol_gradient, self._symbol_modulus)
        if self.terms == "full":
            matrices = self._matrices[copy]
            if layout.gated and layout.same_signals:
                K = int(layout.ptr[1])
                blocks = gradient.reshape(-1, layout.units, K), matrices.reshape(-1, layout.units, K, K)
                return lambda: add_full_shared(layout.rows[:K], signals, B, m, order, groups, low, high, *blocks)
            return lambda: add_full(*given, self._square_ptr, gradient, matrices, *symbols, self._symbol_cross)
        if self.terms == "gradient":
            return lambda: add_gradient(*given, gradient, self._symbol_gradient)
        diagonal, cross = self._diagonal[copy], self._cross[copy]
        return lambda: add_quasi(*given, self.terms == "quasi", gradient, diagonal, cross, *symbols)

    def result(self) -> Statistics:
        """The sums so far, in the flat order of the parameters."""
        parts = {name: getattr(self, f"_{name}") for name in ("gradient", "diagonal", "cross", "matrices")}
        sums = {name: _added_in_order(part) for name, part in parts.items() if part.size}
        if self.layout.gated:
            return Statistics(**sums)
        joined = {"gradient": self._join(sums["gradient"], self._symbol_gradient)}
        # A symbol's signal is 0 or 1, so its product with the constant is its own square.
        for name in sums.keys() & {"diagonal", "cross"}:
            joined[name] = self._join(sums[name], self._symbol_modulus)
        if "matrices" in sums:
            joined["matrices"] = self._joined_matrices(sums["matrices"])
        return Statistics(**joined)

    def _join(self, of_signals: np.ndarray, of_symbols: np.ndarray) -> np.ndarray:
        flat = np.empty(of_signals.size + of_symbols.size)
        flat[self.layout.signal_positions] = of_signals
        flat[self.layout.symbol_positions] = of_symbols
        return flat

    def _joined_matrices(self, of_signals: np.ndarray) -> np.ndarray:
        layout = self.layout
        packed = np.zeros(layout.square_ptr[-1])
        for j in range(layout.units):
            low, high = layout.ptr[j], layout.ptr[j + 1]
            k, whole = high - low, high - low + layout.symbols
            block = packed[layout.square_ptr[j] : layout.square_ptr[j + 1]].reshape(whole, whole)
            block[:k, :k] = of_signals[self._square_ptr[j] : self._square_ptr[j + 1]].reshape(k, k)
            block[k:, :k] = self._symbol_cross[:, low:high]
            block[:k, k:] = block[k:, :k].T
            block[np.arange(k, whole), np.arange(k, whole)] = self._symbol_modulus[:, j]
        return packed


def _added_in_order(parts: np.ndarray) -> np.ndarray:
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total


@kernel(REASSOCIATE)
def add_gradient(
    ptr: np.ndarray,
    rows_of: np.ndarray,
    signals: np.ndarray,
    B: np.ndarray,
    m: np.ndarray,
    order: np.ndarray,
    groups: np.ndarray,
    low: int,
    high: int,
    shared: bool,
    gradient: np.ndarray,
    symbol_gradient: np.ndarray,
) -> None:
    """G_k += Σ r_k B_j over the times of the symbols low ≤ y < high, a set of sums per symbol or one for all."""
    E, U = ptr[-1], ptr.size - 1
    rows = np.ones((signals.shape[1] + 1, _STRIDE))
    b_rows = np.empty((U, _STRIDE))
    for y in range(low, high):
        base = 0 if shared else y * E
        for s in range(groups[y], groups[y + 1], CHUNK):
            n = min(CHUNK, groups[y + 1] - s)
            gather(signals, order, s, n, rows[1:])
            gather(B, order, s, n, b_rows)
            for j in range(U):
                b = b_rows[j, :n]
                for k in range(ptr[j], ptr[j + 1]):
                    r = rows[rows_of[k], :n]
                    total = 0.0
                    for t in range(n):
                        total += r[t] * b[t]
                    gradient[base + k] += total
                    if shared and k == ptr[j]:
                        symbol_gradient[y, j] += total


@kernel(REASSOCIATE)
def add_quasi(
    ptr: np.ndarray,
    rows_of: np.ndarray,
    signals: np.ndarray,
    B: np.ndarray,
    m: np.ndarray,
    order: np.ndarray,
    groups: np.ndarray,
    low: int,
    high: int,
    shared: bool,
    with_cross: bool,
    gradient: np.ndarray,
    diagonal: np.ndarray,
    cross: np.ndarray,
    symbol_gradient: np.ndarray,
    symbol_modulus: np.ndarray,
) -> None:
    """G_k += Σ r_k B_j, M_kk += Σ r_k² m_j and M_0k += Σ r_k m_j."""
    E, U = ptr[-1], ptr.size - 1
    rows = np.ones((signals.shape[1] + 1, _STRIDE))
    b_rows, m_rows = np.empty((U, _STRIDE)), np.empty((U, _STRIDE))
    for y in range(low, high):
        base = 0 if shared else y * E
        for s in range(groups[y], groups[y + 1], CHUNK):
            n = min(CHUNK, groups[y + 1] - s)
            gather(signals, order, s, n, rows[1:])
            gather(B, order, s, n, b_rows)
            gather(m, order, s, n, m_rows)
            for j in range(U):
                b, c = b_rows[j, :n], m_rows[j, :n]
                for k in range(ptr[j], ptr[j + 1]):
                    r = rows[rows_of[k], :n]
                    first, second, third = 0.0, 0.0, 0.0
                    for t in range(n):
                        weighted = r[t] * c[t]
                        first += r[t] * b[t]
                        second += r[t] * weighted
                        third += weighted
                    gradient[base + k] += first
                    diagonal[base + k] += second
                    if with_cross:
                        cross[base + k] += third
                    if shared and k == ptr[j]:
                        symbol_gradient[y, j] += first
                        symbol_modulus[y, j] += second


@kernel(REASSOCIATE)
def add_full(
    ptr: np.ndarray,
    rows_of: np.ndarray,
    signals: np.ndarray,
    B: np.ndarray,
    m: np.ndarray,
    order: np.ndarray,
    groups: np.ndarray,
    low: int,
    high: int,
    shared: bool,
    square_ptr: np.ndarray,
    gradient: np.ndarray,
    matrices: np.ndarray,
    symbol_gradient: np.ndarray,
    symbol_modulus: np.ndarray,
    symbol_cross: np.ndarray,
) -> None:
    """G_k += Σ r_k B_j and M_kk' += Σ r_k r_k' m_j, two by four entries at a time so that loads are shared."""
    E, U = ptr[-1], ptr.size - 1
    widest = 0
    for j in range(U):
        widest = max(widest, ptr[j + 1] - ptr[j])
    rows = np.ones((signals.shape[1] + 1, _STRIDE))
    b_rows, m_rows = np.empty((U, _STRIDE)), np.empty((U, _STRIDE))
    scaled = np.empty((widest, _STRIDE))
    block = np.empty((2, 4))
    for y in range(low, high):
        base = 0 if shared else y * E
        for s in range(groups[y], groups[y + 1], CHUNK):
            n = min(CHUNK, groups[y + 1] - s)
            gather(signals, order, s, n, rows[1:])
            gather(B, order, s, n, b_rows)
            gather(m, order, s, n, m_rows)
            for j in range(U):
                k0, K = ptr[j], ptr[j + 1] - ptr[j]
                b, c = b_rows[j, :n], m_rows[j, :n]
                for k in range(K):
                    r, out = rows[rows_of[k0 + k], :n], scaled[k]
                    first, third = 0.0, 0.0
                    for t in range(n):
                        weighted = r[t] * c[t]
                        out[t] = weighted
                        first += r[t] * b[t]
                        third += weighted
                    gradient[base + k0 + k] += first
                    if shared:
                        symbol_cross[y, k0 + k] += third
                        if k == 0:
                            symbol_gradient[y, j] += first
                            symbol_modulus[y, j] += third
                corner = square_ptr[j] if shared else square_ptr[y * U + j]
                for k in range(0, K, 2):
                    # Past the last row it is taken again, and what comes of it is left out.
                    k1 = min(k + 1, K - 1)
                    x0, x1 = scaled[k, :n], scaled[k1, :n]
                    for q in range(0, k + 1, 4):
                        y0 = rows[rows_of[k0 + q], :n]
                        y1 = rows[rows_of[k0 + min(q + 1, K - 1)], :n]
                        y2 = rows[rows_of[k0 + min(q + 2, K - 1)], :n]
                        y3 = rows[rows_of[k0 + min(q + 3, K - 1)], :n]
                        s00, s01, s02, s03, s10, s11, s12, s13 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
                        for t in range(n):
                            s00 += x0[t] * y0[t]
                            s01 += x0[t] * y1[t]
                            s02 += x0[t] * y2[t]
                            s03 += x0[t] * y3[t]
                            s10 += x1[t] * y0[t]
                            s11 += x1[t] * y1[t]
                            s12 += x1[t] * y2[t]
                            s13 += x1[t] * y3[t]
                        block[0, 0], block[0, 1], block[0, 2], block[0, 3] = s00, s01, s02, s03
                        block[1, 0], block[1, 1], block[1, 2], block[1, 3] = s10, s11, s12, s13
                        for row in range(k, k1 + 1):
                            for column in range(q, min(q + 4, row + 1)):
                                matrices[corner + row * K + column] += block[row - k, column - q]
    # So far only the lower triangles are filled.
    for place in range((0 if shared else low * U), (U if shared else high * U)):
        K = ptr[place % U + 1] - ptr[place % U]
        corner = square_ptr[place]
        for k in range(K):
            for q in range(k):
                matrices[corner + q * K + k] = matrices[corner + k * K + q]
