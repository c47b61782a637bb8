"""The metric that docs/add_a_metric.md adds: its code runs, and does what the page says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from glnn.metrics import TRANSITION_METHODS
from tests.metrics.test_unfolded_metric import packed_matrix
from tests.training.pages import run_page
from tests.training.problems import problem
from tests.training.test_invariance import likelihoods, run, start


@pytest.fixture
def page() -> Iterator[dict[str, Any]]:
    known = dict(TRANSITION_METHODS)
    yield run_page("add_a_metric.md")
    TRANSITION_METHODS.clear()
    TRANSITION_METHODS.update(known)


def test_it_trains(page: dict[str, Any]) -> None:
    history = page["progress"].history
    assert len(history) == 30
    assert history[-1].log_likelihood > history[0].log_likelihood + 50


def test_it_is_the_diagonal_of_the_full_metric(page: dict[str, Any]) -> None:
    case = problem("rnn", lengths=(12,))
    trainer = page["Trainer"](case.model, case.data, case.params, page["Settings"]("drbpm"))
    engine = trainer._engine
    current = engine.forward(case.params)
    scales = page["Scales"](0.7, engine.corpus.frequencies, engine.corpus.length)
    full = engine.derivatives(current, TRANSITION_METHODS["rbpm"]).statistics
    diagonal = np.diag(packed_matrix(engine, full.matrices))
    statistics = engine.derivatives(current, page["method"]).statistics
    found = page["method"].direction(statistics, engine.layout, scales).step
    np.testing.assert_allclose(found, full.gradient / (diagonal + 0.7), rtol=1e-10)


def test_it_is_not_invariant_as_the_page_says(page: dict[str, Any]) -> None:
    model, params, twin = start("glnn")
    expected, _ = run(model, params, "drbpm", "qdh", 1e-13, 5)
    found, _ = run(twin, twin.from_tanh(params), "drbpm", "qdh", 1e-13, 5)
    assert np.abs(likelihoods(found) - likelihoods(expected)).max() > 0.1
