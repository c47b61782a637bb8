"""What symbols cost one after the other: by what a predictor knew before, and when each is learned once it is scored.

−log2 π_t(x_t) where π_t knows x_1 … x_{t−1}: the bits of a predictor that goes on learning, sequence after sequence.
"""

from __future__ import annotations

import numpy as np

from glnn.predictors.escape import WithEscape
from glnn.predictors.learning import Learnable, stream_learner_of
from glnn.predictors.members import Members
from glnn.predictors.protocol import Predictor, frozen, pushing
from glnn.sequences import Encoded


def learns(predictor: Predictor) -> bool:
    """Whether a predictor can go on learning."""
    inner = predictor.inner if isinstance(predictor, WithEscape) else predictor
    if isinstance(inner, Members):
        return all(isinstance(member, Learnable) for member in inner.members)
    return isinstance(inner, Learnable)


def bits_frozen(predictor: Predictor, data: Encoded) -> np.ndarray:
    """The bits at every position, of a predictor that stays as it is."""
    return -frozen(predictor).log_likelihoods(data) / np.log(2.0)


def bits_learning(predictor: Predictor, data: Encoded) -> np.ndarray:
    """The bits at every position, of a copy that learns each symbol after it was scored."""
    learner = stream_learner_of(predictor)
    found: list[float] = []
    for codes in data:
        found.extend(map(pushing(learner.begin_learning()), codes.tolist()))
    with np.errstate(divide="ignore"):
        return -np.log2(np.array(found))
