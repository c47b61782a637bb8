"""The n-gram model as an estimator: interpolated modified Kneser-Ney, the order chosen by the data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Self

import numpy as np

from glnn import predictors, registry
from glnn.contexts.history import ReadProgress
from glnn.contexts.ngram import LONGEST_ORDER, NGramModel, choose_order, fit_ngram
from glnn.estimators.base import SequenceModel, Trace
from glnn.estimators.continuing import moved_up
from glnn.estimators.history import check_history
from glnn.estimators.parameters import choice, integer
from glnn.progress import Display
from glnn.sequences import Alphabet, InputError, Reader
from glnn.sequences.special import base_of
from glnn.storage.model_file import ModelFileError
from glnn.training.budget import Clock
from glnn.training.compiling import beginning, compiling

_MOST_ORDER = 64
_RECORD = ("order_", "steps_", "passes_", "seconds_", "stopped_", "validation_bits_", "learning_")


@registry.model("ngram", "n-grams with interpolated modified Kneser-Ney smoothing")
class NGram(SequenceModel):
    """An n-gram model with interpolated modified Kneser-Ney smoothing: the usual one for words.

    order: the n-grams' n, one more than the symbols of context; "auto" takes the one that predicts best, the
    validation data if there are some, else the data while they are read for the first time.
    learning: "online" goes on counting what is scored; "frozen" does not, so that every sequence is scored alike;
    "auto" is online after one sequence and frozen after several.
    end, unknown, alphabet, verbose: as in the networks.

    Fitted: `alphabet_`, `predictor_`, `order_`, `n_parameters_` (counts), `seconds_`, `validation_bits_` when
    validation data were given. The mask applies to scores only.
    """

    def __init__(
        self,
        order: int | str = "auto",
        *,
        learning: str = "auto",
        end: bool = True,
        unknown: str = "auto",
        alphabet: Any = None,
        verbose: int = 1,
    ) -> None:
        self.order = order
        self.learning = learning
        self.end = end
        self.unknown = unknown
        self.alphabet = alphabet
        self.verbose = verbose

    def fit(
        self,
        data: Any,
        validation: Any = None,
        mask: Any = None,
        validation_mask: Any = None,
        *,
        sample_weight: Any = None,
        callbacks: Iterable[Callable[[ReadProgress], Any]] = (),
    ) -> Self:
        """Count one or several sequences. Each callback is called with a `ReadProgress`, once they are read."""
        order = integer("order", self.order, 1, word="auto")
        if isinstance(order, int) and order > _MOST_ORDER:
            raise InputError(f"order is {order}: give at most {_MOST_ORDER}, or 'auto'")
        learning = choice("learning", self.learning, ("auto", "online", "frozen"))
        given = self._given(data, validation, mask, validation_mask, sample_weight)
        if learning == "auto":
            learning = "online" if len(given.data) == 1 else "frozen"
        display, clock = Display(self.verbose), Clock()
        with compiling(display), clock.paused():
            fit_ngram(beginning(given.data), 2)
        model, validation_bits = None, None
        if given.validation is None:
            model = fit_ngram(given.data, choose_order(given.data) if isinstance(order, str) else order)
        else:
            for candidate in range(1, LONGEST_ORDER + 1) if isinstance(order, str) else [order]:
                tried = fit_ngram(given.data, candidate).with_learning(learning)  # type: ignore[arg-type]
                bits = predictors.bits(tried, given.validation, regularised=True)
                if validation_bits is None or bits < validation_bits:
                    model, validation_bits = tried, bits
                elif model is not None and candidate >= model.order + 2:
                    break
        assert model is not None
        progress = ReadProgress(given.data.codes.size, given.data.codes.size, model.log_likelihood, model.counts.number)
        for callback in tuple(callbacks):
            callback(progress)
        self.alphabet_, self.learning_, self.order_ = given.alphabet, learning, model.order
        self.steps_ = self.passes_ = 1
        self.seconds_, self.stopped_ = clock.seconds, "read"
        self.validation_bits_ = validation_bits
        self._use(model, given.escape)
        display.say(
            f"NGram: order {self.order_}, {self.n_parameters_:,} counts; {given.data.codes.size:,} symbols read in "
            f"{self.seconds_:.1f} CPU seconds"
        )
        return self

    def trace(self, data: Any) -> Trace:
        """How long the longest known context is before each symbol, a 1 in its column, with symbols and bits."""
        reading, known = self._traceable(data)
        lengths = self._without_escape().context_lengths(known)
        names = tuple(f"after {length}" for length in range(lengths.shape[1]))
        return Trace(self.alphabet_.decode(known.codes), lengths, self._surprise(reading, False), known.starts, names)

    def _use(self, model: NGramModel, escape: float | None) -> None:
        self.n_parameters_ = model.counts.number
        self._predict_with(model.with_learning(self.learning_), escape)  # type: ignore[arg-type]

    def _take(self, predictor: Any) -> None:
        super()._take(predictor)
        self._use(self._without_escape(), self.escape_probability_)

    def _take_symbols(self, alphabet: Alphabet, new: int) -> None:
        size, arrays = len(base_of(self.alphabet_)), self._without_escape().arrays()
        known, history = Reader(alphabet).known, moved_up(arrays["history"], size, new)
        self.alphabet_ = alphabet
        self._use(NGramModel.from_arrays(known, self.order_, {"history": history}), self.escape_probability_)

    def _arrays(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        return self._without_escape().arrays(), {name: getattr(self, name) for name in _RECORD}

    def _restore(self, arrays: dict[str, np.ndarray], fitted: dict[str, Any], escape: float | None) -> Self:
        known = Reader(self.alphabet_).known
        check_history(arrays["history"], len(known))
        for name in _RECORD:
            setattr(self, name, fitted[name])
        choice("learning_", self.learning_, ("online", "frozen"))
        if integer("order_", self.order_, 1) > _MOST_ORDER:
            raise ModelFileError(f"the order is {self.order_}: {_MOST_ORDER} at most")
        self._use(NGramModel.from_arrays(known, self.order_, arrays), escape)
        return self
