"""What every synthetic source of Section 4 can do: write a sample, and give any text its exact probability.

A source gives its `start` state and the `branches` out of each state; the automaton turns this into the true
model, bits(x) = −Σ_t χ_t log2 P(x_t | x_0 … x_{t−1}), against which regret is measured: a `Predictor` like
any other. A text begins an endless stream: one that stops inside a line has the probability of its prefix.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from glnn.sequences import Alphabet, Encoded, InputError, encode
from glnn.sequences.errors import one_line
from glnn.sources.automaton import Automaton, Branches

Seed = int | np.random.Generator


@dataclass(frozen=True)
class Sample:
    """A text drawn from a source, what is to be predicted in it, and the bits drawn to write it.

    `bits` are those of the symbols to be predicted, `total_bits` those of all symbols: they differ for
    distant XOR, where only the last bit of each line is to be predicted, and follows from the line.
    """

    text: str
    mask: np.ndarray
    bits: float
    total_bits: float


class Source(ABC):
    """A synthetic source; the subclasses are frozen dataclasses whose fields are the constants."""

    name: ClassVar[str]
    unit: ClassVar[str]
    default_size: ClassVar[int]
    # Whether all that is to be predicted follows from what comes before it.
    predictable: ClassVar[bool] = False
    # How many lines make a piece that is independent of the others; None if the whole text is one piece.
    lines_of_a_piece: ClassVar[int | None] = 1

    @property
    @abstractmethod
    def symbols(self) -> str:
        """The characters the source can write."""

    @property
    @abstractmethod
    def start(self) -> Hashable:
        """The state at the start of a text."""

    @abstractmethod
    def branches(self, state: Hashable) -> Branches:
        """The symbols that may follow in a state: probability and next state of each."""

    @abstractmethod
    def _write(self, size: int, draws: Draws) -> str:
        """A text of `size` units, every random choice taken from `draws`."""

    @abstractmethod
    def _total_entropy(self, size: int) -> float:
        """The expected bits of all symbols of a text of `size` units, in closed form."""

    def sample(self, size: int | None = None, seed: Seed = 0) -> Sample:
        """A text of `size` lines, bars or blocks (the paper's number if None)."""
        draws = Draws(seed)
        text = self._write(self._checked(size), draws)
        return Sample(text, self.mask(text), 0.0 if self.predictable else draws.bits, draws.bits)

    def entropy_bits(self, size: int | None = None, masked: bool = True) -> float:
        """The expected bits of a sample, in closed form; `masked=False` counts all symbols."""
        return 0.0 if masked and self.predictable else self._total_entropy(self._checked(size))

    def mask(self, text: str) -> np.ndarray:
        """Which symbols of a text are to be predicted, the paper's χ: all, unless a source says otherwise."""
        return np.ones(len(text), bool)

    def encode(self, text: str) -> Encoded:
        """A text over the source's alphabet, with the source's mask."""
        return encode(text, alphabet=self.alphabet, mask=self.mask(text))

    def apart(self, data: Encoded) -> Encoded:
        """The same symbols, each piece that is independent of the others a sequence of its own."""
        if self.lines_of_a_piece is None:
            return data
        ends = np.flatnonzero(data.codes == self.alphabet.symbols.index("\n")) + 1
        starts = np.union1d(np.append(0, ends[self.lines_of_a_piece - 1 :: self.lines_of_a_piece]), data.codes.size)
        return Encoded(data.codes, starts.astype(np.int64), data.mask, data.alphabet)

    def bits(self, data: str | Encoded, masked: bool = True) -> float:
        """−log2 of the probability of the symbols to be predicted, each given all the symbols before it.

        Symbols outside the mask cost nothing; `masked=False` counts them. The result is infinite as soon as
        any symbol, inside the mask or outside, is one the source cannot write there.
        """
        log_likelihoods = self.log_likelihoods(data)
        if np.isneginf(log_likelihoods).any():
            return math.inf
        if masked:
            log_likelihoods = log_likelihoods[data.mask if isinstance(data, Encoded) else self.mask(data)]
        return max(0.0, -float(log_likelihoods.sum()) / math.log(2.0))

    def begin(self) -> SourceState:
        """The state at the start of a text."""
        return SourceState(self._automaton, self._automaton.start)

    def distributions(self, data: str | Encoded, block: int = 4096) -> Iterator[np.ndarray]:
        """Next-symbol distributions along the data over the source's alphabet, in blocks of rows."""
        states = self._entries(data) // self._automaton.width
        table = self._automaton.probabilities().reshape(-1, self._automaton.width)[:, :-1]
        for position in range(0, len(states), block):
            yield table[states[position : position + block]]

    def log_likelihoods(self, data: str | Encoded) -> np.ndarray:
        """log P(x_t | x_0 … x_{t−1}) at every position, natural logarithm; −inf where impossible."""
        entries = self._entries(data)
        with np.errstate(divide="ignore"):
            return np.log(self._automaton.probabilities()[entries])

    @cached_property
    def alphabet(self) -> Alphabet:
        """All the characters the source can write, in sorted order."""
        return Alphabet(tuple(sorted(set(self.symbols))))

    @cached_property
    def _automaton(self) -> Automaton:
        return Automaton(sorted(set(self.symbols)), self.start, self.branches)

    def _entries(self, data: str | Encoded) -> np.ndarray:
        automaton = self._automaton
        code_of = {symbol: code for code, symbol in enumerate(self.alphabet.symbols)}
        if isinstance(data, str):
            return automaton.walk([code_of.get(symbol, automaton.foreign) for symbol in data])
        if not isinstance(data, Encoded):
            raise InputError(
                f"a source reads a str or encoded data, not {type(data).__name__}: see glnn.sequences.encode"
            )
        known: tuple[Any, ...] = data.alphabet.symbols
        if data.alphabet.kind == "bytes":
            known = tuple(map(chr, known))
        translation = np.array([code_of.get(symbol, automaton.foreign) for symbol in known])
        return np.concatenate([automaton.walk(translation[codes].tolist()) for codes in data])

    def _checked(self, size: int | None) -> int:
        if size is None:
            return self.default_size
        if not isinstance(size, Integral) or isinstance(size, bool) or size < 1:
            raise InputError(
                f"size is {one_line(size)}: a sample of {self.name} has a whole number, at least 1, of its {self.unit}"
            )
        return int(size)

    def __getstate__(self) -> dict[str, Any]:
        # The automaton grows with what was read and is quickly found again.
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]


class SourceState:
    """Where a source stands inside a text."""

    def __init__(self, automaton: Automaton, state: int) -> None:
        self._automaton = automaton
        self._state = state

    def probabilities(self) -> np.ndarray:
        """The distribution of the next symbol; uniform after a symbol the source could not write."""
        return self._automaton.row(self._state)

    def advance(self, code: int) -> None:
        """Read the next symbol."""
        if not 0 <= code < self._automaton.foreign:
            raise InputError(f"code {code} is outside the source's alphabet of {self._automaton.foreign} symbols")
        self._state = self._automaton.step(self._state, code)

    def copy(self) -> SourceState:
        """An independent state at the same place."""
        return SourceState(self._automaton, self._state)


class Draws:
    """Random choices that count their own bits, −log2 of the probability of what was drawn."""

    def __init__(self, seed: Seed) -> None:
        try:
            self._generator = np.random.default_rng(seed)
        except (TypeError, ValueError):
            raise InputError(
                f"seed is {one_line(seed)}: give a whole number, 0 or more, or a numpy Generator"
            ) from None
        self.bits = 0.0

    def happens(self, probability: float) -> bool:
        """True with the given probability."""
        outcome = bool(self._generator.random() < probability)
        self.bits -= math.log2(probability if outcome else 1.0 - probability)
        return outcome

    def below(self, count: int) -> int:
        """A uniform integer in [0, count)."""
        return int(self.many_below(count, 1)[0])

    def many_below(self, count: int, times: int) -> np.ndarray:
        """Independent uniform integers in [0, count)."""
        self.bits += times * math.log2(count)
        return self._generator.integers(count, size=times)


def binary_entropy(probability: float) -> float:
    """The bits of one yes-or-no decision."""
    return -sum(p * math.log2(p) for p in (probability, 1.0 - probability) if p > 0.0)


def require_types(source: Source) -> None:
    """Refuse constants of another type than the paper's."""
    for field in fields(source):  # type: ignore[arg-type]
        value, usual = getattr(source, field.name), field.default
        kind = next(kind for kind in _TYPES if isinstance(usual, kind))
        accepted, words = _TYPES[kind]
        wrong = not isinstance(value, accepted) or (kind is not bool and isinstance(value, bool))
        if wrong or (kind is float and not math.isfinite(value)):
            raise InputError(f"{field.name} is {one_line(value)}: give {words}, like {usual!r}")


_TYPES: dict[type, tuple[Any, str]] = {
    bool: (bool, "True or False"),
    int: (Integral, "a whole number"),
    float: (Real, "a number"),
    str: (str, "a text"),
    tuple: (tuple, "a tuple"),
}


def require_probability(name: str, value: float) -> None:
    """Refuse what is not a probability."""
    if not 0.0 <= value <= 1.0:
        raise InputError(f"{name} is {value}: a probability lies between 0 and 1")
