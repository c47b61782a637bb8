"""The metrics: from sums over time to update directions. They know arrays only, no model."""

from glnn.metrics.statistics import Accumulator, Layout, Statistics
from glnn.metrics.transition import TRANSITION_METHODS, Scales, TransitionMethod, TransitionStep
from glnn.metrics.writing import WRITING_METHODS, hessian_damping

__all__ = [
    "TRANSITION_METHODS",
    "WRITING_METHODS",
    "Accumulator",
    "Layout",
    "Scales",
    "Statistics",
    "TransitionMethod",
    "TransitionStep",
    "hessian_damping",
]
