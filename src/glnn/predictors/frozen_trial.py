"""How several sequences that will be scored alike are best read, and with what beside: their last fifth tells.

The fifth is gone through in stretches. Each is scored frozen by what has read all before it, and then read too.
Networks stopped learning earlier; here as later, contexts have seen newer sequences than they, and what drift makes of
that shows in the gain, Σ over sequences of bits saved. It counts from two standard errors on.

Sequences that are best read in no order of time have no end that tells more than the rest. All parts that members held
out then tell too whether a network stays, and what tree and n-grams have beside contexts: for each part these read all
the others (`experiments/mixture/odds.md`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
# Parts that members held out inside are judged while they let these read so many symbols again, some seconds' worth: of
# longer data the end tells enough.
_MOST_READ = 500_000
# Beside a network, shares follow the symbols inside a sequence and go back at this rate: contexts and network err on
# different sequences. Contexts, tree and n-grams err on the same ones, and their shares stay.
_INSIDE = 0.3


class Way(NamedTuple):
    """A way to read: shuffled, old and new counting alike, or in the order of time; with the mean of the weights."""

    shuffled: bool
    averaged: bool


# What is preferred, first: what is frozen may rather be the average of all it has read than a picture of the end.
WAYS = (Way(True, True), Way(False, True), Way(False, False))


class Heard(NamedTuple):
    """What contexts, tree, n-grams and networks say of symbols that are scored, and in which sequences these are."""

    chances: list[np.ndarray]
    codes: np.ndarray
    sequence: np.ndarray

    def by_sequence(self, bits: np.ndarray) -> np.ndarray:
        """Sums over each sequence."""
        return np.bincount(self.sequence, bits, minlength=1)


Inside = Mapping[int, Predictor]
"""Members of a network by the first of the sequences that they held out inside the data."""


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
        self._read_inside: dict[int, list[np.ndarray]] = {}

    def bits(self, members: tuple[Predictor, ...]) -> float:
        """The bits of what networks hold out at the end, with these members beside."""
        return float(self._shares(self._of_end(members))[1].sum())

    def alone(self, member: Predictor) -> float:
        """The same by one member alone."""
        return float(-np.log2(_said(member, self._held)).sum())

    def worth(self, bits: float, without: float, member: Predictor, inside: Inside | None = None) -> bool:
        """Whether a member stays: what it saves must not be chance, on the end or on all parts that were held out.

        One or two members that held out a part inside may be far worse than all of them together, on long sequences
        above all: that they save nothing does not count against what the end says.
        """
        return self._saves((member,), ()) or bool(inside and self._saves((member,), (inside,)))

    def recipe(self, members: tuple[Predictor, ...], apart: bool = True, inside: Sequence[Inside] = ()) -> Recipe:
        """How the data are best read, and with what shares; the mixer hears none of the members."""
        way, beside = self._way
        if members:
            beside = replace(self._beside(members, inside), inside=_INSIDE)
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
        return self._experts_say(self._before, self._stretches)

    @cached_property
    def _way(self) -> tuple[Way, Beside]:
        """The way to read, and the shares of contexts, tree and n-grams."""
        best: tuple[Way, Beside, np.ndarray] | None = None
        for way in WAYS:
            heard = self._of_last(self._sequence.size, way)
            beside, bits = self._shares(heard)
            if best is not None:
                saved = heard.by_sequence(best[2] - bits)
                errors = _ERRORS if way.averaged else _ERRORS_OF_LAST
                if saved.sum() <= max(_TOLD * bits.sum(), errors * _error(saved)):
                    continue
            best = way, beside, bits
        assert best is not None
        return best[0], best[1]

    def _saves(self, members: tuple[Predictor, ...], inside: Sequence[Inside]) -> bool:
        """Whether these members save bits that are no chance."""
        heard = self._heard(members, inside)
        alone = heard._replace(chances=heard.chances[:_OWN])
        saved = heard.by_sequence(self._shares(alone)[1] - self._shares(heard)[1])
        return bool(saved.sum() > _ERRORS * _error(saved))

    def _beside(self, members: tuple[Predictor, ...], inside: Sequence[Inside]) -> Beside:
        """The shares with these members: those of contexts, tree and n-grams relative to each other, from all parts.

        What networks have besides follows from the end alone, where several members speak together, as all will later;
        of a part inside there are one or two, which would have less than they all deserve.
        """
        heard = self._heard(members, inside)
        beside, end = self._shares(heard)[0], self._of_end(members)
        if heard.codes.size == end.codes.size:
            return beside
        own = np.array([beside.own, beside.tree, beside.ngrams])
        own /= own.sum()
        of_all = self._best([own @ end.chances[:_OWN], None, None, *end.chances[_OWN:]], end.codes)[0]
        contexts, tree, ngrams = (of_all.own * own).tolist()
        return replace(of_all, own=contexts, tree=tree, ngrams=ngrams)

    def _heard(self, members: tuple[Predictor, ...], inside: Sequence[Inside]) -> Heard:
        """What tells whether members stay, and with what shares: the end, or all that was held out from all of them."""
        heard = [self._of_end(members)]
        if self._way[0].shuffled and len(inside) == len(members):
            firsts = sorted(set.intersection(*(set(held) for held in inside)))
            most = _MOST_READ // self._data.codes.size
            heard += [self._of_inside(first, [held[first] for held in inside]) for first in firsts[:most]]
        return Heard(
            [np.concatenate(said) for said in zip(*(part.chances for part in heard), strict=True)],
            np.concatenate([part.codes for part in heard]),
            np.concatenate([part.sequence + k * len(self._held) for k, part in enumerate(heard)]),
        )

    def _of_last(self, late: int, way: Way) -> Heard:
        """What contexts, tree and n-grams say of the last symbols."""
        mask, sequence = self._data.mask[-late:], self._sequence[-late:]
        given = [chance[-late:][mask] for chance in (self._chances[way], *self._experts)]
        return Heard(given, self._data.codes[-late:][mask], sequence[mask] - sequence[0])

    def _of_end(self, members: tuple[Predictor, ...]) -> Heard:
        """The same of what networks hold out at the end, with what these members say of it."""
        heard = self._of_last(self._held.codes.size, self._way[0])
        return heard._replace(chances=heard.chances + [_said(member, self._held) for member in members])

    def _of_inside(self, first: int, members: Sequence[Predictor]) -> Heard:
        """The same of sequences inside the data, by members that held these out, and by the others after the rest."""
        every, held = np.arange(len(self._data)), slice(first, first + len(self._held))
        part = self._data.select(every[held])
        if first not in self._read_inside:
            rest = self._data.select(np.delete(every, held))
            way = self._way[0]
            contexts = contexts_say(rest, [part], way.shuffled, [way.averaged])[way.averaged]
            said = [contexts, *self._experts_say(rest, [part])]
            self._read_inside[first] = [chance[part.mask] for chance in said]
        given = self._read_inside[first] + [_said(member, part) for member in members]
        sequence = np.repeat(np.arange(len(part)), np.diff(part.starts))
        return Heard(given, part.codes[part.mask], sequence[part.mask])

    def _experts_say(self, before: Encoded, stretches: list[Encoded]) -> list[np.ndarray]:
        """What tree and n-grams say of each stretch after all before it."""
        experts = Experts(self._data.alphabet, counts_of(before), Beside(0.0, 1.0, 1.0, order=self._order))
        experts.read(before.codes, firsts(before.starts))
        said = []
        for part in stretches:
            said.append(experts.read(part.codes, firsts(part.starts), learn=False))
            experts.read(part.codes, firsts(part.starts))
        return [np.concatenate(chances) for chances in zip(*said, strict=True)]

    def _shares(self, heard: Heard) -> tuple[Beside, np.ndarray]:
        """The shares under which all that is heard costs least, and its bits.

        Beside networks, tree and n-grams rarely help what comes later: there they stay if they save a standard error.
        """
        given = heard.chances
        every, bits = self._best([*given], heard.codes)
        if len(given) <= _OWN:
            return every, bits
        fewer, more = self._best([given[0], None, None, *given[_OWN:]], heard.codes)
        saved = heard.by_sequence(more - bits)
        return (every, bits) if saved.sum() > _error(saved) else (fewer, more)

    def _best(self, given: list[np.ndarray | None], codes: np.ndarray) -> tuple[Beside, np.ndarray]:
        """The shares under which these codes cost least, and their bits."""
        alphabet = self._data.alphabet
        ends = None if alphabet.end is None else chances_of_ends(codes, alphabet.end, len(alphabet))
        return best_shares(given, self._order, len(alphabet), ends)


def _said(member: Predictor, held: Encoded) -> np.ndarray:
    """What a member says of the symbols that are scored; it has an alphabet of numbers."""
    codes = Encoded(held.codes, held.starts, held.mask, member.alphabet)
    return np.exp(member.log_likelihoods(codes)[held.mask])


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
