"""The former name of `glnn.predictors`, which programs written for 0.1 import."""

from glnn.predictors import (
    Predictor,
    State,
    StepwisePredictor,
    bits,
    error_rate,
    regret,
    regret_so_far,
    regularise,
    surprise,
)

__all__ = [
    "Predictor",
    "State",
    "StepwisePredictor",
    "bits",
    "error_rate",
    "regret",
    "regret_so_far",
    "regularise",
    "surprise",
]
