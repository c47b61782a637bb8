"""Learning-rate control: ×1.1 on success, halved on failure with the direction kept, rest when nothing helps."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glnn.metrics import TransitionStep
from glnn.training.proposals import GROWTH, MOST_HALVINGS, TransitionProposal, always, climb
from glnn.training.records import Recorder, StepInfo
from glnn.training.settings import Settings
from glnn.training.trainer import Trainer
from tests.training.problems import problem

pytestmark = pytest.mark.small


def recorded(function: Callable[[float], float]) -> tuple[Callable[[float], tuple[float, float]], list[float]]:
    tried: list[float] = []

    def attempt(rate: float) -> tuple[float, float]:
        tried.append(rate)
        return function(rate), rate

    return attempt, tried


def test_the_first_trial_is_better() -> None:
    attempt, tried = recorded(lambda rate: -1.0 + rate)
    outcome, value, trial = climb(0.5, -1.0, attempt)
    assert tried == [0.5] and trial == 0.5 and value == -0.5
    assert (outcome.rate, outcome.used, outcome.rejected) == (0.5 * GROWTH, 0.5, 0)


@given(st.integers(1, MOST_HALVINGS), st.floats(1e-3, 1e3))
def test_halved_until_it_is_better(halvings: int, rate: float) -> None:
    limit = rate * 0.75 * 0.5 ** (halvings - 1)  # the first rate below it is halved `halvings` times
    attempt, tried = recorded(lambda r: 1.0 if r < limit else -1.0)
    outcome, value, trial = climb(rate, 0.0, attempt)
    assert tried == [rate * 0.5**k for k in range(halvings + 1)]
    assert value == 1.0 and trial == tried[-1] == outcome.used
    assert (outcome.rate, outcome.rejected) == (tried[-1] * GROWTH, halvings)


@pytest.mark.parametrize("bad", [-2.0, -np.inf, np.nan])
def test_rests_after_sixty_halvings_and_keeps_its_rate(bad: float) -> None:
    attempt, tried = recorded(lambda rate: bad)
    outcome, value, trial = climb(0.25, -1.0, attempt)
    assert tried == [0.25 * 0.5**k for k in range(61)]
    assert trial is None and value == -1.0
    assert (outcome.rate, outcome.used, outcome.rejected) == (0.25, 0.0, 61)


def test_rests_when_halving_ends_where_nothing_changes_any_more() -> None:
    """A direction that is bad at every rate that can be seen: its last trial is equal to the bit, and no success."""
    attempt, tried = recorded(lambda rate: -2.0 if rate > 1e-3 else -1.0)
    outcome, _, trial = climb(1.0, -1.0, attempt)
    assert trial is None and (outcome.rate, outcome.used) == (1.0, 0.0)
    assert len(tried) == outcome.rejected == 11


def test_a_rate_too_small_to_be_seen_grows_again() -> None:
    attempt, tried = recorded(lambda rate: -1.0)
    outcome, value, trial = climb(1e-18, -1.0, attempt)
    assert tried == [1e-18] and trial == 1e-18 and value == -1.0
    assert (outcome.rate, outcome.rejected) == (1e-18 * GROWTH, 0)


def test_from_nothing_anything_finite_is_better_and_nothing_else() -> None:
    attempt, _ = recorded(lambda rate: -5.0 if rate < 0.3 else -np.inf)
    outcome, value, _ = climb(1.0, -np.inf, attempt)
    assert (value, outcome.used) == (-5.0, 0.25)
    outcome, value, trial = climb(1.0, -np.inf, recorded(lambda rate: -np.inf)[0])
    assert trial is None and value == -np.inf and outcome.used == 0.0


def test_another_way_to_accept_stands_in() -> None:
    """Every step is taken at its rate: nothing is rejected, rates stay, and the likelihood may fall."""
    case = problem("glnn", lengths=(60,))
    rate = 1.0 / case.model.units
    trainer = Trainer(case.model, case.data, case.params, Settings("plain", "plain"), accept=always)
    history = trainer.run("6 steps").history
    assert all(info.writing_rejected == info.transition_rejected == 0 for info in history)
    assert {info.writing_rate for info in history} == {info.transition_rate for info in history} == {rate}
    assert any(after.log_likelihood < before.log_likelihood for before, after in pairwise(history))
    assert always(0.5, -3.0, lambda _: (-np.inf, "trial")) == ((0.5, 0.0, 1), -3.0, None)


def test_another_proposer_stands_in() -> None:
    """One that never moves the transitions: they rest, and the writing weights learn as they would."""
    case = problem("glnn", lengths=(60,))
    trainer = Trainer(case.model, case.data, case.params, Settings("rbpm"))
    trainer.proposer = WritingOnly(trainer.proposer)
    progress = trainer.run("4 steps")
    np.testing.assert_array_equal(progress.params.theta, case.params.theta)
    assert progress.history[-1].log_likelihood > progress.history[0].log_likelihood
    assert all(info.transition_size == 0.0 < info.writing_size for info in progress.history)


class WritingOnly:
    def __init__(self, inner: Any) -> None:
        self.method, self.writing = inner.method, inner.writing

    def transition(self, engine: Any, current: Any, evidence: Any, progress: Any) -> TransitionProposal:
        params = current.params
        return TransitionProposal(TransitionStep(np.zeros_like(params.theta), np.zeros_like(params.V0)))


def test_another_recorder_stands_in() -> None:
    class Sparse(Recorder):
        """Keeps every second record only."""

        def keep(self, info: StepInfo, trainer: Trainer) -> None:
            if info.step % 2:
                super().keep(info, trainer)

    case = problem("glnn", units=4, degree=2, symbols=3, lengths=(30,))
    usual, sparse = (Trainer(case.model, case.data, case.params, recorder=kind()) for kind in (Recorder, Sparse))
    wanted, found = usual.run("5 steps"), sparse.run("5 steps")
    assert [info.step for info in found.history] == [1, 3, 5] and found.step == 5
    assert [info.log_likelihood for info in found.history] == [info.log_likelihood for info in wanted.history[::2]]
    np.testing.assert_array_equal(found.best.theta, wanted.best.theta)
