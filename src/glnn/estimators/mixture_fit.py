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
from glnn.contexts.ngram import choose_order
from glnn.estimators.mixture_experts import ALONE, Beside, Experts, best_shares, counts_of, frozen_experts
from glnn.predictors import Predictor
from glnn.predictors.mixture import MixturePredictor, pieces
from glnn.predictors.shares import Shares
from glnn.sequences import Alphabet, Encoded
from glnn.sequences.special import base_of
from glnn.training.validation import hold_out

_HELD_OUT = 0.2
# With fewer sequences, how they are best read cannot be told.
_ENOUGH_SEQUENCES = 20
_SEED = 0
# Differences of bits by less than this part do not tell which way to read is better: then all counts alike.
_NOTHING_TOLD = 0.005

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

    beside: Beside = ALONE
    choose: bool = False
    """Whether the shares of what stands beside are to follow from the last fifth, each symbol before it is learned."""

    def read(
        self, alphabet: Alphabet, members: tuple[Predictor, ...], online: bool, progress: Progress | None = None
    ) -> tuple[MixturePredictor | Shares, Beside]:
        """Read it all; gives what predicts, and the shares. `progress` may stop it by returning True."""
        data = Encoded(self.codes, self.starts, np.ones(self.codes.size, np.bool_), alphabet)
        planned = self._first(data)
        reader = new_reader(plan_of(planned, len(members), self.stationary))
        experts = Experts(alphabet, counts_of(planned), self.beside)
        first, said = firsts(self.starts), []
        stretches = [(part, None) for part in _chunks(0, self.cut if members else self.codes.size)]
        later = pieces(members, data, CHUNK, self.cut) if members else iter(())
        for part, outside in _both(stretches, later):
            chance = reader.read(self.codes[part], first[part], outside)
            said.append(np.stack([chance, *experts.read(self.codes[part], first[part])]))
            if progress is not None and progress(part.stop, float(-np.log2(chance).sum())):
                break
        contexts = ContextMixing(reader.plan, reader.memory, reader.cursor, online)
        identity = (self.codes.astype(np.int64), self.starts.astype(np.int64), self.stationary, online)
        mixture = MixturePredictor(alphabet, contexts, members, identity)
        beside, learned = self.beside, experts.learned(online)
        if self.choose:
            known = np.concatenate(said, axis=1)
            late = known[:, int(known.shape[1] * (1.0 - _HELD_OUT)) :]
            beside, _ = best_shares(list(late), self.beside.order)
            learned = tuple(one for one, weight in zip(learned, beside.weights[1:], strict=True) if weight > 0.0)
        if not learned:
            return mixture, beside
        return Shares(mixture, learned, tuple(weight for weight in beside.weights if weight > 0.0)), beside

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


def recipe_for(data: Encoded, cut: int, learns_on: bool) -> Recipe:
    """How data are best read: in which order, whether old and new shall count alike, and with what beside.

    What goes on learning reads as time goes by, and the shares follow from the last fifth. What is frozen may rather be
    the average of all it has read than a picture of the end: tried on the last fifth, with the first four in their
    order and shuffled, each with the best shares.
    """
    if len(data) < _ENOUGH_SEQUENCES:
        return Recipe(data.codes, data.starts, cut, not learns_on)
    order = choose_order(data)
    if learns_on:
        return Recipe(data.codes, data.starts, cut, False, beside=Beside((1.0, 1.0, 1.0), order), choose=True)
    train, held, _ = hold_out(data, _HELD_OUT)
    experts = [chances[held.mask] for chances in frozen_experts(train, held, order)]
    found = []
    for shuffled in (False, True):
        chance = _frozen_chances(_shuffled(train) if shuffled else train, held, stationary=shuffled)
        found.append(best_shares([chance[held.mask], *experts], order))
    shuffled = found[1][1] < found[0][1] * (1.0 + _NOTHING_TOLD)
    ordered = _shuffled(data) if shuffled else data
    return Recipe(ordered.codes, ordered.starts, cut, shuffled, beside=found[shuffled][0])


def _shuffled(data: Encoded) -> Encoded:
    return data.select(np.random.default_rng(_SEED).permutation(len(data)).tolist())


def _frozen_chances(train: Encoded, held: Encoded, stationary: bool) -> np.ndarray:
    reader = new_reader(plan_of(train, 0, stationary))
    reader.read(train.codes, firsts(train.starts))
    reader.changes = NOTHING
    return reader.read(held.codes, firsts(held.starts))


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
