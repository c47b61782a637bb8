"""The lines of a pipe as they come, such as standard input; waiting for one ends when it is asked to stop."""

from __future__ import annotations

import os
import select
from collections.abc import Callable, Iterator

from glnn.streams.growing_file import LONGEST

_BLOCK = 1 << 16


class Pipe:
    """Reads the lines of an open file descriptor until its end, or until `stopped()`."""

    position = None
    """What was read from a pipe is gone: there is no place to continue from."""

    def __init__(self, descriptor: int, stopped: Callable[[], bool] = lambda: False, wait: float = 0.2) -> None:
        self._descriptor, self._stopped, self._wait = descriptor, stopped, wait
        self.notes: list[str] = []

    def lines(self) -> Iterator[bytes]:
        """Lines without their newline; and the last one at the end."""
        rest = b""
        while not self._stopped():
            if not select.select([self._descriptor], [], [], self._wait)[0]:
                continue
            block = os.read(self._descriptor, _BLOCK)
            if not block:
                if rest:
                    yield rest
                return
            *whole, rest = (rest + block).split(b"\n")
            yield from whole
            if len(rest) > LONGEST:
                self.notes.append(f"a line of more than {LONGEST:,} bytes was cut")
                cut, rest = rest[:LONGEST], b""
                yield cut

    def close(self) -> None:
        """The descriptor belongs to the caller."""
