"""Context tree weighting, a sanity check of Section 4: a mixture of all trees of contexts, learned while reading.

A symbol is written as bits down a binary tree over the alphabet, its decomposition; each branching of it has a
context tree of its own over the last `depth` symbols, with P_w = ½ P_e + ½ Π P_w(children) (Willems, Shtarkov,
Tjalkens 1995). Before a sequence the context is a padding symbol that occurs nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import inf
from typing import Literal

import numpy as np

from glnn.baselines import ctw_kernels as kernels
from glnn.baselines.ctw_coding import ContextTreeSteps
from glnn.baselines.decomposition import Decomposition, balanced, huffman
from glnn.sequences import Alphabet, Encoded, InputError

CHUNK = 1 << 16
_DECOMPOSITIONS = ("huffman", "balanced")
_ESTIMATORS = ("kt", "zero_redundancy")


@dataclass(frozen=True)
class ContextTreeSettings:
    """What a context tree is: see `docs/baselines.md` for what each choice is worth.

    `max_nodes` bounds the memory, some 40 bytes each: once they are used up, known contexts go on learning
    and a new one counts as the longest known part of it. `weight_limit` (in bits) bounds the evidence |log2 β|
    that a weight gathers, so that it can change its mind; above `count_limit`, both counts of a node are halved.
    """

    depth: int = 16
    decomposition: Literal["huffman", "balanced"] = "huffman"
    estimator: Literal["kt", "zero_redundancy"] = "kt"
    max_nodes: int = 10_000_000
    weight_limit: float = inf
    count_limit: int = 2**30

    def __post_init__(self) -> None:
        for name, least in (("depth", 0), ("max_nodes", 1), ("weight_limit", 0), ("count_limit", 1)):
            if getattr(self, name) < least:
                raise InputError(f"{name} is {getattr(self, name)}: it is at least {least}")
        for name, known in (("decomposition", _DECOMPOSITIONS), ("estimator", _ESTIMATORS)):
            if getattr(self, name) not in known:
                raise InputError(f"{name} is {getattr(self, name)!r}: it is one of {', '.join(known)}")


@dataclass
class Forest:
    """The nodes of all context trees in one pool, the roots first, and the table that finds them."""

    nodes: np.ndarray
    slots: np.ndarray
    used: np.ndarray

    @classmethod
    def of_roots(cls, roots: int, max_nodes: int) -> Forest:
        """One tree without contexts for each branching of the decomposition."""
        if max_nodes < roots:
            raise InputError(f"max_nodes is {max_nodes}: the {roots} roots alone need more")
        nodes = np.zeros(min(max_nodes, max(1 << 14, 2 * roots)), kernels.NODE)
        nodes["key"][:roots], nodes["ratio"][:roots] = kernels.EMPTY, 1.0
        return cls.indexed(nodes, roots, roots)

    @classmethod
    def indexed(cls, nodes: np.ndarray, roots: int, used: int) -> Forest:
        """A pool of which `used` nodes are taken, with its table, at most half full."""
        slots = np.full(1 << (2 * nodes.size - 1).bit_length(), kernels.EMPTY, np.int32)
        kernels.enter(roots, used, slots, nodes)
        return cls(nodes, slots, np.array([used], np.int64))

    def grown(self, roots: int, max_nodes: int) -> Forest:
        """The same trees with twice the room."""
        nodes = np.zeros(min(max_nodes, 2 * self.nodes.size), kernels.NODE)
        nodes[: self.nodes.size] = self.nodes
        return Forest.indexed(nodes, roots, int(self.used[0]))

    def copy(self) -> Forest:
        """Independent trees."""
        return Forest(self.nodes.copy(), self.slots.copy(), self.used.copy())


@dataclass(frozen=True)
class ReadProgress:
    """Given to the callback: how many symbols were read of how many, with which log-likelihood and nodes."""

    symbols: int
    total: int
    log_likelihood: float
    nodes: int


@dataclass(frozen=True)
class ContextTreeWeighting:
    """Context trees after training. They never change: what is scored online is learned by a copy.

    With `learning="online"` they go on learning from the data scored, as in the paper: what follows the training
    data costs that much. With "frozen" they stay as trained. `opening="tail"` takes the first sequence scored
    for the continuation of the last one of the training data; with "padding" it is a new one.
    """

    alphabet: Alphabet
    settings: ContextTreeSettings
    decomposition: Decomposition
    forest: Forest
    tail: np.ndarray
    learning: Literal["online", "frozen"] = "online"
    opening: Literal["padding", "tail"] = "padding"

    def with_learning(self, learning: Literal["online", "frozen"]) -> ContextTreeWeighting:
        """The same trees, learning from what they score or not."""
        return replace(self, learning=learning)

    def continuing(self) -> ContextTreeWeighting:
        """The same trees, to score what follows the training data directly."""
        return replace(self, opening="tail")

    def begin(self) -> ContextTreeState:
        """The state at the start of a sequence."""
        return ContextTreeState(self, self.forest, self._first_context())

    def coding_steps(self, escape: float | None, share: float = 0.0) -> ContextTreeSteps | None:
        """Compiled loops for the coder, bit by bit down the decomposition, where no share can be mixed in."""
        return ContextTreeSteps(self, escape) if share == 0.0 else None

    def distributions(self, data: Encoded, block: int = 4096) -> Iterator[np.ndarray]:
        """Next-symbol distributions along the data, in blocks of at most `block` rows."""
        for _, rows in self._read(data, block, with_rows=True):
            yield rows

    def log_likelihoods(self, data: Encoded) -> np.ndarray:
        """log π_t(x_t) at every position."""
        return np.concatenate([log_likelihoods for log_likelihoods, _ in self._read(data, CHUNK)])

    def context_weights(self, data: Encoded) -> np.ndarray:
        """How much contexts of each length say before each symbol: (T, depth + 1), rows of sum 1; learns nothing."""
        first = np.zeros(data.codes.size, np.bool_)
        first[data.starts[:-1]] = True
        first[:1] = False
        weights = np.empty((data.codes.size, self.settings.depth + 1))
        kernels.context_weights(
            data.codes,
            first,
            self._first_context(),
            self.decomposition.children,
            self.settings.estimator == "zero_redundancy",
            self.forest.used[0] == self.settings.max_nodes,
            self.forest.slots,
            self.forest.nodes,
            self.forest.used,
            weights,
        )
        return weights

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything but alphabet, settings and the two modes, for saving."""
        used = self.forest.nodes[: self.forest.used[0]]
        fields = {name: np.ascontiguousarray(used[name]) for name in kernels.NODE.names or ()}
        return {**fields, "children": self.decomposition.children, "tail": self.tail}

    @classmethod
    def from_arrays(
        cls, alphabet: Alphabet, settings: ContextTreeSettings, arrays: dict[str, np.ndarray]
    ) -> ContextTreeWeighting:
        """The trees that `arrays` was taken from."""
        nodes = np.zeros(len(arrays["key"]), kernels.NODE)
        for name in kernels.NODE.names or ():
            nodes[name] = arrays[name]
        decomposition = Decomposition(arrays["children"])
        forest = Forest.indexed(nodes, len(decomposition.children), len(nodes))
        return cls(alphabet, settings, decomposition, forest, arrays["tail"])

    def _first_context(self) -> np.ndarray:
        return self.tail.copy() if self.opening == "tail" else np.full_like(self.tail, len(self.alphabet))

    def _read(self, data: Encoded, block: int, with_rows: bool = False) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        if data.alphabet != self.alphabet:
            raise InputError(f"the data have {data.alphabet!r}, the trees {self.alphabet!r}: encode with alphabet=")
        first = np.zeros(data.codes.size, np.bool_)
        first[data.starts[:-1]] = True
        first[0] = False
        reader = Reader(self, self.forest, self._first_context())
        if self.learning == "online":
            reader.forest = self.forest.copy()
        for begin in range(0, data.codes.size, block):
            stretch = slice(begin, begin + block)
            yield reader.read(data.codes[stretch], first[stretch], self.learning == "online", with_rows)


class Reader:
    """A forest and the context it stands in, both of which move on as symbols are read."""

    def __init__(self, model: ContextTreeWeighting, forest: Forest, context: np.ndarray) -> None:
        self.model = model
        self.forest = forest
        self.context = context

    def read(
        self, codes: np.ndarray, first: np.ndarray, learn: bool, with_rows: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """log π_t(x_t), and the distributions if wanted; where `first`, the context is padding."""
        settings, decomposition = self.model.settings, self.model.decomposition
        log_likelihoods = np.empty(codes.size)
        rows = np.empty((codes.size if with_rows else 0, len(self.model.alphabet)))
        done = 0
        while done < codes.size:
            done += kernels.read(
                codes[done:],
                first[done:],
                self.context,
                decomposition.children,
                *decomposition.codes,
                settings.estimator == "zero_redundancy",
                2.0**settings.weight_limit,
                settings.count_limit,
                settings.max_nodes,
                learn,
                self.forest.slots,
                self.forest.nodes,
                self.forest.used,
                log_likelihoods[done:],
                rows[done:],
            )
            if done < codes.size:
                self.forest = self.forest.grown(len(decomposition.children), settings.max_nodes)
        return log_likelihoods, rows


class ContextTreeState:
    """Where a context tree stands inside a sequence. Trees are shared until one state has to learn."""

    def __init__(self, model: ContextTreeWeighting, forest: Forest, context: np.ndarray) -> None:
        self._reader = Reader(model, forest, context)
        self._owner = False

    def probabilities(self) -> np.ndarray:
        """The distribution of the next symbol."""
        model, forest = self._reader.model, self._reader.forest
        pi = np.empty(len(model.alphabet))
        kernels.distribution(
            self._reader.context,
            model.decomposition.children,
            model.settings.estimator == "zero_redundancy",
            forest.used[0] == model.settings.max_nodes,
            forest.slots,
            forest.nodes,
            forest.used,
            pi,
        )
        return pi

    def advance(self, code: int) -> None:
        """Read the next symbol; when learning online, this state's own trees learn it."""
        learn = self._reader.model.learning == "online"
        if learn and not self._owner:
            self._reader.forest, self._owner = self._reader.forest.copy(), True
        self._reader.read(np.array([code], np.int32), np.zeros(1, np.bool_), learn)

    def copy(self) -> ContextTreeState:
        """An independent state at the same place."""
        self._owner = False
        return ContextTreeState(self._reader.model, self._reader.forest, self._reader.context.copy())


def fit_context_tree(
    data: Encoded,
    settings: ContextTreeSettings | None = None,
    callback: Callable[[ReadProgress], bool | None] | None = None,
) -> ContextTreeWeighting:
    """Read the training data once, all symbols whatever the mask; `callback` may stop it by returning True."""
    settings = settings or ContextTreeSettings()
    size = len(data.alphabet)
    if settings.decomposition == "huffman":
        decomposition = huffman(np.bincount(data.codes, minlength=size))
    else:
        decomposition = balanced(size)
    padding = np.full(settings.depth, size, np.int64)
    forest = Forest.of_roots(size - 1, settings.max_nodes)
    blank = ContextTreeWeighting(data.alphabet, settings, decomposition, forest, padding)
    reader = Reader(blank, forest, padding.copy())
    first = np.zeros(data.codes.size, np.bool_)
    first[data.starts[:-1]] = True
    log_likelihood = 0.0
    for begin in range(0, data.codes.size, CHUNK):
        stretch = slice(begin, begin + CHUNK)
        log_likelihoods, _ = reader.read(data.codes[stretch], first[stretch], learn=True)
        log_likelihood += float(log_likelihoods.sum())
        read = min(begin + CHUNK, data.codes.size)
        nodes = int(reader.forest.used[0])
        if callback and callback(ReadProgress(read, data.codes.size, log_likelihood, nodes)):
            break
    return replace(reader.model, forest=reader.forest, tail=reader.context)
