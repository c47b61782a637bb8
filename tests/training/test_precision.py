"""Training in float32: what is stored is single, what is summed is double, and the result is nearly that in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from glnn import registry
from glnn.metrics import TRANSITION_METHODS
from glnn.models import Flow
from glnn.training.corpus import prepare
from glnn.training.engine import Engine
from glnn.training.settings import Settings
from glnn.training.trainer import Trainer
from tests.training.problems import problem

NAMES = tuple(registry.networks())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("metric", ["rbpm", "ruop", "qdrbpm", "rms"])
def test_the_first_steps_are_those_of_float64_to_single_precision(name: str, metric: str) -> None:
    p = problem(name)
    found = []
    for precision in ("float64", "float32"):
        trainer = Trainer(p.model, p.data, p.params, Settings(metric=metric, precision=precision))  # type: ignore[arg-type]
        for _ in range(3):
            trainer.step()
        found.append(trainer.progress.history[-1].log_likelihood)
        assert trainer.progress.params.theta.dtype == np.float64
    assert found[0] == pytest.approx(found[1], rel=2e-4)
    assert found[0] != found[1]


@pytest.mark.parametrize("name", NAMES)
def test_everything_kept_for_each_time_is_single_and_sums_are_double(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = problem(name)
    engine = Engine(p.model, prepare(p.data, 7), precision="float32")
    seen: list[Flow] = []
    walk = type(p.model).backward_with_modulus

    def spy(*arguments: Any) -> None:
        seen.extend(arguments[-2:])
        walk(*arguments)

    monkeypatch.setattr(type(p.model), "backward_with_modulus", spy)
    current = engine.forward(p.params)
    statistics = engine.derivatives(current, TRANSITION_METHODS["rbpm"]).statistics
    traces = [trace for trace in current.traces if trace is not None]
    assert traces and seen
    assert {array.dtype for array in (*traces, *(flow.out for flow in seen))} == {np.dtype(np.float32)}
    assert {flow.carry.dtype for flow in seen} == {current.state.dtype} == {np.dtype(np.float64)}
    assert statistics.gradient.dtype == np.float64 and current.writing is not None
    assert {part.dtype for part in current.writing} == {np.dtype(np.float64)}


def test_an_unknown_precision_is_told() -> None:
    with pytest.raises(ValueError, match="precision is 'float16': it must be one of float64, float32"):
        Settings(precision="float16")  # type: ignore[arg-type]
