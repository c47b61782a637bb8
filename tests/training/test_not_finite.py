"""Numbers that are not finite: caught where they are born, with unit and time, and no run dies of them."""

from __future__ import annotations

import numpy as np
import pytest

from glnn.metrics import TRANSITION_METHODS
from glnn.models import GNN, Params
from glnn.network import Graph
from glnn.sequences import Encoded, encode
from glnn.training.corpus import prepare
from glnn.training.engine import Engine
from glnn.training.records import Progress
from glnn.training.settings import Settings
from glnn.training.trainer import Trainer
from tests.training.problems import problem

# Without compilation, numpy warns of what is planted here.
pytestmark = [pytest.mark.small, pytest.mark.filterwarnings("ignore::RuntimeWarning")]

UNITS = 3


def loops_only(gains: tuple[float, float, float], V0: tuple[float, float, float]) -> tuple[GNN, Params]:
    """Linear units that do not meet: V_j^{t+1} = gain_j V_j^t, so that each grows or stays as told."""
    every = np.arange(UNITS)
    model = GNN(Graph.from_edges(UNITS, every, every), 2, activation="linear")
    theta = model.join(np.tile(np.array(gains), (2, 1)), np.zeros((2, UNITS)))
    w = np.array([[0.0, 0.0], [0.3, -0.1], [0.2, 0.4], [-0.5, 0.1]])
    return model, Params(w, theta, np.array(V0))


def data(*lengths: int, mask: np.ndarray | None = None) -> Encoded:
    generator = np.random.default_rng(0)
    return encode([list(map(int, generator.integers(0, 2, length))) for length in lengths], range(2), mask=mask)


@pytest.mark.parametrize("stretch", [100, 4])
def test_an_activity_that_overflows_is_found(stretch: int) -> None:
    """Unit 1 is 1e100 · 1e40^t: infinite for the first time at t = 6 (1e340)."""
    model, params = loops_only((0.5, 1e40, 1.0), (1.0, 1e100, 1.0))
    result = Engine(model, prepare(data(20), stretch)).forward(params)
    assert result.log_likelihood == -np.inf
    assert (result.failure.what, result.failure.unit, result.failure.time) == ("the activity", 1, 6)
    assert str(result.failure) == "the activity is not finite at unit 1, time 6"


def test_an_activity_that_overflows_behind_the_last_position_of_a_stretch() -> None:
    """The state behind the stretch is infinite and nothing in it: the softmax of the next one would tell."""
    model, params = loops_only((0.5, 1e40, 1.0), (1.0, 1e100, 1.0))
    result = Engine(model, prepare(data(6), 3)).forward(params)
    assert np.isfinite(result.log_likelihood) and result.failure is None
    assert Engine(model, prepare(data(7), 3)).forward(params).failure.time == 6


def test_an_output_that_is_not_finite_while_the_activities_are() -> None:
    case = problem("glnn", masked=True)
    w = case.params.w.copy()
    w[2, 1] = np.inf
    result = Engine(case.model, prepare(case.data, 100)).forward(case.params.replace(w=w))
    assert result.log_likelihood == -np.inf
    assert str(result.failure) == f"the output is not finite at time {np.flatnonzero(case.data.mask)[0]}"


def failure_of(model: GNN, params: Params, sequences: Encoded, metric: str, stretch: int = 100) -> object:
    engine = Engine(model, prepare(sequences, stretch))
    current = engine.forward(params)
    assert np.isfinite(current.log_likelihood)
    return engine.derivatives(current, TRANSITION_METHODS[metric]).failure


@pytest.mark.parametrize("stretch", [100, 7])
@pytest.mark.parametrize("metric", ["plain", "fb", "rms", "ruop", "qdruop", "rbpm", "qdrbpm"])
def test_a_derivative_that_overflows_is_found(metric: str, stretch: int) -> None:
    """V stays 0, but B of unit 2 grows by 1e50 a step backwards: from t = 29 (below 1) it is infinite at t = 29 − 7."""
    model, params = loops_only((0.5, 0.5, 1e50), (1.0, 1.0, 0.0))
    failure = failure_of(model, params, data(30), metric, stretch)
    assert (failure.what, failure.unit, failure.time) == ("the derivative B", 2, 22)


def test_a_modulus_that_overflows_before_the_derivative_is_found() -> None:
    """m̃ grows by 1e60 a step, B by 1e30: after 7 steps back only m̃ is infinite, right where the sequence begins."""
    model, params = loops_only((0.5, 0.5, 1e30), (1.0, 1.0, 0.0))
    for sequences, begin in ((data(7), 0), (data(4, 7), 4)):
        assert failure_of(model, params, sequences, "ruop") is None
        failure = failure_of(model, params, sequences, "rbpm")
        assert (failure.what, failure.unit, failure.time) == ("the modulus m", 2, begin)


@pytest.mark.parametrize("stretch", [100, 11])
def test_a_failure_in_a_later_sequence_is_found(stretch: int) -> None:
    """B begins anew in every sequence, so the first sequence knows nothing of what went wrong in the second."""
    model, params = loops_only((0.5, 0.5, 1e50), (1.0, 1.0, 0.0))
    sequences = data(5, 12, 3)
    failure = failure_of(model, params, sequences, "rbpm", stretch)
    assert failure.unit == 2 and 5 <= failure.time < 17


def test_the_step_goes_on_and_its_record_tells() -> None:
    """The transitions rest (0 · ∞ reaches every unit of a dense matrix), w moves; the notes say what was not finite."""
    model, params = loops_only((0.5, 0.5, 1e50), (1.0, 1.0, 0.0))
    trainer = Trainer(model, data(30), params, Settings("rbpm"))
    before = trainer._engine.forward(params).log_likelihood
    info = trainer.step()
    assert info.notes == ("the derivative B is not finite at unit 2, time 22",)
    assert info.resting == info.quasi_diagonal == 2 * UNITS and info.retries == 8 * 2 * UNITS
    assert before < info.log_likelihood < 0
    np.testing.assert_array_equal(trainer.progress.params.theta, params.theta)
    np.testing.assert_array_equal(trainer.progress.params.V0, params.V0)


def test_a_trial_that_overflows_is_rejected_and_told() -> None:
    """An absurd rate: the first trials are not finite; they are halved like any other failure."""
    model, params = loops_only((0.5, 0.5, 0.5), (1.0, 1.0, 1.0))
    progress = Progress(params, 1 / UNITS, 1e30, best=params)
    trainer = Trainer(model, data(30), params, Settings("plain"), progress=progress)
    before = trainer._engine.forward(params).log_likelihood
    info = trainer.step()
    assert info.transition_rejected > 20 and info.log_likelihood > before
    assert 1 <= len(info.notes) <= 4
    assert all(note.startswith("trial at rate") and "the activity is not finite at unit" in note for note in info.notes)


def test_parameters_that_are_not_finite_from_the_start_end_the_run_with_a_note() -> None:
    case = problem("glnn")
    V0 = case.params.V0.copy()
    V0[3] = np.nan
    trainer = Trainer(case.model, case.data, case.params.replace(V0=V0), Settings("rbpm"))
    progress = trainer.run("5 steps")
    assert progress.reason == "not finite" and progress.step == 1
    assert progress.history[0].notes[0] == "the activity is not finite at unit 3, time 0"
    assert progress.history[0].log_likelihood == -np.inf
