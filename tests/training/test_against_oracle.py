"""Every combination of model, writing method and transition method against the paper's plain loops."""

from __future__ import annotations

import pytest

from glnn.metrics import TRANSITION_METHODS, WRITING_METHODS
from glnn.training import trainer as trainer_module
from tests.training.problems import compare_training, problem

pytestmark = pytest.mark.small


@pytest.mark.parametrize("metric", TRANSITION_METHODS)
@pytest.mark.parametrize("output_metric", WRITING_METHODS)
@pytest.mark.parametrize("name", ["rnn", "gnn", "glnn"])
def test_whole_iterations(name: str, metric: str, output_metric: str) -> None:
    compare_training(problem(name, lengths=(11, 1, 9), masked=True), metric, output_metric)


@pytest.mark.parametrize("metric", ["rbpm", "qdruop"])
@pytest.mark.parametrize("name", ["rnn", "gnn", "glnn"])
@pytest.mark.parametrize("activation", ["tanh", "logistic"])
def test_unmasked_single_sequence(name: str, metric: str, activation: str) -> None:
    compare_training(problem(name, activation=activation, seed=1), metric, "qdh")


@pytest.mark.parametrize("metric", ["rbpm", "ruop", "rms"])
def test_stretches_do_not_matter(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer_module, "stretch_length", lambda units: 4)
    compare_training(problem("glnn", lengths=(11, 4, 9), masked=True, seed=2), metric, "qdh")


def test_recomputed_activities(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer_module, "stretch_length", lambda units: 4)
    compare_training(problem("glnn", lengths=(11, 4, 9), masked=True, seed=2), "rbpm", "qdh", memory=0)


@pytest.mark.parametrize("metric", TRANSITION_METHODS)
def test_equal_sequence_weights(metric: str) -> None:
    lengths = (12, 3, 7)
    total, count = sum(lengths), len(lengths)
    weights = tuple(total / (count * length) for length in lengths)
    case = problem("glnn", lengths=lengths, weights=weights, seed=3)
    compare_training(case, metric, "qdh", sequence_weights="equal")


@pytest.mark.parametrize("metric", ["rbpm", "ruop", "qdrbpm"])
@pytest.mark.parametrize("name", ["rnn", "gnn", "glnn"])
def test_sparse_recurrence(name: str, metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = problem(name, units=9, degree=2, lengths=(13, 5), masked=True, seed=4)
    monkeypatch.setattr(type(case.model), "dense", property(lambda self: False))
    compare_training(case, metric, "qdh")
