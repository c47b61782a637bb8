"""N-grams as an estimator, and what they share with context trees: both read the data once, and can go on reading.

N-grams are smoothed by interpolated modified Kneser-Ney; the data choose their order. Their files hold the symbols
read, which are checked before they are read again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from glnn import predictors, registry
from glnn.contexts.history import ReadProgress
from glnn.contexts.ngram import LONGEST_ORDER, NGramModel, choose_order, fit_ngram
from glnn.estimators.base import SequenceModel, Trace
from glnn.estimators.parameters import checked, choice, described, integer, parameter
from glnn.progress import Display
from glnn.sequences import Alphabet, TrainingData
from glnn.sequences.alphabet import moved_up
from glnn.storage.model_file import ModelFileError
from glnn.training.budget import Clock
from glnn.training.compiling import beginning, compiling
from glnn.training.observer import Observer

_MOST_ORDER = 64

Look = Callable[[ReadProgress], bool]


@dataclass(eq=False, repr=False, kw_only=True)
class CountingModel(SequenceModel):
    """A model that counts what it reads."""

    learning: str = parameter(
        "auto",
        partial(choice, allowed=("auto", "online", "frozen")),
        '"online" goes on learning from what is scored; "frozen" does not, so that every sequence is scored alike; '
        '"auto" is online after one sequence and frozen after several',
    )

    _record: ClassVar[tuple[str, ...]] = (
        "steps_", "passes_", "seconds_", "stopped_", "validation_bits_", "learning_",
    )  # fmt: skip
    """What a model file holds besides the symbols read."""

    def fit(
        self,
        data: Any,
        validation: Any = None,
        mask: Any = None,
        validation_mask: Any = None,
        *,
        sample_weight: Any = None,
        callbacks: Iterable[Callable[[ReadProgress], Any]] = (),
        observer: Observer | None = None,
    ) -> Self:
        """Read one or several sequences; a callback gets a `ReadProgress` and stops the reading by returning True.

        An `observer` (`glnn.training.observer.Observer`) is told how far the reading is.
        """
        values = checked(self)
        given = self._given(data, validation, mask, validation_mask, sample_weight)
        learning = values["learning"]
        if learning == "auto":
            learning = "online" if len(given.train) == 1 else "frozen"
        display = Display(self.verbose, None if observer is None else observer.advance)
        clock, calls, stopped = Clock(), tuple(callbacks), "read"
        display.say(f"{type(self).__name__}: {given.train.codes.size:,} symbols, read once")
        with compiling(display), clock.paused():
            self._counted(TrainingData(beginning(given.train)), learning, lambda _: False)
        if observer is not None:
            observer.ready()

        def look(progress: ReadProgress) -> bool:
            nonlocal stopped
            with clock.paused():
                bits = -progress.log_likelihood / math.log(2.0) / progress.symbols
                text = f"{progress.symbols:,} symbols read, {bits:.4f} bits per symbol, {progress.nodes:,} contexts"
                display.update(progress.symbols / progress.total, text)
                if any([callback(progress) for callback in calls]):
                    stopped = "callback"
            return stopped == "callback"

        try:
            model = self._counted(given, learning, look)
        finally:
            display.close()
        self._complain(model)
        self.alphabet_, self.learning_ = given.alphabet, learning
        self.steps_ = self.passes_ = 1
        self.seconds_, self.stopped_ = clock.seconds, stopped
        self._use(model, given.escape)
        self.validation_bits_ = None
        if given.validation is not None:
            self.validation_bits_ = predictors.bits(self._without_escape(), given.validation, regularised=True)
        return self

    def _counted(self, given: TrainingData, learning: str, look: Look) -> Any:
        """The model of the data; `look` is told how far the reading is and may stop it."""
        raise NotImplementedError

    def _complain(self, model: Any) -> None:
        """Warn about what went wrong while reading."""

    def _size(self, model: Any) -> int:
        """How many numbers make up a model."""
        raise NotImplementedError

    def _use(self, model: Any, escape: float | None) -> None:
        self.n_parameters_ = self._size(model)
        self._predict_with(model.with_learning(self.learning_), escape)

    def _take(self, predictor: Any) -> None:
        super()._take(predictor)
        self._use(self._without_escape(), self.escape_probability_)

    def _arrays(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        return self._without_escape().arrays(), {name: getattr(self, name) for name in self._record}

    def _recall(self, fitted: dict[str, Any]) -> None:
        """Set what the file says about the reading."""
        for name in self._record:
            setattr(self, name, fitted[name])
        choice("learning_", self.learning_, ("online", "frozen"))


def check_history(history: np.ndarray, alphabet_size: int) -> None:
    """The symbols read, with the code A before each sequence."""
    if history.dtype.kind != "u" or history.ndim != 1 or history.size < 2:
        raise ModelFileError(f"the history has type {history.dtype} and shape {history.shape}: not a list of codes")
    if history.max() > alphabet_size or history[0] != alphabet_size or history[-1] == alphabet_size:
        raise ModelFileError(f"the history does not fit an alphabet of {alphabet_size} symbols")
    padding = history == alphabet_size
    if (padding[1:] & padding[:-1]).any():
        raise ModelFileError("the history holds empty sequences")


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
        'the n-grams\' n, one more than the symbols of context; "auto" takes the one that best '
        "predicts the validation data, or without any, the data when they are first read",
    )

    _record = ("order_", *CountingModel._record)

    def _counted(self, given: TrainingData, learning: str, look: Look) -> NGramModel:
        orders = [] if isinstance(self.order, str) else [self.order]
        if not orders:
            orders = [choose_order(given.train)] if given.validation is None else [*range(1, LONGEST_ORDER + 1)]
        model, fewest = None, math.inf
        for order in orders:
            tried = fit_ngram(given.train, order).with_learning(learning)  # type: ignore[arg-type]
            bits = -math.inf
            if len(orders) > 1:
                bits = predictors.bits(tried, given.validation, regularised=True)  # type: ignore[arg-type]
            if bits < fewest:
                model, fewest = tried, bits
            elif model is not None and order >= model.order + 2:
                break
        assert model is not None
        symbols = given.train.codes.size
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
        size, arrays = len(self.alphabet_.base), self._without_escape().arrays()
        known, history = alphabet.known, moved_up(arrays["history"], size, new)
        self.alphabet_ = alphabet
        self._use(NGramModel.from_arrays(known, self.order_, {"history": history}), self.escape_probability_)

    def _restore(self, arrays: dict[str, np.ndarray], fitted: dict[str, Any], escape: float | None) -> Self:
        known = self.alphabet_.known
        check_history(arrays["history"], len(known))
        self._recall(fitted)
        if integer("order_", self.order_, 1) > _MOST_ORDER:
            raise ModelFileError(f"the order is {self.order_}: {_MOST_ORDER} at most")
        self._use(NGramModel.from_arrays(known, self.order_, arrays), escape)
        return self
