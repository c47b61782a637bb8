"""Sums over time from which every update direction is made: G = Σ B r and the needed terms of M̃ = Σ m r rᵀ.

`eq:tildeM` asks, for each unit j and symbol y, for Σ_t 1_{x_t=y} a_i a_i' m_j^{t+1}. Times are sorted by symbol, each
signal is one contiguous row, so that every entry is a dot product over a contiguous range.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from glnn.numeric.kernel import REASSOCIATE, kernel

Terms = Literal["gradient", "diagonal", "quasi", "full"]

_CHUNK = 512
_UNITS_PER_JOB = 8


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

    @property
    def block_sizes(self) -> np.ndarray:
        """Number of parameters in each block, in flat order."""
        sizes = np.diff(self.ptr)
        return np.tile(sizes, self.symbols) if self.gated else sizes + self.symbols

    @property
    def block_ptr(self) -> np.ndarray:
        """Where each block begins among the flat parameters."""
        return np.concatenate([[0], np.cumsum(self.block_sizes)])

    @property
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

    @property
    def signal_positions(self) -> np.ndarray:
        """Without gates: the flat positions of the parameters of signals, unit after unit."""
        sizes = np.diff(self.ptr)
        return np.arange(self.ptr[-1]) + np.repeat(np.arange(self.units), sizes) * self.symbols

    @property
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
        groups = layout.symbols if layout.gated else 1
        self._size = groups * layout.ptr[-1]
        sizes = np.tile(np.diff(layout.ptr), groups)
        self._square_ptr = np.concatenate([[0], np.cumsum(sizes**2)])
        self._gradient = np.zeros(self._size)
        self._diagonal = np.zeros(self._size if terms in ("diagonal", "quasi") else 0)
        self._cross = np.zeros(self._size if terms == "quasi" else 0)
        self._matrices = np.zeros(self._square_ptr[-1] if terms == "full" else 0)
        if not layout.gated:
            A, U = layout.symbols, layout.units
            self._symbol_gradient = np.zeros((A, U))
            self._symbol_modulus = np.zeros((A, U))
            self._symbol_cross = np.zeros((A, layout.ptr[-1] if terms == "full" else 0))

    def add(
        self,
        rows: np.ndarray,
        groups: np.ndarray,
        B: np.ndarray,
        m: np.ndarray | None,
        run: Callable[[list[Callable[[], None]]], None],
    ) -> None:
        """Add a stretch: signals `rows` (R+1, S), `B` and `m` (units, S), times sorted by symbol with offsets `groups`.

        `run` executes a list of jobs that write to places of their own, in any order.
        """
        m = B if m is None else m
        units = self.layout.units
        jobs: list[Callable[[], None]] = []
        for low in range(0, units, _UNITS_PER_JOB):
            high = min(low + _UNITS_PER_JOB, units)
            jobs.append(lambda low=low, high=high: self._add_units(rows, groups, B, m, low, high))  # type: ignore[misc]
        run(jobs)

    def _add_units(
        self, rows: np.ndarray, groups: np.ndarray, B: np.ndarray, m: np.ndarray, low: int, high: int
    ) -> None:
        layout = self.layout
        # Without gates, all times are one range for the signals, and the symbols' own terms are apart.
        ranges = groups if layout.gated else groups[[0, -1]]
        graph = (layout.ptr, layout.rows, ranges, rows, B, m, low, high)
        if self.terms == "full":
            add_full(*graph, self._square_ptr, self._gradient, self._matrices)
        elif self.terms == "gradient":
            add_gradient(*graph, self._gradient)
        else:
            add_quasi(*graph, self.terms == "quasi", self._gradient, self._diagonal, self._cross)
        if not layout.gated:
            add_symbols(groups, B, m, low, high, self._symbol_gradient, self._symbol_modulus)
            if self.terms == "full":
                add_symbol_cross(layout.ptr, layout.rows, groups, rows, m, low, high, self._symbol_cross)

    def result(self) -> Statistics:
        """The sums so far, in the flat order of the parameters."""
        chosen = {
            "gradient": (),
            "diagonal": ("diagonal",),
            "quasi": ("diagonal", "cross"),
            "full": ("matrices",),
        }[self.terms]
        if self.layout.gated:
            arrays = {name: getattr(self, f"_{name}") for name in chosen}
            return Statistics(self._gradient, **arrays)
        arrays = {}
        if chosen and chosen[0] == "diagonal":
            arrays["diagonal"] = self._join(self._diagonal, self._symbol_modulus)
        if "cross" in chosen:
            # A symbol's signal is 0 or 1, so its product with the constant is its own square.
            arrays["cross"] = self._join(self._cross, self._symbol_modulus)
        if "matrices" in chosen:
            arrays["matrices"] = self._joined_matrices()
        return Statistics(self._join(self._gradient, self._symbol_gradient), **arrays)

    def _join(self, of_signals: np.ndarray, of_symbols: np.ndarray) -> np.ndarray:
        flat = np.empty(of_signals.size + of_symbols.size)
        flat[self.layout.signal_positions] = of_signals
        flat[self.layout.symbol_positions] = of_symbols
        return flat

    def _joined_matrices(self) -> np.ndarray:
        layout = self.layout
        packed = np.zeros(layout.square_ptr[-1])
        for j in range(layout.units):
            low, high = layout.ptr[j], layout.ptr[j + 1]
            k, whole = high - low, high - low + layout.symbols
            block = packed[layout.square_ptr[j] : layout.square_ptr[j + 1]].reshape(whole, whole)
            block[:k, :k] = self._matrices[self._square_ptr[j] : self._square_ptr[j + 1]].reshape(k, k)
            block[k:, :k] = self._symbol_cross[:, low:high]
            block[:k, k:] = block[k:, :k].T
            block[np.arange(k, whole), np.arange(k, whole)] = self._symbol_modulus[:, j]
        return packed


@kernel()
def sort_transposed(source: np.ndarray, order: np.ndarray, out: np.ndarray) -> None:
    """out[k, n] = source[order[n], k]: columns become contiguous rows, times in the given order."""
    width = source.shape[1]
    for low in range(0, order.size, 16):
        high = min(low + 16, order.size)
        for k in range(width):
            row = out[k]
            for n in range(low, high):
                row[n] = source[order[n], k]


@kernel(REASSOCIATE, inline="always")
def _dot(x: np.ndarray, y: np.ndarray) -> float:
    total = 0.0
    for n in range(x.size):
        total += x[n] * y[n]
    return total


@kernel(REASSOCIATE)
def add_gradient(
    ptr: np.ndarray,
    rows_of: np.ndarray,
    ranges: np.ndarray,
    rows: np.ndarray,
    B: np.ndarray,
    m: np.ndarray,
    low: int,
    high: int,
    gradient: np.ndarray,
) -> None:
    """G_k += Σ r_k B_j over each range of times, for the units low ≤ j < high."""
    E = ptr[-1]
    for j in range(low, high):
        for g in range(ranges.size - 1):
            s, e = ranges[g], ranges[g + 1]
            if s < e:
                for k in range(ptr[j], ptr[j + 1]):
                    gradient[g * E + k] += _dot(rows[rows_of[k], s:e], B[j, s:e])


@kernel(REASSOCIATE)
def add_quasi(
    ptr: np.ndarray,
    rows_of: np.ndarray,
    ranges: np.ndarray,
    rows: np.ndarray,
    B: np.ndarray,
    m: np.ndarray,
    low: int,
    high: int,
    with_cross: bool,
    gradient: np.ndarray,
    diagonal: np.ndarray,
    cross: np.ndarray,
) -> None:
    """G_k += Σ r_k B_j, M_kk += Σ r_k² m_j and M_0k += Σ r_k m_j."""
    E = ptr[-1]
    for j in range(low, high):
        for g in range(ranges.size - 1):
            s, e = ranges[g], ranges[g + 1]
            if s == e:
                continue
            b, c = B[j, s:e], m[j, s:e]
            for k in range(ptr[j], ptr[j + 1]):
                r = rows[rows_of[k], s:e]
                first, second, third = 0.0, 0.0, 0.0
                for n in range(r.size):
                    weighted = r[n] * c[n]
                    first += r[n] * b[n]
                    second += r[n] * weighted
                    third += weighted
                gradient[g * E + k] += first
                diagonal[g * E + k] += second
                if with_cross:
                    cross[g * E + k] += third


@kernel(REASSOCIATE)
def add_full(
    ptr: np.ndarray,
    rows_of: np.ndarray,
    ranges: np.ndarray,
    rows: np.ndarray,
    B: np.ndarray,
    m: np.ndarray,
    low: int,
    high: int,
    square_ptr: np.ndarray,
    gradient: np.ndarray,
    matrices: np.ndarray,
) -> None:
    """G_k += Σ r_k B_j and M_kk' += Σ r_k r_k' m_j, two by two entries at a time so that loads are shared."""
    E, U = ptr[-1], ptr.size - 1
    widest = 0
    for j in range(low, high):
        widest = max(widest, ptr[j + 1] - ptr[j])
    scaled = np.empty((widest + 1, _CHUNK), rows.dtype)
    sums = np.empty((widest + 1, widest + 1))
    for j in range(low, high):
        k0, K = ptr[j], ptr[j + 1] - ptr[j]
        for g in range(ranges.size - 1):
            if ranges[g] == ranges[g + 1]:
                continue
            sums[:] = 0.0
            for s in range(ranges[g], ranges[g + 1], _CHUNK):
                e = min(s + _CHUNK, ranges[g + 1])
                n = e - s
                b, c = B[j, s:e], m[j, s:e]
                for k in range(K):
                    r, out = rows[rows_of[k0 + k], s:e], scaled[k]
                    total = 0.0
                    for t in range(n):
                        out[t] = r[t] * c[t]
                        total += r[t] * b[t]
                    gradient[g * E + k0 + k] += total
                for k in range(0, K, 2):
                    x0 = scaled[k, :n]
                    # An odd last row is multiplied with whatever stands behind it; that entry is never read.
                    x1 = scaled[min(k + 1, K - 1), :n]
                    for q in range(0, k + 2, 2):
                        y0 = rows[rows_of[k0 + min(q, K - 1)], s:e]
                        y1 = rows[rows_of[k0 + min(q + 1, K - 1)], s:e]
                        s00, s01, s10, s11 = 0.0, 0.0, 0.0, 0.0
                        for t in range(n):
                            s00 += x0[t] * y0[t]
                            s01 += x0[t] * y1[t]
                            s10 += x1[t] * y0[t]
                            s11 += x1[t] * y1[t]
                        sums[k, q] += s00
                        sums[k, q + 1] += s01
                        sums[k + 1, q] += s10
                        sums[k + 1, q + 1] += s11
            base = square_ptr[g * U + j]
            for k in range(K):
                for q in range(k + 1):
                    matrices[base + k * K + q] += sums[k, q]
                    if q < k:
                        matrices[base + q * K + k] += sums[k, q]


@kernel(REASSOCIATE)
def add_symbols(
    groups: np.ndarray,
    B: np.ndarray,
    m: np.ndarray,
    low: int,
    high: int,
    gradient: np.ndarray,
    modulus: np.ndarray,
) -> None:
    """For a one-hot input: Σ B_j and Σ m_j over the times of each symbol."""
    for y in range(groups.size - 1):
        s, e = groups[y], groups[y + 1]
        for j in range(low, high):
            b, c = B[j, s:e], m[j, s:e]
            first, second = 0.0, 0.0
            for n in range(b.size):
                first += b[n]
                second += c[n]
            gradient[y, j] += first
            modulus[y, j] += second


@kernel(REASSOCIATE)
def add_symbol_cross(
    ptr: np.ndarray,
    rows_of: np.ndarray,
    groups: np.ndarray,
    rows: np.ndarray,
    m: np.ndarray,
    low: int,
    high: int,
    cross: np.ndarray,
) -> None:
    """For a one-hot input: Σ r_k m_j over the times of each symbol, its entries with the unit's other signals."""
    for y in range(groups.size - 1):
        s, e = groups[y], groups[y + 1]
        if s < e:
            for j in range(low, high):
                for k in range(ptr[j], ptr[j + 1]):
                    cross[y, k] += _dot(rows[rows_of[k], s:e], m[j, s:e])
