"""Code length: the bits −χ_t log2 π_t(x_t) that each symbol costs a predictor, and their sum."""

from __future__ import annotations

import numpy as np

from glnn.evaluation.log_likelihood import checked_log_likelihoods
from glnn.evaluation.predictor import Predictor
from glnn.evaluation.regularisation import regularise
from glnn.sequences import Encoded

_BITS_PER_NAT = 1.0 / np.log(2.0)


def surprise(predictor: Predictor, data: Encoded, regularised: bool = False, start: int = 0) -> np.ndarray:
    """The bits of each position, shape (T,); 0 where nothing is to be predicted.

    `regularised` is the paper's validation score; its time t begins at `start` and runs on over several
    sequences, through positions outside the mask too.
    """
    log_likelihoods = checked_log_likelihoods(predictor, data)
    if regularised:
        log_likelihoods = regularise(log_likelihoods, len(predictor.alphabet), start)
    return in_bits(log_likelihoods, data.mask)


def bits(predictor: Predictor, data: Encoded, regularised: bool = False, start: int = 0) -> float:
    """The bits of all the symbols to be predicted; infinite when one of them has probability 0."""
    return float(surprise(predictor, data, regularised, start).sum())


def in_bits(log_likelihoods: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Natural log-likelihoods as bits, 0 outside the mask."""
    # Adding 0 turns the −0 of a certain symbol into 0.
    return np.where(mask, -log_likelihoods * _BITS_PER_NAT, 0.0) + 0.0
