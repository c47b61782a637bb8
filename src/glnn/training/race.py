"""Several trainings from different random starts within one budget, by successive halving.

The budget is cut into rounds of equal cost; after each the worse half of the runs, by validation score, is given up. So
the winner gets more than half of the budget when there are few runs, and luck at the start still has several tries. As
many runs as predict together in the end are never given up, and can train side by side.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from glnn.models import Model, Params
from glnn.sequences import Encoded, TrainingData
from glnn.training.budget import Budget, charged_alone
from glnn.training.parallel import single_threaded_blas
from glnn.training.records import Progress, StepInfo
from glnn.training.settings import Settings
from glnn.training.sizes import Size
from glnn.training.trainer import Trainer
from glnn.training.validation import Validation

# Reasons that end the whole race rather than one run's share.
_FINAL = ("callback", "interrupted")
# Runs that train at the same time, for each thread that is there for them.
_AT_ONCE = 4
# Where a progress holds what can be limited.
_FIELDS = {"seconds": "seconds", "steps": "step", "passes": "passes"}
# Reasons that end a run for good.
_FINISHED = ("converged", "not finite")


@dataclass
class Run:
    """One random start: its network and where its training stands."""

    seed: int
    model: Model
    params: Params
    validation: Validation | None
    progress: Progress | None = field(default=None)
    settings: Settings | None = None
    trainer: Callable[..., Trainer] | None = None
    """Another way to train than the other runs have; None for theirs."""
    weight: float = 1.0
    """Its share of what each run may spend."""
    team: int = 0
    """Only runs of one team predict together: they are alike."""
    data: Encoded | None = None
    """Other data than the other runs have; None for theirs."""
    own: TrainingData | None = None
    """What it trains and validates on, where that is another part of the data; its score is then not to be compared."""
    final: Progress | None = field(default=None)
    """Where its network came by going on over all data, once everything was chosen (`all_data.py`)."""
    rested: bool = False
    """Whether its patience ended before its share was spent, and more of the same is not worth it."""

    @property
    def score(self) -> float:
        """The best validation score so far (of the training data where nothing validates)."""
        return -math.inf if self.progress is None else self.progress.best_score

    @property
    def chosen(self) -> Params:
        """The parameters that predict."""
        assert self.progress is not None
        return self.progress.best if self.final is None else self.final.best

    @property
    def finished(self) -> bool:
        """Whether more time would change nothing."""
        return self.progress is not None and (self.progress.reason in _FINISHED or self.rested)

    @property
    def useful(self) -> float:
        """Seconds until its best score."""
        if self.progress is None:
            return 0.0
        found = (info.seconds for info in self.progress.history if info.step >= self.progress.best_step)
        return next(found, self.progress.seconds)

    def used(self, what: str) -> float:
        """Seconds, steps or passes spent."""
        if self.progress is None:
            return 0.0
        return float(getattr(self.progress, _FIELDS[what]))


@dataclass(frozen=True)
class Training:
    """A training while it runs and when it is over: its random starts, their size, the data."""

    runs: Sequence[Run]
    """Each start; its `progress` tells where it stands, None before its first turn."""
    size: Size
    split: TrainingData
    members: Sequence[int]
    """How many starts of each team predict together, at the most."""
    finish: Callable[[Training], Any] = field(repr=False)
    near: Sequence[float] = ()
    """How many times what the best one's validation data cost those of other members may cost; empty for any."""
    judged: TrainingData | None = None
    """The data with no more to validate on than a short budget has time to read; None for all."""
    most_read: int | None = None
    """Symbols of the training data that the search for a start state reads at most, within a short budget."""

    @property
    def best(self) -> Run:
        """The start with the best validation score so far."""
        return best_of(self.runs)

    def kept(self) -> list[Run]:
        """The starts that predict together as things stand, the best first: all are of the team of the best one.

        Those that held out other data than the end come last.
        """
        team = self.best.team
        begun = [run for run in self.runs if run.progress is not None and run.team == team]
        ordered = sorted(begun, key=lambda run: (run.own is not None, -run.score if run.own is None else 0.0))
        ordered = ordered[: self.members[team]]
        near = self.near[team] if self.near else math.inf
        least = near * ordered[0].score if math.isfinite(near) else -math.inf
        return [run for k, run in enumerate(ordered) if k == 0 or (run.score > -math.inf and run.score >= least)]

    def used(self, what: str) -> float:
        """Seconds, steps or passes spent by all starts together."""
        last = sum(float(getattr(run.final, _FIELDS[what])) for run in self.runs if run.final is not None)
        return sum(run.used(what) for run in self.runs) + last

    def fitted(self) -> Any:
        """The model as if the training had ended now: fitted, ready to predict and to save."""
        return self.finish(self)


Listener = Callable[[Run, StepInfo, Trainer], Any]
Together = Callable[..., bool]
"""Trains runs at the same time, each for its share, called as `side_by_side` but for the threads; whether one of them
ends the whole race."""
Another = Callable[[Run], tuple[Run, dict[str, float]] | None]
"""Told of a run that has ended while others are at work: one that begins in its place, and its share, if there is."""


def seeds(seed: int, count: int) -> list[int]:
    """The seeds of all runs: the given one first, so that one run alone repeats it."""
    return [seed, *(int(np.random.SeedSequence([seed, k]).generate_state(1)[0]) for k in range(1, count))]


def race(
    runs: Sequence[Run],
    budget: Budget,
    trainer: Callable[[Run], Trainer],
    listener: Listener,
    keep: int = 1,
    together: Together | None = None,
) -> Run:
    """Train the runs within the budget; returns the best. The listener sees every step and stops all by True.

    At least `keep` runs go on to the end. `together` trains several runs at the same time.
    """
    rounds = math.ceil(math.log2(max(len(runs) / keep, 1.0))) + 1
    survivors = list(runs)
    try:
        for k in range(rounds):
            active = [run for run in survivors if not run.finished]
            share = _share(budget, runs, rounds - k, sum(run.weight for run in active))
            if take_turns(active, share, trainer, listener, together, lambda: _spent(budget, runs)):
                break
            left = max(math.ceil(len(survivors) / 2), keep)
            survivors = sorted(survivors, key=lambda run: -run.score)[:left]
    except KeyboardInterrupt:
        interrupted(runs)
    return best_of(runs)


def take_turns(
    runs: Sequence[Run],
    share: dict[str, float],
    trainer: Callable[[Run], Trainer],
    listener: Listener,
    together: Together | None = None,
    over: Callable[[], bool] = lambda: False,
    another: Another = lambda ended: None,
) -> bool:
    """Give every run its share, one after the other or all together; whether one of them ends everything.

    `over` says that nothing is left to share, though rounding may say otherwise. Where they train together, `another`
    may begin in the place of one that has ended.
    """
    if together is not None and len(runs) > 1 and not over():
        return together(runs, share, trainer, listener, another)
    for run in runs:
        if over():
            return False
        _train(run, share, trainer(run), listener)
        if run.progress is not None and run.progress.reason in _FINAL:
            return True
    return False


def interrupted(runs: Sequence[Run]) -> None:
    """Ctrl-C between two steps of training proper: what is done is kept, if there is anything."""
    if all(run.progress is None for run in runs):
        raise KeyboardInterrupt
    for run in runs:
        if run.progress is not None:
            run.progress.reason = "interrupted"


def side_by_side(
    runs: Sequence[Run],
    share: dict[str, float],
    trainer: Callable[[Run], Trainer],
    listener: Listener,
    another: Another = lambda ended: None,
    threads: int = 1,
) -> bool:
    """Train runs at the same time, each for its share; whether one of them ends the whole race.

    More runs than threads take turns on the cores by the system's clock, so that three on two cores are over after one
    share and a half: one after the other, the third would leave a core idle. Kernels release the interpreter's lock.
    The listener is called by one thread at a time, and so is `another`; Ctrl-C ends every run after the step it is at.
    """
    lock, over = threading.Lock(), threading.Event()

    def listen(run: Run, info: StepInfo, source: Trainer) -> bool:
        with lock:
            # The others end with the one that was told to.
            if not over.is_set() and listener(run, info, source):
                over.set()
            return over.is_set()

    def train(run: Run) -> None:
        following: tuple[Run, dict[str, float]] | None = run, share
        while following is not None and not over.is_set():
            run, own = following
            with charged_alone():
                _train(run, own, trainer(run), listen)
            with lock:
                following = another(run)

    # Held around all of it, since each trainer gives back what it found when it began.
    with single_threaded_blas(), ThreadPoolExecutor(min(len(runs), _AT_ONCE * threads)) as pool:
        jobs = [pool.submit(train, run) for run in runs]
        try:
            for job in jobs:
                job.result()
        except BaseException:
            over.set()
            raise
    return over.is_set()


def _train(run: Run, share: dict[str, float], trainer: Trainer, listener: Listener) -> None:
    before = run.score
    # Set at once, so that an interruption finds it.
    run.progress = trainer.progress
    trainer.run(limits_of(run, share), (lambda info, source: listener(run, info, source),))
    # Rates that fall again with another share may well find more, unless this one found nothing.
    falling = run.settings is not None and run.settings.patience_part is not None
    run.rested = run.progress.reason == "patience" and not (falling and run.score > before)


def limits_of(run: Run, share: dict[str, float]) -> Budget:
    """Where a run ends that may spend so much more."""
    limits: dict[str, Any] = {what: run.used(what) + run.weight * amount for what, amount in share.items()}
    for what in ("steps", "passes"):
        if what in limits:
            limits[what] = max(int(limits[what]), int(run.used(what)) + 1)
    return Budget(**limits)


def _share(budget: Budget, runs: Sequence[Run], rounds: int, active: float) -> dict[str, float]:
    """What an active run of weight 1 may spend in this round, of everything that is limited."""
    share = {}
    for what, limit in vars(budget).items():
        if limit is not None:
            left = (limit - sum(run.used(what) for run in runs)) / (rounds * (active or 1.0))
            share[what] = left if what == "seconds" else max(1.0, float(round(left)))
    return share


def _spent(budget: Budget, runs: Sequence[Run]) -> bool:
    totals = [sum(run.used(what) for run in runs) for what in ("seconds", "steps", "passes")]
    return budget.spent(totals[0], int(totals[1]), int(totals[2]))


def best_of(runs: Sequence[Run]) -> Run:
    """The run with the best score, of those that were scored on the same data."""
    tried = [run for run in runs if run.progress is not None]
    return max([run for run in tried if run.own is None] or tried, key=lambda run: run.score)
