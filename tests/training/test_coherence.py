"""How far effects add up over time: measured right, unit by unit, and steps that are shortened by it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numba
import numpy as np
import pytest

from glnn.metrics import TRANSITION_METHODS, Scales, Statistics, TransitionStep
from glnn.metrics.coherence import quotients, shortened
from glnn.models import MODELS
from glnn.network import random_graph
from glnn.sequences import encode
from glnn.training.corpus import prepare
from glnn.training.engine import Engine
from glnn.training.proposals import DataPasses
from glnn.training.settings import Settings
from glnn.training.trainer import Trainer
from tests.training.problems import problem
from tests.training.test_invariance import TINY, data, likelihoods, start

pytestmark = pytest.mark.small


def proposed(engine: Engine, params: Any, metric: str, damping: float) -> tuple[Statistics, TransitionStep, np.ndarray]:
    """The sums, the step made of them, and the quotients of its units."""
    method = TRANSITION_METHODS[metric]
    statistics = engine.derivatives(engine.forward(params), method).statistics
    scales = Scales(damping, engine.corpus.frequencies, engine.corpus.length)
    step = method.direction(statistics, engine.layout, scales)
    return statistics, step, quotients(DataPasses(engine, params), statistics, engine.layout, step)


@pytest.mark.parametrize("name", ["rnn", "gnn", "glnn"])
def test_every_parameter_is_given_to_the_unit_that_it_leads_into(name: str) -> None:
    case = problem(name, units=4, degree=2, lengths=(1,))
    corpus = prepare(case.data, 10)
    engine = Engine(case.model, corpus)
    state = engine.forward(case.params).state
    for k, unit in enumerate(engine.layout.unit_of):
        theta = case.params.theta.copy()
        theta[k] += 0.1
        moved = np.flatnonzero(engine.forward(case.params.replace(theta=theta)).state != state)
        # A parameter of another symbol than the one that is read moves nothing.
        assert set(moved) <= {unit}
    assert set(engine.layout.unit_of) == set(range(4))


@pytest.mark.parametrize(("name", "metric"), [("glnn", "rbpm"), ("rnn", "qdruop"), ("lstm", "ruop"), ("gnn", "qdrbpm")])
@pytest.mark.parametrize("weights", ["length", "equal"])
def test_quotients_compare_the_effect_with_the_metric(name: str, metric: str, weights: Any) -> None:
    case = problem(name, units=3, degree=2, lengths=(60, 25), masked=True)
    engine = Engine(case.model, prepare(case.data, 16, weights))
    statistics, step, found = proposed(engine, case.params, metric, 0.01)
    owner = np.repeat([0, 1], np.diff(case.data.starts))[case.data.mask]
    # Weights of sequences: so that each has half of the predicted positions.
    each = np.ones(2) if weights == "length" else len(owner) / (2.0 * np.bincount(owner))
    units = engine.layout.units
    for group in range(units + 1):
        chosen = engine.layout.unit_of == group
        start_step = step.start if group == units else 0.0 * step.start
        values = [
            engine.log_likelihoods(
                case.params.replace(
                    theta=case.params.theta + h * np.where(chosen, step.step, 0.0),
                    V0=case.params.V0 + h * start_step,
                )
            )
            for h in (1e-5, -1e-5)
        ]
        slopes = (values[0] - values[1]) / 2e-5
        expected = statistics.gradient[chosen] @ step.step[chosen]
        expected += statistics.start_gradient @ start_step
        quotient = float(np.sum(each[owner] * slopes**2) / expected)
        assert found[group] == pytest.approx(quotient, rel=1e-4)
    assert found.max() > 1.1


def test_without_memory_the_metric_leaves_nothing_out() -> None:
    """Where a step acts at one time of each sequence only, the outer products are the effect itself."""
    generator = np.random.default_rng(3)
    model = MODELS["gnn"](random_graph(4, 2, generator), 3)
    sequences = encode([list(map(int, pair)) for pair in generator.integers(0, 3, (40, 2))], mask=[[0, 1]] * 40)
    params = model.initial(np.ones(3), np.ones(3), generator)
    params = replace(params, w=params.w + generator.normal(size=params.w.shape), V0=generator.normal(size=4))
    engine = Engine(model, prepare(sequences, 100))
    _, _, found = proposed(engine, params, "ruop", 1e-9)
    np.testing.assert_allclose(found[:-1], 1.0, rtol=1e-5)


def test_each_unit_is_divided_by_its_own_quotient() -> None:
    case = problem("glnn", units=3, degree=2)
    layout = Engine(case.model, prepare(case.data, 100)).layout
    step = TransitionStep(np.ones(layout.unit_of.size), np.ones(3))
    found = shortened(step, np.array([1.0, 2.0, 4.0, 8.0]), layout)
    np.testing.assert_array_equal(found.step, (1.0, 0.5, 0.25) @ np.eye(3)[layout.unit_of].T)
    np.testing.assert_array_equal(found.start, 0.125)


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="many trainings, which the compiled run does")
@pytest.mark.parametrize("metric", ["rbpm", "ruop", "qdrbpm"])
def test_shortened_steps_are_invariant_too(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glnn.training.proposals.hessian_damping", lambda counts: np.full(counts.shape, TINY))
    model, params, twin = start("glnn")
    runs = []
    for net, at in ((model, params), (twin, twin.from_tanh(params))):
        trainer = Trainer(net, data(), at, Settings(metric, "qdh", damping=TINY, coherence=3))
        runs.append([trainer.step() for _ in range(10)])
    np.testing.assert_allclose(*(likelihoods(steps) for steps in runs), rtol=0, atol=1e-3)
    np.testing.assert_allclose(*([info.coherence for info in steps] for steps in runs), rtol=1e-3)
    assert max(info.coherence for info in runs[0]) > 1.5


def test_it_is_measured_every_so_many_steps_and_not_without_being_asked() -> None:
    case = problem("glnn", lengths=(200,))
    trainer = Trainer(case.model, case.data, case.params, Settings(coherence=4))
    found = [trainer.step().coherence for _ in range(9)]
    assert len(set(found[:4])) == len(set(found[4:8])) == 1 and len(set(found)) == 3
    plain = Trainer(case.model, case.data, case.params, Settings())
    assert plain.step().coherence == 1.0 and plain.progress.coherence is None


def test_no_step_becomes_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    case = problem("glnn", lengths=(200,))
    monkeypatch.setattr("glnn.metrics.coherence.quotients", lambda _, __, layout, *___: np.full(layout.units + 1, 0.25))
    steps = [Trainer(case.model, case.data, case.params, Settings(coherence=at)).step() for at in (1, None)]
    assert steps[0].transition_size == steps[1].transition_size and steps[0].coherence == 1.0


def test_the_number_of_threads_changes_nothing() -> None:
    case = problem("glnn", lengths=(100, 40))
    ends = []
    for threads in (1, 2):
        trainer = Trainer(case.model, case.data, case.params, Settings(coherence=2, threads=threads))
        ends.append(trainer.run("5 steps").params)
    np.testing.assert_array_equal(ends[0].theta, ends[1].theta)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"coherence": 0}, "coherence is 0: at least 1 step is needed"),
        ({"coherence": 5, "metric": "fb"}, "coherence compares effects with a metric, and 'fb' has none"),
        ({"coherence": 5, "precision": "float32"}, "needs precision='float64'"),
    ],
)
def test_what_cannot_be_measured_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Settings(**options)
