"""What is known of a training: the record of each step, and where it stands, which is all that a resumed run needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from glnn.models import Params


@dataclass(frozen=True)
class StepInfo:
    """The record of one step, that is one update of w and one of the transitions."""

    step: int
    log_likelihood: float
    """Of the training data (or batch) after the step, natural logarithm."""
    validation: float | None
    """Regularised log-likelihood of the validation data, natural logarithm; None where it was not scored."""
    writing_rate: float
    transition_rate: float
    """The rates that were used (0: the group rested)."""
    writing_rejected: int
    transition_rejected: int
    writing_size: float
    transition_size: float
    """Euclidean length of the accepted changes."""
    conditioning: float
    retries: int
    quasi_diagonal: int
    resting: int
    """Worst conditioning, blocks damped again, blocks that took their quasi-diagonal form, blocks that rested."""
    passes: int
    """Accepted updates so far."""
    seconds: float
    """CPU seconds of training so far."""
    coherence: float = 1.0
    """The largest quotient by which a unit's step was shortened."""
    notes: tuple[str, ...] = ()


@dataclass
class Progress:
    """Where training stands: everything that a resumed run needs."""

    params: Params
    writing_rate: float
    transition_rate: float
    best: Params
    best_score: float = -np.inf
    best_step: int = 0
    step: int = 0
    passes: int = 0
    seconds: float = 0.0
    generator: Any = None
    coherence: np.ndarray | None = None
    """By how much each unit's step is shortened, and at last that of the start values; None: not measured."""
    reason: str = ""
    history: list[StepInfo] = field(default_factory=list)
