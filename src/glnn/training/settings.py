"""How to train: what is chosen before the first step, and refused there if it makes no sense."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from glnn.metrics import TRANSITION_METHODS, WRITING_METHODS, Plain, Sums, TransitionMethod, coherent
from glnn.training.corpus import SequenceWeights
from glnn.training.engine import DEFAULT_MEMORY, Precision

Kind = Literal["batch", "stochastic"]
ADAM = TransitionMethod("adam", None, Sums("gradient"), Plain())
"""The gradient, to be scaled chunk by chunk: for stochastic training only."""
WINDOW = 300.0


@dataclass(frozen=True)
class Settings:
    """How to train."""

    metric: str | TransitionMethod = "rbpm"
    """The name of a method, or one made for the occasion."""
    output_metric: str = "qdh"
    damping: float = 1.0
    batch_size: int | None = None
    batch_steps: int = 1
    """Steps on a batch before the next one is drawn. A run that is taken up again in between draws a new one."""
    sequence_weights: SequenceWeights = "length"
    patience: int | None = None
    validate_every: int = 1
    """Validation data are scored at the first step, and then every so many steps."""
    threads: int = 1
    memory: int = DEFAULT_MEMORY
    precision: Precision = "float64"
    training: Kind = "batch"
    noise: float | Literal["auto"] = 0.0
    """Standard deviation of the noise on the state; "auto" begins with some and adapts it to how much is learned by
    heart."""
    averaging: float = WINDOW
    """Chunks that the running average of the parameters holds; 1 or less for none. Stochastic training only."""
    patience_part: float | None = None
    """Stop after this part of the budget without a better validation score; stochastic training only."""
    enough: float | None = None
    """Stop when the training data have this log-likelihood a predicted symbol; batch training only."""
    all_counts: bool = False
    """Whether the clock goes on while validation data are scored; it does within short budgets."""
    unhurried: bool = False
    """Whether there is time for more and shorter steps where data are few; there is, but within short budgets."""
    coherence: int | None = None
    """Steps between measurements of how far each unit's effects add up over time; None (the paper) is never."""

    def __post_init__(self) -> None:
        for name, value, known in (
            ("training", self.training, get_args(Kind)),
            ("metric", self.metric, [*TRANSITION_METHODS, *(["adam"] if self.training == "stochastic" else [])]),
            ("output_metric", self.output_metric, WRITING_METHODS),
            ("precision", self.precision, get_args(Precision)),
        ):
            if value not in known and not isinstance(value, TransitionMethod):
                raise ValueError(f"{name} is {value!r}: it must be one of {', '.join(known)}")
        if self.noise != "auto" and not 0.0 <= self.noise < math.inf:
            raise ValueError(f"noise is {self.noise}: it must be a number of 0 or more, or 'auto'")
        if not self.damping >= 0:
            raise ValueError(f"damping is {self.damping}: it must be 0 or more")
        if self.batch_size is not None and self.batch_size < 1:
            raise ValueError(f"batch_size is {self.batch_size}: at least one sequence a batch is needed")
        if self.batch_steps < 1:
            raise ValueError(f"batch_steps is {self.batch_steps}: at least 1 step on a batch is needed")
        if self.patience is not None and self.patience < 1:
            raise ValueError(f"patience is {self.patience}: at least 1 step is needed")
        if self.validate_every < 1:
            raise ValueError(f"validate_every is {self.validate_every}: at least 1 step is needed")
        if self.coherence is not None:
            if self.coherence < 1:
                raise ValueError(f"coherence is {self.coherence}: at least 1 step is needed, or None")
            method = self.transition_method
            if not method.invariant:
                raise ValueError(
                    f"coherence compares effects with a metric, and {method.name!r} has none: leave it out"
                )
            if self.precision != "float64":
                raise ValueError("coherence is measured by small differences: it needs precision='float64'")

    @property
    def transition_method(self) -> TransitionMethod:
        """The training method of the transitions, with steps shortened if that is asked for."""
        method = {"adam": ADAM, **TRANSITION_METHODS}[self.metric] if isinstance(self.metric, str) else self.metric
        return method if self.coherence is None else coherent(method, self.coherence)
