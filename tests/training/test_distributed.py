"""Shards here and on a real cluster take the same steps as each other to the bit, and those of one engine nearly so."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np
import pytest

import glnn
from glnn.metrics import TRANSITION_METHODS, TransitionMethod
from glnn.models import MODELS
from glnn.network import random_graph
from glnn.sequences import encode
from glnn.training.cluster import ClusterShards, train_on_cluster
from glnn.training.results import NotFinite
from glnn.training.settings import Settings
from glnn.training.shards import LocalShards, Scored, ShardedTrainer, cut, deal, partial_sums, total
from glnn.training.trainer import Trainer

SHARD = 60
STEPS = 4


def problem(model_name: str = "glnn"):
    generator = np.random.default_rng(3)
    texts = [list("".join(generator.choice(list("abc"), size=n))) for n in generator.integers(5, 40, size=30)]
    data = encode(texts)
    model = MODELS[model_name](random_graph(4, 2, generator), len(data.alphabet))
    counts = np.bincount(data.codes, minlength=len(data.alphabet)).astype(float)
    return model, data, model.initial(counts, counts, generator)


def settings(metric: str | TransitionMethod = "rbpm") -> Settings:
    return Settings(metric=metric, output_metric="qdh")


def run(shards, model, data, params, options) -> ShardedTrainer:
    trainer = ShardedTrainer(shards, model, data, params, options)
    trainer.run(f"{STEPS} steps")
    return trainer


def numbers(trainer: Trainer) -> list[bytes]:
    progress = trainer.progress
    likelihoods = np.array([info.log_likelihood for info in progress.history])
    return [part.tobytes() for part in (progress.params.w, progress.params.theta, progress.params.V0, likelihoods)]


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.mark.small
@pytest.mark.parametrize("count", [1, 2, 3, 7, 16])
def test_the_sum_does_not_depend_on_who_holds_what(count: int) -> None:
    values = np.random.default_rng(0).normal(size=count) * 10.0 ** np.random.default_rng(1).integers(-8, 8, size=count)
    alone = total(count, partial_sums(count, (0, count), lambda k: values[k]))
    assert alone == pytest.approx(values.sum())
    for workers in range(1, count + 2):
        parts = [partial_sums(count, held, lambda k: values[k]) for held in deal([1] * count, workers)]
        assert total(count, reduce(lambda a, b: a | b, parts)) == alone


@pytest.mark.small
def test_the_tree_keeps_the_order_of_the_sequences() -> None:
    parts = partial_sums(5, (0, 2), lambda k: f"{k}") | partial_sums(5, (2, 5), lambda k: f"{k}")
    assert total(5, parts) == "01234"


@pytest.mark.small
def test_shards_are_cut_by_symbols_and_dealt_in_runs() -> None:
    _, data, _ = problem()
    shards = cut(data, SHARD)
    lengths = np.diff(data.starts)
    assert [k for part in shards for k in part] == list(range(30))
    assert all(lengths[list(part)].sum() >= SHARD for part in shards[:-1])
    assert all(lengths[list(part)[:-1]].sum() < SHARD for part in shards)
    assert cut(data, 10**9) == [range(30)]
    assert deal([1] * 10, 3) == [(0, 3), (3, 7), (7, 10)]
    assert deal([1, 1], 5) and [k for low, high in deal([1, 1], 5) for k in range(low, high)] == [0, 1]


@pytest.mark.small
def test_the_first_failure_and_the_last_state_are_told() -> None:
    early, late = NotFinite("B", 1, 5), NotFinite("B", 1, 9)
    parts = [
        Scored(1.0, None, np.array([1.0])),
        Scored(2.0, early, np.array([2.0])),
        Scored(3.0, late, np.array([3.0])),
    ]
    found = reduce(add, parts)
    assert (found.log_likelihood, found.failure, found.state[0]) == (6.0, early, 3.0)


@pytest.mark.parametrize("metric", ["rbpm", "ruop", "qdruop", "fb"])
@pytest.mark.parametrize("name", ["glnn", "rnn"])
def test_shards_on_one_machine_take_the_steps_of_one_engine(name: str, metric: str) -> None:
    model, data, params = problem(name)
    one = Trainer(model, data, params, settings(metric))
    one.run(f"{STEPS} steps")
    sharded = run(LocalShards(model, data, settings(metric), SHARD), model, data, params, settings(metric))
    for mine, theirs in zip(sharded.progress.history, one.progress.history, strict=True):
        assert mine.log_likelihood == pytest.approx(theirs.log_likelihood, rel=1e-9)
    np.testing.assert_allclose(sharded.progress.params.theta, one.progress.params.theta, rtol=1e-5, atol=1e-7)


def test_one_shard_is_the_engine_itself() -> None:
    model, data, params = problem()
    one = Trainer(model, data, params, settings())
    one.run(f"{STEPS} steps")
    assert numbers(run(LocalShards(model, data, settings(), 10**6), model, data, params, settings())) == numbers(one)


# The third is in no table: a metric that was made for the occasion.
@pytest.mark.parametrize(
    "metric", ["rbpm", "qdruop", replace(TRANSITION_METHODS["qdrbpm"], name="own")], ids=["rbpm", "qdruop", "own"]
)
def test_a_cluster_gives_the_bits_of_one_machine(client, metric: str | TransitionMethod) -> None:
    model, data, params = problem()
    alone = run(LocalShards(model, data, settings(metric), SHARD), model, data, params, settings(metric))
    shards = ClusterShards(client, model, data, settings(metric), SHARD)
    assert len(shards.addresses) == 2
    assert numbers(run(shards, model, data, params, settings(metric))) == numbers(alone)


def test_a_lost_worker_changes_no_bit(client) -> None:
    model, data, params = problem()
    alone = run(LocalShards(model, data, settings(), SHARD), model, data, params, settings())
    shards = ClusterShards(client, model, data, settings(), SHARD)
    trainer = ShardedTrainer(shards, model, data, params, settings())
    trainer.run("2 steps")
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
    trainer.run(f"{STEPS} steps")
    assert numbers(trainer) == numbers(alone)


def test_train_on_cluster_cuts_by_itself(client) -> None:
    model, data, params = problem()
    trainer = train_on_cluster(client, model, data, params, settings())
    trainer.run("2 steps")
    one = Trainer(model, data, params, settings())
    one.run("2 steps")
    # So few symbols are one shard.
    assert numbers(trainer) == numbers(one)


@pytest.mark.small
def test_batches_and_equal_weights_are_refused() -> None:
    model, data, params = problem()
    options = Settings(batch_size=3)
    with pytest.raises(ValueError, match=r"batch_size is 3 .* leave both at their defaults"):
        ShardedTrainer(LocalShards(model, data, options), model, data, params, options)
    options = Settings(coherence=3)
    with pytest.raises(ValueError, match="coherence is 3: shards do not measure it"):
        ShardedTrainer(LocalShards(model, data, options), model, data, params, options)


def test_members_train_on_a_cluster_as_they_do_here(client) -> None:
    text = "".join(np.random.default_rng(0).choice(list("abc"), 900))
    parameters = {"units": 4, "degree": 2, "budget": "6 steps", "members": 2, "restarts": 1, "random_state": 0}
    seen: list[int] = []
    here, there = (
        glnn.GLNN(**parameters, calibration=True, verbose=0).fit(text, **where)
        for where in ({}, {"cluster": client, "callbacks": [lambda info, trainer: seen.append(trainer.model.units)]})
    )
    assert there.bits(text) == here.bits(text) and len(there.members_) == 2
    assert [run["steps"] for run in there.restarts_] == [3, 3] and seen == [4] * 6
    assert there.total_seconds_ > 0.0
    stopped = glnn.GLNN(**parameters, verbose=0).fit(text, cluster=client, callbacks=[lambda info, _: True])
    assert stopped.stopped_ == "callback"
