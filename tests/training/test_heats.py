"""Teams that compete for a budget, with trainings that only pretend."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from glnn.training.budget import Budget
from glnn.training.heats import Team, compete, turn_of
from glnn.training.race import Run, side_by_side, take_turns
from glnn.training.sizes import Size

pytestmark = pytest.mark.small
SIZE = Size(8, 3, 1)


class Pretended:
    """Each step costs a second, and the score is the one of the run's seed; some end of their own after a few steps."""

    def __init__(self, run: Run, scores: dict[int, float], ends: dict[int, int], best: int = 10**9) -> None:
        self.run_, self.score, self.end, self.best = run, scores[run.seed], ends.get(run.seed, 10**9), best
        nothing = SimpleNamespace(
            step=0, passes=0, seconds=0.0, best_score=float("-inf"), reason="", best_step=0, history=[]
        )
        self.progress: Any = run.progress or nothing
        self.hopeless: Any = None

    def run(self, budget: Budget, callbacks: tuple[Any, ...]) -> None:
        progress = self.progress
        progress.reason = ""
        while not progress.reason:
            if budget.spent(progress.seconds, progress.step, progress.passes):
                progress.reason = "budget"
            elif progress.step >= self.end:
                progress.reason = "patience"
            elif progress.step and self.hopeless and self.hopeless(self.score):
                progress.reason = "behind"
            else:
                progress.step, progress.seconds = progress.step + 1, progress.seconds + 1.0
                progress.history.append(SimpleNamespace(step=progress.step, seconds=progress.seconds))
                progress.best_score, progress.best_step = self.score, min(progress.step, self.best)
                if any([callback(progress, self) for callback in callbacks]):
                    progress.reason = "callback"


def team(number: int, *seeds: int, weight: float = 1.0, **more: Any) -> Team:
    runs = [Run(seed, None, None, None, team=number, weight=weight) for seed in seeds]  # type: ignore[arg-type]
    return Team(runs, SIZE, more.pop("members", len(seeds)), **more)


def run_all(
    teams: list[Team], seconds: float, scores: dict[int, float], ends: dict[int, int] | None = None, **more: Any
) -> tuple[Run, dict[int, float]]:
    listener = more.pop("listener", lambda *_: None)
    best_step = more.pop("best_step", 10**9)
    trainer: Any = lambda run: Pretended(run, scores, ends or {}, best_step)  # noqa: E731
    best = compete(teams, Budget(seconds=seconds), trainer, listener, **more)
    return best, {run.seed: run.used("seconds") for one in teams for run in one.runs}


def test_the_team_whose_first_start_is_best_gets_the_rest() -> None:
    teams = [team(0, 1, 2, 3, 4), team(1, 11, 12, 13, 14)]
    scores = dict.fromkeys([1, 2, 3, 4], -5.0) | dict.fromkeys([11, 12, 13, 14], -4.0)
    best, used = run_all(teams, 50.0, scores)
    assert best.team == 1
    # A turn is a fifth: four members and a heat that is lost.
    assert used == {1: 10.0, 2: 0.0, 3: 0.0, 4: 0.0, 11: 10.0, 12: 10.0, 13: 10.0, 14: 10.0}


def test_what_is_left_by_starts_that_end_early_is_for_more_members() -> None:
    teams = [team(0, *range(1, 9), members=8)]
    _, used = run_all(teams, 80.0, dict.fromkeys(range(1, 9), -1.0), dict.fromkeys(range(1, 9), 4))
    assert used == dict.fromkeys(range(1, 9), 4.0)
    # Members that have a start in hand: the last turns are longer, but none is twice as long as planned.
    _, used = run_all([team(0, 1, 2, 3, 4)], 40.0, dict.fromkeys([1, 2, 3, 4], -1.0), {1: 6})
    assert used[1] == 6.0 and used[2] == used[3] == used[4] == 12.0


def test_turns_are_shorter_where_the_first_was_soon_at_its_best() -> None:
    scores = dict.fromkeys(range(1, 6), -1.0)
    _, used = run_all([team(0, *range(1, 6))], 100.0, scores, best_step=4)
    assert used == {1: 20.0, 2: 8.0, 3: 8.0, 4: 8.0, 5: 8.0}
    # A start that was lucky at once does not cut the others off.
    _, used = run_all([team(0, *range(1, 6))], 200.0, scores, best_step=1)
    assert used == {1: 40.0, 2: 4.0, 3: 4.0, 4: 4.0, 5: 4.0}


def test_starts_that_end_early_leave_time_for_more_than_were_planned() -> None:
    teams = [team(0, *range(1, 7), planned=4)]
    assert turn_of(Budget(seconds=40.0), teams) == 10.0
    scores = dict.fromkeys(range(1, 7), -1.0)
    _, used = run_all(teams, 40.0, scores)
    assert used == {1: 10.0, 2: 10.0, 3: 10.0, 4: 10.0, 5: 0.0, 6: 0.0}
    _, used = run_all([team(0, *range(1, 7), planned=4)], 40.0, scores, {2: 2, 3: 2})
    assert used[5] + used[6] == pytest.approx(16.0, abs=1.0)


def test_a_start_that_is_far_behind_another_team_gives_up_in_its_heat() -> None:
    rivals = team(1, 11, 12, weight=0.2, members=1, halving=True, in_heat=2)
    _, used = run_all([team(0, 1, 2), rivals], 24.0, {1: -9.0, 2: -9.0, 11: -4.0, 12: -5.0})
    assert used[1] == 1.0 and used[11] > 15.0
    rivals = team(1, 11, 12, weight=0.2, members=1, halving=True, in_heat=2)
    _, used = run_all([team(0, 1, 2), rivals], 24.0, {1: -7.0, 2: -7.0, 11: -4.0, 12: -5.0})
    assert used[1] == 10.0


def test_a_little_time_is_not_enough_for_another_member() -> None:
    teams = [team(0, 1, 2, 3), team(1, 11, weight=0.8)]
    assert turn_of(Budget(seconds=38.0), teams) == pytest.approx(10.0)
    _, used = run_all(teams, 38.0, {1: -1.0, 2: -1.0, 3: -1.0, 11: -2.0})
    assert sum(used.values()) == pytest.approx(38.0, abs=3.0)


def test_a_team_that_needs_luck_races_by_halving_down_to_its_members() -> None:
    rivals = team(1, 11, 12, 13, 14, weight=0.25, members=1, halving=True, in_heat=2)
    scores = {1: -5.5, 2: -5.5, 3: -5.5, 11: -8.0, 12: -3.0, 13: -2.0, 14: -7.0}
    best, used = run_all([team(0, 1, 2, 3), rivals], 105.0, scores)
    # A heat of 30, and two of a quarter of it; what is left is for the rivals, those that come late included.
    assert used[1] == 30.0 and used[2] == used[3] == 0.0
    assert best.seed == 13 and used[13] > used[12] - 8.0 > used[11] - 8.0 > 0.0
    assert sum(used.values()) == pytest.approx(105.0, abs=5.0)


def test_as_many_starts_as_there_are_cores_begin_at_once() -> None:
    def begun(teams: list[Team], beside: int) -> list[list[int]]:
        seen: list[list[int]] = []

        def together(turns: Any, *more: Any) -> bool:
            seen.append([run.seed for run in turns])
            return take_turns(turns, *more[:3])

        run_all(teams, 60.0, dict.fromkeys(range(20), -5.0), beside=beside, together=together)
        return seen[:1]

    # All of them are members in the end, so nothing is lost; of several teams only one wins.
    assert begun([team(0, 1, 2, 3)], 2) == [[1, 2]] and begun([team(0, 1, 2, 3)], 8) == [[1, 2, 3]]
    assert begun([team(0, 1, 2, 3), team(1, 11, 12)], 2) == [[1, 11]]
    assert begun([team(0, 1, 2, 3, planned=1)], 2) == []


def test_a_callback_ends_everything() -> None:
    _, used = run_all([team(0, 1, 2)], 40.0, {1: -1.0, 2: -1.0}, listener=lambda run, *_: run.used("steps") == 3)
    assert used == {1: 3.0, 2: 0.0}


def test_an_interruption_keeps_what_is_there() -> None:
    def stop(run: Run, *_: Any) -> bool:
        if run.seed == 2:
            raise KeyboardInterrupt
        return False

    best, used = run_all([team(0, 1, 2)], 40.0, {1: -2.0, 2: -1.0}, listener=stop)
    assert used == {1: 20.0, 2: 1.0} and best.progress is not None and best.progress.reason == "interrupted"


def test_time_that_is_left_over_is_given_to_the_next_member_at_once() -> None:
    ended, scores = {2: 2}, dict.fromkeys(range(6), -5.0)
    teams = [team(0, *range(6), planned=4)]
    calls: list[int] = []

    def together(*given: Any) -> bool:
        calls.append(len(given[0]))
        return side_by_side(*given, threads=2)

    used = run_all(teams, 40.0, scores, ended, beside=2, together=together)[1]
    assert used == {0: 10.0, 1: 10.0, 2: 2.0, 3: 10.0, 4: 8.0, 5: 0.0}
    assert calls == [2, 2]
    # As one after the other, in other words.
    assert run_all([team(0, *range(6), planned=4)], 40.0, scores, ended, beside=2)[1] == used
