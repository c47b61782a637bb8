"""Many sequences that arrive side by side, one for each case, user or machine, all of one model.

`streams[key]` is the stream of a key and begins with its first use. A group that learns does so from each sequence when
it ends, for all; with `most=1` there is a single one, which is learned symbol by symbol as it arrives. Cases whose end
is never announced would pile up: beyond `most` the one unused longest is forgotten.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

import numpy as np

from glnn.predictors.learning import Learner
from glnn.predictors.protocol import Predictor
from glnn.sequences import InputError
from glnn.streams.desk import Desk
from glnn.streams.stream import Pushed, Stream


class Streams:
    """The streams of one model by their keys; `more` is kept with them in a file, as JSON."""

    def __init__(
        self,
        predictor: Predictor,
        most: int | None = None,
        learner: Learner | None = None,
        desk: Desk | None = None,
    ) -> None:
        self.predictor, self.most = predictor if learner is None else learner, most
        self.learner = learner
        self.write: Callable[[Any], None] | None = None
        self.more: dict[str, Any] = {}
        self._streams: dict[Hashable, Stream] = {}
        if desk is None:
            desk = Desk(self.predictor, None if learner is None or most != 1 else learner.begin_learning)
        self._desk = desk

    def __getitem__(self, key: Hashable) -> Stream:
        stream = self._streams.pop(key, None)
        if stream is None:
            if self.most is not None and len(self._streams) >= self.most:
                self.forget(next(iter(self._streams)))
            stream = self.make()
        # Last in the dict is last used, so that the first is the one to forget.
        self._streams[key] = stream
        return stream

    def __setitem__(self, key: Hashable, stream: Stream) -> None:
        self._streams[key] = stream

    def __contains__(self, key: object) -> bool:
        return key in self._streams

    def __len__(self) -> int:
        return len(self._streams)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._streams)

    def make(
        self,
        place: dict[str, np.ndarray] | None = None,
        symbols: int = 0,
        bits: float = 0.0,
        read: Sequence[int] = (),
    ) -> Stream:
        """A stream of this group, at its start or at a place."""
        gathered = None if self.learner is None or self.most == 1 else list(read)
        return Stream(self._desk, place, symbols, bits, gathered)

    def push(self, key: Hashable, symbol: Any) -> Pushed:
        """Push a symbol to the stream of a key."""
        return self[key].push(symbol)

    def end(self, key: Hashable) -> Pushed | None:
        """The sequence of a key is over: what its end cost. It is learned, if this group learns, and forgotten."""
        stream = self._streams.pop(key, None)
        if stream is None:
            stream = self.make()
        pushed = stream.end()
        self._learn(stream)
        return pushed

    def forget(self, key: Hashable) -> None:
        """Drop a stream whose end is not known, such as an abandoned case."""
        stream = self._streams.pop(key, None)
        if stream is not None:
            self._learn(stream)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all streams and the model to one file, from which `glnn.load_streams` continues to the same bits."""
        if self.write is None:
            raise InputError("these streams have no model to save: make them with model.streams()")
        with self._desk.lock:
            self._desk.settle()
            self.write(path)

    def _learn(self, stream: Stream) -> None:
        if self.learner is None:
            return
        with self._desk.lock:
            # The last symbol is read before what it was judged by changes.
            self._desk.settle()
            codes = stream.gathered()
            if codes.size:
                self.learner.learn(codes)
