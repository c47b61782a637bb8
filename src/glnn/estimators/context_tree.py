"""Context trees as an estimator: one pass over the data, nothing to tune."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable
from typing import Any, Self

import numpy as np

from glnn import predictors, registry
from glnn.contexts.decomposition import balanced, huffman
from glnn.contexts.hash_table import EMPTY
from glnn.contexts.history import ReadProgress
from glnn.contexts.tree import (
    DECOMPOSITIONS,
    ESTIMATORS,
    WEIGHTINGS,
    ContextTreeSettings,
    ContextTreeWeighting,
    fit_context_tree,
)
from glnn.contexts.tree_kernels import STORED
from glnn.estimators.base import SequenceModel, Trace
from glnn.estimators.continuing import moved_up
from glnn.estimators.history import check_history
from glnn.estimators.parameters import choice, integer, number
from glnn.progress import Display
from glnn.sequences import Alphabet, InputError, Reader
from glnn.sequences.special import base_of
from glnn.storage.model_file import ModelFileError
from glnn.training.budget import Clock
from glnn.training.compiling import beginning, compiling

# One place says what is used when nothing is passed.
_DEFAULTS = ContextTreeSettings()
_LARGEST = 2**31 - 1
_RECORD = ("steps_", "passes_", "seconds_", "stopped_", "validation_bits_", "learning_")


@registry.model("contexttree", "context tree weighting: all trees of contexts at once, learned by reading once")
class ContextTree(SequenceModel):
    """A tree of contexts of every length up to a depth, weighted by what each was worth, learned by reading once.

    depth: the longest context, in symbols.
    weighting: "switching" lets the best length of a context change while reading (context tree switching); "mixture" is
    the exact mixture of all trees, context tree weighting. `ContextTree(depth=16, weighting="mixture", prior=0.5,
    first_ratio=1.0)` is the paper's.
    decomposition, estimator: how a symbol becomes bits ("huffman" or "balanced") and how a bit is estimated ("kt" or
    "zero_redundancy").
    prior: how often each bit is thought to have occurred before, in every context, for "kt".
    switching: the share that changes sides at the first visit of a context; it falls as one over their number.
    first_ratio: what a new context weighs beside longer ones.
    max_nodes: bound on the memory, some 50 bytes each; a warning says when they are used up.
    weight_limit, count_limit: bounds (in bits, for "mixture"; in symbols) on the evidence that is gathered.
    learning: "online" keeps learning from what is scored, as in the paper; "frozen" does not, so that every sequence
    is scored alike; "auto" is online after one sequence and frozen after several.
    end, unknown, alphabet, verbose: as in the networks.

    Fitted: `alphabet_`, `predictor_`, `n_parameters_` (nodes), `seconds_`, `validation_bits_` when validation data were
    given, which are only scored. The mask applies to scores only.
    """

    def __init__(
        self,
        depth: int = _DEFAULTS.depth,
        *,
        weighting: str = _DEFAULTS.weighting,
        decomposition: str = _DEFAULTS.decomposition,
        estimator: str = _DEFAULTS.estimator,
        prior: float = _DEFAULTS.prior,
        switching: float = _DEFAULTS.switching,
        first_ratio: float = _DEFAULTS.first_ratio,
        max_nodes: int = _DEFAULTS.max_nodes,
        weight_limit: float = _DEFAULTS.weight_limit,
        count_limit: int = _DEFAULTS.count_limit,
        learning: str = "auto",
        end: bool = True,
        unknown: str = "auto",
        alphabet: Any = None,
        verbose: int = 1,
    ) -> None:
        self.depth = depth
        self.weighting = weighting
        self.decomposition = decomposition
        self.estimator = estimator
        self.prior = prior
        self.switching = switching
        self.first_ratio = first_ratio
        self.max_nodes = max_nodes
        self.weight_limit = weight_limit
        self.count_limit = count_limit
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
        """Read one or several sequences; a callback gets a `ReadProgress` and stops the reading by returning True."""
        settings = self._settings()
        learning = choice("learning", self.learning, ("auto", "online", "frozen"))
        given = self._given(data, validation, mask, validation_mask, sample_weight)
        if learning == "auto":
            learning = "online" if len(given.data) == 1 else "frozen"
        display, clock, calls = Display(self.verbose), Clock(), tuple(callbacks)
        display.say(f"ContextTree: depth {self.depth}; {given.data.codes.size:,} symbols, read once")
        with compiling(display), clock.paused():
            fit_context_tree(beginning(given.data), settings)
        stopped = "read"

        def look(progress: ReadProgress) -> bool:
            nonlocal stopped
            with clock.paused():
                bits = -progress.log_likelihood / math.log(2.0) / progress.symbols
                text = f"{progress.symbols:,} symbols read, {bits:.4f} bits a symbol, {progress.nodes:,} nodes"
                display.update(progress.symbols / progress.total, text)
                if any([callback(progress) for callback in calls]):
                    stopped = "callback"
            return stopped == "callback"

        try:
            trees = fit_context_tree(given.data, settings, look)
        finally:
            display.close()
        if trees.full:
            warnings.warn(
                f"the {settings.max_nodes:,} nodes of max_nodes are used up: contexts that come after that are not "
                "learned; give a larger max_nodes, some 50 bytes each, or a smaller depth",
                stacklevel=2,
            )
        self.alphabet_, self.learning_ = given.alphabet, learning
        self.steps_ = self.passes_ = 1
        self.seconds_, self.stopped_ = clock.seconds, stopped
        self._use(trees, given.escape)
        self.validation_bits_ = None
        if given.validation is not None:
            self.validation_bits_ = predictors.bits(self._without_escape(), given.validation, regularised=True)
        return self

    def trace(self, data: Any) -> Trace:
        """How much contexts of each length, from 0 to `depth`, say before each symbol, with the symbols and their bits.

        The weights are those of the trees as they were trained, each row sums to 1.
        """
        reading, known = self._traceable(data)
        weights = self._without_escape().context_weights(known)
        names = tuple(f"after {length}" for length in range(weights.shape[1]))
        return Trace(self.alphabet_.decode(known.codes), weights, self._surprise(reading, False), known.starts, names)

    def _settings(self) -> ContextTreeSettings:
        limit = self.weight_limit
        for name in ("depth", "max_nodes", "count_limit"):
            if integer(name, getattr(self, name), 0) > _LARGEST:
                raise InputError(f"{name} is {getattr(self, name)}: give at most {_LARGEST:,}")
        return ContextTreeSettings(
            depth=integer("depth", self.depth, 0),
            decomposition=choice("decomposition", self.decomposition, DECOMPOSITIONS),  # type: ignore[arg-type]
            estimator=choice("estimator", self.estimator, ESTIMATORS),  # type: ignore[arg-type]
            weighting=choice("weighting", self.weighting, WEIGHTINGS),  # type: ignore[arg-type]
            prior=number("prior", self.prior, 1e-9, 1e6),
            switching=number("switching", self.switching, 1e-9, 0.5),
            first_ratio=number("first_ratio", self.first_ratio, 1e-9, 1e6),
            max_nodes=integer("max_nodes", self.max_nodes, 1),
            weight_limit=math.inf if limit == math.inf else number("weight_limit", limit, 0.0, 1024.0),
            count_limit=integer("count_limit", self.count_limit, 1),
        )

    def _use(self, trees: ContextTreeWeighting, escape: float | None) -> None:
        self.n_parameters_ = trees.nodes
        self._predict_with(trees.with_learning(self.learning_), escape)  # type: ignore[arg-type]

    def _take(self, predictor: Any) -> None:
        super()._take(predictor)
        self._use(self._without_escape(), self.escape_probability_)

    def _take_symbols(self, alphabet: Alphabet, new: int) -> None:
        size, arrays = len(base_of(self.alphabet_)), self._without_escape().arrays()
        if "history" not in arrays:
            super()._take_symbols(alphabet, new)
        known = Reader(alphabet).known
        history = moved_up(arrays["history"], size, new)
        counts = np.bincount(history[history < len(known)], minlength=len(known))
        children = (huffman(counts) if self.decomposition == "huffman" else balanced(len(known))).children
        trees = ContextTreeWeighting.from_arrays(known, self._settings(), {"children": children, "history": history})
        self.alphabet_ = alphabet
        self._use(trees, self.escape_probability_)

    def _arrays(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        return self._without_escape().arrays(), {name: getattr(self, name) for name in _RECORD}

    def _restore(self, arrays: dict[str, np.ndarray], fitted: dict[str, Any], escape: float | None) -> Self:
        known = Reader(self.alphabet_).known
        if "history" not in arrays:
            # A file of the first version, which knew the paper's trees only.
            self.weighting, self.prior, self.first_ratio = "mixture", 0.5, 1.0
        settings = self._settings()
        _check_decomposition(arrays["children"], len(known))
        if "history" in arrays:
            check_history(arrays["history"], len(known))
        else:
            _check_nodes(arrays, len(known), settings.depth)
        for name in _RECORD:
            setattr(self, name, fitted[name])
        choice("learning_", self.learning_, ("online", "frozen"))
        self._use(ContextTreeWeighting.from_arrays(known, settings, arrays), escape)
        return self


def _check_decomposition(children: np.ndarray, alphabet_size: int) -> None:
    """Refuse arrays that would lead the compiled loops outside of them."""
    roots = alphabet_size - 1
    if children.dtype.kind != "i":
        raise ModelFileError(f"children holds numbers of type {children.dtype}, not whole ones")
    whole = [*range(1, roots), *range(-alphabet_size, 0)]
    if children.shape != (roots, 2) or sorted(children.ravel().tolist()) != sorted(whole):
        raise ModelFileError(f"the decomposition is not a tree over the {alphabet_size} symbols")
    if ((children >= 0) & (children <= np.arange(roots)[:, None])).any():
        raise ModelFileError("the decomposition's branchings are out of order")


def _check_nodes(arrays: dict[str, np.ndarray], alphabet_size: int, depth: int) -> None:
    """The nodes themselves, in files of the first version."""
    tail, roots = arrays["tail"], alphabet_size - 1
    if tail.dtype.kind != "i":
        raise ModelFileError(f"tail holds numbers of type {tail.dtype}, not whole ones")
    if tail.shape != (depth,) or (tail.size and not 0 <= tail.min() <= tail.max() <= alphabet_size):
        raise ModelFileError(f"the last context does not fit a depth of {depth}")
    nodes = {len(arrays[name]) for name in STORED}
    if len(nodes) != 1 or next(iter(nodes)) < roots or any(arrays[name].ndim != 1 for name in STORED):
        raise ModelFileError("the nodes' arrays differ in length")
    if not (arrays["key"][:roots] == EMPTY).all() or not np.isfinite(arrays["ratio"]).all():
        raise ModelFileError("the nodes do not begin with the roots")
    if min(arrays["zeros"].min(), arrays["ones"].min()) < 0 or arrays["ratio"].min() <= 0:
        raise ModelFileError("the nodes hold negative counts")
