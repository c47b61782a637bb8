"""Everything that predicts, and its scores: one protocol, and what can stand around any predictor that meets it.

Networks (`network.py`), shares of the uniform distribution (`uniform.py`) and escapes (`escape.py`) are imported from
their files, so that scoring alone stays light.
"""

from glnn.predictors.protocol import Predictor, State, StepwisePredictor
from glnn.predictors.scores import bits, error_rate, regret, regret_so_far, regularise, surprise

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
