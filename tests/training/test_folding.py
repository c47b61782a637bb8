"""A constant unit folded into the biases changes no prediction, whatever the network; then it begins anew."""

from __future__ import annotations

import numpy as np
import pytest

from glnn.models import Params
from glnn.training.folding import FoldConstants, activity_ranges, begun_anew, folded, joined
from glnn.training.settings import Settings
from glnn.training.trainer import Trainer
from tests.training.problems import Problem, problem

pytestmark = pytest.mark.small
UNIT = 2


def with_a_constant(case: Problem, value: float) -> Params:
    """The parameters with one unit driven to ±1 at all times."""
    tau, bias = (part.copy() for part in case.model.split(case.params.theta))
    tau[:, case.model.graph.edge_targets == UNIT] = 0.0
    bias[:, UNIT] = 60.0 * value
    V0 = case.params.V0.copy()
    V0[UNIT] = 60.0 * value
    return Params(case.params.w, joined(case.model, tau, bias), V0)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("value", [-1.0, 1.0])
@pytest.mark.parametrize("name", ["glnn", "gnn", "rnn"])
def test_predictions_are_the_same(name: str, value: float, seed: int) -> None:
    case = problem(name, units=6, degree=4, lengths=(40, 7), masked=True, seed=seed)
    params = with_a_constant(case, value)
    trainer = Trainer(case.model, case.data, params)
    before = trainer.engine.log_likelihoods(params)
    low, high = activity_ranges(trainer)
    assert low[UNIT] == high[UNIT] == value and (high - low)[np.arange(6) != UNIT].min() > 0.01
    apart = folded(case.model, params, UNIT, value)
    np.testing.assert_allclose(trainer.engine.log_likelihoods(apart), before, rtol=0, atol=1e-12)
    # Nothing goes out of it any more, so that what comes in can be anything.
    anew = begun_anew(case.model, apart, UNIT, case.params)
    np.testing.assert_allclose(trainer.engine.log_likelihoods(anew), before, rtol=0, atol=1e-12)
    assert np.ptp(trainer.engine.forward(anew).traces[0][:, UNIT]) > 0.01


def test_training_folds_a_constant_and_lets_it_learn_again() -> None:
    case = problem("glnn", units=6, degree=4, lengths=(60,), noise=0.1)
    trainer = Trainer(case.model, case.data, with_a_constant(case, 1.0), Settings("rbpm", "qdh"))
    fold = FoldConstants(every=2)
    trainer.run("1 steps", (fold,))
    assert fold.folds == 0
    value = trainer.run("2 steps", (fold,)).history[-1].log_likelihood
    assert fold.folds == 1 and trainer.progress.transition_rate == 1 / 6
    assert trainer.engine.forward(trainer.progress.params).log_likelihood == pytest.approx(value, abs=1e-9)
    history = trainer.run("30 steps", (fold,)).history
    likelihoods = [info.log_likelihood for info in history[1:]]
    assert np.diff(likelihoods).min() > -1e-9
    low, high = activity_ranges(trainer)
    assert high[UNIT] - low[UNIT] > 0.01 and np.abs(trainer.progress.params.w[UNIT + 1]).max() > 0


def test_a_constant_may_take_a_while_to_get_there() -> None:
    """A GLNN's saturated unit comes from its start value: in the first symbols of a long sequence it still moves."""
    case = problem("glnn", units=6, degree=4, lengths=(1500,))
    params = with_a_constant(case, 1.0)
    V0 = params.V0.copy()
    V0[UNIT] = 0.0
    trainer = Trainer(case.model, case.data, Params(params.w, params.theta, V0), Settings("rbpm", "qdh"))
    activity = trainer.model.activities(trainer.engine.forward(trainer.progress.params).traces[0])[:, UNIT]
    assert activity[0] == 0.0 and activity[-1] == 1.0
    low, high = activity_ranges(trainer)
    assert low[UNIT] == high[UNIT] == 1.0
    fold = FoldConstants(every=1)
    trainer.run("1 steps", (fold,))
    assert fold.folds and not trainer.progress.params.w[UNIT + 1].any()


def test_a_unit_that_is_no_constant_stays() -> None:
    case = problem("gnn", units=5, degree=3, lengths=(50,))
    trainer = Trainer(case.model, case.data, case.params, Settings("rbpm", "qdh"))
    fold = FoldConstants(every=1)
    trainer.run("3 steps", (fold,))
    assert fold.folds == 0


def test_other_networks_are_refused() -> None:
    case = problem("lstm", units=3, degree=2, lengths=(20,))
    trainer = Trainer(case.model, case.data, case.params, Settings("fb", "dh"))
    with pytest.raises(ValueError, match="units of lstm are not folded"):
        trainer.run("1 steps", (FoldConstants(every=1),))
