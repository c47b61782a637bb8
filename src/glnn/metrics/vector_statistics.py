"""The sums over time for a vector-valued input: a unit's incoming signals are all products x^k a_i.

One block per unit, over the pairs (component, signal), M̃ = Σ_t m^{t+1} x^k x^l a_i a_i'; the quasi-diagonal reduction
has one block per (unit, component), with x^k itself, the constant's product, as its index 0. One-hot vectors give back
the blocks per symbol.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from glnn.metrics.statistics import Layout, Statistics, Terms
from glnn.numeric.kernel import REASSOCIATE, kernel

_CHUNK = 512
_UNITS_PER_JOB = 8


class VectorLayout(Layout):
    """Flat order (unit, component, signal); `symbols` is the number K of components."""

    @property
    def block_sizes(self) -> np.ndarray:
        """All parameters into a unit are one block."""
        return np.diff(self.ptr) * self.symbols

    @property
    def reduced_ptr(self) -> np.ndarray:
        """The quasi-diagonal reduction has a block for each (unit, component)."""
        return np.concatenate([[0], np.cumsum(np.repeat(np.diff(self.ptr), self.symbols))])

    @property
    def tied(self) -> np.ndarray:
        """The flat positions of each component's parameters, (K, number of signals)."""
        sizes = np.diff(self.ptr)
        within = np.arange(self.ptr[-1]) - np.repeat(self.ptr[:-1], sizes)
        begin = np.repeat(self.block_ptr[:-1], sizes)
        return begin + within + np.arange(self.symbols)[:, None] * np.repeat(sizes, sizes)

    def accumulator(self, terms: Terms) -> VectorAccumulator:  # type: ignore[override]
        """What adds up the statistics over stretches of time."""
        return VectorAccumulator(self, terms)


class VectorAccumulator:
    """Adds up the statistics of stretches of time; the last K signals are the components of the input."""

    def __init__(self, layout: VectorLayout, terms: Terms) -> None:
        self.layout, self.terms = layout, terms
        size = int(layout.block_ptr[-1])
        self._block_ptr, self._square_ptr = layout.block_ptr, layout.square_ptr
        self._gradient = np.zeros(size)
        self._diagonal = np.zeros(size if terms in ("diagonal", "quasi") else 0)
        self._cross = np.zeros(size if terms == "quasi" else 0)
        self._matrices = np.zeros(self._square_ptr[-1] if terms == "full" else 0)

    def jobs(
        self, signals: np.ndarray, B: np.ndarray, m: np.ndarray | None, order: np.ndarray, groups: np.ndarray
    ) -> list[Callable[[], None]]:
        """Jobs that add a stretch: signals (S, N + K), `B` and `m` (S, units); the order of time is the only one."""
        layout, K = self.layout, self.layout.symbols
        rows = np.ones((signals.shape[1] + 1, len(signals)))
        rows[1:] = signals.T
        B_rows = np.ascontiguousarray(B.T)
        m_rows = B_rows if m is None else np.ascontiguousarray(m.T)
        common = (layout.ptr, layout.rows, rows[: len(rows) - K], rows[len(rows) - K :], B_rows, m_rows)
        jobs: list[Callable[[], None]] = []
        for low in range(0, layout.units, _UNITS_PER_JOB):
            units = (low, min(low + _UNITS_PER_JOB, layout.units))
            if self.terms == "full":
                ends = (self._block_ptr, self._square_ptr, self._gradient, self._matrices)
                jobs.append(partial(add_full, *common, *units, *ends))
            else:
                sums = (self._block_ptr, self._gradient, self._diagonal, self._cross)
                jobs.append(partial(add_quasi, *common, *units, *sums))
        return jobs

    def result(self) -> Statistics:
        """The sums so far, in the flat order of the parameters."""
        if self.terms == "full":
            return Statistics(self._gradient, matrices=self._matrices)
        diagonal = self._diagonal if self.terms != "gradient" else None
        return Statistics(self._gradient, diagonal, self._cross if self.terms == "quasi" else None)


@kernel(REASSOCIATE)
def add_quasi(
    ptr: np.ndarray,
    rows_of: np.ndarray,
    rows: np.ndarray,
    inputs: np.ndarray,
    B: np.ndarray,
    m: np.ndarray,
    low: int,
    high: int,
    block_ptr: np.ndarray,
    gradient: np.ndarray,
    diagonal: np.ndarray,
    cross: np.ndarray,
) -> None:
    """G += Σ x^k r B_j, and where there is room for them M_ii += Σ (x^k r)² m_j and M_0i += Σ (x^k)² r m_j."""
    for j in range(low, high):
        p = block_ptr[j]
        for k in range(inputs.shape[0]):
            x, b, c = inputs[k], B[j], m[j]
            for i in range(ptr[j], ptr[j + 1]):
                r = rows[rows_of[i]]
                first, second, third = 0.0, 0.0, 0.0
                for t in range(r.size):
                    weighted = x[t] * x[t] * r[t] * c[t]
                    first += x[t] * r[t] * b[t]
                    second += r[t] * weighted
                    third += weighted
                gradient[p] += first
                if diagonal.size:
                    diagonal[p] += second
                if cross.size:
                    cross[p] += third
                p += 1


@kernel(REASSOCIATE)
def add_full(
    ptr: np.ndarray,
    rows_of: np.ndarray,
    rows: np.ndarray,
    inputs: np.ndarray,
    B: np.ndarray,
    m: np.ndarray,
    low: int,
    high: int,
    block_ptr: np.ndarray,
    square_ptr: np.ndarray,
    gradient: np.ndarray,
    matrices: np.ndarray,
) -> None:
    """G_p += Σ r_p B_j and M_pq += Σ r_p r_q m_j, where r_p are the products x^k a_i of the unit."""
    T = inputs.shape[1]
    for j in range(low, high):
        begin, P = block_ptr[j], block_ptr[j + 1] - block_ptr[j]
        M = matrices[square_ptr[j] : square_ptr[j + 1]].reshape((P, P))
        products, scaled = np.empty((P, _CHUNK)), np.empty((P, _CHUNK))
        for s in range(0, T, _CHUNK):
            n = min(_CHUNK, T - s)
            b, c = B[j, s : s + n], m[j, s : s + n]
            p = 0
            for k in range(inputs.shape[0]):
                x = inputs[k, s : s + n]
                for i in range(ptr[j], ptr[j + 1]):
                    r = rows[rows_of[i], s : s + n]
                    total = 0.0
                    for t in range(n):
                        products[p, t] = x[t] * r[t]
                        scaled[p, t] = products[p, t] * c[t]
                        total += products[p, t] * b[t]
                    gradient[begin + p] += total
                    p += 1
            for p in range(P):
                for q in range(p + 1):
                    total = 0.0
                    for t in range(n):
                        total += scaled[p, t] * products[q, t]
                    M[p, q] += total
                    if q < p:
                        M[q, p] += total
