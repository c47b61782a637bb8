"""Independent jobs on one or several threads. What is added up is always added in the order of the jobs.

Kernels and matrix products release the interpreter's lock; BLAS itself stays on one thread, since its own threads
would make a sum depend on their number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

from threadpoolctl import ThreadpoolController

Result = TypeVar("Result")


class Workers:
    """Runs lists of jobs on `threads` threads."""

    def __init__(self, threads: int = 1) -> None:
        if threads < 1:
            raise ValueError(f"threads is {threads}: at least 1 is needed")
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def run(self, jobs: Sequence[Callable[[], Result]]) -> list[Result]:
        """The results in the order of the jobs."""
        if self._pool is None or len(jobs) < 2:
            return [job() for job in jobs]
        return [future.result() for future in [self._pool.submit(job) for job in jobs]]

    def __getstate__(self) -> dict[str, int]:
        return {"threads": self.threads}

    def __setstate__(self, state: dict[str, int]) -> None:
        self.__init__(state["threads"])  # type: ignore[misc]


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """BLAS on one thread, for as long as the block lasts."""
    with _blas().limit(limits=1, user_api="blas"):
        yield


@cache
def _blas() -> ThreadpoolController:
    # Finding the loaded libraries takes milliseconds, so it is done once; numpy, whose library counts, is loaded.
    return ThreadpoolController()
