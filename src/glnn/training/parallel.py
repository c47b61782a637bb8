"""Independent jobs on one or several threads. What is added up is always added in the order of the jobs.

Kernels and matrix products release the interpreter's lock; BLAS itself stays on one thread, since its own threads
would make a sum depend on their number.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import count
from typing import Generic, TypeVar

from threadpoolctl import ThreadpoolController

Result = TypeVar("Result")
Item = TypeVar("Item")


class Started(Generic[Result]):
    """Jobs that others may have begun; a thread that wants the results helps until all are done."""

    def __init__(self, jobs: Sequence[Callable[[], Result]]) -> None:
        self._jobs, self._next = jobs, count()
        self._results: dict[int, Result] = {}
        self.helpers: list[Future[None]] = []

    def help(self) -> None:
        """Take one job after the other, until none is left to begin."""
        # Counting is one step of the interpreter: no number is given out twice.
        while (k := next(self._next)) < len(self._jobs):
            self._results[k] = self._jobs[k]()

    def results(self) -> list[Result]:
        """The results in the order of the jobs."""
        self.help()
        for helper in self.helpers:
            helper.result()
        return [self._results[k] for k in range(len(self._jobs))]


class Workers:
    """Runs lists of jobs on `threads` threads, the calling one included."""

    def __init__(self, threads: int = 1) -> None:
        if threads < 1:
            raise ValueError(f"threads is {threads}: at least 1 is needed")
        self.threads = threads
        self.limit: Callable[[], None] | None = None
        """Called before jobs are begun; what it raises breaks off the work at hand."""
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None

    def start(self, jobs: Sequence[Callable[[], Result]]) -> Started[Result]:
        """Let the other threads begin; if there are none, everything is done at once."""
        if self.limit is not None:
            self.limit()
        started = Started(jobs)
        if self._pool is None:
            started.help()
        else:
            helpers = min(self.threads - 1, len(jobs))
            started.helpers = [self._pool.submit(started.help) for _ in range(helpers)]
        return started

    def run(self, jobs: Sequence[Callable[[], Result]]) -> list[Result]:
        """The results in the order of the jobs."""
        if self._pool is None or len(jobs) < 2:
            return [job() for job in jobs]
        return self.start(jobs).results()

    def __getstate__(self) -> dict[str, int]:
        return {"threads": self.threads}

    def __setstate__(self, state: dict[str, int]) -> None:
        self.__init__(state["threads"])  # type: ignore[misc]


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """BLAS on one thread, for as long as the block lasts."""
    with _blas().limit(limits=1, user_api="blas"):
        yield


@cache
def _blas() -> ThreadpoolController:
    # Finding the loaded libraries takes milliseconds, so it is done once; numpy, whose library counts, is loaded.
    return ThreadpoolController()
