"""Work in a process of its own, which may crash: what it says comes back, and how it ended."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from typing import Any


class Child:
    """A forked process that runs `work(*arguments, pipe)` and sends messages through the pipe.

    A message is a tuple; `("trying", number)` names what is tried next, so that `last` is known after a crash.
    """

    def __init__(self, work: Callable[..., None], *arguments: Any) -> None:
        context = multiprocessing.get_context("fork")
        self._here, there = context.Pipe(duplex=False)
        self._process = context.Process(target=work, args=(*arguments, there))
        self._process.start()
        there.close()
        self.last: int | None = None
        self.exitcode: int | None = None

    def messages(self) -> Iterator[tuple[Any, ...]]:
        """All messages but those of what is tried, until the process has ended."""
        while True:
            try:
                message = self._here.recv()
            except EOFError:
                break
            if message[0] == "trying":
                self.last = message[1]
            else:
                yield message
        self._process.join()
        self.exitcode = self._process.exitcode
