"""The log-likelihoods that scores are made of: log π_t(x_t), asked of a predictor and checked once, here."""

from __future__ import annotations

import numpy as np

from glnn.evaluation.predictor import Predictor
from glnn.sequences import Encoded, InputError, encode


def checked_log_likelihoods(predictor: Predictor, data: Encoded) -> np.ndarray:
    """log π_t(x_t) at every position, from data over any alphabet whose symbols the predictor knows."""
    if not isinstance(data, Encoded):
        raise InputError(f"the data are of type {type(data).__name__}: encode them first, with glnn.encode")
    data = encode(data, alphabet=predictor.alphabet)
    log_likelihoods = np.asarray(predictor.log_likelihoods(data), np.float64)
    if log_likelihoods.shape != data.codes.shape:
        raise ValueError(
            f"the predictor gave log-likelihoods of shape {log_likelihoods.shape} for {data.codes.size} "
            "symbols: log_likelihoods returns one number per symbol"
        )
    wrong = np.flatnonzero(np.isnan(log_likelihoods) & data.mask)
    if wrong.size:
        raise InputError(
            f"the predictor gave NaN at position {wrong[0]}, where a symbol is to be predicted: its "
            "parameters are not finite; go back to an earlier checkpoint or train with another seed"
        )
    return log_likelihoods
