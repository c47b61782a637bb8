"""Where the streams of one model are read, one at a time.

Only the stream whose turn it is has a state: of all others a few bytes are kept that say where they stand. So one of
many streams takes little more than its place. A symbol is read, and learned, when the next one comes or something else
is asked for: until then what was expected can be found for those who want to know, and only one stream waits like that.
A lock makes threads take turns.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from glnn.predictors.learning import Learner
from glnn.predictors.protocol import Predictor, State, packed_places, pushing

if TYPE_CHECKING:
    from glnn.streams.stream import Pushed, Stream

SHOWN = 5


def nobody() -> None:
    """Nobody may ask any more."""


class Desk:
    """What all streams of a model have in common, and the state of the one whose turn it is.

    `begin` makes the state at the start of each sequence, the predictor's own by default; `write` saves a stream.
    """

    def __init__(
        self,
        predictor: Predictor,
        begin: Callable[[], State] | None = None,
        write: Callable[[Stream, str | os.PathLike[str]], None] | None = None,
    ) -> None:
        alphabet = predictor.alphabet
        self.alphabet, self.symbols, self.index = alphabet, alphabet.symbols, alphabet.base.codes
        self.end, self.escape = alphabet.end, alphabet.escape
        self.write, self.lock = write, threading.RLock()
        self._begin = begin or predictor.begin
        # What learns begins otherwise once it has learned.
        self._steady = begin is None and not isinstance(predictor, Learner)
        self._start: bytes | None = None
        self._packs = False
        self.stream: Stream | None = None
        self.waiting = -1
        self.over = False
        self.pushed: Callable[[], Pushed | None] = nobody

    def turn(self, stream: Stream) -> None:
        """It is this stream's turn: what waits is read, and its state is taken up where it stands."""
        if self.waiting >= 0:
            self.settle()
        if stream is self.stream:
            return
        before, self.stream = self.stream, None
        if before is not None:
            before.kept = packed_places(self.state) if self._packs else self.state
        kept, stream.kept = stream.kept, None
        if kept is None:
            self.restart()
        elif isinstance(kept, bytes):
            self.state.unpack(kept)  # type: ignore[attr-defined]
        else:
            self._stand(kept)
        self.stream = stream

    def restart(self) -> None:
        """Go to the start of a sequence."""
        if self._start is not None:
            self.state.unpack(self._start)  # type: ignore[attr-defined]
            return
        self._stand(self._begin())
        start = packed_places(self.state)
        self._packs = start is not None
        if self._steady:
            self._start = start

    def settle(self) -> None:
        """Read the symbol that waits to be read, after finding what was expected for whoever still may ask."""
        if self.waiting < 0:
            return
        pushed = self.pushed()
        if pushed is not None:
            pushed.find(self)
        code, self.waiting = self.waiting, -1
        self.state.advance(code)
        if self.over:
            self.over = False
            self.restart()

    def foreseen(self) -> np.ndarray:
        """Rows (code, probability) of what was expected where a symbol waits to be read."""
        return self.state.likeliest(SHOWN)  # type: ignore[attr-defined, no-any-return]

    def _stand(self, state: State) -> None:
        self.state: State = state
        self.ask: Callable[[int], float] | None = getattr(state, "ask", None)
        self.push: Callable[[int], float] = pushing(state)

    def __reduce__(self) -> Any:
        # A copy or a pickle of a model makes one of its own.
        return nobody, ()
