"""The training methods for the transition parameters: each is a modulus × a statistic × a direction.

A *modulus* weighs times in M̃ = Σ_t m^{t+1} r rᵀ: the outer product m = B² (RUOP) or the backpropagated one (RBPM). A
*statistic* says which terms of M̃ are summed, a *direction* what is made of them: M̃ inverted in full or in its
quasi-diagonal form, or, for the methods that are not invariant, a rescaling of the gradient.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from glnn.metrics import dense
from glnn.metrics.inverses import full_solve, quasi_diagonal
from glnn.metrics.statistics import Layout, Statistic, Statistics, Sums


class Passes(Protocol):
    """The data at the current parameters, for a direction that wants to look at more than the sums."""

    @property
    def step(self) -> int:
        """How many steps were made before this one."""
        ...

    @property
    def remembered(self) -> np.ndarray | None:
        """What the direction left in `TransitionStep.remembered` at the last step, also after a run is resumed."""
        ...

    @property
    def weights(self) -> np.ndarray:
        """The weight of each predicted position."""
        ...

    def log_likelihoods(self, step: np.ndarray | None = None, start: np.ndarray | None = None) -> np.ndarray:
        """log π_t(x_t) at every predicted position, with transitions and start values moved by these amounts."""
        ...


class Scales(NamedTuple):
    """What directions depend on besides the sums: numbers from the data and the settings, and passes over the data."""

    damping: float
    frequencies: np.ndarray
    """Fraction n_y / T of each symbol in the training data."""
    length: int
    """Number T of positions."""
    passes: Passes | None = None
    """None where there is no data to go back to."""


class TransitionStep(NamedTuple):
    """A direction for the transition parameters and the start values, with a record of how it was found."""

    step: np.ndarray
    start: np.ndarray
    conditioning: float = 1.0
    retries: int = 0
    quasi_diagonal: int = 0
    resting: int = 0
    remembered: np.ndarray | None = None
    """What the direction wants to get back at the next step."""

    def finite(self) -> TransitionStep:
        """The same, with 0 for what is not finite."""
        step, start = (np.where(np.isfinite(part), part, 0.0) for part in (self.step, self.start))
        return self._replace(step=step, start=start)


class Direction(Protocol):
    """One way to turn the sums into a step."""

    @property
    def invariant(self) -> bool:
        """Whether it claims not to depend on how activities are written down."""
        ...

    def __call__(self, statistics: Statistics, layout: Layout, scales: Scales) -> TransitionStep:
        """The step δ of the transitions, flat as G is, and that of the start values."""
        ...

    def dense(self, statistics: Statistics, layout: Layout, scales: Scales) -> np.ndarray:
        """The metric as a matrix over (θ, V⁰): solved with their gradients it gives the step, where all are regular."""
        ...


def start_by_modulus(statistics: Statistics, scales: Scales) -> np.ndarray:
    """V⁰ in its own diagonal metric: B⁰ / (m⁰ + ε), 0 where that is 0."""
    numerator, denominator = statistics.start_gradient, statistics.start_modulus + scales.damping
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator != 0)


class Modulus(Protocol):
    """One way to weigh times."""

    name: str
    recursion: bool
    """Whether the model's recursion runs beside B."""

    def fill(self, B: np.ndarray, weight: np.ndarray | None, m: np.ndarray) -> None:
        """Make `m` (S, units) from B, or change what the recursion has put there.

        `weight` are the weights of the sequences that the rows belong to, or None when all are 1.
        """
        ...


@dataclass(frozen=True)
class Backpropagated:
    """m̃_i^t = s'(V_i)² Var_π(w_i) + Σ_j (∂V_j^{t+1}/∂V_i^t)² m̃_j^{t+1}: the model's recursion as it is."""

    name = "backpropagated"
    recursion = True

    def fill(self, B: np.ndarray, weight: np.ndarray | None, m: np.ndarray) -> None:
        """Nothing is left to do."""


@dataclass(frozen=True)
class OuterProduct:
    """m = B²."""

    name = "outer"
    recursion = False

    def fill(self, B: np.ndarray, weight: np.ndarray | None, m: np.ndarray) -> None:
        """B has its sequence's weight c already; the metric wants c B², not c² B²."""
        np.square(B, out=m)
        if weight is not None:
            m /= weight[:, None]


BACKPROPAGATED = Backpropagated()
OUTER_PRODUCT = OuterProduct()


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
        """By Cholesky, with the fallbacks of `full_solve`."""
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
