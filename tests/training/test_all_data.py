"""Networks that go on over training and validation data together, once everything is chosen."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import glnn
from glnn.models.glnn import GLNN
from glnn.network import random_graph
from glnn.sequences import Alphabet, Encoded, TrainingData
from glnn.training import all_data
from glnn.training.budget import Budget
from glnn.training.observer import Observer
from glnn.training.race import Run, Training, side_by_side
from glnn.training.records import Progress
from glnn.training.settings import Settings
from glnn.training.sizes import Size
from glnn.training.stochastic import StochasticTrainer
from glnn.training.validation import Validation, split

TEXT = "abcabdabcabe" * 60


def encoded(*texts: str, mask: int | None = None) -> Encoded:
    alphabet = Alphabet("abcde")
    codes = np.concatenate([alphabet.encode(text) for text in texts]).astype(np.int32)
    starts = np.cumsum([0, *map(len, texts)])
    return Encoded(codes, starts, np.arange(codes.size) != mask, alphabet)


@pytest.mark.small
def test_what_was_held_out_is_put_back_where_it_was() -> None:
    for data in (encoded("abcab", TEXT, mask=7), encoded(*["abc", "ab"] * 10, mask=3)):
        parts = split(TrainingData(data), 0.3)
        assert parts.continues == (len(data) < 10)
        joined = all_data.joined(parts)
        for name in ("codes", "starts", "mask"):
            assert np.array_equal(getattr(joined, name), getattr(data, name)), name


@pytest.mark.small
def test_validation_data_of_their_own_are_sequences_of_their_own() -> None:
    joined = all_data.joined(TrainingData(encoded("abc", "ab"), encoded("ca", mask=1)))
    assert joined.starts.tolist() == [0, 3, 5, 7] and joined.mask.tolist() == [True] * 6 + [False]
    assert joined.codes.tolist() == [0, 1, 2, 0, 1, 2, 0]


@pytest.mark.small
def test_only_with_enough_of_them_and_a_time_to_share() -> None:
    many, few = (TrainingData(encoded("abcab" * 20), encoded("a" * n)) for n in (20, 19))
    assert all_data.teaches(many, Budget(seconds=1.0)) and not all_data.teaches(few, Budget(seconds=1.0))
    assert not all_data.teaches(many, Budget(steps=10)) and not all_data.teaches(many, Budget(seconds=1.0, steps=9))
    assert not all_data.teaches(replace(many, validation=None), Budget(seconds=1.0), few=True)
    assert all_data.teaches(few, Budget(seconds=1.0), few=True)


def _training(*runs: Run) -> Training:
    parts = TrainingData(encoded("abcab" * 20), encoded("abcab" * 20))
    return Training(runs, Size(3, 2, len(runs)), parts, [2], lambda _: None)


def _run(seed: int, score: float, useful: float) -> Run:
    model: Any = SimpleNamespace(units=3)
    params: Any = SimpleNamespace(w=np.zeros(1), theta=np.zeros(1), V0=np.zeros(1))
    history: Any = [SimpleNamespace(step=1, seconds=useful), SimpleNamespace(step=2, seconds=10.0)]
    numbers = {"numbers": np.array([9.0, 1.0, 1.0, 0.5, 0.5, 0.3, 1.0, 0.0, 0.0])}
    progress = Progress(params, 1.0, 1.0, params, score, 1, 2, 500, 10.0, memory=numbers, history=history)
    settings = Settings(training="stochastic", metric="adam", noise="auto", patience_part=0.4)
    return Run(seed, model, params, None, progress, settings)


class Pretended:
    """Ends as it is told to."""

    def __init__(self, run: Run, reason: str) -> None:
        self.given, self.reason = run, reason
        self.progress = Progress(run.params, 1.0, 1.0, run.params)

    def run(self, budget: Budget, callbacks: Any) -> None:
        self.progress.reason, self.progress.passes, self.progress.seconds = self.reason, budget.passes or 0, 1.0


@pytest.mark.small
def test_kept_networks_share_the_rest_and_lengths_follow_from_the_record() -> None:
    runs = [_run(1, -5.0, 8.0), _run(2, -6.0, 0.5), _run(3, -9.0, 8.0)]
    training, begun = _training(*runs), []

    def trainer(run: Run) -> Any:
        begun.append(run)
        return Pretended(run, "budget")

    all_data.go_on(training, Budget(seconds=50.0), trainer, lambda *_: None)
    # 20 of 50 seconds are left, 10 for each; 50 passes were done a second. Twice the data, half as long again.
    assert [run.seed - 1 for run in begun] == [1, 2] and [run.weight for run in begun] == [500.0, 75.0]
    assert all(run.settings.noise == 0.3 and run.settings.patience_part is None for run in begun)  # type: ignore[union-attr]
    assert all(run.data is not None and run.data.codes.size == 200 and run.validation is None for run in begun)
    assert [run.final is not None for run in runs] == [True, True, False]
    assert runs[0].final is not None and runs[0].final.passes == 500 and training.used("passes") == 1500 + 575
    assert training.best is runs[0] and training.best.score == -5.0


@pytest.mark.small
@pytest.mark.parametrize("reason", ["interrupted", "callback", "not finite"])
def test_what_is_broken_off_leaves_what_there_was(reason: str) -> None:
    run = _run(1, -5.0, 8.0)
    all_data.go_on(_training(run), Budget(seconds=50.0), lambda run: Pretended(run, reason), lambda *_: None)  # type: ignore[arg-type,return-value]
    assert run.final is None and run.progress is not None and run.chosen is run.progress.best
    assert run.progress.reason == ("" if reason == "not finite" else reason)


def _trained(data: Encoded, seed: int) -> Run:
    model = GLNN(random_graph(4, 2, seed), 5)
    counts = np.bincount(data.codes, minlength=5).astype(float)
    params = model.initial_for_chunks(counts, counts, np.random.default_rng(seed))
    settings = Settings(training="stochastic", metric="adam", noise="auto")
    run = Run(seed, model, params, Validation(model, data), settings=settings)
    run.progress = StochasticTrainer(model, data, params, settings, run.validation, seed).run("3 steps")
    run.progress.seconds, run.progress.best_score = 1.0, -1.0
    run.progress.history[:] = [replace(info, seconds=1.0) for info in run.progress.history]
    return run


def test_a_record_leads_to_the_same_networks_with_any_number_of_threads() -> None:
    data = encoded(TEXT)
    runs = [_trained(data, seed) for seed in (1, 2)]
    parts, found = TrainingData(data, encoded("cab" + TEXT)), []
    for together in (None, partial(side_by_side, threads=2)):
        copies = [replace(run, progress=deepcopy(run.progress)) for run in runs]
        training = Training(copies, Size(4, 2, 2), parts, [2], lambda _: None)
        trainer: Any = lambda run: StochasticTrainer(  # noqa: E731
            run.model, run.data, run.params, run.settings, None, run.seed, run.progress
        )
        all_data.go_on(training, Budget(seconds=4.0), trainer, lambda *_: None, together)
        found.append(training.kept())
    for one, other in zip(*found, strict=True):
        assert one.final is not None and other.final is not None and one.final.passes == other.final.passes > 1
        for part in ("w", "theta", "V0"):
            assert np.array_equal(getattr(one.chosen, part), getattr(other.chosen, part))
            assert one.progress is not None and one.chosen is one.final.best is not one.progress.best


@pytest.mark.small
@pytest.mark.parametrize("learned", [True, False])
def test_networks_that_foresee_validation_data_less_stay_as_they_were(learned: bool) -> None:
    data = encoded(TEXT)
    run = _trained(data, 1)
    assert run.progress is not None
    params = deepcopy(run.progress.best)
    if not learned:
        params.w[0] = [0.0, 50.0, 0.0, 0.0, 0.0]  # the biases: nothing but b
    training = Training([run], Size(4, 2, 1), TrainingData(data, data), [2], lambda _: None)
    ended = Pretended(run, "budget")
    ended.progress.best = params
    all_data.go_on(training, Budget(seconds=4.0), lambda _: ended, lambda *_: None)  # type: ignore[arg-type,return-value]
    assert (run.final is ended.progress) == learned
    assert run.chosen is (params if learned else run.progress.best)


@pytest.mark.small
@pytest.mark.parametrize("training", ["stochastic", "batch"])
def test_what_is_judged_again_does_not_read_all_of_long_data(training: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a megabyte that took as long as the training."""
    asked = []
    monkeypatch.setattr(all_data, "state_after", lambda *given: asked.append(given[3]))
    data = encoded(TEXT)
    run = _trained(data, 1)
    assert run.progress is not None and run.settings is not None
    run.settings = run.settings if training == "stochastic" else Settings()
    parts = Training([run], Size(4, 2, 1), TrainingData(data, data), [2], lambda _: None)
    assert all_data._learned(run, run.progress.best, parts)
    assert asked == [training == "stochastic"] * 2


def _fitted(observer: Observer | None = None, **given: Any) -> Any:
    parameters = {"units": 5, "degree": 2, "budget": 0.5, "random_state": 1, "verbose": 0, "n_jobs": 1}
    return glnn.GLNN(**{**parameters, **given}).fit(TEXT, "cab" + TEXT, observer=observer)


def test_of_the_estimator(tmp_path: Path) -> None:
    seen: list[Training] = []
    observer = Observer()
    observer.begin = seen.append  # type: ignore[method-assign]
    model = _fitted(observer)
    runs, best = seen[0].runs, seen[0].best
    assert "steps_on_all_data" in model.members_[0] and model.total_seconds_ > sum(run.used("seconds") for run in runs)
    assert best.progress is not None and not np.array_equal(model.params_.w, best.progress.best.w)
    assert model.validation_bits_ == pytest.approx(-best.progress.best_score / np.log(2.0))
    # Who has to judge it by the validation data finds it as it was before it learned them.
    before = model.that_held_out()
    assert np.array_equal(before.params_.w, best.progress.best.w) and before.predictor_ is not model.predictor_
    assert before.bits(TEXT) != model.bits(TEXT)
    for one in (model, before):
        one.save(tmp_path / "model")
        again = glnn.load(tmp_path / "model")
        assert again.bits(TEXT) == one.bits(TEXT) and again.that_held_out() is again
        assert again.knows_the_end == (one is model)
    assert not model.knows_the_end and not before.knows_the_end


def test_it_can_be_left_out() -> None:
    model = _fitted(refit=False)
    assert "steps_on_all_data" not in model.members_[0]
