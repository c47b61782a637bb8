"""A code that a second thread decodes while it is still being written: the check costs a core in place of time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from contextlib import contextmanager
from typing import BinaryIO

from glnn.codec.errors import StreamError

_BETWEEN_LOOKS = 0.1


class Growing:
    """A file that one thread writes and another reads from its beginning, waiting for what is still to come."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._changed = file, threading.Condition()
        self._written, self._place, self._over = 0, 0, False

    def write(self, block: bytes) -> int:
        """Append; whoever waits for it goes on."""
        with self._changed:
            self._file.seek(self._written)
            self._written += self._file.write(block)
            self._changed.notify()
        return len(block)

    def end(self) -> None:
        """There is no more to come."""
        with self._changed:
            self._over = True
            self._changed.notify()

    def read(self, count: int = -1, /) -> bytes:
        """The next bytes, at most so many and at least one before the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._over or self._place < self._written)
            self._file.seek(self._place)
            found = self._file.read(min(count % (1 << 63), self._written - self._place))
            self._place += len(found)
        return found


@contextmanager
def decoded_alongside(
    code: BinaryIO, decode: Callable[[Growing, Callable[[float], None]], None], progress: Callable[[float], None]
) -> Iterator[tuple[Growing, Callable[[float], None]]]:
    """What to write the code to, and whom to tell how far that is, while `decode` reads it in a second thread.

    After the block the rest is waited for; what went wrong in decoding is raised then. `progress` is told of the mean
    of both, in the thread of the caller.
    """
    growing, decoded, left = Growing(code), 0.0, False

    def reached(part: float) -> None:
        nonlocal decoded
        decoded = part
        if left:
            raise StreamError("the check was stopped")

    with ThreadPoolExecutor(1) as thread:
        check = thread.submit(decode, growing, reached)
        try:
            yield growing, lambda encoded: progress(0.5 * (encoded + decoded))
            growing.end()
            while True:
                progress(0.5 + 0.5 * decoded)
                try:
                    check.result(_BETWEEN_LOOKS)
                    break
                except NotYet:
                    continue
        finally:
            left = True
            growing.end()
    progress(1.0)
