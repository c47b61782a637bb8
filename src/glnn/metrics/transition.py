"""The training methods for the transition parameters: each is a modulus × a statistic × a direction.

A *modulus* weighs times in M̃ = Σ_t m^{t+1} r rᵀ: the outer product m = B² (RUOP) or the backpropagated one (RBPM). A
*statistic* says which terms of M̃ are summed, a *direction* what is made of them: M̃ inverted in full or in its
quasi-diagonal form, or, for the methods that are not invariant, a rescaling of the gradient.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from glnn.metrics import dense
from glnn.metrics.direction import Direction, Scales, TransitionStep, start_by_modulus
from glnn.metrics.full_solve import full_solve
from glnn.metrics.modulus import BACKPROPAGATED, OUTER_PRODUCT, Modulus
from glnn.metrics.quasi_diagonal import quasi_diagonal
from glnn.metrics.statistics import Layout, Statistic, Statistics, Sums


@dataclass(frozen=True)
class Plain:
    """The gradient itself."""

    invariant = False

    def __call__(self, statistics: Statistics, layout: Layout, scales: Scales) -> TransitionStep:
        """δ = G."""
        return TransitionStep(statistics.gradient.copy(), statistics.start_gradient)

    def dense(self, statistics: Statistics, layout: Layout, scales: Scales) -> np.ndarray:
        """The identity."""
        return np.eye(statistics.gradient.size + statistics.start_gradient.size)


@dataclass(frozen=True)
class FrequencyRescaled:
    """FB: what is tied to symbol y has its rate divided by y's frequency; symbols that never occur are skipped."""

    invariant = False

    def __call__(self, statistics: Statistics, layout: Layout, scales: Scales) -> TransitionStep:
        """δ = G_y / ν̃_y."""
        seen = scales.frequencies > 0
        rate = np.where(seen, 1.0 / np.where(seen, scales.frequencies, 1.0), 0.0)
        step = statistics.gradient.copy()
        step[layout.tied] *= rate[:, None]
        return TransitionStep(step, statistics.start_gradient)

    def dense(self, statistics: Statistics, layout: Layout, scales: Scales) -> np.ndarray:
        """Frequencies on the diagonal, where parameters are tied to a symbol."""
        entries = np.ones(statistics.gradient.size)
        entries[layout.tied] = scales.frequencies[:, None]
        return dense.block_diagonal(dense.diagonal(entries), np.ones(statistics.start_gradient.size))


@dataclass(frozen=True)
class MeanSquareRescaled:
    """RMS: each gradient divided by the root of the mean over time of its squared contributions.

    Their sum Σ_t (B r)² is the diagonal of the outer product metric.
    """

    invariant = False

    def __call__(self, statistics: Statistics, layout: Layout, scales: Scales) -> TransitionStep:
        """δ_k = G_k / √(M_kk / T)."""
        size = self._sizes(statistics, scales)
        seen = size > 0
        step = np.where(seen, statistics.gradient / np.where(seen, size, 1.0), 0.0)
        return TransitionStep(step, statistics.start_gradient)

    def dense(self, statistics: Statistics, layout: Layout, scales: Scales) -> np.ndarray:
        """The roots of the mean squares on the diagonal."""
        entries = self._sizes(statistics, scales)
        return dense.block_diagonal(dense.diagonal(entries), np.ones(statistics.start_gradient.size))

    def _sizes(self, statistics: Statistics, scales: Scales) -> np.ndarray:
        assert statistics.diagonal is not None
        size: np.ndarray = np.sqrt(statistics.diagonal / scales.length)
        return size


@dataclass(frozen=True)
class Full:
    """(M̃ + ε)^{-1} G for each block, and V⁰ by its own modulus."""

    invariant = True

    def __call__(self, statistics: Statistics, layout: Layout, scales: Scales) -> TransitionStep:
        """By Cholesky, with the ways out that `full_solve` knows."""
        assert statistics.matrices is not None
        found = full_solve(statistics.gradient, statistics.matrices, layout.block_ptr, scales.damping)
        return TransitionStep(found.step, start_by_modulus(statistics, scales), *found[1:])

    def dense(self, statistics: Statistics, layout: Layout, scales: Scales) -> np.ndarray:
        """M̃ + ε."""
        assert statistics.matrices is not None
        blocks = dense.packed_blocks(statistics.matrices, layout.block_ptr, scales.damping)
        return dense.block_diagonal(blocks, statistics.start_modulus + scales.damping)


@dataclass(frozen=True)
class QuasiDiagonal:
    """The quasi-diagonal inverse of each block, and V⁰ by its own modulus; a block whose step is not finite rests."""

    invariant = True

    def __call__(self, statistics: Statistics, layout: Layout, scales: Scales) -> TransitionStep:
        """`eq:qdw1` and `eq:qdw2` in every block."""
        assert statistics.diagonal is not None and statistics.cross is not None
        blocks = layout.block_ptr
        diagonal = statistics.diagonal + scales.damping
        # Without damping, a symbol that never occurs has an empty block: 0/0 there means no step.
        empty = diagonal == 0.0
        step = quasi_diagonal(statistics.gradient, np.where(empty, 1.0, diagonal), statistics.cross, blocks)
        finite = np.logical_and.reduceat(np.isfinite(step), blocks[:-1])
        if not finite.all():
            step[np.repeat(~finite, np.diff(blocks))] = 0.0
        return TransitionStep(step, start_by_modulus(statistics, scales), resting=int((~finite).sum()))

    def dense(self, statistics: Statistics, layout: Layout, scales: Scales) -> np.ndarray:
        """The constant's row and column and the diagonal of M̃ + ε; the rest as if signals were orthogonal."""
        assert statistics.diagonal is not None and statistics.cross is not None
        diagonal = statistics.diagonal + scales.damping
        blocks = dense.quasi_diagonal_blocks(diagonal, statistics.cross, layout.block_ptr)
        return dense.block_diagonal(blocks, statistics.start_modulus + scales.damping)


@dataclass(frozen=True)
class TransitionMethod:
    """A training method: which modulus (None: no M̃ is wanted), which sums over time, which direction from them."""

    name: str
    modulus: Modulus | None
    statistic: Statistic
    direction: Direction
    about: str = field(default="", compare=False)
    """One line, for the help and the pages."""

    @property
    def invariant(self) -> bool:
        """Whether the direction claims not to depend on how activities are written down."""
        return self.direction.invariant


TRANSITION_METHODS = {
    method.name: method
    for method in (
        TransitionMethod("rbpm", BACKPROPAGATED, Sums("full"), Full(), "the backpropagated metric in full"),
        TransitionMethod("ruop", OUTER_PRODUCT, Sums("full"), Full(), "the outer product metric in full"),
        TransitionMethod(
            "qdrbpm", BACKPROPAGATED, Sums("quasi"), QuasiDiagonal(), "the backpropagated metric, quasi-diagonal"
        ),
        TransitionMethod(
            "qdruop", OUTER_PRODUCT, Sums("quasi"), QuasiDiagonal(), "the outer product metric, quasi-diagonal"
        ),
        TransitionMethod(
            "fb", None, Sums("gradient"), FrequencyRescaled(), "the gradient over each symbol's frequency"
        ),
        TransitionMethod(
            "rms", OUTER_PRODUCT, Sums("diagonal"), MeanSquareRescaled(), "the gradient over its root mean square"
        ),
        TransitionMethod("plain", None, Sums("gradient"), Plain(), "the gradient as it is"),
    )
}
