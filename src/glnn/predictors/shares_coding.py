"""Encode and decode with whole distributions: contexts that networks speak to, and what stands next to them.

Encoding reads stretches in one go, decoding symbol by symbol, with the same bits in both. What is learned online stays
from sequence to sequence, as in the scores. Every machine finds the same bits where the networks' steps do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from glnn.coding.quantised import decode_symbol, encode_symbol, known_counts
from glnn.coding.range_coder import MARGIN, PENDING, PLACE, TOTAL, encode, has_bytes
from glnn.coding.steps import offered_steps
from glnn.contexts.ngram import NGramModel, NGramReader
from glnn.contexts.tree import ContextTreeWeighting
from glnn.contexts.tree_reader import Reader as TreeReader
from glnn.predictors.odds import RunningOdds, chances_of, combined
from glnn.predictors.protocol import Predictor, State, rows_along

if TYPE_CHECKING:
    from glnn.predictors.mixture import MixturePredictor

_STRETCH = 1024


class _Part(Protocol):
    """One of those that predict together."""

    def restart(self) -> None:
        """Go to the start of a sequence."""

    def next(self) -> np.ndarray:
        """The distribution of the next symbol; it stays where it is."""

    def read(self, codes: np.ndarray) -> np.ndarray:
        """The distributions before symbols that are read, and learned if anything is."""

    def advance(self, code: int) -> None:
        """Read one symbol, and learn it if anything is learned."""


class SharesSteps:
    """Readers side by side."""

    margin = MARGIN

    def __init__(
        self,
        mixture: MixturePredictor,
        beside: tuple[ContextTreeWeighting | NGramModel, ...],
        networks: tuple[Predictor, ...],
        odds: RunningOdds,
        escape: float | None,
    ) -> None:
        learn, self._size = mixture.contexts.online, len(mixture.alphabet)
        self._parts: list[_Part] = [_Contexts(mixture)]
        self._parts += [_Counts(model, learn) for model in beside]
        self._parts += [_Network(network) for network in networks]
        self._odds, self._said = odds, [np.empty((0, 0))]
        self._M, self._C = known_counts(escape), np.empty(self._size + 1)
        self.portable = all(_portable(network) for network in (*mixture.members, *networks))
        self._given = (mixture, beside, networks)

    def restart(self) -> None:
        """The start of a sequence; what was learned stays."""
        self._odds.restart()
        for part in self._parts:
            part.restart()

    def encode(self, codes: np.ndarray, coder: np.ndarray, out: np.ndarray) -> int:
        """Encode symbols; returns how many `out` had room for."""
        done = 0
        while done < codes.size:
            room = (out.size - int(coder[PLACE]) - int(coder[PENDING])) // MARGIN
            stretch = codes[done : done + min(room, _STRETCH)]
            if not stretch.size:
                break
            for code, row in zip(stretch.tolist(), self._read(stretch), strict=True):
                encode_symbol(code, row, self._C, self._M, coder, out)
            done += stretch.size
        return done

    def encode_escape(self, coder: np.ndarray, out: np.ndarray) -> None:
        """An escape leaves everything as it is."""
        encode(self._M, TOTAL, coder, out)

    def decode(self, codes: np.ndarray, end: int, coder: np.ndarray, source: np.ndarray) -> int:
        """Symbol after symbol."""
        for done in range(codes.size):
            if not has_bytes(coder, source, MARGIN):
                return done
            code = int(decode_symbol(self._next(), self._C, self._M, coder, source))
            codes[done] = code
            if code == self._size:
                return done + 1
            self._odds.along(chances_of(self._said, codes[done : done + 1]))
            for part in self._parts:
                part.advance(code)
            if code == end:
                return done + 1
        return int(codes.size)

    def identity(self) -> Iterator[Any]:
        """What was given, the networks, the shares, and the probability of an escape."""
        mixture, beside, networks = self._given
        yield from mixture.identity
        yield self._odds.odds.trust
        yield self._odds.begun().odds.rows
        if self._odds.inside > 0.0:
            yield self._odds.inside
        yield from (f"n-grams {model.order}" for model in beside if isinstance(model, NGramModel))
        for network in (*mixture.members, *networks):
            yield from _numbers_of(network)
        yield self._M

    def place(self) -> np.ndarray:
        """What it predicts here."""
        return self._next()

    def _next(self) -> np.ndarray:
        """The distribution of the next symbol; all stay where they are."""
        self._said = [part.next()[None] for part in self._parts]
        row: np.ndarray = combined(self._said, self._odds.odds.weights[None])[0]
        return row

    def _read(self, codes: np.ndarray) -> np.ndarray:
        """The distributions before symbols that are read, and learned if anything is."""
        said = [part.read(codes) for part in self._parts]
        return combined(said, self._odds.along(chances_of(said, codes)))


class _Contexts:
    """The mixture of contexts, with the networks that speak to it."""

    def __init__(self, mixture: MixturePredictor) -> None:
        self._reader = mixture.contexts.reader()
        self._members = [_Network(member) for member in mixture.members]

    def restart(self) -> None:
        self._reader.restart()
        for member in self._members:
            member.restart()

    def next(self) -> np.ndarray:
        return self._reader.probabilities(self._outside())

    def read(self, codes: np.ndarray) -> np.ndarray:
        outside = None
        if self._members:
            outside = np.stack([member.read(codes) for member in self._members], axis=1)
        return self._reader.read_rows(codes, np.zeros(codes.size, np.bool_), outside)[0]

    def advance(self, code: int) -> None:
        self._reader.push(code, self._outside())
        for member in self._members:
            member.advance(code)

    def _outside(self) -> np.ndarray | None:
        return np.array([member.next() for member in self._members]) if self._members else None


class _Counts:
    """A context tree or n-grams."""

    def __init__(self, model: ContextTreeWeighting | NGramModel, learn: bool) -> None:
        self._learn, self._first = learn, True
        self._reader: TreeReader | NGramReader
        if isinstance(model, NGramModel):
            self._reader = NGramReader(model, model.counts.copy() if learn else model.counts, model.padding())
        else:
            self._reader = TreeReader(model, model.forest.copy() if learn else model.forest, model.first_context())

    def restart(self) -> None:
        self._first = True

    def next(self) -> np.ndarray:
        context = self._reader.context.copy()
        row = self._reader.read(np.zeros(1, np.int32), np.array([self._first]), False, True)[1][0]
        self._reader.context[:] = context
        return row

    def read(self, codes: np.ndarray) -> np.ndarray:
        first = np.zeros(codes.size, np.bool_)
        first[0], self._first = self._first, False
        return self._reader.read(np.ascontiguousarray(codes, np.int32), first, self._learn, True)[1]

    def advance(self, code: int) -> None:
        first, self._first = np.array([self._first]), False
        self._reader.read(np.array([code], np.int32), first, self._learn)


class _Network:
    """A predictor that learns nothing, by its states."""

    def __init__(self, network: Predictor) -> None:
        self._network = network
        self._state: State = network.begin()

    def restart(self) -> None:
        self._state = self._network.begin()

    def next(self) -> np.ndarray:
        return self._state.probabilities()

    def read(self, codes: np.ndarray) -> np.ndarray:
        return rows_along(self._state, codes)

    def advance(self, code: int) -> None:
        self._state.advance(code)


def _portable(network: Any) -> bool:
    """Whether every machine computes the same bits."""
    members = getattr(network, "members", None)
    if members:
        return all(_portable(member) for member in members)
    return bool(getattr(getattr(network, "stepper", network), "portable", False))


def _numbers_of(network: Any) -> Iterator[Any]:
    """All that a network's probabilities depend on, where it says so; what it predicts is included in any case."""
    for member in getattr(network, "members", (network,)):
        steps = offered_steps(member, None)
        if steps is not None:
            yield from steps.identity()
    weights = getattr(network, "weights", None)
    if weights is not None:
        yield weights.nodes
        yield weights.weights
    yield float(getattr(network, "share", 0.0))
