"""Scores of anything that predicts, all made of log π_t(x_t): bits, surprise, regret, error rate.

bits = −Σ_t χ_t log2 π_t(x_t), where χ_t says whether x_t is to be predicted. The paper's validation score mixes π_t
with the uniform distribution first (`regularised`); its regret is what a predictor spends beyond the true model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from glnn.output import uniform
from glnn.predictors.protocol import Predictor
from glnn.sequences import Encoded, InputError, encode

_BITS_PER_NAT = 1.0 / np.log(2.0)
# A probability of exactly ½ comes out of a softmax with a rounding error on either side.
_HALF = math.log(0.5) + 1e-12


@dataclass(frozen=True)
class Trace:
    """A model at work on one or several sequences.

    `activities` is (T, N), each row the activities of the units when `symbols[t]` is predicted; `bits` is what the
    symbol cost; sequence k takes the rows starts[k] ≤ t < starts[k + 1]. Where the columns are not units, `names` says
    what they are.
    """

    symbols: list[Any]
    activities: np.ndarray
    bits: np.ndarray
    starts: np.ndarray
    names: tuple[str, ...] = ()


def surprise(predictor: Predictor, data: Encoded, regularised: bool = False, start: int = 0) -> np.ndarray:
    """The bits of each position, shape (T,); 0 where nothing is to be predicted.

    `regularised` is the paper's validation score; its time t begins at `start` and runs on over several
    sequences, through positions outside the mask too.
    """
    log_likelihoods = _log_likelihoods(predictor, data)
    if regularised:
        log_likelihoods = regularise(log_likelihoods, len(predictor.alphabet), start)
    return _in_bits(log_likelihoods, data.mask)


def bits(predictor: Predictor, data: Encoded, regularised: bool = False, start: int = 0) -> float:
    """The bits of all the symbols to be predicted; infinite when one of them has probability 0."""
    return float(surprise(predictor, data, regularised, start).sum())


def regret(predictor: Predictor, truth: Predictor, data: Encoded, regularised: bool = False, start: int = 0) -> float:
    """The bits of `predictor` on the data minus those of `truth`; the paper's figures (`fig:res`) are `regularised`."""
    return float(_differences(predictor, truth, data, regularised, start).sum())


def regret_so_far(
    predictor: Predictor, truth: Predictor, data: Encoded, regularised: bool = False, start: int = 0
) -> np.ndarray:
    """The regret of the first 1, 2, … T positions, shape (T,)."""
    return np.cumsum(_differences(predictor, truth, data, regularised, start))


def error_rate(predictor: Predictor, data: Encoded) -> float:
    """The fraction of the positions to be predicted where π_t(x_t) ≤ ½ (Section 4, "Distant XOR").

    Not an argmax: a predictor that is undecided between two symbols is always wrong. An error costs at least 1 bit, so
    the rate is at most the bits per symbol to be predicted.
    """
    return float(np.mean(_log_likelihoods(predictor, data)[data.mask] <= _HALF))


def regularise(log_likelihoods: np.ndarray, alphabet_size: int, start: int = 0) -> np.ndarray:
    """log of the regularised probabilities, from log π_t(x_t), t = start, start + 1, …: the formula of training.

    π_t ← (1 − 1/(t+2)) π_t + 1/(t+2) · uniform (Section 4, "Regularization"): a symbol thought impossible costs a few
    bits instead of all, most of all near the start, which a model of one sequence learns by heart. Only for validation.
    """
    if alphabet_size < 1 or start < 0:
        raise ValueError(f"alphabet size {alphabet_size}, start {start}: expected at least 1 and at least 0")
    return uniform.regularise(log_likelihoods, alphabet_size, start + np.arange(len(log_likelihoods)))


def _log_likelihoods(predictor: Predictor, data: Encoded) -> np.ndarray:
    """log π_t(x_t) at every position, checked, from data over any alphabet whose symbols the predictor knows."""
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


def _in_bits(log_likelihoods: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Natural log-likelihoods as bits, 0 outside the mask."""
    # Adding 0 turns the −0 of a certain symbol into 0.
    return np.where(mask, -log_likelihoods * _BITS_PER_NAT, 0.0) + 0.0


def _differences(predictor: Predictor, truth: Predictor, data: Encoded, regularised: bool, start: int) -> np.ndarray:
    """χ_t (log2 P(x_t | x_0 … x_{t−1}) − log2 π_t(x_t)), P the law of the source."""
    true_log_likelihoods = _log_likelihoods(truth, data)
    impossible = np.flatnonzero(np.isneginf(true_log_likelihoods))
    if impossible.size:
        # Outside the mask too: the true model has nothing to say about what follows.
        raise InputError(
            f"the symbol at position {impossible[0]} has probability 0 under the true model, so there is no "
            "regret against it: were the data written by this source, with these constants?"
        )
    return surprise(predictor, data, regularised, start) - _in_bits(true_log_likelihoods, data.mask)
