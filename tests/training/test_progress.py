"""Stopping, going on and the record: a resumed run has the same bits as one that was never interrupted."""

from __future__ import annotations

import copy
import pickle
from dataclasses import fields, replace

import numpy as np
import pytest

from glnn.metrics import TRANSITION_METHODS, TransitionStep
from glnn.training.records import Progress, StepInfo
from glnn.training.settings import Settings
from glnn.training.trainer import Trainer
from glnn.training.validation import Validation, hold_out
from tests.training.problems import Problem, problem

pytestmark = pytest.mark.small


def case() -> Problem:
    return problem("glnn", lengths=(30, 12, 9), masked=True, seed=7)


def trainer_of(p: Problem, progress: Progress | None = None, **settings: object) -> Trainer:
    train, tail, continues = hold_out(p.data)
    validation = Validation(p.model, tail, continues)
    return Trainer(p.model, train, p.params, Settings(**settings), validation, random_state=4, progress=progress)


def assert_same(one: Progress, other: Progress) -> None:
    for name in ("params", "best"):
        for first, second in zip(vars(getattr(one, name)).values(), vars(getattr(other, name)).values(), strict=True):
            np.testing.assert_array_equal(first, second)
    for name in ("writing_rate", "transition_rate", "best_score", "best_step", "step", "passes"):
        assert getattr(one, name) == getattr(other, name), name
    for first, second in zip(one.history, other.history, strict=True):
        told = [f.name for f in fields(StepInfo) if f.name != "seconds"]
        assert [getattr(first, name) for name in told] == [getattr(second, name) for name in told]


@pytest.mark.parametrize("batch_size", [None, 2])
@pytest.mark.parametrize("metric", ["rbpm", "ruop", "rms"])
def test_a_resumed_run_has_the_same_bits(metric: str, batch_size: int | None) -> None:
    p = case()
    whole = trainer_of(p, metric=metric, batch_size=batch_size).run("8 steps")
    first = trainer_of(p, metric=metric, batch_size=batch_size).run("3 steps")
    stored = pickle.loads(pickle.dumps(first))
    resumed = trainer_of(p, progress=stored, metric=metric, batch_size=batch_size).run("8 steps")
    assert_same(resumed, whole)
    assert resumed.history[2].step == 3 and len(resumed.history) == 8


def test_going_on_with_the_same_trainer_has_the_same_bits() -> None:
    whole = trainer_of(case()).run("6 steps")
    parts = trainer_of(case())
    for until in (1, 4, 6):
        parts.run(f"{until} steps")
    assert_same(parts.progress, whole)


def test_ctrl_c_between_steps_keeps_the_best() -> None:
    def interrupt(info: StepInfo, trainer: Trainer) -> None:
        if info.step == 3:
            raise KeyboardInterrupt

    trainer = trainer_of(case())
    progress = trainer.run("8 steps", callbacks=(interrupt,))
    assert (progress.reason, progress.step) == ("interrupted", 3)
    assert_same(progress, trainer_of(case()).run("3 steps"))
    # And it can go on from there.
    assert_same(trainer.run("8 steps"), trainer_of(case()).run("8 steps"))


@pytest.mark.parametrize("place", ["forward", "rewrite", "derivatives", "writing_statistics"])
@pytest.mark.parametrize("call", [1, 3, 6])
def test_ctrl_c_inside_a_step_leaves_nothing_half_done(place: str, call: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The interrupted step never happened: what follows is as if it had not been tried."""
    trainer = trainer_of(case())
    trainer.run("2 steps")
    before = copy.deepcopy(trainer.progress)
    original, calls = getattr(trainer._engine, place), 0

    def interrupted(*given: object, **named: object) -> object:
        nonlocal calls
        calls += 1
        result = original(*given, **named)
        if calls == call:
            raise KeyboardInterrupt
        return result

    monkeypatch.setattr(trainer._engine, place, interrupted)
    progress = trainer.run("9 steps")
    assert progress.reason == ("interrupted" if calls >= call else "budget")
    if place in ("derivatives", "writing_statistics"):
        assert progress.step == 2 + call - 1
    if progress.step == 2:
        assert_same(progress, before)
    monkeypatch.setattr(trainer._engine, place, original)
    assert_same(trainer.run("9 steps"), trainer_of(case()).run("9 steps"))


def turn_around(trainer: Trainer, patch: pytest.MonkeyPatch, writing: bool) -> None:
    """Make the directions of the transitions, and of w if told, lead down: what they move then rests."""
    proposer = trainer.proposer
    method, direction = proposer.method, proposer.writing_direction

    def turned(*given: object) -> TransitionStep:
        found = method.direction(*given)
        return found._replace(step=-found.step, start=-found.start)

    changed = replace(proposer, method=replace(method, direction=turned))
    if writing:
        changed = replace(changed, writing_direction=lambda *given: -direction(*given))
    patch.setattr(trainer, "proposer", changed)


def test_ctrl_c_right_after_an_accepted_trial() -> None:
    """The old pass has been handed out for reuse by then: a step that rests goes on from it, and would find it bad."""
    whole, broken = trainer_of(case()), trainer_of(case())
    for trainer in (whole, broken):
        trainer.run("2 steps")
    original = broken._try_transition

    def interrupted(*given: object) -> object:
        original(*given)
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(broken, "_try_transition", interrupted)
        assert broken.run("9 steps").reason == "interrupted"
    for trainer in (whole, broken):
        with pytest.MonkeyPatch.context() as patch:
            turn_around(trainer, patch, writing=False)
            assert trainer.run("3 steps").history[-1].transition_rate == 0.0
        trainer.run("6 steps")
    assert_same(broken.progress, whole.progress)


def test_a_callback_ends_a_run() -> None:
    told = []
    both = (lambda info, trainer: info.step == 4, lambda info, trainer: told.append(info.step))
    progress = trainer_of(case()).run("9 steps", callbacks=both)
    assert (progress.reason, progress.step, told) == ("callback", 4, [1, 2, 3, 4])


def test_a_run_in_which_nothing_moves_has_converged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every direction turned around leads down: both groups rest, their rates stay, the next step would be the same."""
    p = problem("glnn")
    trainer = Trainer(p.model, p.data, p.params, Settings())
    trainer.run("3 steps")
    turn_around(trainer, monkeypatch, writing=True)
    # Rounding can make a tiny step down look like one up, so some steps may come before the one that rests.
    seen = []

    def remember(info: StepInfo, trainer: Trainer) -> None:
        seen.append((trainer.progress.params, trainer.progress.writing_rate, trainer.progress.transition_rate))

    progress = trainer.run("60 steps", callbacks=(remember,))
    info, before = progress.history[-1], progress.history[-2]
    assert progress.reason == "converged" and progress.step < 60
    assert (info.writing_rate, info.transition_rate) == (0.0, 0.0)
    assert (info.writing_size, info.transition_size) == (0.0, 0.0)
    assert 0 < info.writing_rejected <= 61 and 0 < info.transition_rejected <= 61
    if len(seen) > 1:
        assert seen[-1][1:] == seen[-2][1:]
        np.testing.assert_array_equal(seen[-1][0].theta, seen[-2][0].theta)
    assert info.passes == before.passes and info.log_likelihood == before.log_likelihood


def test_the_record_of_a_step() -> None:
    p = case()
    trainer = trainer_of(p)
    rates = (1 / 5, 1 / 5)
    for number in range(1, 7):
        before = trainer.progress.params
        info = trainer.step()
        after = trainer.progress.params
        assert info.step == number and info.passes == 2 * number
        for used, rejected, rate, next_rate in (
            (info.writing_rate, info.writing_rejected, rates[0], trainer.progress.writing_rate),
            (info.transition_rate, info.transition_rejected, rates[1], trainer.progress.transition_rate),
        ):
            assert used == pytest.approx(rate * 0.5**rejected)
            assert next_rate == pytest.approx(1.1 * used)
        rates = trainer.progress.writing_rate, trainer.progress.transition_rate
        change = {name: getattr(after, name) - getattr(before, name) for name in ("w", "theta", "V0")}
        assert info.writing_size == pytest.approx(np.linalg.norm(change["w"]), rel=1e-9)
        assert info.transition_size == pytest.approx(
            np.hypot(np.linalg.norm(change["theta"]), np.linalg.norm(change["V0"])), rel=1e-9
        )
        assert info.conditioning > 1.0 and info.seconds >= 0.0 and info.notes == ()
    assert [i.step for i in trainer.progress.history] == [1, 2, 3, 4, 5, 6]


def test_every_method_is_known_by_its_name() -> None:
    assert {name for name, method in TRANSITION_METHODS.items() if method.invariant} == {
        "rbpm",
        "ruop",
        "qdrbpm",
        "qdruop",
    }
    assert all(name == method.name for name, method in TRANSITION_METHODS.items())
