"""Distant XOR with `strict`: which starts are given up, by the training data alone, and which is taken up again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from glnn.reproduction import xor
from glnn.reproduction.planned import xor_settings
from glnn.reproduction.running import new_trainer, run_setting, sequences_of
from glnn.reproduction.settings import LATER, from_json, to_json
from glnn.reproduction.xor import XorPoint, keeps_pace, take_up

LINES, STRICT = 1000, 100


def points(*bits: float, valid_error: float = 0.3) -> list[XorPoint]:
    """Every twenty passes one."""
    return [XorPoint(20 * k, value, value, 0.3, valid_error) for k, value in enumerate(bits)]


def kept(*bits: float, start: int = 0) -> bool:
    return keeps_pace(points(*bits), start, STRICT, LINES)


def test_a_start_has_its_passes_to_leave_chance() -> None:
    assert kept(*[1000] * 5) and not kept(*[1000] * 6)
    # What has not gone under 95 % has not left it.
    assert not kept(*[960] * 8) and kept(*[1000] * 7, 945)
    assert not kept(*[1000] * 5, float("nan"))
    # A later start has as many.
    assert kept(*[1000] * 6, start=20) and not kept(*[1000] * 7, start=20)


def test_a_start_that_is_moving_at_chance_goes_on() -> None:
    """Most winners go from 0.998 to 0.95 bits a line within forty passes."""
    assert kept(*[999] * 5, 998, 996.9) and not kept(*[999] * 5, 998, 997.1)
    assert not kept(*[999] * 5, 990, 989.9, 989.8, 989.7)


def test_past_chance_a_start_loses_a_seventh_of_its_bits_again_and_again() -> None:
    assert kept(1000, 900, 850, 800, 764) and not kept(1000, 900, 850, 800, 766)
    assert not kept(1000, 900, 700, 500, 400, 400, 400, 400) and kept(1000, 900, 700, 500, 400, 400, 400)
    # Nobody asks how fast it left chance, nor what another start before it had gained.
    assert kept(1000, 980, 940, 940, 940) and kept(1000, 500, 900, 890, 880, start=20)
    assert not kept(1000, 500, 900, 890, 880, 870, start=20)
    # A start that has fallen back to chance has no more time than any other.
    assert kept(1000, 900, 999) and not kept(1000, 900, 1000, 1000, 1000, 1000)


def test_a_start_that_is_solved_in_bits_is_kept() -> None:
    assert kept(1000, 500, 9, 9, 9, 9, 9) and not kept(1000, 500, 11, 11, 11, 11, 11)


def test_validation_decides_nothing_about_a_start() -> None:
    for bits in ((1000, 900, 700), (1000, 900, 890, 890, 890), (1000,) * 6):
        assert len({keeps_pace(points(*bits, valid_error=e), 0, STRICT, LINES) for e in (0.0, 0.011, 0.5)}) == 1


def test_it_takes_the_place_of_the_other_rule() -> None:
    setting = xor_settings(400, 1, LINES, restart=80, quasi=10)[0]
    creeping = points(1000, 900, 880, 860, 840, 820)
    assert not xor.hopeless(setting, creeping, 0, LINES)
    assert xor.hopeless(replace(setting, restart=0, strict=STRICT), creeping, 0, LINES)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A look at every step, and nothing ever leaves chance or moves."""
    for name, value in {
        "PASSES_BETWEEN_POINTS": 2,
        "LEFT": 0.0,
        "MOVING": 1.0,
        "MOVING_PASSES": 2,
        "TOO_FEW": 3,
    }.items():
        monkeypatch.setattr(xor, name, value)
    return monkeypatch


def test_a_run_begins_anew_by_it_until_it_has_succeeded(short: pytest.MonkeyPatch) -> None:
    setting = xor_settings(14, 1, 30, half_count=True, quasi=1, strict=4)[0]
    line = run_setting(setting)
    assert (line["starts"], line["taken_up"], line["passes"]) == ([0, 4, 8], 12, 14)
    short.setattr(xor, "MOVING", -1.0)
    assert run_setting(setting)["starts"] == [0]
    short.setattr(xor, "MOVING", 1.0)
    # Whatever is under 1 % error on validation has succeeded, and is only watched.
    short.setattr(xor, "SUCCESS", 2.0)
    assert run_setting(setting)["starts"] == [0]


def test_the_last_passes_are_those_of_the_best_start_that_was_given_up(short: pytest.MonkeyPatch) -> None:
    setting = xor_settings(40, 6, 30, half_count=True, quasi=4, strict=12)[5]
    taken = []
    short.setattr(xor, "TOO_FEW", 8)
    short.setattr(xor, "take_up", lambda trainer, params: (taken.append(params), take_up(trainer, params)))
    line = run_setting(setting)
    bits = dict(zip(line["trajectory"]["passes"], line["trajectory"]["train_bits"], strict=True))
    assert line["starts"] == [0, 12, 24] and line["taken_up"] == 36
    # It is the second, it climbs on, and is judged no more.
    ends = [bits[passes] for passes in (12, 24, 36)]
    trainer = new_trainer(setting, sequences_of(setting), validated=False)
    found = -trainer.engine.forward(taken[0]).log_likelihood / np.log(2.0)
    assert min(ends) == ends[1] == pytest.approx(found, abs=0.006) and bits[40] < bits[38] < found
    # Without the rule nothing is taken up, and no line says so.
    short.setattr(xor, "CHANCE", 0.0)
    other = run_setting(replace(setting, strict=0, restart=12))
    assert "taken_up" not in other and other["starts"] == [0, 12, 24, 36]


def test_what_is_taken_up_goes_on_by_quasi_newton_steps_at_once() -> None:
    setting = xor_settings(40, 1, 30, half_count=True, quasi=2, strict=12)[0]
    trainer = new_trainer(setting, sequences_of(setting), validated=False)
    params = trainer.run("5 steps").params
    xor.begin_anew(setting, trainer)
    xor.take_up(trainer, params)
    assert not trainer.progress.memory and trainer.progress.params is params
    trainer.step()
    np.testing.assert_array_equal(trainer.progress.memory["point"][: params.w.size], params.w.ravel())


def test_lines_from_before_it_mean_what_they_meant() -> None:
    before = xor_settings(half_count=True, quasi=120, restart=400)[0]
    written = to_json(before)
    assert written.pop("strict") == 0 and "strict" in LATER and from_json(written) == before
    assert "falling slowly" not in before.form
    strict = xor_settings(half_count=True, quasi=60, strict=180)[0]
    assert strict.form.startswith("begun anew if at chance after 180 passes or falling slowly, quasi-Newton")
    assert from_json(to_json(strict)) == strict != before


def test_a_slow_start_forgets_its_way_before_it_is_given_up(short: pytest.MonkeyPatch) -> None:
    """Every look finds it slow; forgetting helps until it does not."""
    short.setattr(xor, "hopeless", lambda setting, points, since, lines: points[-1].passes >= since + 4)
    setting = xor_settings(30, 1, 30, half_count=True, quasi=1, strict=4, forget=True)[0]
    helped = iter([True, True, False])
    short.setattr(xor, "helps_to_forget", lambda *given: next(helped, False))
    memories = []
    short.setattr(xor, "begin_anew", lambda *given: memories.append("anew"))
    line = run_setting(setting)
    assert line["forgotten"] == [4, 8] and line["starts"][:2] == [0, 12] and memories
    assert "forgotten" not in run_setting(replace(setting, forget=False))


def test_forgetting_helps_past_chance_unless_it_did_not_the_last_time() -> None:
    def helps(bits: float, stood: float = float("inf")) -> bool:
        return xor.helps_to_forget(points(bits)[0], stood, LINES)

    assert helps(900) and not helps(960) and not helps(float("nan"))
    assert helps(700, 900) and not helps(800, 900)


def test_what_is_forgotten_are_the_pairs(short: pytest.MonkeyPatch) -> None:
    setting = xor_settings(12, 1, 30, half_count=True, quasi=1, strict=4, forget=True)[0]
    short.setattr(xor, "hopeless", lambda setting, points, since, lines: points[-1].passes == 8)
    short.setattr(xor, "helps_to_forget", lambda *given: True)
    forgetting = run_setting(setting)
    short.setattr(xor, "hopeless", lambda *given: False)
    other = run_setting(setting)
    assert (forgetting["forgotten"], other["forgotten"]) == ([8], [])
    before, after = (
        [bits == same for bits, same in zip(forgetting["trajectory"][name], other["trajectory"][name], strict=True)]
        for name in ("passes", "train_bits")
    )
    assert all(before) and after[:5] == [True] * 5 and not any(after[5:])


def test_lines_from_before_forgetting_mean_what_they_meant() -> None:
    before = xor_settings(half_count=True, quasi=120, strict=300)[0]
    written = to_json(before)
    assert written.pop("forget") is False and "forget" in LATER and from_json(written) == before
    assert "forgotten" not in before.form and "forgotten" in replace(before, forget=True).form
