"""Sequences dealt out in shards: what a pass finds on each is added up in one fixed tree, no matter who computed it.

Floating-point sums depend on their order. Here shards are cut by the data and the network's size alone, and their
results are added pairwise along a binary tree over the shards, in the order of the sequences. A worker that holds
neighbouring shards adds up the subtrees that it has whole, so that little travels, and the bits stay the same. The
trainer is the usual one with another engine: `LocalShards` here and `glnn.training.cluster` take the same steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count, pairwise
from typing import Any, Protocol

import numpy as np

from glnn.metrics import TransitionMethod
from glnn.models import Model, Params
from glnn.output import softmax
from glnn.sequences import Encoded
from glnn.training.budget import Clock
from glnn.training.corpus import Corpus, prepare, stretch_length
from glnn.training.engine import Engine
from glnn.training.parallel import single_threaded_blas
from glnn.training.records import Replay, StepInfo
from glnn.training.results import Derivatives, Forward, NotFinite, Rewritten
from glnn.training.settings import Settings
from glnn.training.trainer import Trainer

Node = tuple[int, int]
# The length of a shard in stretches: its results travel, and should be small compared with the work that made them.
STRETCHES = 4
_ATTEMPTS = 4
# The current pass and its trial.
_SLOTS = 2


@dataclass(frozen=True)
class Scored:
    """The log-likelihood of neighbouring shards, the first failure in them, and the state after their last symbol."""

    log_likelihood: float
    failure: NotFinite | None
    state: np.ndarray

    def __add__(self, other: Scored) -> Scored:
        total = self.log_likelihood + other.log_likelihood
        return Scored(total, self.failure or other.failure, other.state)


class Shard:
    """Some neighbouring sequences with an engine of their own, and its passes by number."""

    def __init__(self, model: Model, data: Encoded, begin: int, **options: Any) -> None:
        self._begin = begin
        self._engine = Engine(model, prepare(data, stretch_length(model.units)), **options)
        self._passes: dict[int, Forward] = {}
        self._trial, self._rewritten = 0, Rewritten(-np.inf, None)

    def forward(self, slot: int, params: Params) -> Scored:
        """A forward pass, kept under the number `slot` in place of what was there."""
        done = self._engine.forward(params, reuse=self._passes.pop(slot, None))
        self._passes[slot] = done
        while len(self._passes) > _SLOTS:
            self._passes.pop(next(iter(self._passes)))
        return Scored(done.log_likelihood, self._moved(done.failure), np.array(done.state))

    def writing(self, slot: int) -> softmax.WritingStatistics:
        """The statistics of w of a pass."""
        return self._engine.writing_statistics(self._passes[slot])

    def rewrite(self, slot: int, w: np.ndarray, method: TransitionMethod, trial: int) -> float:
        """The log-likelihood of a pass with other writing weights; the evidence is kept under the trial's number."""
        self._trial = trial
        self._rewritten = self._engine.rewrite(self._passes[slot], w, method, self._rewritten)
        return self._rewritten.log_likelihood

    def derivatives(self, slot: int, w: np.ndarray, method: TransitionMethod, trial: int | None) -> Derivatives:
        """The backward pass of a forward pass, at the writing weights of a trial, or None where none was accepted."""
        current = self._passes[slot]
        self._passes[slot] = current = replace(current, params=current.params.replace(w=w), writing=None)
        evidence = self._rewritten.evidence if trial == self._trial else None
        found = self._engine.derivatives(current, method, evidence)
        return replace(found, failure=self._moved(found.failure))

    def _moved(self, failure: NotFinite | None) -> NotFinite | None:
        return None if failure is None else replace(failure, time=failure.time + self._begin)


class ShardGroup:
    """The shards begin … end − 1 of `count`, on one worker."""

    def __init__(self, model: Model, parts: Sequence[tuple[Encoded, int]], place: tuple[int, int, int], **options: Any):
        self._begin, self._end, self._count = place
        self._shards = [Shard(model, data, begin, **options) for data, begin in parts]

    def ask(self, name: str, *arguments: Any) -> dict[Node, Any]:
        """Call a method of every shard: the sums of the largest subtrees that lie within this group."""
        with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return partial_sums(
                self._count,
                (self._begin, self._end),
                lambda k: getattr(self._shards[k - self._begin], name)(*arguments),
            )


def cut(data: Encoded, symbols: int) -> list[range]:
    """Neighbouring sequences together until they have this many symbols; by the data alone, never by the workers."""
    if symbols < 1:
        raise ValueError(f"a shard of {symbols} symbols was asked for: at least 1 is needed")
    lengths = np.diff(data.starts)
    shards, first, held = [], 0, 0
    for k, length in enumerate(lengths.tolist()):
        held += length
        if held >= symbols or k == len(lengths) - 1:
            shards.append(range(first, k + 1))
            first, held = k + 1, 0
    return shards


def deal(sizes: Sequence[int], workers: int) -> list[tuple[int, int]]:
    """Runs of neighbouring shards for the workers, of about equal size; workers too many get none."""
    ends = np.cumsum(sizes)
    wanted = ends[-1] * np.arange(1, workers) / workers
    borders = [0, *np.searchsorted(ends - np.asarray(sizes) / 2, wanted).tolist(), len(sizes)]
    return [(low, high) for low, high in pairwise(borders) if low < high]


def partial_sums(count: int, held: Node, leaf: Callable[[int], Any]) -> dict[Node, Any]:
    """The sums of the largest nodes of the tree over 0 … count − 1 that lie within held[0] … held[1] − 1."""
    found: dict[Node, Any] = {}

    def whole(low: int, high: int) -> Any:
        if high - low == 1:
            return leaf(low)
        middle = (low + high) // 2
        left = whole(low, middle)
        return added(left, whole(middle, high))

    def visit(low: int, high: int) -> None:
        if held[0] <= low and high <= held[1]:
            found[low, high] = whole(low, high)
        elif low < held[1] and held[0] < high:
            middle = (low + high) // 2
            visit(low, middle)
            visit(middle, high)

    visit(0, count)
    return found


def total(count: int, parts: dict[Node, Any]) -> Any:
    """The sum over the whole tree from those of some nodes that cover it."""

    def visit(low: int, high: int) -> Any:
        if (low, high) in parts:
            return parts[low, high]
        middle = (low + high) // 2
        return added(visit(low, middle), visit(middle, high))

    return visit(0, count)


def added(left: Any, right: Any) -> Any:
    """What two neighbours found, added; of failures on the way back the later in time came first."""
    if not isinstance(left, Derivatives):
        return left + right
    return Derivatives(left.statistics + right.statistics, right.failure or left.failure)


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


class Dealt:
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
        dealt = Dealt(model, data, settings, symbols)
        self._count = len(dealt.ranges)
        self._group = ShardGroup(*dealt.group(0, self._count), **dealt.options)

    def ask(self, name: str, *arguments: Any) -> Any:
        """Call a method of every shard; the sum of the answers."""
        return total(self._count, self._group.ask(name, *arguments))

    def restore(self) -> None:
        """Nothing here gets lost."""


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

    def forward(
        self, params: Params, reuse: Forward | None = None, state: np.ndarray | None = None, evidence: Any = None
    ) -> Forward:
        """Run every shard and add up its likelihood."""
        if state is not None or evidence is not None:
            raise ValueError("shards begin their sequences from the start state: leave the state and evidence out")
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
        # Sums along another tree may differ in their last bit, also from a training that was not sharded.
        self.recorder = Replay()

    def step(self, clock: Clock | None = None) -> StepInfo:
        """One step; when a worker is lost in the middle of it, it is done again with the others."""
        for _ in range(_ATTEMPTS - 1):
            try:
                return super().step(clock)
            except WorkerLostError:
                self.forget_passes()
                self._shards.restore()
        return super().step(clock)


def _slot(current: Forward) -> int:
    assert isinstance(current, ShardedForward)
    return current.slot
