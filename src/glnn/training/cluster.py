"""Training on the workers of a Dask cluster: one training whose sequences they hold, or many starts, one on each.

One training (`train_on_cluster`): only sums travel; when a worker is lost, its sequences are given to the others and
the step is done again. Many starts (`fit(…, cluster=client)`): what is learned is what this machine would learn in as
many steps, CPU seconds are those of the workers, and a lost start is trained again by another. Dask runs whatever code
its clients send: trusted networks only.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any

from glnn.models import Model, Params
from glnn.sequences import Encoded
from glnn.training.budget import Budget, charged_alone
from glnn.training.race import Another, Listener, Run, Together, limits_of
from glnn.training.records import Progress, StepInfo
from glnn.training.settings import Settings
from glnn.training.shards import Dealt, ShardedTrainer, ShardGroup, WorkerLostError, deal, total
from glnn.training.trainer import Trainer

# Seconds after which a call that is not answered makes one look whether its worker is still there.
_LOOK_AFTER = 2.0


class ClusterShards:
    """Shards on the workers of a Dask cluster, neighbouring ones together."""

    def __init__(
        self, client: Any, model: Model, data: Encoded, settings: Settings, symbols: int | None = None
    ) -> None:
        self._client = client
        self._dealt = Dealt(model, data, settings, symbols)
        self.addresses: list[str] = []
        self.restore()

    def restore(self) -> None:
        """Deal the shards out to the workers that are there."""
        self._name = uuid.uuid4().hex
        addresses = sorted(self._workers())
        if not addresses:
            raise WorkerLostError(
                "the cluster has no workers left: start some, and the training continues from its last step"
            )
        groups = deal(self._dealt.sizes, len(addresses))
        self.addresses = addresses[: len(groups)]
        self._answers([(_hold, self._name, self._dealt.group(*group), self._dealt.options) for group in groups])

    def ask(self, name: str, *arguments: Any) -> Any:
        """Call a method of every shard; the sum of the answers."""
        parts: dict[tuple[int, int], Any] = {}
        for answer in self._answers([(_ask, self._name, name, arguments)] * len(self.addresses)):
            parts.update(answer)
        return total(len(self._dealt.ranges), parts)

    def _answers(self, calls: list[tuple[Any, ...]]) -> list[Any]:
        """One call for each worker that holds shards; their answers in the order of the workers."""
        from distributed import wait

        futures = [
            self._client.submit(*call, workers=[address], pure=False, priority=1)
            for call, address in zip(calls, self.addresses, strict=True)
        ]
        while True:
            try:
                with self._client.as_current():
                    wait(futures, timeout=_LOOK_AFTER)
                return list(self._client.gather(futures, direct=True))
            except TimeoutError:
                # A task for a worker that is gone would wait for it for ever.
                if not set(self.addresses) <= self._workers():
                    raise WorkerLostError("a worker of the cluster was lost") from None
            except (OSError, _ForgottenError) as error:
                raise WorkerLostError(f"a worker of the cluster was lost ({error})") from error

    def _workers(self) -> set[str]:
        return set(self._client.scheduler_info(n_workers=-1)["workers"])


class _ForgottenError(LookupError):
    """A worker that was restarted does not hold what its predecessor did."""


# What this process holds when it is a worker: one group, that of the latest training.
_held: dict[str, ShardGroup] = {}


def _hold(name: str, group: tuple[Any, ...], options: dict[str, Any]) -> None:
    _held.clear()
    _held[name] = ShardGroup(*group, **options)


def _ask(name: str, method: str, arguments: tuple[Any, ...]) -> Any:
    if name not in _held:
        raise _ForgottenError(f"no shards of training {name}")
    return _held[name].ask(method, *arguments)


def train_on_cluster(
    client: Any, model: Model, data: Encoded, params: Params, settings: Settings, *others: Any
) -> ShardedTrainer:
    """A trainer whose passes are computed by the workers of a Dask client."""
    return ShardedTrainer(ClusterShards(client, model, data, settings), model, data, params, settings, *others)


Given = Callable[[Run], tuple[Callable[..., Trainer], tuple[Any, ...]]]
"""What makes the trainer of a run, and what it is called with; the second of these are the training data."""
Told = Callable[[Run, StepInfo, Trainer], Any]


def on_cluster(client: Any, given: Given, told: Told | None = None) -> Together:
    """Trains runs together on the cluster of a `distributed.Client`; `told` hears of every step."""
    data_there: dict[int, Any] = {}

    def together(
        runs: Sequence[Run],
        share: dict[str, float],
        trainer: Callable[[Run], Trainer],
        listener: Listener,
        another: Another = lambda ended: None,
    ) -> bool:
        from distributed import as_completed

        run_of: dict[str, Run] = {}
        futures = []
        for run in runs:
            kind, (model, data, *rest) = given(run)
            if id(data) not in data_there:
                data_there[id(data)] = client.scatter(data, broadcast=True)
            key = f"glnn-start-{uuid.uuid4().hex}"
            arguments = (kind, limits_of(run, share), model, data_there[id(data)], *rest)
            futures.append(client.submit(_train_there, *arguments, key=key, pure=False))
            run_of[key] = run
        try:
            for future in as_completed(futures, loop=client.loop):
                run = run_of[future.key]
                known = 0 if run.progress is None else run.progress.step
                run.progress = future.result()
                # A trainer that stands where the worker's stood, for who wants to look at it.
                source = trainer(run)
                stops = []
                for info in run.progress.history[known:]:
                    if told is not None:
                        told(run, info, source)
                    stops.append(listener(run, info, source))
                if any(stops):
                    run.progress.reason = "callback"
                    return True
        finally:
            client.cancel(futures)
        return False

    return together


def _train_there(kind: Callable[..., Trainer], limits: Budget, *arguments: Any) -> Progress:
    """On a worker: train until the limits are reached."""
    with charged_alone():
        return kind(*arguments).run(limits)
