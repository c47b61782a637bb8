"""Quasi-Newton steps from the paper's metric: the recursion is BFGS, steps lead up, resumed runs have the same bits."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from glnn.training import quasi_newton as module
from glnn.training.budget import Budget
from glnn.training.quasi_newton import QuasiNewtonTrainer, two_loops
from glnn.training.records import Progress, Replay
from glnn.training.settings import Settings
from glnn.training.trainer import Trainer
from tests.training.problems import problem


def test_two_loops_are_bfgs() -> None:
    generator = np.random.default_rng(0)
    n, k = 6, 4
    hessian = np.diag(generator.uniform(0.5, 4.0, n))
    guess = np.diag(generator.uniform(0.5, 2.0, n))
    steps = generator.normal(size=(k, n))
    changes = steps @ hessian
    gradient = generator.normal(size=n)
    # The same by the matrix: H ← (I − ρ s yᵀ) H (I − ρ y sᵀ) + ρ s sᵀ.
    H = (steps[-1] @ changes[-1]) / (changes[-1] @ guess @ changes[-1]) * guess
    for s, y in zip(steps, changes, strict=True):
        rho, eye = 1.0 / (s @ y), np.eye(n)
        H = (eye - rho * np.outer(s, y)) @ H @ (eye - rho * np.outer(y, s)) + rho * np.outer(s, s)
    np.testing.assert_allclose(two_loops(gradient, (steps, changes), lambda q: guess @ q), H @ gradient, rtol=1e-9)


def trainer(kind: Any, recorded: Progress | None = None) -> Any:
    given = problem("glnn", units=5, degree=3, symbols=3, lengths=(300,), seed=2, noise=0.1)
    given.data.codes[:] = np.arange(given.data.codes.size) // 3 % 3
    return kind(given.model, given.data, given.params, Settings(), recorder=Replay(recorded))


def test_every_step_leads_up_and_further_than_the_paper_s(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QuasiNewtonTrainer, "first_steps", 5)
    ends = {}
    for kind in (Trainer, QuasiNewtonTrainer):
        history = trainer(kind).run(Budget(steps=60)).history
        values = [info.log_likelihood for info in history]
        assert all(after >= before for before, after in itertools.pairwise(values))
        ends[kind] = values[-1]
    assert ends[QuasiNewtonTrainer] > ends[Trainer]


def test_a_resumed_training_has_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QuasiNewtonTrainer, "first_steps", 5)
    whole, begun = trainer(QuasiNewtonTrainer).run(Budget(steps=24)), trainer(QuasiNewtonTrainer).run(Budget(steps=13))
    assert begun.memory["steps"].shape[0] > 0
    resumed = trainer(QuasiNewtonTrainer, begun).run(Budget(steps=24))
    for part in ("w", "theta", "V0"):
        np.testing.assert_array_equal(getattr(whole.params, part), getattr(resumed.params, part))
    assert [info.log_likelihood for info in whole.history] == [info.log_likelihood for info in resumed.history]


def test_what_leads_nowhere_is_left_to_the_paper_s_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QuasiNewtonTrainer, "first_steps", 3)
    monkeypatch.setattr(module, "two_loops", lambda gradient, *_: -gradient)
    progress = trainer(QuasiNewtonTrainer).run(Budget(steps=10))
    values = [info.log_likelihood for info in progress.history]
    assert values[-1] > values[3] and progress.memory["steps"].shape[0] <= 1
