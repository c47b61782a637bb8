"""The running average of the parameters, which predicts better than the last ones:  p̄ ← p̄ + g (p − p̄).

The window grows with training, g = 1/(1 + k/10) at step k, until it holds as many steps as were asked for: the first
parameters, which know nothing, are forgotten soon.
"""

from __future__ import annotations

from glnn.models import Params

_GROWTH = 10.0


def average(mean: Params, latest: Params, steps: int, window: float) -> Params:
    """The average with the parameters of step number `steps` (from 0) added; a window of 1 or less keeps them alone."""
    weight = max(1.0 / max(window, 1.0), _GROWTH / (steps + _GROWTH))
    if weight >= 1.0:
        return latest
    return Params(
        mean.w + weight * (latest.w - mean.w),
        mean.theta + weight * (latest.theta - mean.theta),
        mean.V0 + weight * (latest.V0 - mean.V0),
    )
