"""Scores of anything that predicts: bits, surprise, the regularised score, regret, error rate."""

from glnn.evaluation.classification_error import error_rate
from glnn.evaluation.code_length import bits, surprise
from glnn.evaluation.cumulative_regret import regret, regret_so_far
from glnn.evaluation.predictor import Predictor, State, StepwisePredictor
from glnn.evaluation.regularisation import regularise

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
