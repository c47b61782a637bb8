"""An n-gram model, interpolated modified Kneser-Ney, whose counts can go on growing: what people use for words.

It predicts a symbol from the last n − 1; before a sequence the context is a padding symbol that occurs nowhere else. n
is chosen by what each would have cost while reading. A file holds the symbols read, which make the same counts again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from glnn.contexts import ngram_kernels as kernels
from glnn.contexts.counted import CountedModel, CountedState
from glnn.contexts.history import likeliest_of, move, push
from glnn.contexts.ngram_coding import NGramSteps
from glnn.contexts.ngram_counts import Counts
from glnn.sequences import Alphabet, Encoded, InputError

if TYPE_CHECKING:
    from glnn.contexts.ngram_learner import NGramLearner, NGramStreamLearner

LONGEST_ORDER = 12
# The order is chosen on this many symbols at most, and on what comes after the first half of them.
_CHOOSING = 300_000


@dataclass(frozen=True)
class NGramModel(CountedModel):
    """Counts after training. They never change: what is scored online is learned by a copy.

    With `learning="online"` they go on growing with the data scored, with "frozen" they stay as trained.
    """

    alphabet: Alphabet
    order: int
    counts: Counts
    learning: Literal["online", "frozen"] = "online"
    log_likelihood: float = 0.0
    """Of the training data, each symbol predicted from those before it."""

    def with_learning(self, learning: Literal["online", "frozen"]) -> Self:
        """The same counts, growing with what they score or not."""
        return replace(self, learning=learning)

    def begin(self) -> NGramState:
        """The state at the start of a sequence."""
        reader = NGramReader(self, self.counts, self.padding())
        return NGramState(reader, at_start=True, learn=self.learning == "online")

    def learner(self) -> NGramLearner:
        """A copy that goes on learning."""
        from glnn.contexts.ngram_learner import NGramLearner

        return NGramLearner(self)

    def stream_learner(self) -> NGramStreamLearner:
        """A copy that goes on learning for ever, in a memory of bounded size."""
        from glnn.contexts.ngram_learner import NGramStreamLearner

        return NGramStreamLearner(self)

    def coding_steps(self, escape: float | None, share: float = 0.0) -> NGramSteps | None:
        """Compiled loops for the coder, where no share can be mixed in."""
        return NGramSteps(self, escape) if share == 0.0 else None

    def context_weights(self, data: Encoded) -> np.ndarray:
        """How long the longest known context is before each symbol, learning nothing: (T, order), a 1 in its column."""
        reader, known = NGramReader(self, self.counts, self.padding()), np.zeros((data.codes.size, self.order))
        path, first = np.empty(self.order, np.int64), data.first
        base = len(self.alphabet) + 1
        for t, code in enumerate(data.codes):
            if first[t]:
                reader.context[:] = len(self.alphabet)
            length = kernels.find(reader.context, base, self.counts.context_slots, self.counts.contexts, path)
            known[t, length - 1] = 1.0
            push(code, reader.context, False, self.counts.used, self.counts.history)
        return known

    def arrays(self) -> dict[str, np.ndarray]:
        """The symbols read, for saving."""
        return {"history": self.counts.read_so_far().astype(np.min_scalar_type(len(self.alphabet)))}

    @classmethod
    def from_arrays(cls, alphabet: Alphabet, order: int, arrays: dict[str, np.ndarray]) -> NGramModel:
        """The model that `arrays` was taken from: the symbols are read again."""
        return blank_reader(alphabet, order).model.from_history(arrays["history"])

    def from_history(self, history: np.ndarray) -> NGramModel:
        """A model like this one that has read nothing but this history, one padding before each sequence."""
        history = history.astype(np.int32)
        paddings = history == len(self.alphabet)
        first = np.concatenate([[False], paddings[:-1]])
        reader = blank_reader(self.alphabet, self.order)
        reader.read(history[~paddings], first[~paddings], learn=True)
        return replace(reader.model, counts=reader.counts)

    def padding(self) -> np.ndarray:
        """The context before a sequence."""
        return np.full(self.order - 1, len(self.alphabet), np.int64)

    def _read(self, data: Encoded, block: int, with_rows: bool = False) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        if data.alphabet != self.alphabet:
            raise InputError(f"the data have {data.alphabet!r}, the model {self.alphabet!r}: encode with alphabet=")
        learn = self.learning == "online"
        reader = NGramReader(self, self.counts.copy() if learn else self.counts, self.padding())
        first = data.first
        for begin in range(0, data.codes.size, block):
            stretch = slice(begin, begin + block)
            yield reader.read(data.codes[stretch], first[stretch], learn, with_rows)


class NGramReader:
    """Counts and the context they stand in, both of which move on as symbols are read."""

    def __init__(self, model: NGramModel, counts: Counts, context: np.ndarray) -> None:
        self.model, self.counts, self.context = model, counts, context

    def read(
        self, codes: np.ndarray, first: np.ndarray, learn: bool, with_rows: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """log π_t(x_t), and the distributions if wanted; where `first`, the context is padding."""
        size, done = len(self.model.alphabet), 0
        log_likelihoods, rows = np.empty(codes.size), np.empty((codes.size if with_rows else 0, size))
        while done < codes.size:
            given = (codes[done:], first[done:], size + 1, self.context, learn)
            arguments: tuple[Any, ...] = (*given, *self.counts.arrays(), log_likelihoods[done:], rows[done:])
            done += kernels.read(*arguments)
            if done < codes.size:
                self.make_room()
        return log_likelihoods, rows

    def make_room(self) -> None:
        """Let the counts take at least one more symbol."""
        self.counts = self.counts.grown(self.model.order)

    def ask(self, code: int) -> float:
        """The probability of the next symbol; nothing moves."""
        return self.counts.frame.ask(code, len(self.model.alphabet) + 1, self.context)

    def advance(self, code: int, first: bool, learn: bool) -> None:
        """Read the next symbol; where it is the first, the context is padding."""
        base = len(self.model.alphabet) + 1
        if not learn:
            move(code, base, self.context, first)
        elif not self.counts.frame.count(code, base, self.context, first):
            self.make_room()
            self.counts.frame.count(code, base, self.context, first)


class NGramState(CountedState):
    """Where an n-gram model stands inside a sequence. Counts are shared until one state has to learn."""

    def __init__(self, reader: NGramReader, at_start: bool, learn: bool, owner: bool = False) -> None:
        self._reader, self._at_start = reader, at_start
        self._learn, self._owner = learn, owner

    def probabilities(self) -> np.ndarray:
        """The distribution of the next symbol."""
        pi = np.empty(len(self._reader.model.alphabet))
        self._reader.counts.frame.look(self._reader.context, pi)
        return pi

    def advance(self, code: int) -> None:
        """Read the next symbol; when learning online, this state's own counts learn it."""
        if self._learn and not self._owner:
            self._reader.counts, self._owner = self._reader.counts.copy(), True
        self._reader.advance(code, self._at_start, self._learn)
        self._at_start = False

    def ask(self, code: int) -> float:
        """The probability of the next symbol, to the bit that of `probabilities`."""
        return self._reader.ask(code)

    def push(self, code: int) -> float:
        """The same, and it is read."""
        given = self._reader.ask(code)
        self.advance(code)
        return given

    def likeliest(self, top: int) -> np.ndarray:
        """Rows (code, probability) of the `top` likeliest next symbols."""
        return likeliest_of(self.probabilities(), top)

    def copy(self) -> NGramState:
        """An independent state at the same place."""
        self._owner = False
        reader = self._reader
        copied = NGramReader(reader.model, reader.counts, reader.context.copy())
        return NGramState(copied, self._at_start, self._learn)


def fit_ngram(data: Encoded, order: int) -> NGramModel:
    """Read the training data once, all symbols whatever the mask."""
    reader = blank_reader(data.alphabet, order)
    log_likelihoods, _ = reader.read(data.codes, data.first, learn=True)
    return replace(reader.model, counts=reader.counts, log_likelihood=float(log_likelihoods.sum()))


def choose_order(data: Encoded, longest: int = LONGEST_ORDER) -> int:
    """The order that would have predicted the second half of the data best while reading them.

    Orders are tried from 1 on, until two in a row are no better than the best.
    """
    codes, first = data.codes[:_CHOOSING], data.first[:_CHOOSING]
    best, best_order = -np.inf, 1
    for order in range(1, longest + 1):
        log_likelihoods, _ = blank_reader(data.alphabet, order).read(codes, first, learn=True)
        score = float(log_likelihoods[codes.size // 2 :].sum())
        if score > best:
            best, best_order = score, order
        elif order >= best_order + 2:
            break
    return best_order


def blank_reader(alphabet: Alphabet, order: int) -> NGramReader:
    """A model that has read nothing."""
    model = NGramModel(alphabet, order, Counts.empty(order))
    return NGramReader(model, model.counts, model.padding())
