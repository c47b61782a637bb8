"""Many sequences that arrive side by side, one for each case, user or machine, all of one model.

`streams[key]` is the stream of a key and begins with its first use. Whatever the model learns on the way it learns
from all of them. Cases whose end nobody tells would pile up: beyond `most` the one longest unused is forgotten.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

from glnn.predictors import Predictor
from glnn.streams.stream import Pushed, Stream


class Streams:
    """The streams of one model by their keys."""

    def __init__(self, predictor: Predictor, most: int | None = None) -> None:
        self.predictor, self.most = predictor, most
        self._streams: dict[Hashable, Stream] = {}

    def __getitem__(self, key: Hashable) -> Stream:
        stream = self._streams.pop(key, None)
        if stream is None:
            stream = Stream(self.predictor)
            if self.most is not None and len(self._streams) >= self.most:
                del self._streams[next(iter(self._streams))]
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

    def push(self, key: Hashable, symbol: Any) -> Pushed:
        """Push a symbol to the stream of a key."""
        return self[key].push(symbol)

    def end(self, key: Hashable) -> Pushed | None:
        """The sequence of a key is over: what its end cost. The key is forgotten."""
        return self._streams.pop(key).end() if key in self._streams else Stream(self.predictor).end()

    def forget(self, key: Hashable) -> None:
        """Drop a stream without an end, as for a case that nobody will hear of again."""
        self._streams.pop(key, None)
