"""Training (Section 2): the alternation that starts with w, and the learning-rate control.

A step that lowers the log-likelihood is cancelled, its rate halved, and tried again in the same direction;
one that does not lower it is kept and its rate multiplied by 1.1. Both rates start at 1/N.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .forward import log_likelihood
from .problem import Data, Network, Parameters
from .transition import transition_direction
from .writing import writing_direction

MOST_HALVINGS = 60


class Update(NamedTuple):
    """One update of one group: what it left, and how many trials it took back."""

    params: Parameters
    log_likelihood: float
    rate: float
    rejected: int


class Record(NamedTuple):
    """One iteration: log-likelihoods, rates after each group, rejected trials."""

    log_likelihood_w: float
    log_likelihood_tau: float
    rate_w: float
    rate_tau: float
    rejected_w: int
    rejected_tau: int


def moved(params: Parameters, direction: dict[str, np.ndarray], rate: float) -> Parameters:
    """θ + η direction, for the parameters that have one."""
    result = {key: np.array(value, float) for key, value in params.items()}
    for key, value in direction.items():
        result[key] = result[key] + rate * value
    return result


def controlled_update(
    net: Network, params: Parameters, data: Data, direction: dict[str, np.ndarray], rate: float, before: float
) -> Update:
    """Learning rate control: at most 60 halvings, after which the group rests; its rate stays halved."""
    rejected = 0
    while True:
        trial = moved(params, direction, rate)
        after = log_likelihood(net, trial, data)
        if after >= before:  # false for NaN too: a trial that overflows is a failure
            return Update(trial, after, rate * 1.1, rejected)
        rejected += 1
        if rejected > MOST_HALVINGS:
            return Update(params, before, rate, rejected)
        rate = rate / 2


def train(
    net: Network,
    params: Parameters,
    data: Data,
    iterations: int,
    writing: str = "qdh",
    transition: str = "rbpm",
    damping: float = 1.0,
    rate_w: float | None = None,
    rate_tau: float | None = None,
) -> tuple[Parameters, list[Record]]:
    """`iterations` times an update of w and then one of the transition weights and V⁰."""
    rate_w = 1 / net.units if rate_w is None else rate_w
    rate_tau = 1 / net.units if rate_tau is None else rate_tau
    current = log_likelihood(net, params, data)
    records = []
    for _ in range(iterations):
        direction = writing_direction(net, params, data, writing)
        update_w = controlled_update(net, params, data, direction, rate_w, current)
        params, current, rate_w = update_w.params, update_w.log_likelihood, update_w.rate

        direction = transition_direction(net, params, data, transition, damping)
        update_tau = controlled_update(net, params, data, direction, rate_tau, current)
        params, current, rate_tau = update_tau.params, update_tau.log_likelihood, update_tau.rate

        records.append(
            Record(
                update_w.log_likelihood,
                update_tau.log_likelihood,
                rate_w,
                rate_tau,
                update_w.rejected,
                update_tau.rejected,
            )
        )
    return params, records
