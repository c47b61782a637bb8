"""What "auto" means in each recipe, what excludes what, and that the record says what was done."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glnn
from glnn.metrics import TRANSITION_METHODS
from glnn.sequences import InputError
from glnn.training.settings import WINDOW
from glnn.training.stochastic import StochasticTrainer
from glnn.training.trainer import Trainer

TEXT = "the cat sat on the mat and the dog sat on the log. " * 12


def plan(kind: str = "GLNN", **parameters: Any) -> Any:
    return getattr(glnn, kind)(verbose=0, **parameters)._plan()


@pytest.mark.parametrize("kind", ["GLNN", "GNN", "RNN", "LSTM"])
def test_the_recipes(kind: str) -> None:
    best, paper = plan(kind), plan(kind, recipe="paper")
    assert (best.settings.training, best.settings.metric, best.settings.noise) == ("stochastic", "adam", "auto")
    assert (
        best.settings.averaging == WINDOW and best.settings.patience_part == 0.4 and best.trainer is StochasticTrainer
    )
    metric = "rbpm" if kind in ("GLNN", "GNN") else "qdrbpm"
    assert (paper.settings.training, paper.settings.metric, paper.settings.noise) == ("batch", metric, 0.0)
    assert paper.settings.patience is None and paper.trainer is Trainer and paper.rival is None
    # Gated networks are tried the paper's way too.
    assert (best.rival is None) == (kind in ("RNN", "LSTM"))
    if best.rival is not None:
        assert (best.rival.training, best.rival.metric, best.rival.noise) == ("batch", metric, 0.0)


@pytest.mark.parametrize(
    ("given", "training", "metric", "rival"),
    [
        ({"metric": "ruop"}, "batch", "ruop", False),
        ({"metric": TRANSITION_METHODS["qdruop"]}, "batch", TRANSITION_METHODS["qdruop"], False),
        ({"metric": "ruop", "training": "stochastic"}, "stochastic", "ruop", False),
        ({"recipe": "paper", "metric": "adam"}, "stochastic", "adam", True),
        ({"recipe": "paper", "training": "stochastic"}, "stochastic", "adam", False),
        ({"training": "batch"}, "batch", "rbpm", False),
        ({"batch_size": 3}, "batch", "rbpm", False),
        ({"patience": 7}, "batch", "rbpm", False),
        ({"patience": 0.2}, "stochastic", "adam", True),
        ({"noise": 0.2}, "stochastic", "adam", False),
        ({"noise": 0.0}, "stochastic", "adam", True),
        ({"budget": "20 steps"}, "stochastic", "adam", False),
        ({"restarts": 3}, "stochastic", "adam", False),
    ],
)
def test_parts_that_are_set(given: dict[str, Any], training: str, metric: Any, rival: bool) -> None:
    made = plan(**given)
    assert (made.settings.training, made.settings.metric, made.rival is not None) == (training, metric, rival)
    assert made.settings.patience == (given["patience"] if given.get("patience") == 7 else None)
    assert made.trainer is (StochasticTrainer if training == "stochastic" else Trainer)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"training": "batch", "metric": "adam"}, 'needs training="stochastic"'),
        ({"training": "stochastic", "batch_size": 3}, "chunks are the batches"),
        ({"training": "batch", "averaging": 50}, "averaging is 50"),
        ({"training": "batch", "patience": 0.5}, "whole number of steps"),
    ],
)
def test_what_excludes_what(given: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        plan(**given)


@pytest.mark.parametrize("recipe", ["best", "paper"])
def test_the_record_tells_it(recipe: str, tmp_path: Path) -> None:
    options = {"units": 4, "degree": 2, "budget": "5 steps", "random_state": 0, "verbose": 0}
    model = glnn.GLNN(recipe=recipe, **options).fit(TEXT)  # type: ignore[arg-type]
    assert model.training_["recipe"] == recipe
    assert model.training_["training"] == {"best": "stochastic", "paper": "batch"}[recipe]
    assert model.training_["metric"] == {"best": "adam", "paper": "rbpm"}[recipe]
    model.save(tmp_path / "model")
    again: Any = glnn.load(tmp_path / "model")
    assert again.training_ == model.training_ and again.recipe == recipe and again.bits(TEXT) == model.bits(TEXT)


def test_seconds_are_shared_with_batch_training() -> None:
    model = glnn.GLNN(units=4, degree=2, budget=0.5, random_state=0, verbose=0).fit(TEXT)
    assert len(model.restarts_) > 1 and all(run["steps"] > 0 for run in model.restarts_)
    assert model.validation_bits_ == -max(run["score"] for run in model.restarts_) / np.log(2.0)
    seeds = {"stochastic": model.restarts_[0]["seed"], "batch": model.restarts_[1]["seed"]}
    assert model.seed_ == seeds[model.training_["training"]] or len(model.restarts_) > 2
