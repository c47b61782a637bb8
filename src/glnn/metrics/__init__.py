"""The metrics: from sums over time to update directions. They know arrays only, no model."""

from glnn.metrics.coherence import Coherent, coherent
from glnn.metrics.direction import Direction, Passes, Scales, TransitionStep, start_by_modulus
from glnn.metrics.modulus import BACKPROPAGATED, OUTER_PRODUCT, Modulus
from glnn.metrics.statistics import Accumulator, Layout, Statistic, Statistics, Sums
from glnn.metrics.transition import TRANSITION_METHODS, TransitionMethod
from glnn.metrics.writing import WRITING_METHODS, WritingDirection, hessian_damping

__all__ = [
    "BACKPROPAGATED",
    "OUTER_PRODUCT",
    "TRANSITION_METHODS",
    "WRITING_METHODS",
    "Accumulator",
    "Coherent",
    "Direction",
    "Layout",
    "Modulus",
    "Passes",
    "Scales",
    "Statistic",
    "Statistics",
    "Sums",
    "TransitionMethod",
    "TransitionStep",
    "WritingDirection",
    "coherent",
    "hessian_damping",
    "start_by_modulus",
]
