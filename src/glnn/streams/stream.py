"""One sequence as it arrives: each symbol pushed gives its probability π_t(x_t), its bits −log2 π_t(x_t), and the rest.

The distribution is that of `bits`, `surprise` and `compress`. A stream holds a predictor's state and nothing of the
past, so it takes some hundred bytes whatever has been pushed; what was expected is only computed when asked for.
"""

from __future__ import annotations

import math
import os
import weakref
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from glnn.predictors.protocol import Predictor, State, move_to, place_of, pushing
from glnn.sequences import Alphabet, InputError
from glnn.sequences.alphabet import END
from glnn.sequences.special import escaped_bits

_SHOWN = 5


def _gone() -> None:
    """Nobody may ask any more."""


class Expected(NamedTuple):
    """A symbol that may come next, and its probability."""

    symbol: Any
    probability: float

    def __str__(self) -> str:
        return f"{self.symbol} ({self.probability:.2g})"


class Pushed:
    """What pushing a symbol showed: its probability, its bits, and what was expected."""

    __slots__ = ("__weakref__", "_foreseen", "_stream", "_symbols", "bits", "probability", "symbol")

    def __init__(
        self,
        symbol: Any,
        probability: float,
        bits: float,
        symbols: tuple[Any, ...],
        foreseen: np.ndarray | None,
        stream: Stream | None,
    ) -> None:
        self.symbol, self.probability, self.bits = symbol, probability, bits
        # The distribution, or rows (code, probability) of the likeliest, which the stream still has to find.
        self._symbols, self._foreseen, self._stream = symbols, foreseen, stream

    @property
    def expected(self) -> list[Expected]:
        """The most likely symbols, the likeliest first."""
        if self._foreseen is None:
            assert self._stream is not None
            self.find(self._stream)
        assert self._foreseen is not None
        if self._foreseen.ndim == 1:
            return likeliest(self._foreseen, self._symbols, _SHOWN)
        return [Expected(self._symbols[int(code)], chance) for code, chance in self._foreseen.tolist() if code >= 0]

    def find(self, stream: Stream) -> None:
        """Let the stream find what was expected, while it stands where it was."""
        if self._foreseen is None:
            self._foreseen, self._stream = stream.foreseen(), None

    def __repr__(self) -> str:
        foreseen = ", ".join(map(str, self.expected[:1]))
        return f"Pushed({self.symbol!r}, {self.bits:.2f} bits, probability {self.probability:.3g}; expected {foreseen})"


class Stream:
    """A sequence that is not over yet.

    `symbols` and `bits` count what was pushed since the stream began. `begin` makes the state at the start of each
    sequence, the predictor's own by default; the codes of the current sequence are gathered in `read`, if given, to be
    learned when it ends.

    A symbol is read, and learned, when the next one comes or something else is asked for: until then what was expected
    can be found for those who want to know. Of streams that share `latest` at most one waits like that.
    """

    __slots__ = (
        "__weakref__",
        "_alphabet",
        "_ask",
        "_begin",
        "_end",
        "_escape",
        "_index",
        "_latest",
        "_over",
        "_push_state",
        "_pushed",
        "_read",
        "_state",
        "_waiting",
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
        latest: list[Stream] | None = None,
    ) -> None:
        alphabet = predictor.alphabet
        self._latest = latest
        self._waiting, self._over = -1, False
        self._pushed: Callable[[], Pushed | None] = _gone
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
        self.settle()
        if self._ask is None:
            return likeliest(self._state.probabilities(), self._alphabet.symbols, top)
        rows = self._state.likeliest(min(top, len(self._alphabet)))  # type: ignore[attr-defined]
        return [Expected(self._alphabet.symbols[int(code)], chance) for code, chance in rows.tolist() if code >= 0]

    def push(self, symbol: Any) -> Pushed:
        """Read the next symbol. An unknown one is refused, or costs an escape and leaves the state as it was."""
        code = self._index.get(symbol)
        if code is None:
            return self._push_unknown(symbol)
        return self._push(code, symbol)

    def push_many(self, symbols: Iterable[Any]) -> np.ndarray:
        """Read several symbols; the bits of each."""
        found = []
        for symbol in symbols:
            code = self._index.get(symbol)
            found.append(self._push_unknown(symbol).bits if code is None else self._score(code))
        return np.array(found)

    def end(self) -> Pushed | None:
        """The sequence is over and the next one begins: what its end cost, or None if no end was learned."""
        if self._end is None:
            self.settle()
            self._stand(self._begin())
            return None
        pushed = self._push(self._end, END)
        if self._waiting >= 0:
            self._over = True
        else:
            self._stand(self._begin())
        return pushed

    def settle(self) -> None:
        """Read the symbol that waits to be read, after finding what was expected for whoever still may ask."""
        if self._waiting < 0:
            return
        pushed = self._pushed()
        if pushed is not None:
            pushed.find(self)
        code, self._waiting = self._waiting, -1
        self._state.advance(code)
        if self._over:
            self._over = False
            self._stand(self._begin())

    def foreseen(self) -> np.ndarray:
        """Rows (code, probability) of what was expected where a symbol waits to be read."""
        return self._state.likeliest(_SHOWN)  # type: ignore[attr-defined, no-any-return]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write stream and model to one file, from which `glnn.load_stream` continues to the same bits."""
        if self.write is None:
            raise InputError("this stream has no model to save: make it with model.stream()")
        self.settle()
        self.write(path)

    def place(self) -> dict[str, np.ndarray]:
        """The numbers that say where the stream stands."""
        self.settle()
        return place_of(self._state)

    def gathered(self) -> np.ndarray:
        """The codes of the current sequence, if they are gathered."""
        return np.array(self._read or [], np.int32)

    def _stand(self, state: State) -> None:
        self._state: State = state
        self._ask: Callable[[int], float] | None = getattr(state, "ask", None)
        self._push_state = pushing(state)

    def _turn(self) -> None:
        """Before a symbol: what waits is read, here and in the stream that had the last turn."""
        self.settle()
        latest = self._latest
        if latest is not None and latest != [self]:
            for other in latest:
                other.settle()
            latest[:] = [self]

    def _push(self, code: int, symbol: Any) -> Pushed:
        self._turn()
        symbols = self._alphabet.symbols
        if self._ask is None:
            foreseen = self._state.probabilities()
            probability = float(foreseen[code])
            self._state.advance(code)
            return Pushed(symbol, probability, self._counted(code, probability), symbols, foreseen, None)
        probability = self._ask(code)
        pushed = Pushed(symbol, probability, self._counted(code, probability), symbols, None, self)
        self._waiting, self._pushed = code, weakref.ref(pushed)
        return pushed

    def _score(self, code: int) -> float:
        """The bits of the next symbol, which is read at once."""
        self._turn()
        return self._counted(code, self._push_state(code))

    def _counted(self, code: int, probability: float) -> float:
        bits = -math.log2(probability) if probability > 0.0 else math.inf
        if self._read is not None and code != self._escape:
            self._read.append(code)
        self.symbols += 1
        self.bits += bits
        return bits

    def _push_unknown(self, symbol: Any) -> Pushed:
        if self._escape is None:
            raise InputError(
                f"symbol {symbol!r} is not one of the {len(self._alphabet.base)} that the model knows "
                f"({self._alphabet.summary()}): train with alphabet= naming every symbol, or with unknown='escape'"
            )
        bits = escaped_bits(symbol, self._alphabet)
        pushed = self._push(self._escape, symbol)
        self.bits += bits
        pushed.probability *= 2.0**-bits
        pushed.bits += bits
        return pushed


def likeliest(distribution: np.ndarray, symbols: tuple[Any, ...], top: int) -> list[Expected]:
    """The most likely symbols, the likeliest first; of equals the one with the lower code."""
    order = np.argsort(-distribution, kind="stable")[:top]
    return [Expected(symbols[code], float(distribution[code])) for code in order.tolist()]
