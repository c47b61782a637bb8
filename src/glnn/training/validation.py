"""Scoring on data that is not trained on, to keep the best parameters, and holding some out when none is given."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from glnn.models import Model, Params
from glnn.output.uniform import best_share, regularise
from glnn.sequences import Encoded, TrainingData
from glnn.training.corpus import prepare, stretch_length
from glnn.training.engine import Engine
from glnn.training.parallel import Workers, single_threaded_blas
from glnn.training.sizes import held_out_fraction

if TYPE_CHECKING:
    from glnn.training.race import Training


class Validation:
    """Validation data for a model. `continues` says that it continues where the training data ends."""

    def __init__(self, model: Model, data: Encoded, continues: bool = False, threads: int = 1) -> None:
        self.continues = continues
        self.alphabet_size = len(data.alphabet)
        self._times = np.flatnonzero(data.mask)
        self._engine = Engine(model, prepare(data, stretch_length(model.units)), Workers(threads), memory=0)

    @property
    def predicted(self) -> int:
        """Positions to be predicted."""
        return len(self._times)

    def log_likelihoods(self, params: Params, state: np.ndarray | None = None) -> np.ndarray:
        """log π_t(x_t) at every predicted position; `state` is the network's state after the training data."""
        return self._engine.log_likelihoods(params, state if self.continues else None)

    def score(self, params: Params, state: np.ndarray | None = None) -> float:
        """The regularised log-likelihood; `state` is the network's state after the training data."""
        values = self.log_likelihoods(params, state)
        total = float(regularise(values, self.alphabet_size, self._times).sum())
        return total if np.isfinite(total) else -np.inf


# After so many symbols a network's state hardly depends on where it began.
_BURN_IN = 1024
# What a model that reads once has not read when it is shown on its own data.
HELD_OUT_TO_SHOW = 0.2


def hold_out(data: Encoded, fraction: float = 0.1) -> tuple[Encoded, Encoded, bool]:
    """Split off the end of the data: whole sequences when there are at least ten, else the last one's tail.

    Returns what is trained on, what is held out, and whether the second continues the first.
    """
    if not 0 < fraction < 1:
        raise ValueError(f"the fraction to hold out is {fraction}: it must lie between 0 and 1")
    if len(data) >= 10:
        kept = len(data) - max(1, round(fraction * len(data)))
        order = np.arange(len(data))
        return data.select(order[:kept]), data.select(order[kept:]), False
    begin, end = int(data.starts[-2]), int(data.starts[-1])
    length = min(max(1, round(fraction * len(data.codes))), (end - begin) // 2)
    cut = end - length
    if length < 1 or not data.mask[:cut].any() or not data.mask[cut:].any():
        raise ValueError(
            f"the data has {len(data.codes)} symbols, {int(data.mask.sum())} of them to be predicted: too little to "
            "hold a tail out for validation; give validation data, or more data"
        )
    starts = data.starts.copy()
    starts[-1] = cut
    train = replace(data, codes=data.codes[:cut], mask=data.mask[:cut], starts=starts)
    tail_starts = np.array([0, end - cut], starts.dtype)
    tail = replace(data, codes=data.codes[cut:end], mask=data.mask[cut:end], starts=tail_starts)
    return train, tail, True


def split(data: TrainingData, fraction: float | str) -> TrainingData:
    """With the end held out where no validation data were given; nothing is where there is too little for that."""
    if data.validation is not None or fraction == 0.0:
        return data
    if isinstance(fraction, str):
        fraction = held_out_fraction(data.train)
    try:
        train, tail, continues = hold_out(data.train, fraction)
    except ValueError:
        return data
    return replace(data, train=train, validation=tail, continues=continues, held_out=tail.codes.size)


def share_of_uniform(training: Training) -> float:
    """The share that suits the validation data best; at least 1/(T + 2), where the paper's own ends after T symbols."""
    best, parts = training.best, training.judged or training.split
    least = least_share(parts)
    if best.validation is None or best.progress is None:
        return least
    params = best.progress.best
    with single_threaded_blas():
        values = best.validation.log_likelihoods(params, state_after(best.model, params, parts))
    return best_share(values, len(parts.train.alphabet), least)


def least_share(parts: TrainingData) -> float:
    """What the paper's share of the uniform distribution has come to after the training data."""
    return 1.0 / (parts.train.codes.size + 2.0)


def state_after(model: Model, params: Params, parts: TrainingData, lately: bool = False) -> np.ndarray | None:
    """A network's state after the training data, where the validation data go on from there.

    `lately` reads no more than the last of them, which is as far as training on chunks looks back: all of long data
    would take as long as a good part of the training.
    """
    if not parts.continues:
        return None
    data = last_of(parts.train) if lately else parts.train
    with single_threaded_blas():
        return Engine(model, prepare(data, stretch_length(model.units)), memory=0).forward(params).state


def last_of(data: Encoded) -> Encoded:
    """The last thousand symbols of the last sequence."""
    begin = max(int(data.starts[-2]), data.codes.size - _BURN_IN)
    codes, mask = data.codes[begin:], data.mask[begin:]
    return Encoded(codes, np.array([0, codes.size], np.int64), mask, data.alphabet)
