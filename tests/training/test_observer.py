"""An observer sees every step of a training and changes nothing; a trainer can be passed as an object."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from glnn import GLNN, InputError
from glnn.training.observer import Observer
from glnn.training.race import Training
from glnn.training.records import Progress, StepInfo
from glnn.training.trainer import Trainer

TEXT = "abcabdabc" * 20


def make(**options: Any) -> GLNN:
    return GLNN(recipe="paper", units=4, degree=2, budget="9 steps", random_state=0, verbose=0, **options)


class Seeing(Observer):
    def __init__(self, known: list[Progress] | None = None) -> None:
        self.known, self.steps, self.bits = known, [], []  # type: ignore[var-annotated]

    def begin(self, training: Training) -> None:
        assert all(run.progress is None for run in training.runs)
        self.training = training

    def recorded(self, run: Any) -> Progress | None:
        return None if self.known is None else self.known[list(self.training.runs).index(run)]

    def step(self, run: Any, info: StepInfo, trainer: Trainer) -> None:
        self.steps.append((list(self.training.runs).index(run), info.step))
        if info.step == 2:
            self.bits.append(self.training.fitted().bits(TEXT))


def test_it_sees_every_step_of_every_start_and_changes_nothing() -> None:
    seen, alone = Seeing(), make(restarts=2).fit(TEXT)
    model = make(restarts=2).fit(TEXT, observer=seen)
    np.testing.assert_array_equal(model.params_.theta, alone.params_.theta)
    done = [run.used("steps") for run in seen.training.runs]
    assert sorted(seen.steps) == [(which, step + 1) for which in (0, 1) for step in range(int(done[which]))]
    assert seen.training.used("steps") == sum(done) and seen.training.best.seed == model.seed_
    assert len(seen.bits) == 2 and seen.training.fitted().bits(TEXT) == model.bits(TEXT)


def test_recorded_steps_are_read_and_not_seen_again() -> None:
    first = Seeing()
    model = make(restarts=1).fit(TEXT, observer=first)
    known = [run.progress for run in first.training.runs]
    second = Seeing(known)  # type: ignore[arg-type]
    again = make(restarts=1).fit(TEXT, observer=second)
    assert second.steps == [] and len(first.steps) == 9
    np.testing.assert_array_equal(again.params_.theta, model.params_.theta)


def test_a_training_that_ends_in_the_midst_of_its_record_is_where_the_record_ends() -> None:
    first = Seeing()
    model = make(restarts=1).fit(TEXT, observer=first)
    second = Seeing([run.progress for run in first.training.runs])  # type: ignore[misc]
    shorter = make(restarts=1).set_params(budget="4 steps").fit(TEXT, observer=second)
    # Parameters are known there alone.
    assert shorter.steps_ == 9 and second.training.runs[0].progress.generator is not None
    np.testing.assert_array_equal(shorter.params_.theta, model.params_.theta)


class Counting(Trainer):
    """Counts its steps."""

    made = 0

    def step(self, clock: Any = None) -> StepInfo:
        type(self).made += 1
        return super().step(clock)


@pytest.mark.parametrize("observer", [None, Observer()])
def test_a_trainer_passed_as_an_object_does_the_training(observer: Observer | None, tmp_path: Any) -> None:
    Counting.made = 0
    model = make(restarts=1, trainer=Counting).fit(TEXT, observer=observer)
    np.testing.assert_array_equal(model.params_.theta, make(restarts=1).fit(TEXT).params_.theta)
    if observer is None:
        assert Counting.made == model.steps_ + 2  # two of them compile
    model.save(tmp_path / "model")
    with pytest.raises(InputError, match="trainer is 3: it must be a class"):
        make(trainer=3).fit(TEXT)
