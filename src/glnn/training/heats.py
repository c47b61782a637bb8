"""Which networks deserve the budget: heats between teams, then as many members of the best team as there is time for.

A team is random starts of one kind and size. The first start of every team has its turn; the team whose start validates
best gets all that is left. Its starts have turns of equal length and predict together: several networks that are
trained for a short while are far better than one that is trained for long (`experiments/learning.md`). A team whose
starts need luck, as on problems that are learned on all data at once, races by halving instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from glnn.training.budget import Budget
from glnn.training.race import Listener, Run, Together, best_of, interrupted, race, take_turns
from glnn.training.sizes import Size
from glnn.training.trainer import Trainer

WORTH_A_TURN = 0.6
"""What part of a turn must be left for another member to begin."""
ROOM, LEAST_TURN = 2.0, 0.1
"""A turn is at most this many times what the first start of a team took to its best; and its least part."""
FAR_BEHIND = 2.0
"""A start in a heat ends its turn early when its validation costs this many times that of another team."""


@dataclass(frozen=True)
class Team:
    """Starts of one kind and size, in the order of their turns."""

    runs: Sequence[Run]
    size: Size
    members: int
    """How many of them predict together, at the most."""
    halving: bool = False
    """Whether its starts race by halving, down to the members, when it has won its heat."""
    in_heat: int = 1
    """How many of its starts take part in the heat; their weights say for what part of a turn."""
    near: float = math.inf
    """Members whose validation data cost so many times as much as the best one's do not predict."""
    planned: int = 0
    """For how many of them there are turns; what those leave that end early is for more. 0 for all of the members."""


def turn_of(budget: Budget, teams: Sequence[Team]) -> float:
    """Seconds of a turn: heats of all teams, and the members of the one that wins, fill the budget."""
    heats = sum(run.weight for team in teams[1:] for run in team.runs[: team.in_heat])
    return (budget.seconds or 0.0) / ((teams[0].planned or teams[0].members) + heats)


def compete(
    teams: Sequence[Team],
    budget: Budget,
    trainer: Callable[[Run], Trainer],
    listener: Listener,
    together: Together | None = None,
    more: float = 0.0,
    beside: int = 1,
) -> Run:
    """Train within a budget of seconds; returns the best run, whose team is the one to keep.

    A team that races by halving may spend so many seconds `more`. So many runs train `beside` each other: a team that
    is the only one of its kind has as many starts in its heat, since they are members if it wins.
    """
    assert budget.seconds is not None
    turn = turn_of(budget, teams)
    runs = [run for team in teams for run in team.runs]
    try:
        # Those that need luck are short, and first: so that a score is seen early if there is one, and the others
        # know what they have to reach.
        heats = [_heat([team for team in teams if team.halving is of], beside) for of in (True, False)]
        giving_up = _who_gives_up(trainer, teams)
        if not any(take_turns(heat, {"seconds": turn}, giving_up, listener, together) for heat in heats):
            team = teams[best_of(runs).team]
            if team.halving:
                _by_halving(team, runs, budget.seconds + more, trainer, listener, together)
            else:
                _in_turns(team, runs, budget.seconds, turn, trainer, listener, together)
    except KeyboardInterrupt:
        interrupted(runs)
    return best_of(runs)


def _heat(teams: Sequence[Team], beside: int) -> list[Run]:
    if len(teams) == 1 and not teams[0].halving:
        most = min(beside, teams[0].planned or teams[0].members)
        return list(teams[0].runs[: max(most, teams[0].in_heat)])
    return [run for team in teams for run in team.runs[: team.in_heat]]


def _who_gives_up(trainer: Callable[[Run], Trainer], teams: Sequence[Team]) -> Callable[[Run], Trainer]:
    """Trainers of a heat, which look at what the other teams have reached."""

    def make(run: Run) -> Trainer:
        made = trainer(run)
        others = [one for number, team in enumerate(teams) if number != run.team for one in team.runs]
        made.hopeless = lambda score: score < FAR_BEHIND * max((one.score for one in others), default=-math.inf)
        return made

    return make


def _by_halving(
    team: Team,
    runs: Sequence[Run],
    seconds: float,
    trainer: Callable[[Run], Trainer],
    listener: Listener,
    together: Together | None,
) -> None:
    own = sum(run.used("seconds") for run in team.runs)
    for run in team.runs:
        run.weight = 1.0
    left = seconds - _used(runs)
    if left > 0.0:
        race(team.runs, Budget(seconds=own + left), trainer, listener, team.members, together)


def _in_turns(
    team: Team,
    runs: Sequence[Run],
    seconds: float,
    turn: float,
    trainer: Callable[[Run], Trainer],
    listener: Listener,
    together: Together | None,
) -> None:
    """Member after member, as long as there is time; what those leave that end early is for more members.

    Where the first was at its best long before its turn was over, the others' rates fall sooner.
    """
    first = max((run.useful for run in team.runs if run.progress is not None), default=turn)
    shorter = max(ROOM * first, LEAST_TURN * turn)
    most, turn = (shorter, shorter) if shorter < turn else (2.0 * turn, turn)
    while waiting := [run for run in team.runs if run.progress is None]:
        left = seconds - _used(runs)
        if left < WORTH_A_TURN * turn:
            return
        turns = waiting[: max(1, round(left / turn))]
        share = {"seconds": left / len(turns) if len(turns) < len(waiting) else min(left / len(turns), most)}
        following = _Following(waiting[len(turns) :], turns, share["seconds"], left, WORTH_A_TURN * turn, most)
        if take_turns(turns, share, trainer, listener, together, another=following):
            return


class _Following:
    """Members that begin in the place of those that end early, at once: after all others, one would train alone."""

    def __init__(
        self, waiting: Sequence[Run], turns: Sequence[Run], share: float, left: float, least: float, most: float
    ) -> None:
        self._waiting, self._least, self._most = list(waiting), least, most
        self._promised = {id(run): share for run in turns}
        self._left = left - share * len(turns)

    def __call__(self, ended: Run) -> tuple[Run, dict[str, float]] | None:
        """The next one, as soon as there is time enough that nobody is going to use."""
        self._left += self._promised.pop(id(ended)) - ended.used("seconds")
        if not self._waiting or self._left < self._least:
            return None
        run, share = self._waiting.pop(0), min(self._left, self._most)
        self._promised[id(run)], self._left = share, self._left - share
        return run, {"seconds": share}


def _used(runs: Sequence[Run]) -> float:
    return sum(run.used("seconds") for run in runs)
