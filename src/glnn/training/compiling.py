"""Compile what a training calls before its clock starts, one process at a time.

Two processes that fill Numba's cache at once can exchange their entries, and the next one to read them crashes. So the
processes of a grid search wait here for each other; the first one compiles, the others find it done.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

from glnn.progress import Display
from glnn.sequences import Encoded

_WARM_UP = 64


@contextmanager
def compiling(display: Display) -> Iterator[None]:
    """Around calls that compile; says so when they take longer than a second."""
    with said_if_compiling(display), _alone(display):
        yield


@contextmanager
def said_if_compiling(display: Display) -> Iterator[None]:
    """Say that kernels are compiled, only where they are: from the second run on they are read from the disk."""
    from numba.core import event

    class Said(event.Listener):  # type: ignore[misc]
        def on_start(self, event: object) -> None:
            if not begun:
                begun.append(True)
                waiting.enter_context(display.said_if_slow("compiling kernels, once"))

        def on_end(self, event: object) -> None:
            pass

    begun: list[bool] = []
    listener = Said()
    with ExitStack() as waiting:
        event.register("numba:compile", listener)
        try:
            yield
        finally:
            event.unregister("numba:compile", listener)


@contextmanager
def _alone(display: Display) -> Iterator[None]:
    """Wait for other processes of this user; where files cannot be locked or written, do not wait."""
    try:
        import fcntl

        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "glnn"
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / "compiling.lock").open("a")
    except (ImportError, OSError, RuntimeError):
        yield
        return
    with file:
        with display.said_if_slow("waiting for another process that compiles kernels"):
            fcntl.flock(file, fcntl.LOCK_EX)
        # Closing the file gives the lock back.
        yield


def beginning(data: Encoded) -> Encoded:
    """The first few symbols, to compile with."""
    codes = data.codes[:_WARM_UP]
    return Encoded(codes, np.array([0, codes.size], np.int64), np.ones(codes.size, bool), data.alphabet)
