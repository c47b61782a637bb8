"""The metrics: from sums over time to update directions. They know arrays only, no model."""

from importlib import import_module

from glnn import registry
from glnn.metrics.coherence import Coherent, coherent
from glnn.metrics.statistics import Accumulator, Layout, Statistic, Statistics, Sums
from glnn.metrics.transition import (
    BACKPROPAGATED,
    OUTER_PRODUCT,
    TRANSITION_METHODS,
    Direction,
    Modulus,
    Passes,
    Plain,
    Scales,
    TransitionMethod,
    TransitionStep,
    start_by_modulus,
)
from glnn.metrics.writing import WRITING_METHODS, WritingDirection, hessian_damping

for _name, _metric in registry.metrics().items():
    if _name not in TRANSITION_METHODS:
        # A file of this folder that makes a method adds it to the table.
        _found = vars(import_module(_metric.module)).values()
        TRANSITION_METHODS |= {one.name: one for one in _found if isinstance(one, TransitionMethod)}

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
    "Plain",
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
