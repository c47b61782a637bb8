"""How several sequences that will be scored alike are best read, and with what beside: their last fifth tells.

The fifth is gone through in stretches. Each is scored frozen by what has read all before it, and then read too.
Networks stopped learning earlier; here as later, contexts have seen newer sequences than they, and what drift makes of
that shows in the gain, Σ over sequences of bits saved. It counts from two standard errors on.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from glnn.contexts.mixing import Reader, firsts, new_reader
from glnn.contexts.mixing_averaging import WeightAverage
from glnn.contexts.mixing_reading import NOTHING
from glnn.contexts.ngram import choose_order
from glnn.predictors import Predictor
from glnn.predictors.ends import chances_of_ends
from glnn.predictors.experts import Beside, Experts, best_shares, counts_of
from glnn.predictors.mixture_recipe import Recipe, plan_of
from glnn.sequences import Encoded, TrainingData

# With fewer sequences, how they are best read cannot be told.
ENOUGH_SEQUENCES = 20
_SEED = 0
_JUDGED, _STRETCHES = 0.2, 8
# What is preferred must lose this part of the bits, and so many standard errors; to the last weights, which follow the
# noise of the last sequences, more of them.
_TOLD, _ERRORS, _ERRORS_OF_LAST = 0.005, 2.0, 4.0

# Contexts, tree and n-grams; networks follow.
_OWN = 3
# Beside a network, shares follow the symbols inside a sequence and go back at this rate: contexts and network err on
# different sequences. Contexts, tree and n-grams err on the same ones, and their shares stay.
_INSIDE = 0.3


class Way(NamedTuple):
    """A way to read: shuffled, old and new counting alike, or in the order of time; with the mean of the weights."""

    shuffled: bool
    averaged: bool


# What is preferred, first: what is frozen may rather be the average of all it has read than a picture of the end.
WAYS = (Way(True, True), Way(False, True), Way(False, False))


class FrozenTrial:
    """Bits of the end of the data, with and without networks beside, in the way to read that serves best."""

    def __init__(self, data: Encoded, parts: TrainingData) -> None:
        assert parts.validation is not None
        self._data, self._held, self._order = data, parts.validation, choose_order(data)
        self.cut = data.codes.size - parts.held_out
        judged = max(len(self._held), round(_JUDGED * len(data)))
        edges = np.linspace(len(data) - judged, len(data), _STRETCHES + 1).round().astype(int)
        edges = np.unique(edges)
        self._before = data.select(range(edges[0]))
        self._stretches = [data.select(range(*pair)) for pair in pairwise(edges.tolist())]
        self._judged = slice(self._before.codes.size, data.codes.size)
        self._sequence = np.repeat(np.arange(len(data)), np.diff(data.starts))[self._judged]

    def bits(self, members: tuple[Predictor, ...]) -> float:
        """The bits of what networks hold out, with these members beside."""
        return float(self._late(members)[1].sum())

    def alone(self, member: Predictor) -> float:
        """The same by one member alone."""
        return float(-np.log2(self._said(member)[self._held.mask]).sum())

    def worth(self, bits: float, without: float, member: Predictor) -> bool:
        """Whether a member stays: what it saves must not be chance."""
        saved = self._by_sequence(self._late(())[1] - self._late((member,))[1], self._held.codes.size)
        return bool(saved.sum() > _ERRORS * _error(saved))

    def recipe(self, members: tuple[Predictor, ...], apart: bool = True) -> Recipe:
        """How the data are best read, and with what shares; the mixer hears none of the members."""
        way, beside = self._way
        if members:
            beside = replace(self._late(members)[0], inside=_INSIDE)
        data = in_no_order(self._data) if way.shuffled else self._data
        return Recipe(data.codes, data.starts, data.codes.size, way.shuffled, way.averaged, beside=beside)

    @cached_property
    def _chances(self) -> dict[Way, np.ndarray]:
        """What contexts say of the last fifth, by the way they were read."""
        found: dict[Way, np.ndarray] = {}
        for shuffled in (True, False):
            averages = [way.averaged for way in WAYS if way.shuffled == shuffled]
            said = contexts_say(self._before, self._stretches, shuffled, averages)
            found |= {Way(shuffled, averaged): chance for averaged, chance in said.items()}
        return found

    @cached_property
    def _experts(self) -> list[np.ndarray]:
        """What tree and n-grams say of the last fifth."""
        experts = Experts(self._data.alphabet, counts_of(self._before), Beside(0.0, 1.0, 1.0, order=self._order))
        experts.read(self._before.codes, firsts(self._before.starts))
        said = []
        for part in self._stretches:
            said.append(experts.read(part.codes, firsts(part.starts), learn=False))
            experts.read(part.codes, firsts(part.starts))
        return [np.concatenate(chances) for chances in zip(*said, strict=True)]

    @cached_property
    def _way(self) -> tuple[Way, Beside]:
        """The way to read, and the shares of contexts, tree and n-grams."""
        mask = self._data.mask[self._judged]
        best: tuple[Way, Beside, np.ndarray] | None = None
        for way in WAYS:
            given = [chance[mask] for chance in (self._chances[way], *self._experts)]
            beside, bits = self._shares(given, mask.size)
            if best is not None:
                saved = self._by_sequence(best[2] - bits, mask.size)
                errors = _ERRORS if way.averaged else _ERRORS_OF_LAST
                if saved.sum() <= max(_TOLD * bits.sum(), errors * _error(saved)):
                    continue
            best = way, beside, bits
        assert best is not None
        return best[0], best[1]

    def _late(self, members: tuple[Predictor, ...]) -> tuple[Beside, np.ndarray]:
        """The shares with these members, from what they hold out, and its bits."""
        late, mask = self._held.codes.size, self._held.mask
        given = [chance[-late:][mask] for chance in (self._chances[self._way[0]], *self._experts)]
        given += [self._said(member)[mask] for member in members]
        return self._shares(given, late)

    def _shares(self, given: list[np.ndarray], late: int) -> tuple[Beside, np.ndarray]:
        """The shares in the last symbols, of which those that are scored have these chances, and their bits.

        Beside networks, tree and n-grams rarely help what comes later: there they stay if they save a standard error.
        """
        alphabet, codes = self._data.alphabet, self._data.codes[-late:][self._data.mask[-late:]]
        ends = None if alphabet.end is None else chances_of_ends(codes, alphabet.end, len(alphabet))
        every, bits = best_shares([*given], self._order, len(alphabet), ends)
        if len(given) <= _OWN:
            return every, bits
        fewer, more = best_shares([given[0], None, None, *given[_OWN:]], self._order, len(alphabet), ends)
        saved = self._by_sequence(more - bits, late)
        return (every, bits) if saved.sum() > _error(saved) else (fewer, more)

    def _said(self, member: Predictor) -> np.ndarray:
        held = self._held
        return np.exp(member.log_likelihoods(Encoded(held.codes, held.starts, held.mask, member.alphabet)))

    def _by_sequence(self, bits: np.ndarray, late: int) -> np.ndarray:
        """Sums over each sequence of the last symbols, of which those that are scored have these bits."""
        sequence = self._sequence[-late:] - self._sequence[-late]
        return np.bincount(sequence[self._data.mask[-late:]], bits, minlength=int(sequence[-1]) + 1)


def contexts_say(
    before: Encoded, stretches: list[Encoded], shuffled: bool, averages: list[bool]
) -> dict[bool, np.ndarray]:
    """What frozen contexts say of each stretch after all before it, with the last weights (False) or their mean."""
    data = in_no_order(before) if shuffled else before
    reader = new_reader(plan_of(data, 0, stationary=shuffled))
    average = WeightAverage(0, before.codes.size)
    said: dict[bool, list[np.ndarray]] = {averaged: [] for averaged in averages}
    read = _read_on(reader, data, average, 0)
    for part in stretches:
        for averaged, found in said.items():
            memory = average.settled(reader.memory) if averaged else reader.memory
            frozen = Reader(reader.plan, memory, reader.cursor.copy(), NOTHING)
            found.append(frozen.read(part.codes, firsts(part.starts)))
        read = _read_on(reader, part, average, read)
    return {averaged: np.concatenate(found) for averaged, found in said.items()}


def _read_on(reader: Reader, data: Encoded, average: WeightAverage, read: int) -> int:
    """Read all of it, with looks at the weights; returns how many symbols were read in all."""
    first = firsts(data.starts)
    for begin in range(0, data.codes.size, average.stretch):
        part = slice(begin, begin + average.stretch)
        reader.read(data.codes[part], first[part])
        average.look(read + min(part.stop, data.codes.size), reader.memory)
    return read + data.codes.size


def _error(saved: np.ndarray) -> float:
    """The standard error of a sum."""
    return float(saved.std() * np.sqrt(saved.size))


def in_no_order(data: Encoded) -> Encoded:
    """The sequences in an order that is always the same, and not that of time."""
    return data.select(np.random.default_rng(_SEED).permutation(len(data)).tolist())
