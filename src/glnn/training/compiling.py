"""Compile what a training calls before its clock starts, one process at a time.

The processes of a grid search wait here for each other; the first one compiles, the others find it done. The first time
of all, the kernels of networks are compiled in a second process while those of contexts are compiled in this one.
"""

from __future__ import annotations

import atexit
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numba.core import event

from glnn.numeric.kernel import cache_folder, one_at_a_time
from glnn.progress import Display
from glnn.sequences import Encoded

_WARM_UP = 64
_WHEN_LOADED = 3
_SAID = "compiling kernels, once"


@contextmanager
def compiling(display: Display) -> Iterator[None]:
    """Around calls that compile; says so when they take longer than a second."""
    with said_if_compiling(display), _alone(display):
        yield


_beside: list[subprocess.Popen[bytes]] = []


def compile_beside(module: str) -> None:
    """Let a process of its own compile what that module's program calls: in one process only one kernel at a time is.

    Whoever is going to call those kernels calls `wait_for_beside` first.
    """
    if (os.cpu_count() or 1) < 2 or not one_at_a_time():
        return
    nowhere = subprocess.DEVNULL
    with suppress(OSError):
        process = subprocess.Popen([sys.executable, "-m", module], stdin=nowhere, stdout=nowhere, stderr=nowhere)
        _beside.append(process)
        atexit.register(process.kill)


def wait_for_beside() -> None:
    """Until what is compiled in other processes is done; what failed there is compiled here."""
    while _beside:
        _beside.pop().wait()


@contextmanager
def said_if_compiling(display: Display, kernels: int = 0) -> Iterator[None]:
    """Say that kernels are compiled, only where they are: from the second run on they are read from the disk.

    Where it is known that about this many `kernels` are, a bar tells how long it will still take.
    """
    with ExitStack() as waiting:
        listener = _Said(display, kernels, waiting)
        event.register("numba:compile", listener)
        try:
            yield
        finally:
            event.unregister("numba:compile", listener)


class _Said(event.Listener):  # type: ignore[misc]
    """Hears of every kernel that is compiled."""

    def __init__(self, display: Display, kernels: int, waiting: ExitStack) -> None:
        self._display, self._kernels, self._waiting = display, kernels, waiting
        self._begun: float | None = None
        self._done = 0

    def on_start(self, event: Any) -> None:
        if self._begun is None:
            self._begun = time.monotonic()
            self._waiting.enter_context(self._display.said_if_slow(_SAID))

    def on_end(self, event: Any) -> None:
        if self._kernels and self._begun is not None and _is_ours(event):
            self._done += 1
            text = _left(time.monotonic() - self._begun, self._done, self._kernels)
            self._display.update(self._done / self._kernels, text)


def _is_ours(event: Any) -> bool:
    """Whether it is one of our kernels that was compiled, not a helper of Numba's own."""
    return str((event.data or {})["dispatcher"].py_func.__module__).startswith("glnn.")


def _left(seconds: float, done: int, kernels: int) -> str:
    """How long it will still take, if the rest goes as the first ones went."""
    if done >= kernels:
        return f"{_SAID}: nearly done"
    return f"{_SAID}: about {math.ceil(seconds * (kernels - done) / done)} s left"


class Ahead:
    """Compiles in a thread of its own while data are read. Training itself reports later what failed there."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._thread = threading.Thread(target=self._quietly, args=[work], daemon=True)
        self._thread.start()

    @staticmethod
    def _quietly(work: Callable[[], Any]) -> None:
        with suppress(Exception):
            work()

    def wait(self) -> None:
        """Until it is done."""
        self._thread.join()


def nothing_compiled() -> bool:
    """Whether no kernel of this version was ever compiled here, but for the few that modules call when loaded."""
    folder = os.environ.get("NUMBA_CACHE_DIR") or cache_folder()
    return not folder or sum(1 for _ in Path(folder).rglob("*.nbi")) <= _WHEN_LOADED


@contextmanager
def _alone(display: Display) -> Iterator[None]:
    """Wait for other processes that fill the same folder; where files cannot be locked or written, do not wait."""
    folder = os.environ.get("NUMBA_CACHE_DIR") or cache_folder()
    try:
        import fcntl

        if not folder:
            raise OSError("kernels are not kept")
        Path(folder).mkdir(parents=True, exist_ok=True)
        file = (Path(folder) / "compiling.lock").open("a")
    except (ImportError, OSError):
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
