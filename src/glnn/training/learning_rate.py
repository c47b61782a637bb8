"""Ways to accept a proposal. The paper's (Section 2): a step that lowers the likelihood is halved and tried again.

The direction is kept: only the trial is computed again. A success multiplies the rate by 1.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

Trial = TypeVar("Trial")

GROWTH = 1.1
SHRINKAGE = 0.5
MOST_HALVINGS = 60


class Outcome(NamedTuple):
    """How a search for an acceptable step ended."""

    rate: float
    """The rate for the next step."""
    used: float
    """The rate of the accepted step, 0 when none was."""
    rejected: int


class Acceptance(Protocol):
    """One way to decide how far to go along a proposed direction.

    `attempt(rate)` gives the log-likelihood there and anything that goes with it. Returned are how it ended, the
    log-likelihood reached, and what went with the accepted trial; None when nothing was accepted. When something is,
    it must be the last attempt: earlier ones have given their arrays away.
    """

    def __call__(
        self, rate: float, log_likelihood: float, attempt: Callable[[float], tuple[float, Trial]]
    ) -> tuple[Outcome, float, Trial | None]:
        """Search from `rate` on, where `log_likelihood` is that of standing still."""
        ...


def always(
    rate: float, log_likelihood: float, attempt: Callable[[float], tuple[float, Trial]]
) -> tuple[Outcome, float, Trial | None]:
    """Take the step at its rate, better or not, and keep the rate; only a trial that is not finite is left out."""
    value, trial = attempt(rate)
    if value > -np.inf:
        return Outcome(rate, rate, 0), value, trial
    return Outcome(rate, 0.0, 1), log_likelihood, None


def climb(
    rate: float, log_likelihood: float, attempt: Callable[[float], tuple[float, Trial]]
) -> tuple[Outcome, float, Trial | None]:
    """Try the step at `rate`, then at half of it, and so on, until the log-likelihood does not fall.

    `attempt(rate)` gives the log-likelihood there and anything that goes with it. After 60 halvings the group rests:
    nothing is accepted and the rate stays as it was, since the next direction may be a better one. It rests too when
    halving ends in a step so small that the likelihood is the same to the last bit: accepted, such a step would leave
    a rate from which it takes hundreds of steps to recover. As the first trial it is accepted, and the rate grows.
    """
    trial_rate = rate
    for rejected in range(MOST_HALVINGS + 1):
        value, trial = attempt(trial_rate)
        if value > log_likelihood or (value == log_likelihood > -np.inf and rejected == 0):
            return Outcome(trial_rate * GROWTH, trial_rate, rejected), value, trial
        if value == log_likelihood > -np.inf:
            break
        trial_rate *= SHRINKAGE
    return Outcome(rate, 0.0, rejected + 1), log_likelihood, None
