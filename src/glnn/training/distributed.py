"""One training served by a Dask cluster: workers hold sequences, compute their statistics, and only sums travel.

The trainer is the usual one with another engine. With shards on this machine (`LocalShards`) or on a cluster
of any size (`ClusterShards`) it takes the same steps, to the last bit. When a worker is lost, its sequences are given
to the others and the step is done again. Dask runs whatever code its clients send: trusted networks only.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Protocol

import numpy as np

from glnn.metrics import TransitionMethod
from glnn.models import Model, Params
from glnn.output import softmax
from glnn.sequences import Encoded
from glnn.training.budget import Clock
from glnn.training.corpus import Corpus, stretch_length
from glnn.training.engine import Derivatives, Engine, Forward, Rewritten
from glnn.training.records import StepInfo
from glnn.training.settings import Settings
from glnn.training.shards import ShardGroup, cut, deal, total
from glnn.training.trainer import Trainer

_ATTEMPTS = 4
# The length of a shard in stretches: its results travel, and should be small beside the work that made them.
STRETCHES = 4
# Seconds after which a call that is not answered makes one look whether its worker is still there.
_LOOK_AFTER = 2.0


class WorkerLostError(ConnectionError):
    """A worker does not answer any more."""


class Shards(Protocol):
    """Whoever holds the sequences."""

    def ask(self, name: str, *arguments: Any) -> Any:
        """Call a method of every shard; the sum of the answers along the tree."""
        ...

    def restore(self) -> None:
        """Hold all sequences again after a worker was lost."""
        ...


class _Dealt:
    """The shards of some data, and how to make a group of them."""

    def __init__(self, model: Model, data: Encoded, settings: Settings, symbols: int | None) -> None:
        self.model, self.data = model, data
        self.ranges = cut(data, STRETCHES * stretch_length(model.units) if symbols is None else symbols)
        self.options: dict[str, Any] = {"memory": settings.memory // len(self.ranges), "precision": settings.precision}

    @property
    def sizes(self) -> list[int]:
        """Symbols in each shard."""
        starts = self.data.starts
        return [int(starts[part.stop] - starts[part.start]) for part in self.ranges]

    def group(self, begin: int, end: int) -> tuple[Model, list[tuple[Encoded, int]], tuple[int, int, int]]:
        """What makes the group of the shards begin … end − 1."""
        parts = [(self.data.select(part), int(self.data.starts[part.start])) for part in self.ranges[begin:end]]
        return self.model, parts, (begin, end, len(self.ranges))


class LocalShards:
    """All shards in this process."""

    def __init__(self, model: Model, data: Encoded, settings: Settings, symbols: int | None = None) -> None:
        dealt = _Dealt(model, data, settings, symbols)
        self._count = len(dealt.ranges)
        self._group = ShardGroup(*dealt.group(0, self._count), **dealt.options)

    def ask(self, name: str, *arguments: Any) -> Any:
        """Call a method of every shard; the sum of the answers."""
        return total(self._count, self._group.ask(name, *arguments))

    def restore(self) -> None:
        """Nothing here gets lost."""


class ClusterShards:
    """Shards on the workers of a Dask cluster, neighbouring ones together."""

    def __init__(
        self, client: Any, model: Model, data: Encoded, settings: Settings, symbols: int | None = None
    ) -> None:
        self._client = client
        self._dealt = _Dealt(model, data, settings, symbols)
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


@dataclass
class ShardedForward(Forward):
    """A forward pass that lies with the shards, under a number."""

    slot: int = 0


class ShardedEngine(Engine):
    """What the trainer asks of an engine, asked of the shards instead."""

    def __init__(self, model: Model, corpus: Corpus, shards: Shards) -> None:
        super().__init__(model, corpus, memory=0)
        self._shards = shards
        self._slots, self._trials = count(), count(1)

    def forward(self, params: Params, reuse: Forward | None = None, state: np.ndarray | None = None) -> Forward:
        """Run every shard and add up its likelihood."""
        if state is not None:
            raise ValueError("shards begin their sequences from the start state: leave the state out")
        slot = reuse.slot if isinstance(reuse, ShardedForward) else next(self._slots)
        found = self._shards.ask("forward", slot, params)
        value = found.log_likelihood if np.isfinite(found.log_likelihood) else -np.inf
        return ShardedForward(params, None, np.empty((0, 0)), [], found.state, value, found.failure, slot=slot)

    def rewrite(
        self, current: Forward, w: np.ndarray, method: TransitionMethod, reuse: Rewritten | None = None
    ) -> Rewritten:
        """The log-likelihood with other writing weights; the evidence lies with the shards, under a number."""
        trial = next(self._trials)
        value = float(self._shards.ask("rewrite", _slot(current), w, method, trial))
        return Rewritten(value if np.isfinite(value) else -np.inf, trial)

    def writing_statistics(self, current: Forward) -> softmax.WritingStatistics:
        """W, h_ii and h_0i of all shards."""
        found: softmax.WritingStatistics = self._shards.ask("writing", _slot(current))
        return found

    def derivatives(self, current: Forward, method: TransitionMethod, evidence: Any = None) -> Derivatives:
        """The statistics of the transitions of all shards."""
        found: Derivatives = self._shards.ask("derivatives", _slot(current), current.params.w, method, evidence)
        return found


class ShardedTrainer(Trainer):
    """The trainer over shards, here or on a cluster."""

    def __init__(self, shards: Shards, model: Model, data: Encoded, params: Params, settings: Settings, *others: Any):
        if settings.batch_size is not None or settings.sequence_weights != "length":
            raise ValueError(
                f"batch_size is {settings.batch_size} and sequence_weights is {settings.sequence_weights!r}: shards "
                "serve whole passes with sequences weighed by their length; leave both at their defaults"
            )
        if settings.coherence is not None:
            raise ValueError(f"coherence is {settings.coherence}: shards do not measure it; leave it out")
        self._shards = shards
        super().__init__(model, data, params, settings, *others)
        self._engine = ShardedEngine(model, self._whole, shards)

    def step(self, clock: Clock | None = None) -> StepInfo:
        """One step; when a worker is lost in the middle of it, it is done again with the others."""
        for _ in range(_ATTEMPTS - 1):
            try:
                return super().step(clock)
            except WorkerLostError:
                self._forget_passes()
                self._shards.restore()
        return super().step(clock)

    def _begin_step(self) -> Forward:
        fresh = self._current is None
        current = super()._begin_step()
        if fresh and self.progress.history:
            # The same number from another sum may differ in its last bit, and a step be accepted that was not.
            current = replace(current, log_likelihood=self.progress.history[-1].log_likelihood)
            self._current = current
        return current


def train_on_cluster(
    client: Any, model: Model, data: Encoded, params: Params, settings: Settings, *others: Any
) -> ShardedTrainer:
    """A trainer whose passes are computed by the workers of a Dask client."""
    return ShardedTrainer(ClusterShards(client, model, data, settings), model, data, params, settings, *others)


def _slot(current: Forward) -> int:
    assert isinstance(current, ShardedForward)
    return current.slot
