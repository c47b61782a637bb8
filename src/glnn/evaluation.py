"""The former name of `glnn.predictors`, which programs written for 0.1 import."""

from glnn.predictors import *  # noqa: F403
from glnn.predictors import __all__ as __all__
