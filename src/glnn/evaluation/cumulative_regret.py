"""Cumulative regret (Section 4, `fig:res`): the bits a predictor spends beyond the true model's.

regret = Σ_t χ_t (log2 P(x_t | x_0 … x_{t−1}) − log2 π_t(x_t)), P the law of the source.
"""

from __future__ import annotations

import numpy as np

from glnn.evaluation.code_length import in_bits, surprise
from glnn.evaluation.log_likelihood import checked_log_likelihoods
from glnn.evaluation.predictor import Predictor
from glnn.sequences import Encoded, InputError


def regret(predictor: Predictor, truth: Predictor, data: Encoded, regularised: bool = False, start: int = 0) -> float:
    """The bits of `predictor` on the data minus those of `truth`; the paper's figures are `regularised`."""
    return float(_differences(predictor, truth, data, regularised, start).sum())


def regret_so_far(
    predictor: Predictor, truth: Predictor, data: Encoded, regularised: bool = False, start: int = 0
) -> np.ndarray:
    """The regret of the first 1, 2, … T positions, shape (T,)."""
    return np.cumsum(_differences(predictor, truth, data, regularised, start))


def _differences(predictor: Predictor, truth: Predictor, data: Encoded, regularised: bool, start: int) -> np.ndarray:
    true_log_likelihoods = checked_log_likelihoods(truth, data)
    impossible = np.flatnonzero(np.isneginf(true_log_likelihoods))
    if impossible.size:
        # Outside the mask too: the true model has nothing to say about what follows.
        raise InputError(
            f"the symbol at position {impossible[0]} has probability 0 under the true model, so there is no "
            "regret against it: were the data written by this source, with these constants?"
        )
    return surprise(predictor, data, regularised, start) - in_bits(true_log_likelihoods, data.mask)
