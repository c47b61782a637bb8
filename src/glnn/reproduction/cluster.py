"""Settings run on a Dask cluster: the same lines as on one machine, written here as each comes in.

A worker that dies has its setting run again on another one. A setting may then be run twice; the sweep writes only the
first line. Dask runs whatever code its clients send: a cluster belongs in a trusted network.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import glnn
from glnn.reproduction.processes import Finished, Work
from glnn.reproduction.results import Line
from glnn.reproduction.running import run_setting
from glnn.reproduction.settings import Setting
from glnn.sequences import InputError

if TYPE_CHECKING:
    from distributed import Client

_CONNECTING, _JOINING = 20.0, 60.0
# CPU seconds are those of a process: a worker with several threads still trains one network at a time.
_ONE_AT_A_TIME = threading.Lock()


def run_on_cluster(settings: Sequence[Setting], cluster: Any, work: Work = run_setting) -> Iterator[Finished]:
    """Run settings on a cluster (an address, or a cluster object), in their order as workers become free."""
    with connected(cluster) as client:
        from distributed import as_completed

        # Tasks of one name are one task to Dask, and another sweep on the same cluster has tasks of its own.
        sweep = uuid.uuid4().hex
        futures = [
            client.submit(_alone, work, setting, key=f"glnn-{sweep}-{place}", priority=-place)
            for place, setting in enumerate(settings)
        ]
        setting_of = {future.key: setting for future, setting in zip(futures, settings, strict=True)}
        waiting = as_completed(futures, loop=client.loop)
        futures.clear()
        for future in waiting:
            setting = setting_of[future.key]
            try:
                yield setting, future.result(), ""
            except Exception as error:
                yield setting, None, f"{type(error).__name__}: {error}"
            # The cluster need not keep what has been written.
            future.release()


@contextmanager
def connected(cluster: Any) -> Iterator[Client]:
    """A client of a cluster whose workers have this version of the package."""
    try:
        from distributed import Client
    except ModuleNotFoundError:
        raise InputError("a cluster needs Dask: pip install 'glnn[cluster]'") from None
    try:
        client = Client(cluster, timeout=_CONNECTING, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(
            f"no Dask scheduler answers at {cluster} ({error}): start one with `dask scheduler`, and workers with "
            "`dask worker ADDRESS --nthreads 1`"
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=_JOINING)
        except TimeoutError:
            raise InputError(
                f"the scheduler at {cluster} has no workers: start some with `dask worker ADDRESS --nthreads 1`"
            ) from None
        _check_versions(client)
        yield client


def _check_versions(client: Client) -> None:
    try:
        versions = client.run(_version)
    except Exception as error:
        raise InputError(f"a worker cannot import glnn ({error}): install the same version everywhere") from None
    others = {address: version for address, version in versions.items() if version != glnn.__version__}
    if others:
        address, version = next(iter(others.items()))
        raise InputError(
            f"worker {address} has glnn {version}, this is {glnn.__version__}: install the same version everywhere"
        )


def _version() -> str:
    return glnn.__version__


def _alone(work: Work, setting: Setting) -> Line:
    with _ONE_AT_A_TIME:
        return work(setting)
