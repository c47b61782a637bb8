"""Settings run in processes of this machine, one thread each; a process that dies has its setting run again.

This process alone writes the results, so that no line is written twice or torn, whatever happens to the others.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from typing import Any

from glnn.reproduction.results import Line
from glnn.reproduction.running import kinds_of_kernels, run_setting, warm_up
from glnn.reproduction.settings import Setting

ATTEMPTS = 3
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
Work = Callable[[Setting], Line]
Finished = tuple[Setting, Line | None, str]


class _Worker:
    """A process with the setting it is running."""

    def __init__(self, context: Any, work: Work) -> None:
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, work), daemon=True)
        self.process.start()
        theirs.close()
        self.setting: Setting | None = None

    def give(self, setting: Setting) -> None:
        self.setting = setting
        self.connection.send(setting)

    def end(self) -> None:
        self.connection.close()
        self.process.terminate()
        self.process.join()


def run_in_processes(settings: Sequence[Setting], workers: int = 1, work: Work = run_setting) -> Iterator[Finished]:
    """Run settings in their order on this many processes: each setting with its line, or None and what went wrong."""
    if workers < 1:
        raise ValueError(f"{workers} workers were asked for: at least 1 is needed")
    if workers > 1 and work is run_setting:
        # Once, before others start, so that they only read the cache.
        for _ in run_in_processes(kinds_of_kernels(settings), 1, warm_up):
            pass
    waiting = deque(settings)
    attempts: dict[Setting, int] = {}
    with _one_thread_each():
        context = multiprocessing.get_context("spawn")
        running = [_Worker(context, work) for _ in range(min(workers, len(waiting)))]
        try:
            while waiting or any(worker.setting for worker in running):
                for place, worker in enumerate(running):
                    if worker.setting is None and waiting:
                        running[place] = _given(worker, waiting.popleft(), context, work)
                busy = [worker for worker in running if worker.setting is not None]
                ready = wait([worker.connection for worker in busy])
                for worker in busy:
                    if worker.connection not in ready:
                        continue
                    setting = worker.setting
                    assert setting is not None
                    worker.setting = None
                    try:
                        line, problem = worker.connection.recv()
                    except (EOFError, OSError):
                        running[running.index(worker)] = _Worker(context, work)
                        worker.end()
                        attempts[setting] = attempts.get(setting, 0) + 1
                        if attempts[setting] < ATTEMPTS:
                            waiting.appendleft(setting)
                        else:
                            yield setting, None, f"its process died {ATTEMPTS} times, perhaps for lack of memory"
                        continue
                    yield setting, line, problem
        finally:
            for worker in running:
                worker.end()


def _given(worker: _Worker, setting: Setting, context: Any, work: Work) -> _Worker:
    """The worker, or a new one in place of one that died while it had nothing to do, at work on a setting."""
    try:
        worker.give(setting)
    except OSError:
        worker.end()
        worker = _Worker(context, work)
        worker.give(setting)
    return worker


def _serve(connection: Connection, work: Work) -> None:
    # Ctrl-C reaches every process of a terminal; the one that started this one decides what becomes of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    while True:
        try:
            setting = connection.recv()
        except (EOFError, OSError):
            return
        answer: tuple[Line | None, str]
        try:
            answer = work(setting), ""
        except Exception as error:
            answer = None, f"{type(error).__name__}: {error}"
        try:
            connection.send(answer)
        except OSError:
            return


def _leave_with_parent() -> None:
    """A process whose parent was killed would work for nothing."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes started inside use one thread."""
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
