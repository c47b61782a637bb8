"""Error rate (Section 4, "Distant XOR"): how often the right symbol gets a probability of ½ or less.

Not an argmax: a predictor that is undecided between two symbols is always wrong. An error costs at least 1
bit, so the rate is at most the bits per symbol to be predicted.
"""

from __future__ import annotations

import math

import numpy as np

from glnn.evaluation.log_likelihood import checked_log_likelihoods
from glnn.evaluation.predictor import Predictor
from glnn.sequences import Encoded

# A probability of exactly ½ comes out of a softmax with a rounding error on either side.
_HALF = math.log(0.5) + 1e-12


def error_rate(predictor: Predictor, data: Encoded) -> float:
    """The fraction of the positions to be predicted where π_t(x_t) ≤ ½."""
    return float(np.mean(checked_log_likelihoods(predictor, data)[data.mask] <= _HALF))
