"""Stochastic training: it learns, repeats itself to the bit, is resumed to the bit, and comes back when it breaks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glnn import registry
from glnn.models import Params
from glnn.storage.checkpoint import read_checkpoint, write_checkpoint
from glnn.training import stochastic
from glnn.training.budget import Budget
from glnn.training.chunk_steps import Walked
from glnn.training.records import Progress, Replay
from glnn.training.settings import Settings
from glnn.training.stochastic import StochasticTrainer
from glnn.training.updates import average
from glnn.training.validation import Validation
from tests.training.problems import Problem, problem

NAMES = list(registry.networks())
STEPS = 6


def case(name: str = "glnn", lengths: tuple[int, ...] = (400, 3, 250, 60), masked: bool = True) -> Problem:
    """Where nothing is masked, gated networks take several steps in one call."""
    given = problem(name, units=6, degree=3, symbols=4, lengths=lengths, masked=masked, seed=2, noise=0.1)
    # Something to learn: each symbol follows from the one before it.
    given.data.codes[:] = np.arange(given.data.codes.size) * 3 % 4
    return given


def settings(**changes: Any) -> Settings:
    return Settings(**{"training": "stochastic", "metric": "adam", "noise": 0.1, **changes})


def trainer(given: Problem, chosen: Settings, recorded: Progress | None = None, validated: bool = True) -> Any:
    validation = Validation(given.model, given.data.select([2, 3])) if validated else None
    replay = Replay(recorded)
    return StochasticTrainer(given.model, given.data, given.params, chosen, validation, 5, recorder=replay)


def assert_same(one: Progress, other: Progress) -> None:
    for which in ("params", "best"):
        for part in ("w", "theta", "V0"):
            np.testing.assert_array_equal(getattr(getattr(one, which), part), getattr(getattr(other, which), part))
    assert (one.best_score, one.best_step, one.step, one.passes) == (
        other.best_score,
        other.best_step,
        other.step,
        other.passes,
    )
    assert [info.log_likelihood for info in one.history] == [info.log_likelihood for info in other.history]
    assert one.memory.keys() == other.memory.keys()
    for name, part in one.memory.items():
        np.testing.assert_array_equal(part, other.memory[name])


@pytest.mark.parametrize("metric", ["adam", "rbpm", "qdruop", "rms", "fb"])
@pytest.mark.parametrize("name", NAMES)
def test_it_learns(name: str, metric: str) -> None:
    made = trainer(case(name), settings(metric=metric))
    # Shorter steps, more of them.
    progress = made.run(Budget(steps=round(60 / made.model.rate_for_chunks)))
    first, last = progress.history[0], progress.history[-1]
    assert last.log_likelihood > (0.9 if metric == "fb" else 0.75) * first.log_likelihood
    assert progress.best_score > first.validation and progress.reason == "budget"
    assert last.transition_rate < 0.1 * max(info.transition_rate for info in progress.history)


@pytest.mark.parametrize(("name", "masked"), [*((name, True) for name in NAMES), ("glnn", False)])
@pytest.mark.parametrize(
    ("chosen", "validated"),
    [(settings(noise="auto"), True), (settings(metric="qdrbpm", sequence_weights="equal"), False)],
    ids=["adam", "metric"],
)
def test_a_resumed_training_has_the_same_bits(
    name: str, masked: bool, chosen: Settings, validated: bool, tmp_path: Path
) -> None:
    given = case(name, masked=masked)
    whole = trainer(given, chosen, validated=validated).run(Budget(steps=STEPS))
    for k in (1, 4):
        before = trainer(given, chosen, validated=validated)
        before.run(Budget(steps=STEPS), (lambda info, source, k=k: info.step == k,))
        write_checkpoint(tmp_path, [before.progress], {})
        found = read_checkpoint(tmp_path).runs[0]
        assert_same(trainer(given, chosen, found, validated).run(Budget(steps=STEPS)), whole)


def after_each_call(monkeypatch: pytest.MonkeyPatch, change: Callable[[Walked], Walked]) -> None:
    """Let whatever takes steps on chunks return something else."""
    usual = stochastic.steps_on

    def make(*given: Any) -> Any:
        steps = usual(*given)

        def changed(*arguments: Any) -> Walked:
            return change(steps(*arguments))

        changed.at_once = steps.at_once  # type: ignore[attr-defined]
        return changed

    monkeypatch.setattr(stochastic, "steps_on", make)


@pytest.mark.parametrize("masked", [True, False])
def test_an_interrupted_round_leaves_no_trace(masked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    given, steps = case(masked=masked), []
    whole = trainer(given, settings()).run(Budget(steps=STEPS))
    budget = Budget(steps=STEPS)

    def broken(walked: Walked) -> Walked:
        steps.append(walked)
        if len(steps) == 4:
            raise KeyboardInterrupt
        return walked

    after_each_call(monkeypatch, broken)
    again = trainer(given, settings())
    assert again.run(budget).reason == "interrupted" and again.progress.step == 3
    monkeypatch.undo()
    # The rates of a new call of `run` begin anew: the round is done again within the budget it was begun in.
    resumed = trainer(given, settings(), again.progress)
    assert_same(resumed.run(budget), whole)


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("kind", ["jump", "not finite"])
def test_it_comes_back(kind: str, masked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step that ruins everything costs a round: training says so, halves its rate and is as good as ever."""
    given, calls = case(masked=masked), []

    def planted(walked: Walked) -> Walked:
        calls.append(1)
        if len(calls) != 40:
            return walked
        return walked._replace(params=walked.params.replace(w=planted_in(walked.params.w)))

    def planted_in(w: np.ndarray) -> np.ndarray:
        out = w.copy()
        out[1:, 0] += 30.0 if kind == "jump" else np.nan
        return out

    after_each_call(monkeypatch, planted)
    progress = trainer(given, settings()).run(Budget(steps=60))
    notes = [note for info in progress.history for note in info.notes if "back to" in note]
    assert len(notes) == 1 and notes[0].endswith("rate times 0.5")
    assert ("rose from" if kind == "jump" else "not finite") in notes[0]
    lowest = max(info.log_likelihood for info in progress.history[:20])
    assert progress.history[-1].log_likelihood > lowest
    assert all(np.isfinite(part).all() for part in vars(progress.params).values())


def test_threads_change_nothing() -> None:
    one, two = (trainer(case("lstm"), settings(threads=n)).run(Budget(steps=3)) for n in (1, 2))
    assert_same(one, two)


def test_noise_adapts_to_what_is_learned_by_heart() -> None:
    given = case("glnn", (800, 3, 90, 90))
    generator = np.random.default_rng(0)
    data = given.data
    held_out = data.select([2, 3])

    def last_noise(validation: Any) -> str:
        made = StochasticTrainer(given.model, data, given.params, settings(noise="auto"), validation, 5)
        return made.run(Budget(steps=80)).history[-1].notes[-1]

    held_out.codes[:] = generator.integers(0, 4, held_out.codes.size)
    assert last_noise(Validation(given.model, held_out)) == f"noise {stochastic._MOST_NOISE:.3g}"
    assert last_noise(None) == f"noise {stochastic.FIRST_NOISE:.3g}"


def test_what_is_hopeless_ends_after_a_quarter() -> None:
    given = case("glnn", (400, 3, 60, 60))
    ends = {}
    for hopeless in (True, False):
        made = trainer(given, settings())
        made.hopeless = lambda _, answer=hopeless: answer
        ends[hopeless] = made.run(Budget(steps=48))
    assert ends[True].reason == "behind" and 12 <= ends[True].step <= 15
    assert ends[False].reason == "budget"


def test_patience_ends_what_gets_no_better() -> None:
    given = case("glnn", (400, 3, 60, 60))
    held_out = given.data.select([2, 3])
    held_out.codes[:] = np.random.default_rng(0).integers(0, 4, held_out.codes.size)
    made = StochasticTrainer(
        given.model, given.data, given.params, settings(patience_part=0.2), Validation(given.model, held_out), 5
    )
    progress = made.run(Budget(steps=100))
    assert progress.reason == "patience"
    assert 20 <= progress.step - progress.best_step <= 28


def test_the_average() -> None:
    def number(value: float) -> Params:
        return Params(*(np.full(2, value) for _ in range(3)))

    mean = number(100.0)
    for k in range(200):
        mean = average(mean, number(1.0 if k < 150 else 2.0), k, 25.0)
    assert 1.9 < mean.w[0] < 1.96 and (mean.theta == mean.w).all() and (mean.w == mean.V0).all()
    assert average(number(5.0), number(1.0), 1000, 0.0).w[0] == 1.0
    assert average(number(5.0), number(1.0), 0, 50.0).w[0] == 1.0


@pytest.mark.parametrize(
    ("name", "units", "symbols", "unhurried", "expected"),
    [
        ("lstm", 6, 100, True, 0.33),
        ("lstm", 6, 20_000, True, 0.8),
        ("lstm", 6, 40_000, True, 1.0),
        ("lstm", 6, 100, False, 1.0),
        ("lstm", 130, 100, True, 0.4),
        ("rnn", 6, 100, True, 0.4),
        ("glnn", 6, 100, True, 1.0),
    ],
)
def test_steps_of_an_lstm_are_shorter_on_few_data(
    name: str, units: int, symbols: int, unhurried: bool, expected: float
) -> None:
    given = problem(name, units=units, degree=3, symbols=4, lengths=(symbols,), masked=False, seed=2)
    chosen = settings(unhurried=unhurried)
    made = StochasticTrainer(given.model, given.data, given.params, chosen)
    assert made._longest == pytest.approx(expected)
    rates = [made.run(Budget(steps=20)).history[k].transition_rate for k in (3, 10)]
    assert rates[0] == pytest.approx(0.01 * expected) and rates[1] < rates[0]
