"""One sequence as it arrives: each symbol pushed gives its probability π_t(x_t), its bits −log2 π_t(x_t), and the rest.

The distribution is that of `bits`, `surprise` and `compress`. A stream holds a predictor's state and nothing of the
past, so it takes some hundred bytes whatever has been pushed; what was expected is only computed when asked for.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from glnn.predictors.protocol import Predictor, PushableState, State, move_to, place_of
from glnn.sequences import Alphabet, InputError
from glnn.sequences.alphabet import END
from glnn.sequences.special import escaped_bits

_SHOWN = 5


class Expected(NamedTuple):
    """A symbol that may come next, and its probability."""

    symbol: Any
    probability: float

    def __str__(self) -> str:
        return f"{self.symbol} ({self.probability:.2g})"


class Pushed:
    """What pushing a symbol showed: its probability, its bits, and what was expected."""

    __slots__ = ("_foreseen", "_symbols", "bits", "probability", "symbol")

    def __init__(
        self, symbol: Any, probability: float, bits: float, symbols: tuple[Any, ...], foreseen: np.ndarray
    ) -> None:
        self.symbol, self.probability, self.bits = symbol, probability, bits
        # The distribution, or rows (code, probability) of the likeliest where those were found without it.
        self._symbols, self._foreseen = symbols, foreseen

    @property
    def expected(self) -> list[Expected]:
        """The most likely symbols, the likeliest first."""
        if self._foreseen.ndim == 1:
            return likeliest(self._foreseen, self._symbols, _SHOWN)
        return [Expected(self._symbols[int(code)], chance) for code, chance in self._foreseen.tolist() if code >= 0]

    def __repr__(self) -> str:
        foreseen = ", ".join(map(str, self.expected[:1]))
        return f"Pushed({self.symbol!r}, {self.bits:.2f} bits, probability {self.probability:.3g}; expected {foreseen})"


class Stream:
    """A sequence that is not over yet.

    `symbols` and `bits` count what was pushed since the stream began. `begin` makes the state at the start of each
    sequence, the predictor's own by default; the codes of the current sequence are gathered in `read`, if given, to be
    learned when it ends.
    """

    __slots__ = (
        "_alphabet",
        "_begin",
        "_end",
        "_escape",
        "_index",
        "_push_state",
        "_read",
        "_state",
        "bits",
        "symbols",
        "write",
    )

    def __init__(
        self,
        predictor: Predictor,
        place: dict[str, np.ndarray] | None = None,
        symbols: int = 0,
        bits: float = 0.0,
        begin: Callable[[], State] | None = None,
        read: list[int] | None = None,
    ) -> None:
        alphabet = predictor.alphabet
        self._alphabet, self._begin, self._read = alphabet, begin or predictor.begin, read
        self._index = alphabet.base.codes
        self._end, self._escape = alphabet.end, alphabet.escape
        self._stand(self._begin())
        self.write: Callable[[Any], None] | None = None
        if place is not None:
            move_to(self._state, place)
        self.symbols, self.bits = symbols, bits

    @property
    def alphabet(self) -> Alphabet:
        """The symbols that are known, in the order of their codes."""
        return self._alphabet

    def predict(self, top: int = _SHOWN) -> list[Expected]:
        """The `top` most likely next symbols, the likeliest first."""
        if top < 1:
            raise InputError(f"top is {top}: ask for 1 symbol or more")
        return likeliest(self._state.probabilities(), self._alphabet.symbols, top)

    def push(self, symbol: Any) -> Pushed:
        """Read the next symbol. An unknown one is refused, or costs an escape and leaves the state as it was."""
        code = self._index.get(symbol)
        if code is None:
            return self._push_unknown(symbol)
        return self._push(code, symbol)

    def push_many(self, symbols: Iterable[Any]) -> np.ndarray:
        """Read several symbols; the bits of each."""
        return np.array([self.push(symbol).bits for symbol in symbols])

    def end(self) -> Pushed | None:
        """The sequence is over and the next one begins: what its end cost, or None if no end was learned."""
        pushed = None if self._end is None else self._push(self._end, END)
        self._stand(self._begin())
        return pushed

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write stream and model to one file, from which `glnn.load_stream` continues to the same bits."""
        if self.write is None:
            raise InputError("this stream has no model to save: make it with model.stream()")
        self.write(path)

    def place(self) -> dict[str, np.ndarray]:
        """The numbers that say where the stream stands."""
        return place_of(self._state)

    def gathered(self) -> np.ndarray:
        """The codes of the current sequence, if they are gathered."""
        return np.array(self._read or [], np.int32)

    def _stand(self, state: State) -> None:
        self._state: State = state
        self._push_state = state.push if isinstance(state, PushableState) else None

    def _push(self, code: int, symbol: Any) -> Pushed:
        foreseen: np.ndarray
        if self._push_state is not None:
            probability, foreseen = self._push_state(code, _SHOWN)
        else:
            foreseen = self._state.probabilities()
            probability = float(foreseen[code])
            self._state.advance(code)
        bits = -math.log2(probability) if probability > 0.0 else math.inf
        if self._read is not None and code != self._escape:
            self._read.append(code)
        self.symbols += 1
        self.bits += bits
        return Pushed(symbol, probability, bits, self._alphabet.symbols, foreseen)

    def _push_unknown(self, symbol: Any) -> Pushed:
        if self._escape is None:
            raise InputError(
                f"symbol {symbol!r} is not one of the {len(self._alphabet.base)} that the model knows "
                f"({self._alphabet.summary()}): train with alphabet= naming every symbol, or with unknown='escape'"
            )
        bits = escaped_bits(symbol, self._alphabet)
        pushed = self._push(self._escape, symbol)
        self.bits += bits
        return Pushed(symbol, pushed.probability * 2.0**-bits, pushed.bits + bits, pushed._symbols, pushed._foreseen)


def likeliest(distribution: np.ndarray, symbols: tuple[Any, ...], top: int) -> list[Expected]:
    """The most likely symbols, the likeliest first; of equals the one with the lower code."""
    order = np.argsort(-distribution, kind="stable")[:top]
    return [Expected(symbols[code], float(distribution[code])) for code in order.tolist()]
