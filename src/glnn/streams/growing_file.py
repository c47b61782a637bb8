"""The lines of a file that grows, as `tail -F` reads them: through rotation, truncation and lines half written.

A line is given out when its newline is there, so that what a program is still writing is never read in two pieces.
`position` says where to continue after everything given out so far, in another process too.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

_BLOCK = 1 << 16
# A line longer than this is not an event: it is cut here, to bound the memory.
LONGEST = 1 << 20


class Position(NamedTuple):
    """The file (by its number on its device) and the byte where the next line begins."""

    device: int
    inode: int
    offset: int


class GrowingFile:
    """Reads the lines of `path` from `position`, or from its beginning; waits for more until `stopped()`."""

    def __init__(
        self,
        path: Path,
        position: Position | None = None,
        stopped: Callable[[], bool] = lambda: False,
        wait: float = 0.2,
        grows: bool = True,
    ) -> None:
        self.path, self._stopped, self._wait, self._grows = path, stopped, wait, grows
        self.notes: list[str] = []
        self._file = self._open(position)
        self._rest = b""
        self._pending = 0

    @property
    def position(self) -> Position:
        """Where the next line begins."""
        status = os.fstat(self._file.fileno())
        return Position(status.st_dev, status.st_ino, self._file.tell() - self._pending)

    def lines(self) -> Iterator[bytes]:
        """Complete lines without their newline; and the last one when the file no longer grows."""
        while True:
            block = self._file.read(_BLOCK)
            if block:
                yield from self._complete(block)
            elif self._stopped():
                return
            elif self._replaced():
                if self._rest:
                    yield self._given_up()
                self._file.close()
                self._file = self.path.open("rb")
            elif not self._grows:
                if self._rest:
                    yield self._given_up()
                return
            else:
                time.sleep(self._wait)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _complete(self, block: bytes) -> Iterator[bytes]:
        gathered = self._rest + block
        *whole, self._rest = gathered.split(b"\n")
        self._pending = len(gathered)
        for line in whole:
            # Counted before it is given out: the caller may stop here.
            self._pending -= len(line) + 1
            yield line
        if len(self._rest) > LONGEST:
            self.notes.append(f"{self.path}: a line of more than {LONGEST:,} bytes was cut")
            yield self._given_up()[:LONGEST]

    def _given_up(self) -> bytes:
        """The beginning of a line whose end will not come."""
        rest, self._rest, self._pending = self._rest, b"", 0
        return rest

    def _replaced(self) -> bool:
        """Whether another file has taken the place of this one, or this one was cut short."""
        here = os.fstat(self._file.fileno())
        try:
            there = self.path.stat()
        except FileNotFoundError:
            return False  # between moving the old file away and making the new one
        if (there.st_dev, there.st_ino) != (here.st_dev, here.st_ino):
            self.notes.append(f"{self.path} was rotated: continuing with the new file")
            return True
        if here.st_size < self._file.tell():
            self.notes.append(f"{self.path} was cut short: continuing from its beginning")
            return True
        return False

    def _open(self, position: Position | None) -> BinaryIO:
        if position is None:
            return self.path.open("rb")
        # After a rotation in between, the rest of the old file is usually next to the new one.
        for candidate in (self.path, self.path.with_name(self.path.name + ".1")):
            try:
                file = candidate.open("rb")
            except FileNotFoundError:
                continue
            status = os.fstat(file.fileno())
            if (status.st_dev, status.st_ino) == position[:2] and status.st_size >= position.offset:
                file.seek(position.offset)
                return file
            file.close()
        self.notes.append(f"{self.path} is not the file that was read before: reading starts again")
        return self.path.open("rb")
