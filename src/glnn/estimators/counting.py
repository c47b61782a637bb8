"""Models that count what they read, context trees and n-grams: one reading, nothing to tune, and they can read on.

Their files hold the symbols read, which are checked before they are read again.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass, fields, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from glnn import predictors, registry
from glnn.contexts import tree
from glnn.contexts.counted import check_history
from glnn.contexts.decomposition import balanced, check_children, huffman
from glnn.contexts.forest import check_nodes
from glnn.contexts.history import ReadProgress
from glnn.contexts.ngram import LONGEST_ORDER, NGramModel, choose_order, fit_ngram
from glnn.contexts.tree import ContextTreeSettings, ContextTreeWeighting, fit_context_tree
from glnn.estimators.base import SequenceModel
from glnn.estimators.parameters import checked, choice, described, integer, number, parameter
from glnn.predictors.scores import Trace
from glnn.progress import Display
from glnn.sequences import Alphabet, Encoded, InputError, TrainingData
from glnn.sequences.alphabet import moved_up
from glnn.training.budget import Clock
from glnn.training.compiling import beginning, compiling
from glnn.training.observer import Observer
from glnn.training.validation import HELD_OUT_TO_SHOW, split

_MOST_ORDER, _LARGEST = 64, 2**31 - 1
# The defaults of context trees are defined in one place.
_TREE = ContextTreeSettings()

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

    _record: ClassVar[Sequence[str]] = ("steps_", "passes_", "seconds_", "stopped_", "validation_bits_", "learning_")
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

    def trace(self, data: Any) -> Trace:
        """How much contexts of each length, from 0 on, say before each symbol, with the symbols and their bits.

        Each row sums to 1: the weights of a tree as it was trained; of n-grams, a 1 at the longest known context.
        """
        reading, known = self._traceable(data)
        weights = self._without_escape().context_weights(known)
        names = tuple(f"after {length}" for length in range(weights.shape[1]))
        return Trace(self.alphabet_.decode(known.codes), weights, self._surprise(reading, False), known.starts, names)

    def before_the_end(self, data: Encoded) -> tuple[Self, int] | None:
        """The model that has read all but the last fifth."""
        parts = split(TrainingData(data.known()), HELD_OUT_TO_SHOW)
        if parts.validation is None:
            return None
        other = copy(self)
        counted = other._counted(replace(parts, validation=None), self.learning_, lambda _: False)
        other._use(counted, self.escape_probability_)
        return other, parts.held_out

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
        if isinstance(self.order, str) and given.validation is not None:
            model = _validated(given.train, given.validation, learning)
        else:
            model = fit_ngram(given.train, choose_order(given.train) if isinstance(self.order, str) else self.order)
        symbols = given.train.codes.size
        look(ReadProgress(symbols, symbols, model.log_likelihood, model.counts.number))
        return model

    def _size(self, model: NGramModel) -> int:
        return model.counts.number

    def _use(self, model: NGramModel, escape: float | None) -> None:
        self.order_ = model.order
        super()._use(model, escape)

    def _take_symbols(self, alphabet: Alphabet, new: int) -> None:
        size, arrays = len(self.alphabet_.base), self._without_escape().arrays()
        self.alphabet_, history = alphabet, moved_up(arrays["history"], size, new)
        self._use(NGramModel.from_arrays(alphabet.known, self.order_, {"history": history}), self.escape_probability_)

    def _restore(self, arrays: dict[str, np.ndarray], fitted: dict[str, Any], escape: float | None) -> Self:
        known = self.alphabet_.known
        check_history(arrays["history"], len(known))
        self._recall(fitted)
        if integer("order_", self.order_, 1) > _MOST_ORDER:
            raise InputError(f"the order is {self.order_}: {_MOST_ORDER} at most")
        self._use(NGramModel.from_arrays(known, self.order_, arrays), escape)
        return self


def _validated(data: Encoded, validation: Encoded, learning: str) -> NGramModel:
    """The model of the order that needs the fewest bits for validation data; two orders beyond the best are tried."""
    best, fewest = None, math.inf
    for order in range(1, LONGEST_ORDER + 1):
        tried = fit_ngram(data, order).with_learning(learning)  # type: ignore[arg-type]
        bits = predictors.bits(tried, validation, regularised=True)
        if bits < fewest:
            best, fewest = tried, bits
        elif best is not None and order >= best.order + 2:
            break
    assert best is not None
    return best


_COUNT, _RATIO = partial(integer, low=1, high=_LARGEST), partial(number, low=1e-9, high=1e6)


def _limit(name: str, value: Any) -> float:
    return math.inf if value == math.inf else float(number(name, value, 0.0, 1024.0))


@registry.model("contexttree", "context tree weighting: all trees of contexts at once, learned in one reading")
@described
@dataclass(eq=False, repr=False)
class ContextTree(CountingModel):
    """A tree of contexts of every length up to a depth, weighted by how well each predicts, learned in one reading.

    `ContextTree(depth=16, weighting="mixture", prior=0.5, first_ratio=1.0)` is the paper's.

    Fitted: `alphabet_`, `predictor_`, `n_parameters_` (nodes), `seconds_`, `validation_bits_` when validation data were
    given, which are only scored. The mask applies to scores only.
    """

    depth: int = parameter(_TREE.depth, partial(integer, low=0, high=_LARGEST), "the longest context, in symbols")
    _: KW_ONLY
    weighting: str = parameter(
        _TREE.weighting,
        partial(choice, allowed=tree.WEIGHTINGS),
        '"switching" lets the best length of a context change while reading (context tree switching); "mixture" is the '
        "exact mixture of all trees, context tree weighting",
    )
    decomposition: str = parameter(
        _TREE.decomposition, partial(choice, allowed=tree.DECOMPOSITIONS), 'symbols as bits: "huffman" or "balanced"'
    )
    estimator: str = parameter(
        _TREE.estimator, partial(choice, allowed=tree.ESTIMATORS), 'how a bit is estimated: "kt" or "zero_redundancy"'
    )
    prior: float = parameter(
        _TREE.prior, _RATIO, 'how often each bit counts as seen before, in every context, for "kt"'
    )
    switching: float = parameter(
        _TREE.switching,
        partial(number, low=1e-9, high=0.5),
        "the share that changes sides at the first visit of a context; it falls with the number of visits",
    )
    first_ratio: float = parameter(_TREE.first_ratio, _RATIO, "weight of a new context relative to longer ones")
    max_nodes: int = parameter(
        _TREE.max_nodes, _COUNT, "bound on the memory, about 50 bytes each; a warning says when they run out"
    )
    weight_limit: float = parameter(
        _TREE.weight_limit, _limit, 'bound on the evidence that is gathered, in bits, for "mixture"'
    )
    count_limit: int = parameter(_TREE.count_limit, _COUNT, "bound on the evidence that is gathered, in symbols")

    def _counted(self, given: TrainingData, learning: str, look: Look) -> ContextTreeWeighting:
        return fit_context_tree(given.train, self._settings(), look)

    def _complain(self, model: ContextTreeWeighting) -> None:
        if model.full:
            warnings.warn(
                f"the {self.max_nodes:,} nodes of max_nodes are used up: later contexts are not learned; "
                "give a larger max_nodes, about 50 bytes each, or a smaller depth",
                stacklevel=3,
            )

    def _size(self, model: ContextTreeWeighting) -> int:
        return model.nodes

    def _settings(self) -> ContextTreeSettings:
        values = checked(self)
        return ContextTreeSettings(**{one.name: values[one.name] for one in fields(ContextTreeSettings)})

    def _take_symbols(self, alphabet: Alphabet, new: int) -> None:
        size, arrays = len(self.alphabet_.base), self._without_escape().arrays()
        if "history" not in arrays:
            super()._take_symbols(alphabet, new)
        known, history = alphabet.known, moved_up(arrays["history"], size, new)
        counts = np.bincount(history[history < len(known)], minlength=len(known))
        children = (huffman(counts) if self.decomposition == "huffman" else balanced(len(known))).children
        trees = ContextTreeWeighting.from_arrays(known, self._settings(), {"children": children, "history": history})
        self.alphabet_ = alphabet
        self._use(trees, self.escape_probability_)

    def _restore(self, arrays: dict[str, np.ndarray], fitted: dict[str, Any], escape: float | None) -> Self:
        known = self.alphabet_.known
        check_children(arrays["children"], len(known))
        if "history" in arrays:
            check_history(arrays["history"], len(known))
        else:
            # A file of the first version, which knew the paper's trees only.
            self.weighting, self.prior, self.first_ratio = "mixture", 0.5, 1.0
            check_nodes(arrays, len(known), self._settings().depth)
        self._recall(fitted)
        self._use(ContextTreeWeighting.from_arrays(known, self._settings(), arrays), escape)
        return self
