"""Sharing a budget among random starts, with trainings that only pretend."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from glnn.training.budget import Budget
from glnn.training.race import Run, race, seeds, side_by_side
from glnn.training.settings import Settings

pytestmark = pytest.mark.small


class Pretended:
    """Each step costs a second; the score after k steps is `scores[seed][k − 1]`, the last one for all later steps."""

    def __init__(self, run: Run, scores: dict[int, list[float]], log: list[tuple[int, int]], cost: float = 1.0) -> None:
        self.run_, self.scores, self.log, self.cost = run, scores[run.seed], log, cost
        self.progress: Any = run.progress or SimpleNamespace(
            step=0, passes=0, seconds=0.0, best_score=float("-inf"), reason=""
        )

    def run(self, budget: Budget, callbacks: tuple[Any, ...]) -> None:
        progress = self.progress
        progress.reason = ""
        while not progress.reason:
            if budget.spent(progress.seconds, progress.step, progress.passes):
                progress.reason = "budget"
                break
            progress.step += 1
            progress.passes += 2
            progress.seconds += self.cost
            self.log.append((self.run_.seed, progress.step))
            value = self.scores[min(progress.step, len(self.scores)) - 1]
            progress.best_score = max(progress.best_score, value)
            if value == CONVERGED:
                progress.reason = "converged"
            if any([callback(progress, self) for callback in callbacks]):
                progress.reason = "callback"


CONVERGED = -3.25


def compete(
    scores: dict[int, list[float]], budget: Budget, listener: Any = lambda *_: None, cost: float = 1.0
) -> tuple[Run, list[Run], list[tuple[int, int]]]:
    log: list[tuple[int, int]] = []
    runs = [Run(seed, None, None, None) for seed in scores]  # type: ignore[arg-type]
    best = race(runs, budget, lambda run: Pretended(run, scores, log, cost), listener)  # type: ignore[arg-type, return-value]
    return best, runs, log


def test_one_run_takes_everything() -> None:
    best, _, log = compete({7: [-5.0]}, Budget(seconds=9.0))
    assert best.seed == 7 and len(log) == 9


def test_the_worse_half_is_given_up() -> None:
    scores = {0: [-4.0], 1: [-1.0], 2: [-3.0], 3: [-2.0]}
    best, runs, _ = compete(scores, Budget(seconds=36.0))
    # Three rounds of 12 seconds: 4 × 3, then 2 × 6, then 1 × 12.
    assert best.seed == 1
    assert [run.used("steps") for run in runs] == [3, 21, 3, 9]


def test_a_late_bloomer_that_survives_can_win() -> None:
    scores = {0: [-4.0], 1: [-1.0], 2: [-3.0], 3: [-2.0] * 5 + [-0.5]}
    best, runs, _ = compete(scores, Budget(seconds=36.0))
    assert best.seed == 3 and runs[3].used("steps") == 21


@pytest.mark.parametrize("budget", [Budget(steps=24), Budget(passes=48), Budget(seconds=24.0, steps=1000)])
def test_the_budget_is_kept(budget: Budget) -> None:
    _, runs, log = compete({k: [-float(k)] for k in range(3)}, budget)
    assert len(log) == 24 and all(run.used("steps") > 0 for run in runs)


def test_what_a_converged_run_leaves_goes_to_the_others() -> None:
    best, runs, log = compete({0: [CONVERGED], 1: [-5.0]}, Budget(seconds=20.0))
    assert best.seed == 0 and runs[0].used("steps") == 1
    # Only the converged run survives the first round: nothing is left to train.
    assert len(log) == 1 + 5
    best, runs, log = compete({0: [CONVERGED], 1: [-2.0]}, Budget(seconds=20.0))
    assert best.seed == 1 and len(log) == 20


def test_a_budget_overspent_by_a_long_step_ends_the_race() -> None:
    _, runs, log = compete({k: [-1.0] for k in range(4)}, Budget(seconds=5.0), cost=3.0)
    assert len(log) == 2 and runs[2].progress is None


def test_a_callback_ends_everything() -> None:
    best, runs, log = compete({0: [-1.0], 1: [-2.0]}, Budget(seconds=50.0), lambda run, *_: run.used("steps") == 4)
    assert best.seed == 0 and len(log) == 4 and runs[1].progress is None


def test_an_interruption_between_steps_keeps_what_is_there() -> None:
    runs = [Run(0, None, None, None), Run(1, None, None, None)]  # type: ignore[arg-type]
    log: list[tuple[int, int]] = []

    def trainer(run: Run) -> Any:
        if run.seed == 1:
            raise KeyboardInterrupt
        return Pretended(run, {0: [-1.0]}, log)

    best = race(runs, Budget(seconds=8.0), trainer, lambda *_: None)
    assert best.seed == 0 and best.progress is not None and best.progress.reason == "interrupted"
    with pytest.raises(KeyboardInterrupt):
        race([Run(1, None, None, None)], Budget(seconds=8.0), trainer, lambda *_: None)  # type: ignore[arg-type]


def test_seeds_begin_with_the_given_one_and_differ() -> None:
    assert seeds(5, 1) == [5]
    assert seeds(5, 4)[:3] == seeds(5, 3)
    assert len({*seeds(5, 50), *seeds(6, 50)}) == 100


@pytest.mark.parametrize(("later", "rounds"), [(-1.0, 2), (-9.0, 1)])
def test_patience_in_a_round_ends_a_start_only_if_the_round_found_nothing(later: float, rounds: int) -> None:
    """Rates fall anew in the next round, which may well find more; but not after a round in vain."""
    seen = []

    class Impatient(Pretended):
        def run(self, budget: Budget, callbacks: tuple[Any, ...]) -> None:
            super().run(Budget(steps=self.progress.step + 1), callbacks)
            self.progress.reason = "patience"
            seen.append(self.run_.seed)

    known = SimpleNamespace(step=1, passes=2, seconds=1.0, best_score=-5.0, reason="")
    chunks = Settings(training="stochastic", metric="adam", patience_part=0.4)
    run = Run(0, None, None, None, known, chunks)  # type: ignore[arg-type]
    other = Run(1, None, None, None)  # type: ignore[arg-type]
    scores = {0: [-5.0, later], 1: [-20.0]}
    race([run, other], Budget(seconds=40.0), lambda run: Impatient(run, scores, []), lambda *_: None)  # type: ignore[arg-type, return-value]
    assert seen.count(0) == rounds


def test_more_runs_than_cores_take_turns_on_them_so_that_none_waits_for_the_last() -> None:
    # Each begins when all three are there: with one that waits for another to end, the meeting never takes place.
    meeting = threading.Barrier(3)
    log: list[tuple[int, int]] = []
    runs = [Run(seed, None, None, None) for seed in range(3)]  # type: ignore[arg-type]
    scores = {seed: [-5.0] for seed in range(3)}

    class Meeting(Pretended):
        def run(self, budget: Budget, callbacks: tuple[Any, ...]) -> None:
            meeting.wait(timeout=20.0)
            super().run(budget, callbacks)

    def made(run: Run) -> Any:
        return Meeting(run, scores, log)

    assert not side_by_side(runs, {"seconds": 2.0}, made, lambda *_: None, threads=1)
    assert sorted(log) == [(seed, step) for seed in range(3) for step in (1, 2)]


def test_another_begins_in_the_place_of_one_that_has_ended_while_others_are_at_work() -> None:
    runs = [Run(seed, None, None, None) for seed in range(3)]  # type: ignore[arg-type]
    begun, log = threading.Event(), list[tuple[int, int]]()

    class Waiting(Pretended):
        def run(self, budget: Budget, callbacks: tuple[Any, ...]) -> None:
            if self.run_ is runs[2]:
                begun.set()
            if self.run_ is runs[1]:
                # It goes on only when the third is there, which comes after the first.
                assert begun.wait(timeout=20.0)
            super().run(budget, callbacks)

    def made(run: Run) -> Any:
        found: Any = Waiting(run, {seed: [-5.0] for seed in range(3)}, log)
        found.run_ = run
        return found

    def another(ended: Run) -> tuple[Run, dict[str, float]] | None:
        return (runs[2], {"seconds": 1.0}) if ended is runs[0] else None

    assert not side_by_side(runs[:2], {"seconds": 2.0}, made, lambda *_: None, another, threads=2)
    assert [run.used("seconds") for run in runs] == [2.0, 2.0, 1.0]
