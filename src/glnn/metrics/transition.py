"""The training methods for the transition parameters, each a composition of three small choices.

A *modulus* weighs times in M̃ = Σ_t m^{t+1} r rᵀ: the outer product m = B² (RUOP) or the backpropagated modulus (RBPM).
A *reduction* inverts it: full or quasi-diagonal. The methods that are not invariant only rescale the gradient: not at
all (plain), by symbol frequency (FB), or by its root mean square over time (RMS), whose sum of squares Σ_t (B r)² is
the diagonal of the outer product metric.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from glnn.metrics.full_solve import full_solve
from glnn.metrics.quasi_diagonal import quasi_diagonal
from glnn.metrics.statistics import Layout, Statistics, Terms


class Scales(NamedTuple):
    """Numbers of the data and the settings that directions depend on."""

    damping: float
    frequencies: np.ndarray
    """Fraction n_y / T of each symbol in the training data."""
    length: int
    """Number T of positions."""


class TransitionStep(NamedTuple):
    """A direction for the transition parameters, with a record of how it was found."""

    step: np.ndarray
    conditioning: float = 1.0
    retries: int = 0
    quasi_diagonal: int = 0
    resting: int = 0


def plain(statistics: Statistics, layout: Layout, scales: Scales) -> TransitionStep:
    """The gradient itself."""
    return TransitionStep(statistics.gradient.copy())


def frequency_rescaled(statistics: Statistics, layout: Layout, scales: Scales) -> TransitionStep:
    """FB: what is tied to symbol y has its rate divided by y's frequency; symbols that never occur are skipped."""
    seen = scales.frequencies > 0
    rate = np.where(seen, 1.0 / np.where(seen, scales.frequencies, 1.0), 0.0)
    step = statistics.gradient.copy()
    step[layout.tied] *= rate[:, None]
    return TransitionStep(step)


def mean_square_rescaled(statistics: Statistics, layout: Layout, scales: Scales) -> TransitionStep:
    """RMS: each gradient divided by the root of the mean over time of its squared contributions."""
    assert statistics.diagonal is not None
    size = np.sqrt(statistics.diagonal / scales.length)
    seen = size > 0
    return TransitionStep(np.where(seen, statistics.gradient / np.where(seen, size, 1.0), 0.0))


def full(statistics: Statistics, layout: Layout, scales: Scales) -> TransitionStep:
    """(M̃ + ε)^{-1} G for each block."""
    assert statistics.matrices is not None
    return TransitionStep(*full_solve(statistics.gradient, statistics.matrices, layout.block_ptr, scales.damping))


def quasi(statistics: Statistics, layout: Layout, scales: Scales) -> TransitionStep:
    """The quasi-diagonal inverse of each block; a block whose step is not finite rests."""
    assert statistics.diagonal is not None and statistics.cross is not None
    blocks = layout.block_ptr
    diagonal = statistics.diagonal + scales.damping
    # Without damping, a symbol that never occurs has an empty block: 0/0 there means no step.
    empty = diagonal == 0.0
    step = quasi_diagonal(statistics.gradient, np.where(empty, 1.0, diagonal), statistics.cross, blocks)
    finite = np.logical_and.reduceat(np.isfinite(step), blocks[:-1])
    if not finite.all():
        step[np.repeat(~finite, np.diff(blocks))] = 0.0
    return TransitionStep(step, resting=int((~finite).sum()))


@dataclass(frozen=True)
class TransitionMethod:
    """A training method: which modulus, which terms of M̃, which direction from them."""

    name: str
    modulus: Literal["outer", "backpropagated"] | None
    terms: Terms
    direction: Callable[[Statistics, Layout, Scales], TransitionStep]
    invariant: bool


TRANSITION_METHODS = {
    method.name: method
    for method in (
        TransitionMethod("rbpm", "backpropagated", "full", full, True),
        TransitionMethod("ruop", "outer", "full", full, True),
        TransitionMethod("qdrbpm", "backpropagated", "quasi", quasi, True),
        TransitionMethod("qdruop", "outer", "quasi", quasi, True),
        TransitionMethod("fb", None, "gradient", frequency_rescaled, False),
        TransitionMethod("rms", "outer", "diagonal", mean_square_rescaled, False),
        TransitionMethod("plain", None, "gradient", plain, False),
    )
}
