"""One setting gives a line that says what it is, and the same one again when it is run for as many steps."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from glnn.reproduction import xor
from glnn.reproduction.baselines import run_baseline
from glnn.reproduction.planned import table_settings, xor_settings
from glnn.reproduction.running import (
    commit,
    kinds_of_kernels,
    new_trainer,
    run_setting,
    sequences_of,
    thinned,
    warm_up,
)
from glnn.reproduction.settings import Setting, from_json
from glnn.reproduction.xor import XorPoint, XorRecord, error_rate, success_passes, successes
from glnn.training.corpus import prepare
from glnn.training.engine import Engine
from glnn.training.settings import Settings
from glnn.training.trainer import Trainer

MUSIC = Setting("music", "glnn", "qdh", "rbpm", 5, 3, 0, "4 steps", 40)


@pytest.fixture(scope="module")
def line():
    return run_setting(MUSIC)


def test_a_line_holds_what_repeats_it(line) -> None:
    assert from_json(json.loads(json.dumps(line))["setting"]) == MUSIC
    for name in ("version", "commit", "python", "numpy", "numba", "processor", "sequence_seeds", "cpu_seconds"):
        assert name in line
    assert (line["steps"], line["passes"], line["stopped"]) == (4, 8, "budget")


def test_the_regrets_are_those_of_the_best_parameters_on_validation_and_the_third_sequence(line) -> None:
    from glnn.predictors import bits
    from glnn.predictors.network import NetworkPredictor

    sequences = sequences_of(MUSIC)
    trainer = new_trainer(MUSIC, sequences)
    best = trainer.run(MUSIC.budget).best
    predictor = NetworkPredictor(trainer.model, best, sequences.source.alphabet)
    for name, sample in (("regret", sequences.valid), ("third_regret", sequences.third)):
        expected = bits(predictor, sequences.encoded(sample), regularised=True) - sample.bits
        assert line[name] == pytest.approx(expected, abs=0.02)
    assert len({sequences.train.text, sequences.valid.text, sequences.third.text}) == 3


def test_a_budget_of_seconds_is_repeated_by_its_steps() -> None:
    first = run_setting(replace(MUSIC, budget="0.02s"))
    again = run_setting(replace(MUSIC, budget=f"{first['steps']} steps"))
    for name in ("regret", "third_regret", "passes", "rejected", "best_step", "last_train_bits", "transition_rate"):
        assert again[name] == first[name]
    assert again["trajectory"]["valid_bits"] == first["trajectory"]["valid_bits"]


def test_the_trajectory_is_that_of_the_steps_and_its_least_is_the_regret(line) -> None:
    path = line["trajectory"]
    assert line["validate_every"] == 3
    assert path["steps"] == [1, 4] and path["seconds"] == sorted(path["seconds"])
    assert min(path["valid_bits"]) - line["true_bits"]["valid"] == pytest.approx(line["regret"], abs=0.02)
    assert path["train_bits"] == sorted(path["train_bits"], reverse=True)


@pytest.mark.parametrize(("total", "wanted"), [(1, 0), (7, 3), (60, 59), (5000, 4321)])
def test_thinning_keeps_the_ends_and_the_best(total: int, wanted: int) -> None:
    places = thinned(total, 60, wanted)
    assert {0, wanted, total - 1} <= set(places) and places == sorted(set(places))
    assert min(total, 20) <= len(places) <= 61


@pytest.mark.parametrize("model", ["bzip2", "ctw", "hmm"])
def test_baselines_are_scored_on_the_same_sequences(model: str) -> None:
    setting = Setting("music", model, "", "", 6 if model == "hmm" else 0, 6 if model == "hmm" else 0, 0, "3 steps", 60)
    result = run_baseline(setting, sequences_of(setting))
    uniform = math.log2(14) * len(sequences_of(setting).valid.text)
    assert 0 < result["regret"] < uniform and 0 < result["third_regret"] < uniform
    if model == "hmm":
        assert result["steps"] == 3 and len(result["trajectory"]["valid_bits"]) == 4


def test_kernels_of_every_kind_are_compiled_before_workers_start() -> None:
    kinds = kinds_of_kernels(table_settings(0.03))
    assert {setting.row for setting in kinds} == {setting.row for setting in table_settings(0.03)}
    assert len(kinds) < 40
    assert warm_up(MUSIC) == {} == warm_up(replace(MUSIC, model="bzip2", metric="", output_metric=""))


def test_no_commit_outside_a_repository(tmp_path) -> None:
    assert commit(tmp_path) is None


def test_an_error_is_a_correct_bit_of_probability_at_most_one_half() -> None:
    assert error_rate(np.log([0.5, 0.500001, 0.9, 0.1])) == 0.5
    assert error_rate(np.array([np.nan, -np.inf])) == 1.0


def test_success_is_the_first_point_under_one_per_cent() -> None:
    def at(passes: int, error: float) -> XorPoint:
        return XorPoint(passes, 1.0, 1.0, error, error)

    assert success_passes([at(0, 0.5), at(20, 0.01), at(40, 0.0099), at(60, 0.001)]) == 40
    assert success_passes([at(0, 0.5)]) is None
    lines = [{"success_passes": value} for value in (None, 1500, 1520, 2000)]
    assert (successes(lines, 1500), successes(lines, 2000)) == (1, 3)


def test_a_run_of_distant_xor_ends_soon_after_its_success(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every error counts as success here: the first point is one, and the run ends as many passes later."""
    monkeypatch.setattr(xor, "SUCCESS", 1.1)
    monkeypatch.setattr(xor, "PASSES_AFTER_SUCCESS", 4)
    line = run_setting(xor_settings(40, 1, 30)[0])
    assert line["success_passes"] == 0 and line["stopped"] == "success" and 4 <= line["passes"] < 8


def test_lines_apart_are_sequences_of_their_own() -> None:
    together, apart = (sequences_of(xor_settings(8, 1, 30, apart=True)[k]) for k in (2, 0))
    one, many = (sequences.encoded(sequences.train) for sequences in (together, apart))
    assert (len(one), len(many)) == (1, 30) and (one.codes == many.codes).all() and (one.mask == many.mask).all()
    line = run_setting(xor_settings(8, 1, 30, apart=True)[0])
    assert line["setting"]["apart"] and line["passes"] == 8
    # Every line begins alike, so the order of the lines changes nothing.
    trainer = new_trainer(xor_settings(8, 1, 30, apart=True)[0], apart)
    turned = Engine(trainer.model, prepare(many.select(np.arange(30)[::-1]), 256))
    forwards = Engine(trainer.model, prepare(many, 256)).log_likelihoods(trainer.progress.params)
    np.testing.assert_allclose(turned.log_likelihoods(trainer.progress.params)[::-1], forwards, rtol=1e-12)


def test_steps_on_stretches_are_made_on_whole_lines_and_count_as_parts_of_a_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(xor, "PASSES_BETWEEN_POINTS", 2)
    setting = xor_settings(4, 1, 30, batches=3)[0]
    sequences = sequences_of(setting)
    whole, parts = sequences.encoded(sequences.train), sequences.to_train_on()
    assert (len(whole), len(parts)) == (1, 3) and (parts.codes == whole.codes).all()
    newline = sequences.source.alphabet.symbols.index("\n")
    assert (parts.codes[parts.starts[1:] - 1] == newline).all()
    assert [int(parts.select([k]).mask.sum()) for k in range(3)] == [10, 10, 10]
    trainer = new_trainer(setting, sequences)
    trainer.step()
    assert trainer.engine.corpus.predicted == 10
    line = run_setting(setting)
    # Each step makes two updates, each on a third of the data.
    assert line["passes"] == 4 and line["steps"] == 6 and line["trajectory"]["passes"] == [0, 2, 4]


def test_several_steps_on_a_stretch_before_the_next() -> None:
    def stretches(dwell: int) -> list[int]:
        setting = xor_settings(4, 1, 30, batches=3, dwell=dwell, longest=30)[0]
        assert (setting.dwell, setting.longest, setting.batches) == (dwell, 30, 3)
        trainer, seen = new_trainer(setting, sequences_of(setting), validated=False), []
        for _ in range(6):
            trainer.step()
            seen.append(trainer.engine.corpus)
        return [sum(one is before for before in seen[:k]) for k, one in enumerate(seen)]

    assert stretches(0) == [0] * 6 and stretches(2) == [0, 1] * 3
    # Time scales alone are a form of their own, unless they are those of the steps on stretches.
    forms = [setting.form for setting in xor_settings(4, 1, 30, batches=3, dwell=2, longest=30)]
    assert forms[0] == "time scales to 30, steps on one of 3 stretches, 2 steps on each" and forms[2:] == ["", ""]
    assert "time scales to 30" in xor_settings(4, 1, 30, longest=30)[0].form
    with pytest.raises(ValueError, match="batch_steps is 0"):
        Settings(batch_steps=0)


def test_a_run_at_chance_begins_anew_where_a_setting_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xor, "PASSES_BETWEEN_POINTS", 2)
    setting = xor_settings(8, 1, 30, restart=4)[0]
    assert setting.restart == 4 and not setting.batches
    line = run_setting(setting)
    assert line["starts"] == [0, 4, 8] and line["passes"] == 8
    bits = dict(zip(line["trajectory"]["passes"], line["trajectory"]["train_bits"], strict=True))
    plain = run_setting(xor_settings(8, 1, 30)[0])["trajectory"]
    before = dict(zip(plain["passes"], plain["train_bits"], strict=True))
    # The same up to the second start.
    assert bits[4] == before[4] and bits[6] > before[6]
    monkeypatch.setattr(xor, "CHANCE", 2.0)
    assert run_setting(setting)["starts"] == [0]


def test_another_start_has_the_first_rates_and_log_0() -> None:
    setting = xor_settings(8, 1, 30)[0]
    trainer = new_trainer(setting, sequences_of(setting))
    first = trainer.progress.params
    trainer.run("6 steps")
    xor.begin_anew(setting, trainer)
    progress = trainer.progress
    assert progress.writing_rate == progress.transition_rate == 1.0 / 10
    np.testing.assert_array_equal(progress.params.w, first.w)
    second = progress.params.theta
    xor.begin_anew(setting, trainer)
    assert len({theta.tobytes() for theta in (first.theta, second, trainer.progress.params.theta)}) == 3
    assert trainer.step().log_likelihood > -30.0 * np.log(2.0) - 0.1


@pytest.mark.parametrize(("asked", "used"), [(0, None), (7, 7)])
def test_steps_are_shortened_where_a_setting_says_so(asked: int, used: int | None) -> None:
    setting = replace(xor_settings(8, 1, 30)[0], coherence=asked)
    assert new_trainer(setting, sequences_of(setting)).settings.coherence == used


def test_time_scales_go_as_far_as_a_setting_says() -> None:
    setting = replace(xor_settings(8, 1, 30)[0], longest=30)
    plain, longer = (new_trainer(s, sequences_of(s)).model for s in (replace(setting, longest=0), setting))
    np.testing.assert_allclose(1.0 / plain.time_scales, np.arange(2, 12))
    scales = 1.0 / longer.time_scales
    assert (scales[0], scales[-1]) == (2.0, pytest.approx(30.0))
    np.testing.assert_allclose(scales[1:] / scales[:-1], 15.0 ** (1 / 9))


def test_symbols_never_predicted_begin_with_log_0_and_teach_nothing() -> None:
    """At half a count they are what the first steps learn, which drives units into saturation."""
    setting = xor_settings(8, 1, 30)[0]
    likely, slopes = [], []
    for one in (setting, *xor_settings(8, 1, 30, half_count=True)[:1]):
        trainer = new_trainer(one, sequences_of(one))
        never = np.bincount(trainer.data.codes[trainer.data.mask], minlength=6) == 0
        assert never.sum() == 4
        likely.append(np.exp(trainer.progress.params.w[0, never]).sum())
        params = trainer.run("4 steps").params
        slopes.append(np.abs(params.w[1:, never]).max())
    assert likely[0] < 1e-300 < likely[1] and likely[1] == pytest.approx(4 * 0.5 / 30)
    assert slopes[0] < 1e-200 and slopes[1] > 1e-3


def test_distant_xor_is_measured_against_passes() -> None:
    setting = xor_settings(8, 1, 30)[0]
    line = run_setting(setting)
    path = line["trajectory"]
    assert path["passes"] == [0, 8] and line["passes"] == 8
    assert line["transition_rate"] > 0 and line["rejected"] >= 0 and line["conditioning"] >= 1
    assert path["train_bits"][1] < path["train_bits"][0]
    # At the start all symbols that are ever predicted are about as likely, and no bit is given more than one half.
    assert path["valid_error"][0] > 0.3 and 0 <= line["third_error"] <= 1
    sequences = sequences_of(setting)
    trainer = new_trainer(setting, sequences)
    trainer.run(setting.budget)
    record = XorRecord(trainer.model, sequences)
    point = record.measure(trainer.progress.params, 8)
    assert round(point.valid_error, 5) == path["valid_error"][1]


def test_distant_xor_goes_on_by_quasi_newton_steps_where_a_setting_says_so() -> None:
    setting = xor_settings(8, 1, 30, half_count=True, restart=400, quasi=2)[0]
    assert setting.quasi == 2 and setting.restart == 400 and "quasi-Newton steps past chance or after 2" in setting.form
    assert "after 400 passes or standing still" in setting.form

    def trained(setting: Setting, steps: int) -> Trainer:
        trainer = new_trainer(setting, sequences_of(setting), validated=False)
        trainer.run(f"{steps} steps")
        return trainer

    # The first steps are the paper's.
    first, paper = trained(setting, 2), trained(replace(setting, quasi=0), 5)
    before = [info.log_likelihood for info in paper.progress.history]
    assert not first.progress.memory and [info.log_likelihood for info in first.progress.history] == before[:2]
    # After them each step is remembered, and every one still raises the likelihood.
    after = trained(setting, 5)
    likelihoods = [info.log_likelihood for info in after.progress.history]
    assert "point" in after.progress.memory and likelihoods == sorted(likelihoods)
    assert likelihoods[:2] == before[:2] and likelihoods[-1] != before[-1]
    # Another start remembers nothing of the way so far, and begins with the paper's steps too.
    xor.begin_anew(setting, after)
    assert not after.progress.memory
    after.run("7 steps")
    assert not after.progress.memory
    after.run("8 steps")
    assert after.progress.memory


def test_quasi_newton_steps_begin_as_soon_as_a_run_has_left_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xor, "PASSES_BETWEEN_POINTS", 2)
    setting = xor_settings(12, 1, 30, half_count=True, quasi=100)[0]
    late = run_setting(setting)["trajectory"]["train_bits"]
    monkeypatch.setattr(xor, "LEFT", 2.0)
    early = run_setting(setting)["trajectory"]["train_bits"]
    assert early[:2] == late[:2] and early[-1] != late[-1]


def test_a_run_that_stands_still_begins_anew_with_quasi_newton_steps() -> None:
    def points(*bits: float) -> list[XorPoint]:
        return [XorPoint(20 * k, value, value, 0.3, 0.3) for k, value in enumerate(bits)]

    setting = xor_settings(400, 1, 100, restart=80, quasi=10)[0]
    falling, still, chance = (100.0, 90.0, 80.0, 70.0, 60.0), (100.0, 90.0, 60.0, 60.0), (100.0,) * 5
    assert [xor.hopeless(setting, points(*bits), 0, 100) for bits in (falling, still, chance)] == [False, True, True]
    # At chance it has all of its time, and what was before its start says nothing.
    assert not xor.hopeless(setting, points(*chance), 20, 100) and not xor.hopeless(setting, points(*still), 40, 100)
    # The paper's steps creep; they are begun anew at chance only.
    creeping = replace(setting, quasi=0)
    assert not xor.hopeless(creeping, points(*still), 0, 100) and xor.hopeless(creeping, points(*chance), 0, 100)
