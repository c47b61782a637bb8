"""Paired differences: hard cases cancel, and noise is told from difference."""

from __future__ import annotations

import numpy as np
import pytest

from glnn.cli.fit_every_model import difference, units_of

pytestmark = pytest.mark.small


def test_units_are_sequences_or_stretches() -> None:
    assert units_of([np.array([1.0, 2.0]), np.array([4.0])]).tolist() == [3.0, 4.0]
    text = np.random.default_rng(0).random(1234)
    units = units_of(text)
    assert len(units) == 24 and units.sum() == pytest.approx(text.sum())
    assert len(units_of(np.ones(10**5))) == 40 and units_of(np.ones(30)).tolist() == [30.0]


def test_what_is_hard_for_both_cancels() -> None:
    generator = np.random.default_rng(1)
    hard = generator.exponential(100.0, 50)
    one, other = hard + 1.0 + 0.1 * generator.standard_normal(50), hard
    found = difference(one, other)
    assert found.told_apart and found.half is not None and found.half < 5.0
    assert found.bits == pytest.approx(float((one - other).sum()))
    assert difference(one, other, variance=100.0**2).told_apart is False


def test_noise_is_told_as_such_in_about_one_case_of_twenty() -> None:
    generator = np.random.default_rng(2)
    apart = sum(bool(difference(*generator.standard_normal((2, 12))).told_apart) for _ in range(2000))
    assert 60 < apart < 145


def test_too_little_to_tell() -> None:
    found = difference(np.ones(3), np.zeros(3))
    assert found.half is None and found.told_apart is None and found.text() == "+3"
    assert difference(np.array([np.inf] * 9), np.zeros(9)).half is None
