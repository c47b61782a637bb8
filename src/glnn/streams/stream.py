"""One sequence as it arrives: each symbol pushed gives its probability π_t(x_t), its bits −log2 π_t(x_t), and the rest.

The distribution is that of `bits`, `surprise` and `compress`. A stream holds where a predictor stands and nothing of
the past, so it takes some hundred bytes whatever has been pushed; what was expected is only computed when asked for.
"""

from __future__ import annotations

import math
import os
import weakref
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from glnn.predictors.protocol import Predictor, move_to, place_of
from glnn.sequences import Alphabet, InputError
from glnn.sequences.alphabet import END
from glnn.sequences.errors import one_line
from glnn.sequences.special import escaped_bits
from glnn.streams.desk import SHOWN, Desk


class Expected(NamedTuple):
    """A symbol that may come next, and its probability."""

    symbol: Any
    probability: float

    def __str__(self) -> str:
        return f"{self.symbol} ({self.probability:.2g})"


class Pushed:
    """What pushing a symbol showed: its probability, its bits, and what was expected."""

    __slots__ = ("__weakref__", "_desk", "_foreseen", "_symbols", "bits", "probability", "symbol")

    def __init__(
        self,
        symbol: Any,
        probability: float,
        bits: float,
        symbols: tuple[Any, ...],
        foreseen: np.ndarray | None,
        desk: Desk | None,
    ) -> None:
        self.symbol, self.probability, self.bits = symbol, probability, bits
        # The distribution, or rows (code, probability) of the likeliest, which are still to be found at the desk.
        self._symbols, self._foreseen, self._desk = symbols, foreseen, desk

    @property
    def expected(self) -> list[Expected]:
        """The most likely symbols, the likeliest first."""
        desk = self._desk
        if desk is not None:
            with desk.lock:
                self.find(desk)
        assert self._foreseen is not None
        if self._foreseen.ndim == 1:
            return likeliest(self._foreseen, self._symbols, SHOWN)
        return [Expected(self._symbols[int(code)], chance) for code, chance in self._foreseen.tolist() if code >= 0]

    def find(self, desk: Desk) -> None:
        """Find what was expected, while the symbol waits at the desk."""
        if self._foreseen is None:
            self._foreseen, self._desk = desk.foreseen(), None

    def __repr__(self) -> str:
        foreseen = ", ".join(map(str, self.expected[:1]))
        return f"Pushed({self.symbol!r}, {self.bits:.2f} bits, probability {self.probability:.3g}; expected {foreseen})"


class Stream:
    """A sequence that is not over yet.

    `symbols` and `bits` count what was pushed since the stream began. It is read at a desk, one of its own or that of
    all streams of a model; `kept` is what the desk needs to take it up again when its turn comes. The codes of the
    current sequence are gathered in `read`, if given, to be learned when it ends.
    """

    __slots__ = ("_desk", "_read", "bits", "kept", "symbols")

    def __init__(
        self,
        desk: Desk | Predictor,
        place: dict[str, np.ndarray] | None = None,
        symbols: int = 0,
        bits: float = 0.0,
        read: list[int] | None = None,
    ) -> None:
        self._desk = desk if isinstance(desk, Desk) else Desk(desk)
        self._read, self.symbols, self.bits = read, symbols, bits
        self.kept: Any = None
        if place is not None:
            with self._desk.lock:
                self._desk.turn(self)
                move_to(self._desk.state, place)

    @property
    def alphabet(self) -> Alphabet:
        """The symbols that are known, in the order of their codes."""
        return self._desk.alphabet

    def predict(self, top: int = SHOWN) -> list[Expected]:
        """The `top` most likely next symbols, the likeliest first."""
        if top < 1:
            raise InputError(f"top is {top}: ask for 1 symbol or more")
        desk, symbols = self._desk, self._desk.alphabet.symbols
        with desk.lock:
            desk.turn(self)
            if desk.ask is None:
                return likeliest(desk.state.probabilities(), symbols, top)
            rows = desk.state.likeliest(min(top, len(symbols)))  # type: ignore[attr-defined]
        return [Expected(symbols[int(code)], chance) for code, chance in rows.tolist() if code >= 0]

    def push(self, symbol: Any) -> Pushed:
        """Read the next symbol. An unknown one is refused, or costs an escape and leaves the state as it was."""
        desk = self._desk
        try:
            code = desk.index.get(symbol)
        except TypeError:
            raise _no_symbol(symbol, desk.alphabet) from None
        if code is None:
            return self._push_unknown(symbol)
        with desk.lock:
            return self._push(desk, code, symbol)

    def push_many(self, symbols: Iterable[Any]) -> np.ndarray:
        """Read several symbols; the bits of each."""
        found, desk = [], self._desk
        for symbol in symbols:
            try:
                code = desk.index.get(symbol)
            except TypeError:
                raise _no_symbol(symbol, desk.alphabet) from None
            if code is None:
                found.append(self._push_unknown(symbol).bits)
                continue
            with desk.lock:
                if desk.waiting >= 0 or desk.stream is not self:
                    desk.turn(self)
                found.append(self._counted(code, desk.push(code)))
        return np.array(found)

    def end(self) -> Pushed | None:
        """The sequence is over and the next one begins: what its end cost, or None if no end was learned."""
        desk = self._desk
        with desk.lock:
            if desk.end is None:
                desk.turn(self)
                desk.restart()
                return None
            pushed = self._push(desk, desk.end, END)
            if desk.waiting >= 0:
                desk.over = True
            else:
                desk.restart()
            return pushed

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write stream and model to one file, from which `glnn.load_stream` continues to the same bits."""
        if self._desk.write is None:
            raise InputError("this stream has no model to save: make it with model.stream()")
        with self._desk.lock:
            self._desk.settle()
            self._desk.write(self, path)

    def place(self) -> dict[str, np.ndarray]:
        """The numbers that say where the stream stands."""
        with self._desk.lock:
            self._desk.turn(self)
            return place_of(self._desk.state)

    def gathered(self) -> np.ndarray:
        """The codes of the current sequence, if they are gathered."""
        return np.array(self._read or [], np.int32)

    def __reduce__(self) -> Any:
        raise TypeError("a stream is not copied or pickled: save(path) writes it, glnn.load_stream(path) reads it")

    def _push(self, desk: Desk, code: int, symbol: Any) -> Pushed:
        if desk.waiting >= 0 or desk.stream is not self:
            desk.turn(self)
        symbols = desk.symbols
        if desk.ask is None:
            foreseen = desk.state.probabilities()
            probability = float(foreseen[code])
            desk.state.advance(code)
            return Pushed(symbol, probability, self._counted(code, probability), symbols, foreseen, None)
        probability = desk.ask(code)
        pushed = Pushed(symbol, probability, self._counted(code, probability), symbols, None, desk)
        desk.waiting, desk.pushed = code, weakref.ref(pushed)
        return pushed

    def _counted(self, code: int, probability: float) -> float:
        bits = -math.log2(probability) if probability > 0.0 else math.inf
        if self._read is not None and code != self._desk.escape:
            self._read.append(code)
        self.symbols += 1
        self.bits += bits
        return bits

    def _push_unknown(self, symbol: Any) -> Pushed:
        desk, alphabet = self._desk, self._desk.alphabet
        symbol = symbol.item() if isinstance(symbol, np.generic) else symbol
        if type(symbol) is not type(alphabet.symbols[0]):
            raise _no_symbol(symbol, alphabet)
        if desk.escape is None:
            raise InputError(
                f"symbol {symbol!r} is not one of the {len(alphabet.base)} that the model knows "
                f"({alphabet.summary()}): train with alphabet= naming every symbol, or with unknown='escape'"
            )
        bits = escaped_bits(symbol, alphabet)
        with desk.lock:
            pushed = self._push(desk, desk.escape, symbol)
            self.bits += bits
        pushed.probability *= 2.0**-bits
        pushed.bits += bits
        return pushed


def likeliest(distribution: np.ndarray, symbols: tuple[Any, ...], top: int) -> list[Expected]:
    """The most likely symbols, the likeliest first; of equals the one with the lower code."""
    order = np.argsort(-distribution, kind="stable")[:top]
    return [Expected(symbols[code], float(distribution[code])) for code in order.tolist()]


def _no_symbol(given: Any, alphabet: Alphabet) -> InputError:
    """The error for what cannot be a symbol of this alphabet, known or not."""
    return InputError(
        f"{one_line(given)} is of type {type(given).__name__}, the model's symbols are "
        f"{type(alphabet.symbols[0]).__name__} ({alphabet.summary(3)}): push takes one symbol, push_many several, and "
        "end() is for the end of a sequence"
    )
