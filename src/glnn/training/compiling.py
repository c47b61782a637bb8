"""Compile what a training calls before its clock starts, one process at a time.

Two processes that fill Numba's cache at once can exchange their entries, and the next one to read them crashes. So the
processes of a grid search wait here for each other; the first one compiles, the others find it done.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from glnn.progress import Display


@contextmanager
def compiling(display: Display) -> Iterator[None]:
    """Around calls that compile; says so when they take longer than a second."""
    with display.said_if_slow("compiling kernels, once"), _alone():
        yield


@contextmanager
def _alone() -> Iterator[None]:
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
        fcntl.flock(file, fcntl.LOCK_EX)
        # Closing the file gives the lock back.
        yield
