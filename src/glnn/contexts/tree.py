"""Context trees, learned while reading: every symbol is predicted from the contexts before it, of all lengths at once.

A symbol is written as bits down a binary tree over the alphabet, its decomposition; each branching of it has a
context tree of its own over the last `depth` symbols. As a mixture, P_w = ½ P_e + ½ Π P_w(children), the sanity check
of Section 4 (Willems, Shtarkov, Tjalkens 1995); with switching, the best length may change while reading. Before a
sequence the context is a padding symbol that occurs nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import Literal, Self

import numpy as np

from glnn.contexts import tree_read_kernels
from glnn.contexts.counted import CHUNK, CountedModel, CountedState
from glnn.contexts.decomposition import Decomposition, balanced, huffman
from glnn.contexts.forest import Forest
from glnn.contexts.history import ReadProgress, likeliest_of
from glnn.contexts.tree_coding import ContextTreeSteps
from glnn.contexts.tree_kernels import NODE, NODES, STORED, is_full
from glnn.contexts.tree_learner import TreeLearner, TreeStreamLearner
from glnn.contexts.tree_reader import Reader
from glnn.sequences import Alphabet, Encoded, InputError

WEIGHTINGS = ("switching", "mixture")
DECOMPOSITIONS = ("huffman", "balanced")
ESTIMATORS = ("kt", "zero_redundancy")


@dataclass(frozen=True)
class ContextTreeSettings:
    """What a context tree is: see `docs/baselines.md` for what each choice is worth.

    `prior` is how often each bit is thought to have occurred before, in every context ("kt" with ½ is Krichevsky and
    Trofimov's estimator). `switching` is the share that changes sides at the first visit of a context, which then
    falls as one over their number; `first_ratio` is β of a new context, its own weight beside that of longer ones.
    `max_nodes` bounds the memory, some 50 bytes each: once they are used up, known contexts go on learning
    and a new one counts as the longest known part of it. `weight_limit` (in bits) bounds the evidence |log2 β|
    that a mixture gathers, so that it can change its mind; above `count_limit`, both counts of a node are halved.
    """

    depth: int = 24
    weighting: Literal["switching", "mixture"] = "switching"
    decomposition: Literal["huffman", "balanced"] = "huffman"
    estimator: Literal["kt", "zero_redundancy"] = "kt"
    prior: float = 1 / 16
    switching: float = 0.1
    first_ratio: float = 0.7
    max_nodes: int = 100_000_000
    weight_limit: float = inf
    count_limit: int = 2**30

    def __post_init__(self) -> None:
        for name, least in (("depth", 0), ("max_nodes", 1), ("weight_limit", 0), ("count_limit", 1)):
            if getattr(self, name) < least:
                raise InputError(f"{name} is {getattr(self, name)}: it must be at least {least}")
        for name, most in (("prior", 1e6), ("switching", 0.5), ("first_ratio", 1e6)):
            if not 0.0 < getattr(self, name) <= most:
                raise InputError(f"{name} is {getattr(self, name)}: it must be above 0 and at most {most:g}")
        for name, known in (
            ("weighting", WEIGHTINGS),
            ("decomposition", DECOMPOSITIONS),
            ("estimator", ESTIMATORS),
        ):
            if getattr(self, name) not in known:
                raise InputError(f"{name} is {getattr(self, name)!r}: it must be one of {', '.join(known)}")

    @classmethod
    def paper(cls, depth: int = 16, **others: object) -> ContextTreeSettings:
        """Context tree weighting as the paper uses it: the exact mixture of all trees, KT estimators."""
        return cls(depth=depth, weighting="mixture", prior=0.5, first_ratio=1.0, **others)  # type: ignore[arg-type]


@dataclass(frozen=True)
class ContextTreeWeighting(CountedModel):
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

    @cached_property
    def rules(self) -> np.ndarray:
        """The settings as the compiled loops take them, in the order of `tree_read_kernels.RULES`."""
        settings = self.settings
        return np.array(
            [
                0.0 if settings.estimator == "zero_redundancy" else settings.prior,
                settings.first_ratio,
                settings.switching if settings.weighting == "switching" else 0.0,
                2.0**settings.weight_limit,
                settings.count_limit,
                settings.max_nodes,
                self.decomposition.codes[2].max(),
            ]
        )

    @property
    def nodes(self) -> int:
        """How many contexts have a node."""
        return int(self.forest.used[NODES])

    @property
    def full(self) -> bool:
        """Whether `max_nodes` are used up, so that no new context is learned."""
        rules = self.rules
        longest, capacity = rules[tree_read_kernels.LONGEST], rules[tree_read_kernels.CAPACITY]
        return bool(is_full(longest, self.settings.depth, capacity, self.forest.used))

    def with_learning(self, learning: Literal["online", "frozen"]) -> Self:
        """The same trees, learning from what they score or not."""
        return replace(self, learning=learning)

    def continuing(self) -> ContextTreeWeighting:
        """The same trees, to score what follows the training data directly."""
        return replace(self, opening="tail")

    def begin(self) -> ContextTreeState:
        """The state at the start of a sequence."""
        return self.state_of(Reader(self, self.forest, self.first_context()), self.learning == "online")

    def state_of(self, reader: Reader, learn: bool, owner: bool = False) -> ContextTreeState:
        """The state of a reader at the start of a sequence; an owner learns in place, others in a copy."""
        return ContextTreeState(reader, self.opening == "padding", learn, owner)

    def learner(self) -> TreeLearner:
        """A copy that goes on learning."""
        return TreeLearner(self)

    def stream_learner(self) -> TreeStreamLearner:
        """A copy that goes on learning for ever, in a memory of bounded size."""
        return TreeStreamLearner(self)

    def coding_steps(self, escape: float | None, share: float = 0.0) -> ContextTreeSteps | None:
        """Compiled loops for the coder, bit by bit down the decomposition, where no share can be mixed in."""
        return ContextTreeSteps(self, escape) if share == 0.0 else None

    def context_weights(self, data: Encoded) -> np.ndarray:
        """How much contexts of each length say before each symbol: (T, depth + 1), rows sum to 1; learns nothing."""
        first = data.first
        first[:1] = False
        weights = np.empty((data.codes.size, self.settings.depth + 1))
        forest = (self.forest.slots, self.forest.nodes, self.forest.used, self.forest.history)
        given = (data.codes, first, self.first_context(), self.decomposition.children, self.rules)
        tree_read_kernels.context_weights(*given, *forest, weights)
        return weights

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything but alphabet, settings and the two modes, for saving: the symbols read, or else the nodes."""
        if self.forest.replayable:
            history = self.forest.read_so_far()
            kind = np.min_scalar_type(len(self.alphabet))
            return {"history": history.astype(kind), "children": self.decomposition.children}
        taken = self.forest.taken()
        fields = {name: np.ascontiguousarray(taken[name]) for name in STORED}
        return {**fields, "children": self.decomposition.children, "tail": self.tail}

    @classmethod
    def from_arrays(
        cls, alphabet: Alphabet, settings: ContextTreeSettings, arrays: dict[str, np.ndarray]
    ) -> ContextTreeWeighting:
        """The trees that `arrays` was taken from: the symbols are read again, or the nodes taken as they are."""
        decomposition = Decomposition(arrays["children"])
        if "history" in arrays:
            return blank_reader(alphabet, settings, decomposition).model.from_history(arrays["history"])
        nodes = np.zeros(len(arrays["key"]), NODE)
        for name in STORED:
            nodes[name] = arrays[name]
        forest = Forest.of_nodes(nodes, len(decomposition.children), arrays["tail"])
        return cls(alphabet, settings, decomposition, forest, arrays["tail"])

    def from_history(self, history: np.ndarray) -> ContextTreeWeighting:
        """Trees like these that have read nothing but this history, one padding before each sequence."""
        history = history.astype(np.int32)
        paddings = history == len(self.alphabet)
        first = np.concatenate([[False], paddings[:-1]])
        reader = blank_reader(self.alphabet, self.settings, self.decomposition)
        reader.read(history[~paddings], first[~paddings], learn=True)
        return replace(reader.model, forest=reader.forest, tail=reader.context)

    def first_context(self) -> np.ndarray:
        """What comes before the first sequence that is scored, the latest symbol first."""
        return self.tail.copy() if self.opening == "tail" else np.full_like(self.tail, len(self.alphabet))

    def _read(self, data: Encoded, block: int, with_rows: bool = False) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        if data.alphabet != self.alphabet:
            raise InputError(f"the data have {data.alphabet!r}, the trees {self.alphabet!r}: encode with alphabet=")
        first = data.first
        first[0] = self.opening == "padding"
        reader = Reader(self, self.forest, self.first_context())
        if self.learning == "online":
            reader.forest = self.forest.copy()
        for begin in range(0, data.codes.size, block):
            stretch = slice(begin, begin + block)
            yield reader.read(data.codes[stretch], first[stretch], self.learning == "online", with_rows)


class ContextTreeState(CountedState):
    """Where a context tree stands inside a sequence. Trees are shared until one state has to learn."""

    def __init__(self, reader: Reader, at_start: bool, learn: bool, owner: bool = False) -> None:
        self._reader, self._at_start = reader, at_start
        self._learn, self._owner = learn, owner
        self._moved = False

    def probabilities(self) -> np.ndarray:
        """The distribution of the next symbol."""
        return self._reader.look()

    def advance(self, code: int) -> None:
        """Read the next symbol; when learning online, this state's own trees learn it."""
        self._before_learning()
        self._reader.advance(code, self._at_start, self._learn)
        self._at_start = False

    def ask(self, code: int) -> float:
        """The probability of the next symbol, to the bit that of `probabilities`."""
        return self._reader.ask(code)

    def push(self, code: int) -> float:
        """The same, and it is read."""
        self._before_learning()
        given = self._reader.push(code, self._at_start, self._learn)
        self._at_start = False
        return given

    def likeliest(self, top: int) -> np.ndarray:
        """Rows (code, probability) of the `top` likeliest next symbols."""
        return likeliest_of(self.probabilities(), top)

    def _before_learning(self) -> None:
        if not self._learn:
            return
        if not self._owner:
            self._reader.forest, self._owner = self._reader.forest.copy(), True
        if self._moved:
            self._reader.remember_context()
            self._moved = False

    def move(self, place: dict[str, np.ndarray]) -> None:
        """Go to the place of another state."""
        super().move(place)
        # The trees of a learner end with the context of its own stream already.
        self._moved = not self._owner

    def copy(self) -> ContextTreeState:
        """An independent state at the same place."""
        self._owner = False
        reader = Reader(self._reader.model, self._reader.forest, self._reader.context.copy())
        copied = ContextTreeState(reader, self._at_start, self._learn)
        copied._moved = self._moved
        return copied


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
    reader = blank_reader(data.alphabet, settings, decomposition)
    first, log_likelihood = data.first, 0.0
    for begin in range(0, data.codes.size, CHUNK):
        stretch = slice(begin, begin + CHUNK)
        log_likelihoods, _ = reader.read(data.codes[stretch], first[stretch], learn=True)
        log_likelihood += float(log_likelihoods.sum())
        read = min(begin + CHUNK, data.codes.size)
        nodes = int(reader.forest.used[NODES])
        if callback and callback(ReadProgress(read, data.codes.size, log_likelihood, nodes)):
            break
    return replace(reader.model, forest=reader.forest, tail=reader.context)


def blank_reader(alphabet: Alphabet, settings: ContextTreeSettings, decomposition: Decomposition) -> Reader:
    """Trees that have read nothing."""
    padding = np.full(settings.depth, len(alphabet), np.int64)
    forest = Forest.of_roots(len(alphabet) - 1, settings.max_nodes, settings.first_ratio)
    blank = ContextTreeWeighting(alphabet, settings, decomposition, forest, padding)
    return Reader(blank, forest, padding.copy())
