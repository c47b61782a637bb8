"""What a mixture's memory follows from, how it is read, and kept: contexts, what stands next to them, and networks.

The mixer meets networks on the end of the data, which they were not trained on: there it learns what they are worth.
Members that did learn from the end take their places once it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from glnn.contexts.mixing import CHUNK, ContextMixing, firsts, new_reader
from glnn.contexts.mixing_averaging import WeightAverage
from glnn.contexts.mixing_plan import FIRST, NOW, VERSIONS, Plan, make_plan
from glnn.contexts.mixing_script import script_of
from glnn.contexts.ngram import LONGEST_ORDER
from glnn.predictors import Predictor
from glnn.predictors.ends import Ends
from glnn.predictors.experts import ALONE, Beside, Experts, best_shares, counts_of, learned_odds
from glnn.predictors.mixture import MixturePredictor, pieces
from glnn.predictors.odds import Odds, settled
from glnn.predictors.shares import Shares
from glnn.sequences import Alphabet, Encoded, InputError

# Shares follow from this last part of the data, each symbol before it is learned: with networks from what they were not
# trained on, where frozen shares let the mixer meet them first.
_LATE, _LATE_WITH_MEMBERS = 0.2, 0.5

Progress = Callable[[int, float], bool]


@dataclass(frozen=True)
class Recipe:
    """All that a mixture's memory follows from, apart from the networks: the symbols in the order they were read."""

    codes: np.ndarray
    starts: np.ndarray
    cut: int
    """From here on networks speak to the mixer; at the end of what the plan is made from, they do not."""
    stationary: bool
    averaged: bool = False
    """Whether the weights are the mean ones, for a mixture that will not go on learning."""
    planned: int | None = None
    """So many symbols were there when it was fitted, and the plan is made from them; others were read on. None: all."""

    beside: Beside = ALONE
    choose: bool = False
    """Whether the shares of what stands beside are to follow from the end, each symbol before it is learned."""
    version: int = NOW
    """Of the plan: a file is read as it was when it was written."""

    def read(
        self,
        alphabet: Alphabet,
        networks: tuple[Predictor, ...],
        online: bool,
        progress: Progress | None = None,
        judged: tuple[Predictor, ...] | None = None,
    ) -> tuple[MixturePredictor | Shares, Beside]:
        """Read it all; gives what predicts, and the shares. `progress` may stop it by returning True.

        `judged` are the networks that the mixer meets in what was fitted, where some of `networks` learned from it.
        """
        data = Encoded(self.codes, self.starts, np.ones(self.codes.size, np.bool_), alphabet)
        planned = self._first(data)
        end = planned.codes.size
        members = networks if self.cut < end else ()
        heard = members if judged is None or not members else judged
        reader = new_reader(plan_of(planned, len(members), self.stationary, self.version))
        experts = Experts(alphabet, counts_of(planned), self.beside)
        average = WeightAverage(self.cut if members else 0, end)
        first, said = firsts(self.starts), []
        block = average.stretch if self.averaged else CHUNK
        for part, outside in self._stretches(heard, members, data, end, block):
            codes = self.codes[part]
            chance = reader.read(codes, first[part], outside)
            beside_it = experts.read(codes, first[part])
            if self.choose and part.stop > self._late(end, members, online):
                said.append(_said([chance, *beside_it], outside, codes))
            if self.averaged and part.stop <= end:
                average.look(part.stop, reader.memory)
                if part.stop == end:
                    reader.memory = average.settled(reader.memory)
            if progress is not None and progress(part.stop, float(-np.log2(chance).sum())):
                break
        contexts = ContextMixing(reader.plan, reader.memory, reader.cursor, online)
        identity = (self.codes.astype(np.int64), self.starts.astype(np.int64), self.stationary, self.averaged, online)
        mixture = MixturePredictor(alphabet, contexts, members, identity)
        beside = self.beside
        if self.choose:
            # Whoever stops the reading before has nothing to choose by.
            late = end - self._late(end, members, online)
            beside = self._chosen(np.concatenate(said, axis=1)[:, -late:], len(alphabet), online) if said else ALONE
        if beside.own == 1.0:
            return mixture, beside
        others = [(network, share) for network, share in zip(networks, beside.networks, strict=False) if share > 0.0]
        *weights, of_uniform = np.array(beside.weights)[beside.places].tolist()
        standing = tuple(network for network, _ in others)
        if beside.ends > 0.0 and alphabet.end is not None:
            weights, standing = [*weights, beside.ends], (*standing, Ends(alphabet))
        odds = beside.odds or settled(tuple(weights), of_uniform)
        return Shares(mixture, experts.learned(online, beside), standing, odds, beside.inside), beside

    def read_on(self, codes: np.ndarray, starts: np.ndarray) -> Recipe:
        """The same with everything that was read since."""
        return replace(
            self, codes=codes, starts=starts, planned=self.codes.size if self.planned is None else self.planned
        )

    def arrays(self, size: int) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """All of it over an alphabet of `size` symbols, as arrays and as numbers; `recipe_from` reads them."""
        arrays = {"codes": self.codes.astype(np.min_scalar_type(size)), "starts": self.starts}
        arrays["shares"] = np.array(self.beside.weights)
        if self.beside.odds is not None:
            arrays |= {f"odds/{name}": part for name, part in self.beside.odds._asdict().items()}
        numbers = {"cut": self.cut, "stationary": self.stationary, "averaged": self.averaged, "planned": self.planned}
        numbers |= {"order": self.beside.order, "version": self.version}
        return arrays, {**numbers, "ends": self.beside.ends, "inside": self.beside.inside}

    def _first(self, data: Encoded) -> Encoded:
        """What the plan is made from."""
        if self.planned is None:
            return data
        starts = np.append(data.starts[data.starts < self.planned], self.planned)
        return Encoded(data.codes[: self.planned], starts, data.mask[: self.planned], data.alphabet)

    def _late(self, end: int, members: tuple[Predictor, ...], online: bool) -> int:
        """From here on what everyone says decides on the shares."""
        if not members:
            return int(end - end * _LATE)
        return self.cut if online else int(end - (end - self.cut) * _LATE_WITH_MEMBERS)

    def _chosen(self, known: np.ndarray, alphabet_size: int, online: bool) -> Beside:
        """The shares that these symbols tell, each before it was learned."""
        rows: list[np.ndarray | None] = list(known)
        for place, share in ((1, self.beside.tree), (2, self.beside.ngrams)):
            if share == 0.0:
                rows.insert(place, None)
        rows = rows[: 3 + len(self.beside.networks)]
        if not online:
            return best_shares(rows, self.beside.order, alphabet_size)[0]
        beside = learned_odds(rows, self.beside.order, alphabet_size)[0]
        # If nothing stays next to it, one text is left to contexts alone, and to the compiled coder.
        return ALONE if self.starts.size == 2 and len(beside.places) == 2 else beside

    def _stretches(
        self, heard: tuple[Predictor, ...], members: tuple[Predictor, ...], data: Encoded, planned: int, block: int
    ) -> Iterator[tuple[slice, np.ndarray | None]]:
        """All of the data, with what is heard from the cut on, and what the members say of what was read on."""
        alone = min(self.cut, planned) if members else planned
        yield from ((part, None) for part in _chunks(0, alone, block))
        if members:
            yield from pieces(heard, self._first(data), block, self.cut)
            if planned < data.codes.size:
                yield from pieces(members, data, block, planned)
        else:
            yield from ((part, None) for part in _chunks(planned, data.codes.size, CHUNK))


def plan_of(data: Encoded, outside: int, stationary: bool, version: int = NOW) -> Plan:
    """What a mixture looks at in such data."""
    alphabet = data.alphabet
    script = script_of(alphabet.symbols, alphabet.base.kind == "bytes")
    counts = np.bincount(data.codes, minlength=len(alphabet))
    return make_plan(counts, script, len(data) > 1, outside, stationary, version)


def for_network(data: Encoded) -> Encoded:
    """The same codes under an alphabet of numbers, ends included as one of them."""
    return replace(data, alphabet=Alphabet(range(len(data.alphabet))))


def _said(known: list[np.ndarray], outside: np.ndarray | None, codes: np.ndarray) -> np.ndarray:
    """What contexts, tree and n-grams, and networks, said of each symbol."""
    if outside is None:
        return np.stack(known)
    return np.concatenate([np.stack(known), outside[np.arange(codes.size), :, codes].T])


def _chunks(begin: int, end: int, block: int) -> list[slice]:
    return [slice(place, min(place + block, end)) for place in range(begin, end, block)]


def recipe_from(arrays: dict[str, np.ndarray], fitted: dict[str, Any], size: int, networks: int) -> Recipe:
    """The recipe of a file, looked at before the compiled loops are led by it."""
    codes, ends = _codes(arrays["codes"], size), fitted.get("ends", 0.0)
    if type(ends) is not float or not 0.0 <= ends < 1.0 or (ends > 0.0 and "odds/rows" in arrays):
        raise InputError(f"the share of ends is {ends!r}: expected a number from 0 to 1")
    inside = fitted.get("inside", 0.0)
    if type(inside) is not float or not 0.0 <= inside <= 1.0:
        raise InputError(f"shares go back inside a sequence at a rate of {inside!r}: expected a number from 0 to 1")
    beside = replace(_beside(arrays["shares"], fitted["order"], networks, ends), inside=inside)
    if "odds/rows" in arrays:
        beside = replace(beside, odds=_odds(arrays, len(beside.places)))
    recipe = Recipe(
        codes,
        arrays["starts"],
        fitted["cut"],
        bool(fitted["stationary"]),
        bool(fitted.get("averaged", False)),
        fitted.get("planned"),
        beside,
        version=fitted.get("version", FIRST),
    )
    _check(recipe)
    return recipe


def _codes(codes: np.ndarray, size: int) -> np.ndarray:
    if codes.dtype.kind != "u" or codes.ndim != 1 or not codes.size or int(codes.max()) >= size:
        raise InputError(f"the symbols read are not codes of an alphabet of {size}")
    return codes.astype(np.int64)


def _beside(shares: np.ndarray, order: Any, networks: int, ends: float) -> Beside:
    # Files of the first version have three shares, and networks that speak to the mixer.
    fine = shares.dtype == np.float64 and shares.ndim == 1 and shares.size in (3, 4, 4 + networks)
    if not fine or not (shares >= 0.0).all() or shares[0] <= 0.0 or abs(shares.sum() + ends - 1.0) > 1e-6:
        raise InputError(f"the shares are {shares.tolist()!r}: expected numbers that sum to 1, one for each part")
    own, tree, ngrams, *others = shares.tolist()
    if type(order) is not int or not (ngrams == 0.0 or 1 <= order <= LONGEST_ORDER):
        raise InputError(f"the order of the n-grams is {order!r}: expected 1 to {LONGEST_ORDER}")
    return Beside(own, tree, ngrams, others[0] if others else 0.0, tuple(others[1:]), order, ends=ends)


def _odds(arrays: dict[str, np.ndarray], parts: int) -> Odds:
    odds = Odds(arrays.get("odds/trust", np.empty(0)), arrays["odds/rows"])
    if not odds.fine or odds.rows.shape[1] != parts:
        raise InputError(f"the odds do not fit {parts} parts")
    return odds


def _check(recipe: Recipe) -> None:
    starts = recipe.starts
    fine = starts.dtype.kind == "i" and starts.ndim == 1 and starts.size >= 2 and starts[0] == 0
    if not fine or starts[-1] != recipe.codes.size or (np.diff(starts) <= 0).any():
        raise InputError("the sequences read do not fit the symbols read")
    if recipe.planned is not None and (type(recipe.planned) is not int or not 0 < recipe.planned <= recipe.codes.size):
        raise InputError(f"the plan is made from {recipe.planned!r} of {recipe.codes.size} symbols")
    if recipe.version not in VERSIONS:
        raise InputError(f"the plan is of version {recipe.version!r}: this glnn knows {FIRST} to {NOW}")
    if type(recipe.cut) is not int or not 0 <= recipe.cut <= recipe.codes.size:
        raise InputError(f"the members begin at {recipe.cut!r} of {recipe.codes.size} symbols")
