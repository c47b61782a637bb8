"""What networks are worth, on the end of the data, which they were not trained on.

The mixer goes on learning, meets the networks there, and learns what they are worth as it goes. For several sequences
that are scored alike there is `frozen_trial`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from glnn.contexts.mixing import CHUNK, Reader, firsts, new_reader
from glnn.contexts.mixing_reading import ALL
from glnn.contexts.ngram import choose_order
from glnn.predictors import Predictor
from glnn.predictors.experts import ALONE, Beside, Experts, counts_of, learned_odds
from glnn.predictors.frozen_trial import ENOUGH_SEQUENCES, Inside
from glnn.predictors.mixture import pieces
from glnn.predictors.mixture_budget import first_symbols
from glnn.predictors.mixture_recipe import Recipe, plan_of
from glnn.sequences import Encoded, TrainingData
from glnn.training.records import StepInfo

# A network that is behind contexts by fewer standard errors may for all we know be as good.
_ERRORS = 2.0
# A network beside must save this part of the bits, and tree and n-grams beside one text, which make its coding slow.
_WORTH, _WORTH_OF_TREES, _LEAST_GAIN = 0.005, 0.02, 3.0
BEHIND, FAR_BEHIND = 1.1, 2.5
"""How many times the bits of contexts a network alone needs that gives way to another kind, or is given up."""
# After this part of the budget; and it must need so many bits more.
_TRIAL, _AND_BITS = 0.2, 100.0
# So many symbols of one text tell whether a tree or n-grams could help; fewer than the second tell nothing.
_LOOK, _FEW = 10_000, 500


class Trial:
    """Bits of the end of the data with and without networks, contexts learning all the way."""

    def __init__(self, data: Encoded, parts: TrainingData, online: bool, most: int) -> None:
        self._data, self._online, self._most = data, online, most
        self.cut = data.codes.size - parts.held_out
        self._first = firsts(data.starts)
        self._reader: Reader | None = None
        self._beside = _beside(data) if online else ALONE

    def bits(self, members: tuple[Predictor, ...]) -> float:
        """The bits of the end with these members."""
        return float(self._bits(members)[self._mask].sum())

    def alone(self, member: Predictor) -> float:
        """The bits of the end by one member alone."""
        return float(-np.log2(self._said(member)[self._mask]).sum())

    def worth(self, bits: float, without: float, member: Predictor, inside: Inside | None = None) -> bool:
        """Whether a member that changes the bits so stays: it helps, or may for all we know be as good as all."""
        if bits <= min(without * (1.0 - _WORTH), without - _LEAST_GAIN):
            return True
        behind = (-np.log2(self._said(member)) - self._bits(()))[self._mask]
        return bool(behind.sum() < _ERRORS * behind.std() * np.sqrt(behind.size))

    def stand_apart(self, members: tuple[Predictor, ...]) -> bool:
        """Whether the mixer need not hear these members: odds between all serve the end as well, but for a few bits.

        Then they may be replaced by what they become when they learn from the end too.
        """
        return self._online and bool(self._apart(members)[1][self._mask].sum() <= self.bits(members) + _LEAST_GAIN)

    def recipe(self, members: tuple[Predictor, ...], apart: bool = False, inside: Sequence[Inside] = ()) -> Recipe:
        """How the data are best read: as time goes by, if anything is to go on learning, even networks' weights."""
        data, online = self._data, self._online
        if apart:
            return Recipe(data.codes, data.starts, data.codes.size, False, beside=self._apart(members)[0])
        if not members and self._beside is ALONE:
            return Recipe(data.codes, data.starts, data.codes.size, not online, averaged=not online)
        # Beside the mixer that hears them, networks have a share: no part can spoil a sum.
        beside = replace(self._beside, networks=(1.0,) * len(members))
        cut = self.cut if members else data.codes.size
        return Recipe(data.codes, data.starts, cut, False, not online, beside=beside, choose=True)

    @property
    def _mask(self) -> np.ndarray:
        return self._data.mask[self.cut :]

    @cached_property
    def _experts(self) -> list[np.ndarray | None]:
        """What tree and n-grams said of the end, if they stand next to the mixture."""
        data = self._data
        said = iter(Experts(data.alphabet, counts_of(data), self._beside).read(data.codes, self._first))
        return [next(said)[self.cut :] if share > 0.0 else None for share in (self._beside.tree, self._beside.ngrams)]

    def _bits(self, members: tuple[Predictor, ...]) -> np.ndarray:
        own, said = self._mixed(members)
        if not self._online or (not members and self._beside is ALONE):
            return -np.log2(own)
        return learned_odds([own, *self._experts, *said], self._beside.order, len(self._data.alphabet))[1]

    def _apart(self, members: tuple[Predictor, ...]) -> tuple[Beside, np.ndarray]:
        """The odds, and the bits of the end, where no member speaks to the mixer."""
        said = [self._said(member) for member in members]
        return learned_odds([self._mixed(())[0], *self._experts, *said], self._beside.order, len(self._data.alphabet))

    def _mixed(self, members: tuple[Predictor, ...]) -> tuple[np.ndarray, list[np.ndarray]]:
        """What the mixer says of the end with these members, and each of them by itself."""
        if self._reader is None:
            self._reader = new_reader(plan_of(self._data, self._most, stationary=False))
            self._reader.read(self._data.codes[: self.cut], self._first[: self.cut])
        reader = Reader(self._reader.plan, self._reader.memory, self._reader.cursor.copy(), ALL)
        own, said = [], []
        for part, outside in pieces(members, self._data, CHUNK, self.cut):
            codes, padded = self._data.codes[part], None
            if outside is not None:
                padded = np.zeros((outside.shape[0], self._most, outside.shape[2]))
                padded[:, : len(members)] = outside
                said.append(outside[np.arange(codes.size), :, codes].T)
            own.append(reader.read(codes, self._first[part], padded))
        return np.concatenate(own), list(np.concatenate(said, axis=1)) if said else []

    def _said(self, member: Predictor) -> np.ndarray:
        """What one member says of the end."""
        found = []
        for part, outside in pieces((member,), self._data, CHUNK, self.cut):
            assert outside is not None
            found.append(outside[np.arange(part.stop - part.start), 0, self._data.codes[part]])
        return np.concatenate(found)


def _beside(data: Encoded) -> Beside:
    """Whether tree and n-grams shall stand beside what goes on learning; the beginning of one text tells."""
    if 1 < len(data) < ENOUGH_SEQUENCES or data.codes.size < _FEW:
        return ALONE
    if len(data) > 1:
        return Beside(1.0, 1.0, 1.0, order=choose_order(data))
    few = first_symbols(data, _LOOK)
    codes, first, half = few.codes, firsts(few.starts), few.codes.size // 2
    beside = Beside(1.0, 1.0, 1.0, order=choose_order(few))
    own = new_reader(plan_of(data, 0, stationary=False)).read(codes, first)
    said = Experts(data.alphabet, counts_of(data), beside).read(codes, first)
    alone = float(-np.log2(own[half:]).sum())
    together = learned_odds([one[half:] for one in (own, *said)], beside.order, len(data.alphabet))[1].sum()
    if together > min(alone * (1.0 - _WORTH_OF_TREES), alone - _LEAST_GAIN):
        return ALONE
    return replace(beside, order=choose_order(data))


class Promising:
    """Told of every step of training: ends it after a fifth of the budget if all networks are too far behind contexts.

    Contexts need so many `bits`, and networks may need so many `times` as many. `given_up`: whether it has.
    """

    def __init__(self, seconds: float, bits: float, times: float = FAR_BEHIND) -> None:
        self._trial, self._least = _TRIAL * seconds, -(times * bits + _AND_BITS) * np.log(2.0)
        self._spent: dict[int, tuple[Any, float]] = {}
        self._best = -np.inf
        self.given_up = False

    def __call__(self, info: StepInfo, trainer: Any) -> bool:
        """Whether to stop."""
        progress = trainer.progress
        self._spent[id(progress)] = (progress, info.seconds)
        self._best = max(self._best, progress.best_score)
        spent = sum(seconds for _, seconds in self._spent.values())
        over = bool(spent > self._trial and self._best < self._least)
        self.given_up |= over
        return over
