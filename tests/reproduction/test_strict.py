"""Distant XOR with `strict`: which starts are given up, by the training data alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from glnn.reproduction import xor
from glnn.reproduction.planned import xor_settings
from glnn.reproduction.running import run_setting
from glnn.reproduction.settings import LATER, from_json, to_json
from glnn.reproduction.xor import XorPoint, keeps_pace

LINES, STRICT = 100, 100


def points(*bits: float, error: float = 0.3, valid_error: float = 0.3) -> list[XorPoint]:
    """Every twenty passes one; a fifth of `STRICT` lies between two of them."""
    return [XorPoint(20 * k, value, value, error, valid_error) for k, value in enumerate(bits)]


def kept(*bits: float, start: int = 0) -> bool:
    return keeps_pace(points(*bits), start, STRICT, LINES)


def test_a_start_has_its_passes_to_leave_chance() -> None:
    assert kept(*[100.0] * 5) and not kept(*[100.0] * 6)
    # What has not gone under 95 % has not left it; at its last look it still may.
    assert not kept(*[100.0] * 5, 95.5) and kept(*[100.0] * 5, 94.5)
    assert not kept(*[100.0] * 5, float("nan"))
    # A later start has as many.
    assert kept(*[100.0] * 6, start=20) and not kept(*[100.0] * 7, start=20)


def test_past_chance_a_start_loses_a_fifth_of_its_bits_again_and_again() -> None:
    assert kept(100, 90, 70, 50) and kept(100, 90, 71.9)
    assert not kept(100, 90, 72.1) and not kept(100, 90, 70, 50, 45) and not kept(100, 90, 91)
    # Nobody asks how fast it left chance, nor what another start before it had gained.
    assert kept(100, 98, 94) and kept(100, 50, 90, start=20) and not kept(100, 50, 90, 85, start=20)
    # A start that has fallen back to chance has no more time than any other.
    assert kept(100, 90, 99) and not kept(100, 90, 100, 100, 100, 100)


def test_pace_is_asked_for_over_a_fifth_of_the_passes() -> None:
    slower = points(100, 90, 80, 75, 64, 60)
    assert keeps_pace(slower, 0, 300, LINES) and not keeps_pace(slower, 0, 100, LINES)
    assert not keeps_pace(points(100, 90, 80, 75, 72.1), 0, 300, LINES)


def test_a_start_that_is_solved_in_bits_is_kept() -> None:
    assert kept(100, 50, 0.9, 0.9, 0.9) and not kept(100, 50, 1.1, 1.1)


def test_validation_decides_nothing_about_a_start() -> None:
    for bits in ((100.0, 90.0, 70.0), (100.0, 90.0, 89.0), (100.0,) * 6):
        judged = {
            keeps_pace(points(*bits, error=0.3, valid_error=error), 0, STRICT, LINES) for error in (0.0, 0.011, 0.5)
        }
        assert len(judged) == 1


def test_it_takes_the_place_of_the_other_rule() -> None:
    setting = xor_settings(400, 1, LINES, restart=80, quasi=10)[0]
    creeping = points(100, 90, 80, 70, 60, 55)
    assert not xor.hopeless(setting, creeping, 0, LINES)
    assert xor.hopeless(replace(setting, restart=0, strict=STRICT), creeping, 0, LINES)


def test_a_run_begins_anew_by_it_until_it_has_succeeded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xor, "PASSES_BETWEEN_POINTS", 2)
    setting = xor_settings(10, 1, 30, half_count=True, quasi=4, strict=4)[0]
    monkeypatch.setattr(xor, "LEFT", 0.0)
    line = run_setting(setting)
    assert line["starts"] == [0, 4, 8] and line["passes"] == 10
    # Whatever is under 1 % error on validation has succeeded, and is only watched.
    monkeypatch.setattr(xor, "SUCCESS", 2.0)
    assert run_setting(setting)["starts"] == [0]
    # Where all is past chance and nobody falls fast enough, every other look is the last one of a start.
    monkeypatch.setattr(xor, "SUCCESS", 0.0)
    monkeypatch.setattr(xor, "LEFT", 2.0)
    monkeypatch.setattr(xor, "PACE", 1.0)
    assert run_setting(setting)["starts"] == [0, 4, 8]  # nothing is judged at its first look past chance


def test_lines_from_before_it_mean_what_they_meant() -> None:
    before = xor_settings(half_count=True, quasi=120, restart=400)[0]
    written = to_json(before)
    assert written.pop("strict") == 0 and "strict" in LATER and from_json(written) == before
    assert "falling slowly" not in before.form
    strict = xor_settings(half_count=True, quasi=120, strict=300)[0]
    assert strict.form.startswith("begun anew if at chance after 300 passes or falling slowly, quasi-Newton")
    assert from_json(to_json(strict)) == strict != before
