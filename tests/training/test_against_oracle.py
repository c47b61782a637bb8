"""Every combination of model, writing method and transition method against the paper's plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from glnn.metrics import TRANSITION_METHODS, WRITING_METHODS
from glnn.training import trainer as trainer_module
from glnn.training.trainer import Settings, Trainer
from tests import naive
from tests.training.problems import Problem, oracle_params, problem

pytestmark = pytest.mark.small

ITERATIONS = 4


def compare(case: Problem, metric: str, output_metric: str, **settings: object) -> None:
    expected, records = naive.train(case.net, case.oracle_params(), case.oracle_data, ITERATIONS, output_metric, metric)
    trainer = Trainer(case.model, case.data, case.params, Settings(metric, output_metric, **settings))
    for record in records:
        info = trainer.step()
        assert info.writing_rejected == record.rejected_w
        assert info.transition_rejected == record.rejected_tau
        np.testing.assert_allclose(info.log_likelihood, record.log_likelihood_tau, rtol=1e-9)
        np.testing.assert_allclose(trainer.progress.writing_rate, record.rate_w, rtol=1e-12)
        np.testing.assert_allclose(trainer.progress.transition_rate, record.rate_tau, rtol=1e-12)
    found = oracle_params(case.model, trainer.progress.params)
    for key, value in expected.items():
        np.testing.assert_allclose(found[key], value, rtol=1e-7, atol=1e-9, err_msg=key)
    # The comparison means something only if every group of parameters went somewhere.
    for key, value in case.oracle_params().items():
        assert np.abs(found[key] - value).max() > 1e-6, key


@pytest.mark.parametrize("metric", TRANSITION_METHODS)
@pytest.mark.parametrize("output_metric", WRITING_METHODS)
@pytest.mark.parametrize("name", ["rnn", "gnn", "glnn"])
def test_whole_iterations(name: str, metric: str, output_metric: str) -> None:
    compare(problem(name, lengths=(11, 1, 9), masked=True), metric, output_metric)


@pytest.mark.parametrize("metric", ["rbpm", "qdruop"])
@pytest.mark.parametrize("name", ["rnn", "gnn", "glnn"])
@pytest.mark.parametrize("activation", ["tanh", "logistic"])
def test_unmasked_single_sequence(name: str, metric: str, activation: str) -> None:
    compare(problem(name, activation=activation, seed=1), metric, "qdh")


@pytest.mark.parametrize("metric", ["rbpm", "ruop", "rms"])
def test_stretches_do_not_matter(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer_module, "stretch_length", lambda units: 4)
    compare(problem("glnn", lengths=(11, 4, 9), masked=True, seed=2), metric, "qdh")


def test_recomputed_activities(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer_module, "stretch_length", lambda units: 4)
    compare(problem("glnn", lengths=(11, 4, 9), masked=True, seed=2), "rbpm", "qdh", memory=0)


@pytest.mark.parametrize("metric", TRANSITION_METHODS)
def test_equal_sequence_weights(metric: str) -> None:
    lengths = (12, 3, 7)
    total, count = sum(lengths), len(lengths)
    weights = tuple(total / (count * length) for length in lengths)
    case = problem("glnn", lengths=lengths, weights=weights, seed=3)
    compare(case, metric, "qdh", sequence_weights="equal")


@pytest.mark.parametrize("metric", ["rbpm", "ruop", "qdrbpm"])
@pytest.mark.parametrize("name", ["rnn", "gnn", "glnn"])
def test_sparse_recurrence(name: str, metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = problem(name, units=9, degree=2, lengths=(13, 5), masked=True, seed=4)
    monkeypatch.setattr(type(case.model), "dense", property(lambda self: False))
    compare(case, metric, "qdh")
