"""The models that docs/add_a_model.md adds: their code runs, and they are right."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glnn.metrics import TRANSITION_METHODS
from glnn.models import GLNN, GNN, Params
from glnn.network import random_graph
from glnn.sequences import encode
from glnn.training.corpus import prepare
from glnn.training.engine import Engine
from glnn.training.settings import Settings
from glnn.training.trainer import Trainer
from tests.models.test_gradients import check_gradients
from tests.training.pages import run_page
from tests.training.problems import Problem


@cache
def page() -> dict[str, Any]:
    return run_page("add_a_model.md")


def disturbed(model: Any) -> Problem:
    """The model with all its parameters away from where they begin, on masked sequences."""
    generator = np.random.default_rng(0)
    mask = [[1, 0, 1, 1, 0, 1, 1], [1], [0, 1, 1, 0, 1]]
    data = encode([[0, 2, 1, 1, 0, 2, 1], [2], [1, 0, 0, 2, 1]], alphabet=range(3), mask=mask)
    start = model.initial(np.ones(3), np.ones(3), generator)
    params = Params(*(part + 0.4 * generator.standard_normal(part.shape) for part in vars(start).values()))
    return Problem(model, params, data, None, None)


def test_it_trains() -> None:
    data = encode("abracadabra " * 20)
    counts = np.bincount(data.codes).astype(float)
    model = page()["FadingGNN"](random_graph(units=8, degree=3), len(data.alphabet))
    trainer = Trainer(model, data, model.initial(counts, counts, np.random.default_rng(0)), Settings(metric="rbpm"))
    history = trainer.run("20 steps").history
    assert len(history) == 20
    assert history[-1].log_likelihood > history[0].log_likelihood + 30
    assert all(info.log_likelihood >= before.log_likelihood for before, info in pairwise(history))


@pytest.mark.parametrize("stretch", [100, 3])
@pytest.mark.parametrize("activation", ["tanh", "logistic"])
def test_its_gradients(stretch: int, activation: str) -> None:
    check_gradients(disturbed(page()["FadingGNN"](random_graph(3, 2), 3, activation=activation)), stretch=stretch)


def test_the_leak_lies_between_gnn_and_glnn() -> None:
    case = disturbed(page()["FadingGNN"](random_graph(3, 2), 3))
    corpus = prepare(case.data, 100)
    for leak, model in ((0.0, GNN), (1.0, GLNN)):
        case.model.leak = leak
        expected = Engine(model(random_graph(3, 2), 3), corpus).log_likelihoods(case.params)
        np.testing.assert_array_equal(Engine(case.model, corpus).log_likelihoods(case.params), expected)


def test_with_one_input_the_quasi_diagonal_metric_is_the_full_one() -> None:
    case = disturbed(page()["Leaky"](random_graph(4, 1), 3))
    trainers = [Trainer(case.model, case.data, case.params, Settings(metric)) for metric in ("rbpm", "qdrbpm")]
    for _ in range(5):
        full, quasi = (trainer.step() for trainer in trainers)
        assert quasi.log_likelihood == pytest.approx(full.log_likelihood, rel=1e-10)


def test_the_modulus_of_the_skeleton() -> None:
    """Of units that do not meet, with one symbol to be predicted: B² at all times, but for one factor a unit."""
    case = disturbed(page()["Leaky"](random_graph(3, 1), 3))
    data = encode([0, 2, 1, 1, 0, 2, 1], alphabet=range(3), mask=[0, 0, 0, 0, 0, 0, 1])
    engine = Engine(case.model, prepare(data, 3))
    current = engine.forward(case.params)
    found = [engine.derivatives(current, TRANSITION_METHODS[name]).statistics for name in ("rbpm", "ruop")]
    factors = found[0].start_modulus / found[1].start_modulus
    assert np.ptp(factors) > 1e-3
    blocks, squares = (one.matrices.reshape(3, 3, 4) for one in found)
    np.testing.assert_allclose(blocks, squares * factors[:, None], rtol=1e-10)


@pytest.mark.parametrize("stretch", [100, 3])
def test_the_gradients_of_the_skeleton_with_a_trainable_leak(stretch: int) -> None:
    check_gradients(disturbed(page()["Leaky"](random_graph(3, 2), 3)), stretch=stretch)


def test_the_skeleton_goes_all_the_way_to_the_command_line(tmp_path: Path) -> None:
    from glnn.cli import main
    from glnn.estimators import load

    model = page()["model"]
    assert model.networks_[0].model.memory == 30.0 and len(page()["text"]) == 20
    leaks = model.params_.theta.reshape(-1, 6, 2)[:, :, 1]
    assert np.ptp(leaks, axis=0).max() > 1e-3  # they began alike for every symbol: these were learned
    (tmp_path / "text").write_text("abracadabra " * 20)
    for words in (
        f"train {tmp_path}/text --model leaky --units 4 --budget 3steps --run {tmp_path}/run --json",
        f"score {tmp_path}/run {tmp_path}/text --json",
        f"compress {tmp_path}/run {tmp_path}/text {tmp_path}/small --json",
    ):
        with pytest.raises(SystemExit) as left:
            main(words.split())
        assert left.value.code == 0
    assert type(load(tmp_path / "run" / "model.safetensors")) is type(model)
