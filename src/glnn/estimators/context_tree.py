"""Context trees as an estimator: one pass over the data, nothing to tune."""

from __future__ import annotations

import math
import warnings
from dataclasses import KW_ONLY, dataclass, fields
from functools import partial
from typing import Any, Self

import numpy as np

from glnn import registry
from glnn.contexts.decomposition import balanced, huffman
from glnn.contexts.hash_table import EMPTY
from glnn.contexts.tree import (
    DECOMPOSITIONS,
    ESTIMATORS,
    WEIGHTINGS,
    ContextTreeSettings,
    ContextTreeWeighting,
    fit_context_tree,
)
from glnn.contexts.tree_kernels import STORED
from glnn.estimators.base import Trace
from glnn.estimators.counting import CountingModel, Look, check_history
from glnn.estimators.parameters import checked, choice, described, integer, number, parameter
from glnn.sequences import Alphabet, TrainingData
from glnn.sequences.alphabet import moved_up
from glnn.storage.model_file import ModelFileError

# The defaults are defined in one place.
_DEFAULTS = ContextTreeSettings()
_LARGEST = 2**31 - 1


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

    depth: int = parameter(_DEFAULTS.depth, partial(integer, low=0, high=_LARGEST), "the longest context, in symbols")
    _: KW_ONLY
    weighting: str = parameter(
        _DEFAULTS.weighting,
        partial(choice, allowed=WEIGHTINGS),
        '"switching" lets the best length of a context change while reading (context tree switching); "mixture" is the '
        "exact mixture of all trees, context tree weighting",
    )
    decomposition: str = parameter(
        _DEFAULTS.decomposition,
        partial(choice, allowed=DECOMPOSITIONS),
        'how a symbol becomes bits: "huffman" or "balanced"',
    )
    estimator: str = parameter(
        _DEFAULTS.estimator, partial(choice, allowed=ESTIMATORS), 'how a bit is estimated: "kt" or "zero_redundancy"'
    )
    prior: float = parameter(
        _DEFAULTS.prior,
        partial(number, low=1e-9, high=1e6),
        'how often each bit counts as seen before, in every context, for "kt"',
    )
    switching: float = parameter(
        _DEFAULTS.switching,
        partial(number, low=1e-9, high=0.5),
        "the share that changes sides at the first visit of a context; it falls with the number of visits",
    )
    first_ratio: float = parameter(
        _DEFAULTS.first_ratio, partial(number, low=1e-9, high=1e6), "weight of a new context relative to longer ones"
    )
    max_nodes: int = parameter(
        _DEFAULTS.max_nodes,
        partial(integer, low=1, high=_LARGEST),
        "bound on the memory, about 50 bytes each; a warning says when they run out",
    )
    weight_limit: float = parameter(
        _DEFAULTS.weight_limit, _limit, 'bound on the evidence that is gathered, in bits, for "mixture"'
    )
    count_limit: int = parameter(
        _DEFAULTS.count_limit,
        partial(integer, low=1, high=_LARGEST),
        "bound on the evidence that is gathered, in symbols",
    )

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

    def trace(self, data: Any) -> Trace:
        """How much contexts of each length, from 0 to `depth`, say before each symbol, with the symbols and their bits.

        The weights are those of the trees as they were trained, each row sums to 1.
        """
        reading, known = self._traceable(data)
        weights = self._without_escape().context_weights(known)
        names = tuple(f"after {length}" for length in range(weights.shape[1]))
        return Trace(self.alphabet_.decode(known.codes), weights, self._surprise(reading, False), known.starts, names)

    def _settings(self) -> ContextTreeSettings:
        values = checked(self)
        return ContextTreeSettings(**{one.name: values[one.name] for one in fields(ContextTreeSettings)})

    def _take_symbols(self, alphabet: Alphabet, new: int) -> None:
        size, arrays = len(self.alphabet_.base), self._without_escape().arrays()
        if "history" not in arrays:
            super()._take_symbols(alphabet, new)
        known = alphabet.known
        history = moved_up(arrays["history"], size, new)
        counts = np.bincount(history[history < len(known)], minlength=len(known))
        children = (huffman(counts) if self.decomposition == "huffman" else balanced(len(known))).children
        trees = ContextTreeWeighting.from_arrays(known, self._settings(), {"children": children, "history": history})
        self.alphabet_ = alphabet
        self._use(trees, self.escape_probability_)

    def _restore(self, arrays: dict[str, np.ndarray], fitted: dict[str, Any], escape: float | None) -> Self:
        known = self.alphabet_.known
        if "history" not in arrays:
            # A file of the first version, which knew the paper's trees only.
            self.weighting, self.prior, self.first_ratio = "mixture", 0.5, 1.0
        settings = self._settings()
        _check_decomposition(arrays["children"], len(known))
        if "history" in arrays:
            check_history(arrays["history"], len(known))
        else:
            _check_nodes(arrays, len(known), settings.depth)
        self._recall(fitted)
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
