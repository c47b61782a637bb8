"""A threshold lets through the share of normal events that was asked for, and no more."""

from __future__ import annotations

import numpy as np
import pytest

from glnn import InputError
from glnn.streams.threshold import Threshold

pytestmark = pytest.mark.small


@pytest.mark.parametrize("rate", [0.5, 0.1, 0.01])
def test_the_rate_of_false_alarms_is_kept_and_used(rate: float) -> None:
    bits = np.random.default_rng(0).exponential(3.0, 5000)
    threshold = Threshold(rate=rate)
    threshold.count_many(bits)
    assert np.mean(bits > threshold.bits) <= rate
    # One bin lower would be too many.
    assert np.mean(bits > threshold.bits - 1 / 8) > rate


def test_too_few_events_tell_nothing() -> None:
    threshold = Threshold(rate=0.01)
    threshold.count_many([1.0] * 99)
    assert threshold.bits == np.inf
    threshold.count_many([1.0])
    assert threshold.bits < 2.0


def test_bits_are_taken_as_they_are() -> None:
    threshold = Threshold(bits=7.5)
    threshold.count_many([100.0] * 1000)
    assert threshold.bits == 7.5


def test_impossible_events_count_as_the_strangest() -> None:
    threshold = Threshold(rate=0.5)
    threshold.count_many([np.inf] * 10 + [1.0] * 10)
    assert 1.0 < threshold.bits <= 2.0


def test_counts_go_on_elsewhere() -> None:
    first = Threshold(rate=0.1)
    first.count_many(np.arange(100.0) / 10)
    assert Threshold(rate=0.1, counts=first.counts).bits == first.bits


@pytest.mark.parametrize("wrong", [{}, {"bits": 1.0, "rate": 0.1}, {"bits": -1.0}, {"rate": 0.0}, {"rate": 1.0}])
def test_senseless_thresholds_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError):
        Threshold(**wrong)


def test_foreign_counts_are_refused() -> None:
    with pytest.raises(InputError):
        Threshold(rate=0.1, counts=np.ones(3))
