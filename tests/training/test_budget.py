"""How long to train: what is understood, what is said about the rest, and which limit ends a run."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glnn.training import budget as budget_module
from glnn.training.budget import Budget, Clock, parse_budget
from glnn.training.settings import Settings
from glnn.training.trainer import Trainer
from glnn.training.validation import Validation
from tests.training.problems import problem

pytestmark = pytest.mark.small


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("60s", Budget(seconds=60)),
        (" 1.5 s ", Budget(seconds=1.5)),
        (".5m", Budget(seconds=30)),
        ("1min", Budget(seconds=60)),
        ("2 min", Budget(seconds=120)),
        ("2h", Budget(seconds=7200)),
        ("2 hours", Budget(seconds=7200)),
        ("1 minute", Budget(seconds=60)),
        ("30 seconds", Budget(seconds=30)),
        ("90", Budget(seconds=90)),
        (2, Budget(seconds=2)),
        (0.25, Budget(seconds=0.25)),
        ("200 steps", Budget(steps=200)),
        ("1 step", Budget(steps=1)),
        ("1500passes", Budget(passes=1500)),
        ("1 pass", Budget(passes=1)),
        (Budget(steps=3, seconds=1.0), Budget(steps=3, seconds=1.0)),
    ],
)
def test_understood(text: object, budget: Budget) -> None:
    assert parse_budget(text) == budget


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("soon", "budget is 'soon': not understood; give for example '60s'"),
        ("5 days", "budget is '5 days': not understood"),
        ("-3s", "budget is '-3s': not understood"),
        ("", "budget is '': not understood"),
        ("0s", "budget is '0s': it must be positive"),
        (0, "budget is 0: it must be positive"),
        (-1.0, "budget is -1.0: it must be positive"),
        (float("inf"), "budget is inf: it must be positive and finite"),
        (float("nan"), "budget is nan: it must be positive"),
        ("2.5 steps", "budget is '2.5 steps': a number of steps must be whole"),
        (True, "budget is True: give CPU seconds or a text"),
        (None, "budget is None: give CPU seconds or a text"),
    ],
)
def test_not_understood(text: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_budget(text)


@given(st.one_of(st.builds(Budget, steps=st.integers(1, 10**6)), st.builds(Budget, passes=st.integers(1, 10**6))))
def test_a_budget_reads_back_what_it_prints(budget: Budget) -> None:
    assert parse_budget(str(budget)) == budget


def test_any_limit_ends_it() -> None:
    budget = Budget(seconds=10, steps=5, passes=8)
    assert str(budget) == "10s, 5 steps, 8 passes"
    assert not budget.spent(9.9, 4, 7)
    assert budget.spent(10.0, 0, 0) and budget.spent(0, 5, 0) and budget.spent(0, 0, 8)
    assert not Budget().spent(1e9, 10**9, 10**9)


@pytest.mark.parametrize(("budget", "steps"), [("4 steps", 4), ("6 passes", 3)])
def test_the_run_ends_with_it(budget: str, steps: int) -> None:
    case = problem("glnn")
    progress = Trainer(case.model, case.data, case.params, Settings()).run(budget)
    assert (progress.reason, progress.step, progress.passes) == ("budget", steps, 2 * steps)


def test_a_budget_counts_what_was_done_before() -> None:
    case = problem("glnn")
    trainer = Trainer(case.model, case.data, case.params, Settings())
    trainer.run("2 steps")
    assert trainer.run("2 steps").step == 2
    assert trainer.run("3 steps").step == 3


class FakeTime:
    """CPU time that passes only when told, or by a second at each look."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, tick: float = 0.0) -> None:
        self.now, self.tick = 1000.0, tick
        monkeypatch.setattr(budget_module.time, "process_time", self.look)

    def look(self) -> float:
        self.now += self.tick
        return self.now


def test_the_clock_charges_cpu_time_but_not_what_is_paused(monkeypatch: pytest.MonkeyPatch) -> None:
    cpu = FakeTime(monkeypatch)
    clock = Clock(spent=100.0)
    assert clock.seconds == 100.0
    cpu.now += 3.0
    assert clock.seconds == 103.0
    with clock.paused():
        cpu.now += 50.0
    assert clock.seconds == 103.0
    with pytest.raises(RuntimeError), clock.paused():
        cpu.now += 7.0
        raise RuntimeError("an error ends the pause too")
    cpu.now += 1.0
    assert clock.seconds == 104.0
    # Inside a pause the clock stands, whoever looks at it, and a pause inside a pause is the same pause.
    with clock.paused():
        cpu.now += 9.0
        with clock.paused():
            cpu.now += 9.0
        assert clock.seconds == 104.0
    assert clock.seconds == 104.0


def test_seconds_end_a_run_and_are_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    case = problem("glnn")
    trainer = Trainer(case.model, case.data, case.params, Settings())
    FakeTime(monkeypatch, tick=1.0)
    progress = trainer.run(20.0)
    seconds = [info.seconds for info in progress.history]
    assert progress.reason == "budget" and 2 <= progress.step < 20
    assert all(earlier < later for earlier, later in pairwise(seconds))
    assert seconds[-1] <= 20.0 + 5 and progress.seconds >= 20.0
    # A second run with the same budget has nothing left to spend.
    assert trainer.run(20.0).step == len(seconds)


def test_scoring_validation_data_is_not_charged(monkeypatch: pytest.MonkeyPatch) -> None:
    case = problem("glnn")
    cpu = FakeTime(monkeypatch)

    class Slow(Validation):
        def score(self, *given: object) -> float:
            cpu.now += 500.0
            return super().score(*given)

    trainer = Trainer(case.model, case.data, case.params, Settings(), Slow(case.model, case.data))
    progress = trainer.run(Budget(steps=3, seconds=100.0))
    assert progress.step == 3 and progress.seconds == 0.0


def test_a_step_far_beyond_the_budget_is_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    case = problem("glnn")
    trainer = Trainer(case.model, case.data, case.params, Settings())
    trainer.most_seconds = 100.0
    cpu = FakeTime(monkeypatch)
    begun = trainer.workers.start

    def slow(jobs: object) -> object:
        cpu.now += 40.0
        return begun(jobs)  # type: ignore[arg-type]

    monkeypatch.setattr(trainer.workers, "start", slow)
    progress = trainer.run(100.0)
    # Nothing of the step that was broken off is kept, and there was no time for more than a few pieces of work.
    assert progress.reason == "budget" and progress.step == 0 and progress.params is case.params
    assert 110.0 < progress.seconds <= 160.0
    # Without a limit it may end.
    monkeypatch.setattr(trainer.workers, "start", begun)
    trainer.most_seconds = None
    assert trainer.run(Budget(steps=1)).step == 1


def test_fitting_sets_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    import glnn

    seen: list[float | None] = []
    step = Trainer.step
    monkeypatch.setattr(Trainer, "step", lambda self, clock=None: seen.append(self.most_seconds) or step(self, clock))
    glnn.GLNN(units=2, degree=2, recipe="paper", budget=Budget(steps=2, seconds=50.0), verbose=0).fit("abab" * 10)
    assert seen and seen[-1] == 50.0
