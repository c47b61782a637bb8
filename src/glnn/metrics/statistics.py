"""Sums over time from which every update direction is made: G = Σ B r and the needed terms of M̃ = Σ m r rᵀ.

`eq:tildeM` asks, for each unit j and symbol y, for Σ_t 1_{x_t=y} a_i a_i' m_j^{t+1}. Times are taken symbol by symbol,
in chunks that fit the cache, in which each signal is one contiguous row, so that every entry is a dot product.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cached_property, partial, reduce
from typing import Any, Literal, Protocol

import numpy as np

from glnn.metrics.shared_signals import add_full_shared
from glnn.metrics.sums import add_full, add_gradient, add_quasi

Terms = Literal["gradient", "diagonal", "quasi", "full"]

# Fixed, whatever the number of threads: where parts are added up, their order is part of the result.
_JOBS = 4
_CUTS = np.arange(_JOBS + 1) / _JOBS


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
    def unit_of(self) -> np.ndarray:
        """The unit that each flat parameter leads into."""
        sizes = self.block_sizes
        return np.repeat(np.arange(len(sizes)) % self.units, sizes)

    @cached_property
    def block_ptr(self) -> np.ndarray:
        """Where each block begins among the flat parameters."""
        return np.concatenate([[0], np.cumsum(self.block_sizes)])

    @cached_property
    def square_ptr(self) -> np.ndarray:
        """Where each block's matrix begins among the packed matrices."""
        return np.concatenate([[0], np.cumsum(self.block_sizes**2)])

    @property
    def tied(self) -> np.ndarray:
        """The flat positions of the parameters tied to each symbol, (A, as many as each has)."""
        if self.gated:
            return np.arange(self.symbols * self.ptr[-1]).reshape(self.symbols, -1)
        return self.symbol_positions

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
    """The gradient and, as far as the direction needs them, terms of M̃, all without damping.

    `gradient`, `diagonal` (M_kk) and `cross` (M_0k, with 0 the block's constant) are flat over the parameters;
    `matrices` holds the blocks' matrices one after the other, both triangles filled. `start_gradient` and
    `start_modulus` are B⁰ and m⁰ of the start values, summed over the sequences. Statistics can be added and scaled,
    so a running metric is `(1 - g) * running + g * chunk`.
    """

    gradient: np.ndarray
    diagonal: np.ndarray | None = None
    cross: np.ndarray | None = None
    matrices: np.ndarray | None = None
    start_gradient: np.ndarray = field(default_factory=partial(np.zeros, 0))
    start_modulus: np.ndarray = field(default_factory=partial(np.zeros, 0))

    def __add__(self, other: Statistics) -> Statistics:
        def add(name: str) -> Any:
            one, two = getattr(self, name), getattr(other, name)
            return None if one is None or two is None else one + two

        return Statistics(**{part.name: add(part.name) for part in fields(self)})

    def __mul__(self, factor: float) -> Statistics:
        def scale(part: Any) -> Any:
            return None if part is None else factor * part

        return Statistics(**{part.name: scale(getattr(self, part.name)) for part in fields(self)})

    __rmul__ = __mul__


class Adding(Protocol):
    """Adds up the statistics of stretches of time."""

    def jobs(
        self, signals: np.ndarray, B: np.ndarray, m: np.ndarray | None, order: np.ndarray, groups: np.ndarray
    ) -> list[Callable[[], None]]:
        """Jobs that add a stretch; they may run in any order, but before those of the next stretch."""
        ...

    def result(self) -> Statistics:
        """The sums so far."""
        ...


class Statistic(Protocol):
    """Which sums over time a method wants."""

    def accumulator(self, layout: Layout) -> Adding:
        """What adds them up, at zero."""
        ...


@dataclass(frozen=True)
class Sums:
    """G and terms of M̃: none (`"gradient"`), M_kk (`"diagonal"`), M_0k too (`"quasi"`), or whole blocks (`"full"`)."""

    terms: Terms

    def accumulator(self, layout: Layout) -> Accumulator:
        """The sums by symbols and chunks of time."""
        return Accumulator(layout, self.terms)


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

    def jobs(
        self, signals: np.ndarray, B: np.ndarray, m: np.ndarray | None, order: np.ndarray, groups: np.ndarray
    ) -> list[Callable[[], None]]:
        """Jobs that add a stretch: signals (S, R), `B` and `m` (S, units); `order`, `groups`: times sorted by symbol.

        They write to places of their own, so that they can run in any order, but before those of the next stretch.
        """
        layout, terms = self.layout, self.terms
        m = B if m is None else m
        symbols = (self._symbol_gradient, self._symbol_modulus)
        cuts = np.searchsorted(groups, groups[-1] * _CUTS)
        cuts[-1] = len(groups) - 1
        jobs: list[Callable[[], None]] = []
        for k in range(_JOBS):
            low, high = int(cuts[k]), int(cuts[k + 1])
            if low == high:
                continue
            copy = 0 if layout.gated else k
            gradient, matrices = self._gradient[copy], self._matrices[copy]
            given = (layout.ptr, layout.rows, signals, B, m, order, groups, low, high, not layout.gated)
            if terms == "full" and layout.gated and layout.same_signals:
                K = int(layout.ptr[1])
                blocks = gradient.reshape(-1, layout.units, K), matrices.reshape(-1, layout.units, K, K)
                shared = (layout.rows[:K], signals, B, m, order, groups, low, high)
                jobs.append(partial(add_full_shared, *shared, *blocks))
            elif terms == "full":
                own = (gradient, matrices, *symbols, self._symbol_cross)
                jobs.append(partial(add_full, *given, self._square_ptr, *own))
            elif terms == "gradient":
                jobs.append(partial(add_gradient, *given, gradient, self._symbol_gradient))
            else:
                own = (gradient, self._diagonal[copy], self._cross[copy], *symbols)
                jobs.append(partial(add_quasi, *given, terms == "quasi", *own))
        return jobs

    def result(self) -> Statistics:
        """The sums so far, in the flat order of the parameters."""
        parts = {name: getattr(self, f"_{name}") for name in ("gradient", "diagonal", "cross", "matrices")}
        # With gates there is one part, and a large one: it is given away, not copied.
        sums = {name: reduce(np.add, part) for name, part in parts.items() if part.size}
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
