"""The n-gram model as an estimator: interpolated modified Kneser-Ney, the order chosen by the data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np

from glnn import predictors, registry
from glnn.contexts.history import ReadProgress
from glnn.contexts.ngram import LONGEST_ORDER, NGramModel, choose_order, fit_ngram
from glnn.estimators.base import Trace
from glnn.estimators.continuing import moved_up
from glnn.estimators.counting import CountingModel, Look, check_history
from glnn.estimators.parameters import described, integer, parameter
from glnn.sequences import Alphabet, Reader, TrainingData
from glnn.sequences.special import base_of
from glnn.storage.model_file import ModelFileError

_MOST_ORDER = 64


@registry.model("ngram", "n-grams with interpolated modified Kneser-Ney smoothing")
@described
@dataclass(eq=False, repr=False)
class NGram(CountingModel):
    """An n-gram model with interpolated modified Kneser-Ney smoothing: the usual one for words.

    Fitted: `alphabet_`, `predictor_`, `order_`, `n_parameters_` (counts), `seconds_`, `validation_bits_` when
    validation data were given. The mask applies to scores only.
    """

    order: int | str = parameter(
        "auto",
        partial(integer, low=1, high=_MOST_ORDER, word="auto"),
        'the n-grams\' n, one more than the symbols of context; "auto" takes the one that predicts best, the '
        "validation data if there are some, else the data while they are read for the first time",
    )

    _record = ("order_", *CountingModel._record)

    def _counted(self, given: TrainingData, learning: str, look: Look) -> NGramModel:
        orders = [] if isinstance(self.order, str) else [self.order]
        if not orders:
            orders = [choose_order(given.data)] if given.validation is None else [*range(1, LONGEST_ORDER + 1)]
        model, fewest = None, math.inf
        for order in orders:
            tried = fit_ngram(given.data, order).with_learning(learning)  # type: ignore[arg-type]
            bits = -math.inf
            if len(orders) > 1:
                bits = predictors.bits(tried, given.validation, regularised=True)  # type: ignore[arg-type]
            if bits < fewest:
                model, fewest = tried, bits
            elif model is not None and order >= model.order + 2:
                break
        assert model is not None
        symbols = given.data.codes.size
        look(ReadProgress(symbols, symbols, model.log_likelihood, model.counts.number))
        return model

    def _size(self, model: NGramModel) -> int:
        return model.counts.number

    def _use(self, model: NGramModel, escape: float | None) -> None:
        self.order_ = model.order
        super()._use(model, escape)

    def trace(self, data: Any) -> Trace:
        """How long the longest known context is before each symbol, a 1 in its column, with symbols and bits."""
        reading, known = self._traceable(data)
        lengths = self._without_escape().context_lengths(known)
        names = tuple(f"after {length}" for length in range(lengths.shape[1]))
        return Trace(self.alphabet_.decode(known.codes), lengths, self._surprise(reading, False), known.starts, names)

    def _take_symbols(self, alphabet: Alphabet, new: int) -> None:
        size, arrays = len(base_of(self.alphabet_)), self._without_escape().arrays()
        known, history = Reader(alphabet).known, moved_up(arrays["history"], size, new)
        self.alphabet_ = alphabet
        self._use(NGramModel.from_arrays(known, self.order_, {"history": history}), self.escape_probability_)

    def _restore(self, arrays: dict[str, np.ndarray], fitted: dict[str, Any], escape: float | None) -> Self:
        known = Reader(self.alphabet_).known
        check_history(arrays["history"], len(known))
        self._recall(fitted)
        if integer("order_", self.order_, 1) > _MOST_ORDER:
            raise ModelFileError(f"the order is {self.order_}: {_MOST_ORDER} at most")
        self._use(NGramModel.from_arrays(known, self.order_, arrays), escape)
        return self
