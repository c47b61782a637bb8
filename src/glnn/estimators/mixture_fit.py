"""How a mixture is fitted: contexts by reading, and networks for as much of the budget as they are worth.

Networks learn from the first four fifths of the data only. The mixer meets them on the last fifth, which they have not
seen: there it learns what they are worth, and there it is decided whether they stay.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from glnn.contexts.mixing import CHUNK, ContextMixing, Reader, firsts, new_reader
from glnn.contexts.mixing_plan import Plan, letters_of, make_plan
from glnn.contexts.mixing_reading import ALL, NOTHING
from glnn.predictors import Predictor
from glnn.predictors.mixture import MixturePredictor, pieces
from glnn.sequences import Alphabet, Encoded
from glnn.sequences.special import base_of
from glnn.training.validation import hold_out

_HELD_OUT = 0.2
# With fewer sequences, how they are best read cannot be told.
_ENOUGH_SEQUENCES = 20
_SEED = 0

Progress = Callable[[int, float], bool]


@dataclass(frozen=True)
class Recipe:
    """All that a mixture's memory follows from, beside the members: the symbols in the order they were read."""

    codes: np.ndarray
    starts: np.ndarray
    cut: int
    """From here on the members have a say."""
    stationary: bool
    planned: int | None = None
    """So many symbols were there when it was fitted, and the plan is made from them; others were read on. None: all."""

    def read(
        self, alphabet: Alphabet, members: tuple[Predictor, ...], online: bool, progress: Progress | None = None
    ) -> MixturePredictor:
        """Read it all; `progress` may stop it by returning True."""
        data = Encoded(self.codes, self.starts, np.ones(self.codes.size, np.bool_), alphabet)
        reader = new_reader(plan_of(self._first(data), len(members), self.stationary))
        first = firsts(self.starts)
        stretches = [(part, None) for part in _chunks(0, self.cut if members else self.codes.size)]
        later = pieces(members, data, CHUNK, self.cut) if members else iter(())
        for part, outside in _both(stretches, later):
            chance = reader.read(self.codes[part], first[part], outside)
            if progress is not None and progress(part.stop, float(-np.log2(chance).sum())):
                break
        contexts = ContextMixing(reader.plan, reader.memory, reader.cursor, online)
        identity = (self.codes.astype(np.int64), self.starts.astype(np.int64), self.stationary, online)
        return MixturePredictor(alphabet, contexts, members, identity)

    def read_on(self, codes: np.ndarray, starts: np.ndarray) -> Recipe:
        """The same with everything that was read since."""
        return replace(
            self, codes=codes, starts=starts, planned=self.codes.size if self.planned is None else self.planned
        )

    def _first(self, data: Encoded) -> Encoded:
        """What the plan is made from."""
        if self.planned is None:
            return data
        starts = np.append(data.starts[data.starts < self.planned], self.planned)
        return Encoded(data.codes[: self.planned], starts, data.mask[: self.planned], data.alphabet)


def plan_of(data: Encoded, outside: int, stationary: bool) -> Plan:
    """What a mixture looks at in such data."""
    alphabet = data.alphabet
    letter = letters_of(alphabet.symbols, base_of(alphabet).kind == "bytes")
    counts = np.bincount(data.codes, minlength=len(alphabet))
    return make_plan(counts, letter, len(data) > 1, outside, stationary)


def best_order(data: Encoded, online: bool) -> tuple[Encoded, bool]:
    """The data in the order in which they are best read, and whether old and new shall count alike.

    What goes on learning reads as time goes by. What is frozen may rather be the average of all it has read than a
    picture of the end: that is tried on the last fifth, with the first four in their order and shuffled.
    """
    if online:
        return data, False
    shuffled = _shuffled(data)
    if len(data) < _ENOUGH_SEQUENCES:
        return data, True
    train, held, _ = hold_out(data, _HELD_OUT)
    choices = [(False, False), (False, True), (True, True)]
    costs = [_frozen_bits(_shuffled(train) if mixed else train, held, stationary) for mixed, stationary in choices]
    mixed, stationary = choices[int(np.argmin(costs))]
    return (shuffled if mixed else data), stationary


def _shuffled(data: Encoded) -> Encoded:
    return data.select(np.random.default_rng(_SEED).permutation(len(data)).tolist())


def _frozen_bits(train: Encoded, held: Encoded, stationary: bool) -> float:
    reader = new_reader(plan_of(train, 0, stationary))
    reader.read(train.codes, firsts(train.starts))
    reader.changes = NOTHING
    chance = reader.read(held.codes, firsts(held.starts))
    return float(-np.log2(chance[held.mask]).sum())


class Trial:
    """What networks are worth: bits of the last fifth with and without them, contexts learning all the way."""

    def __init__(self, data: Encoded, most: int) -> None:
        self.train, self.held, continues = hold_out(data, _HELD_OUT)
        self._data, self._most = data, most
        self._reader = new_reader(plan_of(data, most, stationary=False))
        self._first = firsts(data.starts)
        self.cut = self.train.codes.size
        self._reader.read(data.codes[: self.cut], self._first[: self.cut])
        if not continues:
            self.cut = int(data.starts[len(self.train)])

    def bits(self, members: tuple[Predictor, ...]) -> float:
        """The bits of the last fifth with these members."""
        reader = Reader(self._reader.plan, self._reader.memory, self._reader.cursor.copy(), ALL)
        mask, total = self._data.mask, 0.0
        for part, outside in pieces(members, self._data, CHUNK, self.cut):
            padded = None
            if outside is not None:
                padded = np.zeros((outside.shape[0], self._most, outside.shape[2]))
                padded[:, : len(members)] = outside
            chance = reader.read(self._data.codes[part], self._first[part], padded)
            total += float(-np.log2(chance[mask[part]]).sum())
        return total


def for_network(data: Encoded) -> Encoded:
    """The same codes under an alphabet of numbers, ends included as one of them."""
    return replace(data, alphabet=Alphabet(range(len(data.alphabet))))


def _chunks(begin: int, end: int) -> list[slice]:
    return [slice(place, min(place + CHUNK, end)) for place in range(begin, end, CHUNK)]


def _both(first: Any, second: Any) -> Any:
    yield from first
    yield from second
