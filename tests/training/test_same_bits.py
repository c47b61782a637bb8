"""The same seed gives the same bits, whatever the threads, the memory and the number of times it is run."""

from __future__ import annotations

import numpy as np
import pytest

from glnn.metrics import TRANSITION_METHODS
from glnn.training import corpus as corpus_module
from glnn.training import engine as engine_module
from glnn.training import trainer as trainer_module
from glnn.training.corpus import prepare
from glnn.training.noise import Noise
from glnn.training.parallel import Started, Workers
from glnn.training.settings import Settings
from glnn.training.trainer import Trainer
from tests.training.problems import problem

NAMES = ["rnn", "gnn", "glnn"]


def run(name: str, units: int = 20, steps: int = 4, **settings: object) -> tuple[list[float], list[np.ndarray]]:
    case = problem(name, units=units, degree=4, symbols=5, lengths=(400, 3, 250), masked=True, seed=1, noise=0.1)
    trainer = Trainer(case.model, case.data, case.params, Settings(**settings))
    history = [trainer.step().log_likelihood for _ in range(steps)]
    return history, list(vars(trainer.progress.params).values())


def assert_same(first: tuple[list[float], list[np.ndarray]], second: tuple[list[float], list[np.ndarray]]) -> None:
    assert first[0] == second[0]
    for one, other in zip(first[1], second[1], strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several stretches, and several jobs in each of them."""
    monkeypatch.setattr(trainer_module, "stretch_length", lambda units: 150)
    monkeypatch.setattr(corpus_module, "_ROWS", 40)


@pytest.mark.parametrize("metric", TRANSITION_METHODS)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("small_pieces")
def test_threads(name: str, metric: str) -> None:
    assert_same(run(name, metric=metric, threads=1), run(name, metric=metric, threads=2))


@pytest.mark.parametrize("metric", ["rbpm", "qdruop"])
@pytest.mark.usefixtures("small_pieces")
def test_threads_on_sparse_recurrences(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = problem("glnn")
    monkeypatch.setattr(type(case.model), "dense", property(lambda self: False))
    assert_same(run("glnn", metric=metric, threads=1), run("glnn", metric=metric, threads=2))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("small_pieces")
def test_activities_kept_or_computed_again(name: str) -> None:
    assert_same(run(name, metric="rbpm"), run(name, metric="rbpm", memory=0))
    assert_same(run(name, metric="qdruop"), run(name, metric="qdruop", memory=0, threads=2))


@pytest.mark.parametrize("memory", [0, 1 << 29])
@pytest.mark.parametrize("metric", ["rbpm", "qdruop", "rms"])
@pytest.mark.usefixtures("small_pieces")
def test_jobs_may_be_done_as_late_as_their_results_are_wanted(
    metric: str, memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The slowest of helpers: nothing that a job reads has been written over when it begins at last."""
    at_once = run("glnn", metric=metric, memory=memory)
    monkeypatch.setattr(Workers, "start", lambda self, jobs: Started(jobs))
    assert_same(run("glnn", metric=metric, memory=memory), at_once)


@pytest.mark.small
def test_activities_are_kept_where_two_passes_and_the_output_of_predicted_positions_fit() -> None:
    """Two passes of 5 units at 40 times, two terms of 5 units at the positions that are predicted."""
    case = problem("glnn", units=5, lengths=(40,), masked=True)
    corpus = prepare(case.data, 100)
    assert 0 < corpus.predicted < 40
    needed = 8 * 2 * (40 * 5 + corpus.predicted * 5)
    for memory, kept in ((needed, True), (needed - 1, False)):
        traces = engine_module.Engine(case.model, corpus, memory=memory).forward(case.params).traces
        assert (traces[0] is not None) == kept


@pytest.mark.parametrize("name", NAMES)
def test_run_twice(name: str) -> None:
    assert_same(run(name), run(name))


@pytest.mark.small
def test_jobs_are_added_in_their_order() -> None:
    def job(k: int) -> object:
        return lambda: k

    for threads in (1, 3):
        assert Workers(threads).run([job(k) for k in range(50)]) == list(range(50))


@pytest.mark.small
@pytest.mark.small
def test_an_error_in_a_job_comes_out() -> None:
    def wrong() -> None:
        raise RuntimeError("in the job")

    with pytest.raises(RuntimeError, match="in the job"):
        Workers(2).run([wrong, wrong])


@pytest.mark.small
def test_workers_are_at_least_one() -> None:
    with pytest.raises(ValueError, match="threads is 0: at least 1"):
        Workers(0)


@pytest.mark.parametrize("name", ["glnn", "lstm"])
def test_output_begun_while_a_stretch_is_walked_over(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_module, "_ROWS", 16)
    case = problem(name, lengths=(70, 41))
    method = TRANSITION_METHODS["qdrbpm"]
    found = []
    for threads in (1, 2):
        engine = engine_module.Engine(case.model, prepare(case.data, 50), Workers(threads))
        engine.noise = Noise(0.1, 3)
        found.append(engine.sweep(case.params, method))
    assert found[0].log_likelihood == found[1].log_likelihood
    np.testing.assert_array_equal(found[0].state, found[1].state)
    np.testing.assert_array_equal(found[0].transition.gradient, found[1].transition.gradient)
    for one, two in zip(found[0].writing, found[1].writing, strict=True):
        np.testing.assert_array_equal(one, two)
