"""Budgets of a few seconds, and one large network on long data: what is read, what is charged, who competes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import glnn
from glnn.network import random_graph
from glnn.sequences import Alphabet, Encoded, TrainingData
from glnn.training import all_data, short, stochastic
from glnn.training.budget import Budget, Clock
from glnn.training.corpus import MANY_STREAMS, SHORT_STREAMS
from glnn.training.fitting import make_teams
from glnn.training.plan import in_turns, is_short, judged_by, where_looks_are_dear, where_time_is_enough
from glnn.training.settings import Settings
from glnn.training.stochastic import StochasticTrainer
from glnn.training.validation import Validation


def encoded(*lengths: int) -> Encoded:
    alphabet = Alphabet("abc")
    codes = (np.arange(sum(lengths)) % 3).astype(np.int32)
    return Encoded(codes, np.cumsum([0, *lengths]), np.ones(codes.size, bool), alphabet)


def test_what_is_judged_by() -> None:
    """The beginning of one sequence, some of several from all over; all of it where that is little."""
    one = short.judged(TrainingData(encoded(50), encoded(90)), 30).validation
    assert one is not None and one.starts.tolist() == [0, 30] and one.codes.size == one.mask.size == 30
    several = TrainingData(encoded(50), encoded(10, 20, 10, 20, 10, 20))
    some = short.judged(several, 45).validation
    assert some is not None and some.codes.size <= 45 and np.diff(some.starts).tolist() == [10, 10, 10]
    assert short.judged(several, 90) is several
    blind = replace(several, validation=replace(encoded(90), mask=np.arange(90) >= 60))
    assert short.judged(blind, 30) is blind


@pytest.mark.parametrize(("seconds", "hurry"), [(2.0, True), (14.9, True), (15.0, False)])
@pytest.mark.parametrize("kind", [glnn.GLNN, glnn.LSTM])
def test_looks_are_charged_within_short_budgets_only(kind: Any, seconds: float, hurry: bool) -> None:
    plan = kind(budget=seconds)._plan()
    changed = where_looks_are_dear(plan, 20_000)
    assert is_short(plan) is is_short(changed) is changed.settings.all_counts is hurry
    assert (changed.budget.seconds < seconds) is hurry and changed.sizes_for == Budget(seconds=seconds)
    assert not where_looks_are_dear(kind(budget=seconds, recipe="paper")._plan(), 20_000).settings.all_counts
    assert where_time_is_enough(changed).settings.unhurried is not hurry
    assert not where_time_is_enough(kind(budget="50 steps")._plan()).settings.unhurried


def test_one_network_on_long_data_counts_everything_too() -> None:
    for members, symbols, expected in ((1, 300_000, True), (2, 300_000, False), (1, 100_000, False)):
        plan = where_looks_are_dear(glnn.LSTM(budget=300, members=members)._plan(), symbols)
        assert plan.settings.all_counts is expected
    data = TrainingData(encoded(300_000), encoded(30_000))
    assert judged_by(glnn.LSTM(budget=300, members=1)._plan(), data).validation.codes.size == short.JUDGED_OF_LONG


def test_the_clock_goes_on_while_looks_are_charged() -> None:
    model = glnn.models.GLNN(random_graph(3, 2, 0), 3)
    data = encoded(60)
    params = model.initial(np.ones(3), np.ones(3), np.random.default_rng(0))
    for counts in (False, True):
        settings = Settings(training="stochastic", metric="adam", all_counts=counts)
        trainer, clock = StochasticTrainer(model, data, params, settings), Clock()
        with trainer.uncharged(clock):
            assert (clock._paused is None) is counts


def test_what_is_not_judged_still_teaches() -> None:
    """Validation reads a part, going on over all data reads all."""
    text = "abcabdabcabe" * 1500
    model = glnn.GLNN(budget=0.4, units=4, degree=2, members=1, random_state=0, verbose=0)
    seen: list[int] = []
    original = all_data.joined
    held = text[: int(0.4 * short.JUDGED) * 4]

    def joined(parts: TrainingData) -> Encoded:
        found = original(parts)
        seen.append(found.codes.size)
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(all_data, "joined", joined)
        plan = model._plan()
        parts = model._given(text, held, None, None, None)
        teams = make_teams(where_looks_are_dear(plan, len(text)), parts)
        model.fit(text, validation=held)
    assert seen == [len(text) + len(held)]
    assert all(run.validation.predicted == int(0.4 * short.JUDGED) for team in teams for run in team.runs)


def test_who_competes_within_a_short_budget() -> None:
    """Small networks on all data at once beside every kind, each with the same part of the budget however many plan."""
    data = TrainingData(encoded(20_000), encoded(8_000))
    for kind, members in ((glnn.GLNN, 3), (glnn.RNN, 1)):
        plan = where_looks_are_dear(kind(budget=9)._plan(), 20_000)
        assert in_turns(plan, 20_000)
        first, rivals = make_teams(plan, data)
        assert first.planned == members and rivals.halving
        assert rivals.runs[0].weight == pytest.approx(members * short.RIVAL_PART)
    assert len(make_teams(where_looks_are_dear(glnn.RNN(budget=20)._plan(), 20_000), data)) == 1


def test_where_four_have_no_time_one_competes_with_the_time_of_all() -> None:
    data, found = TrainingData(encoded(28_000), encoded(8_000)), []
    for seconds in (0.5, 1.0, 2.0):
        plan = where_looks_are_dear(glnn.GLNN(budget=seconds)._plan(), 28_000)
        teams = make_teams(plan, data)
        found.append([(team.in_heat, team.runs[0].weight) for team in teams[1:]])
    none, one, four = found
    assert none == [] and one == [(1, pytest.approx(4 * short.RIVAL_PART))]
    assert four == [(4, pytest.approx(short.RIVAL_PART))]


def test_large_lstms_read_at_more_places_and_old_trainings_go_on_at_theirs() -> None:
    data = encoded(3000)
    settings = Settings(training="stochastic", metric="adam")
    for units, shape, rate in ((129, MANY_STREAMS, 0.4), (128, SHORT_STREAMS, 1.0)):
        model = glnn.models.LSTM(random_graph(units, units, 0), 3)
        params = model.initial_for_chunks(np.ones(3), np.ones(3), np.random.default_rng(0))
        trainer = StochasticTrainer(model, data, params, settings)
        assert (trainer._streams.count, trainer._streams.length) == shape and model.rate_for_chunks == rate
        trainer.run(Budget(steps=1))
        resumed = StochasticTrainer(model, data, params, settings, progress=trainer.progress)
        assert resumed._streams.count == shape[0]
        model.many_streams = False
        before = StochasticTrainer(model, data, params, settings)
        before.run(Budget(steps=1))
        model.many_streams = units > 128
        again = StochasticTrainer(model, data, params, settings, progress=before.progress)
        assert again._streams.count == SHORT_STREAMS[0]


@pytest.mark.parametrize("long", [True, False])
def test_noise_grows_with_the_times_that_long_data_were_read(long: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    data = encoded(3000)
    monkeypatch.setattr(stochastic, "LONG", data.codes.size if long else data.codes.size + 1)
    model = glnn.models.GLNN(random_graph(3, 2, 0), 3)
    params = model.initial(np.ones(3), np.ones(3), np.random.default_rng(0))
    settings = Settings(training="stochastic", metric="adam", noise="auto")
    trainer = StochasticTrainer(model, data, params, settings, Validation(model, encoded(30)))
    trainer._chunks = round(0.5 * data.codes.size / trainer._streams.positions)
    for _ in range(4):
        trainer._losses = [1.0, 0.1]
        trainer._adapt_noise(-30.0, 0.1)
    assert trainer._sigma == pytest.approx(0.15 * 1.17 ** (0.5 if long else 4.0), rel=0.03)
