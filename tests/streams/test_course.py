"""The course of bits: every event is in it once, its memory is bounded, and it goes on elsewhere."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from glnn.sequences import InputError
from glnn.streams.course import Course


def test_stretches_hold_every_event_once() -> None:
    bits = np.random.default_rng(0).random(5000).tolist()
    course = Course()
    for number, one in enumerate(bits, 1):
        course.add(one)
        if number in (1, 8, 9, 2048, 2049, 5000):
            stretches, begin = course.stretches, 0
            assert len(stretches) <= 256
            for events, total in stretches:
                assert total == pytest.approx(sum(bits[begin : begin + events]))
                begin += events
            assert begin == number
            assert all(events == course.width for events, _ in stretches[:-1])
    assert course.width == 32


def test_what_has_no_probability_hides_nothing() -> None:
    course = Course()
    for one in (1.0, math.inf, 2.0):
        course.add(one)
    assert course.stretches == [(2, 3.0)]


def test_it_goes_on_elsewhere_to_the_same_bits() -> None:
    bits = np.random.default_rng(1).random(900).tolist()
    whole, first = Course(), Course()
    for one in bits:
        whole.add(one)
    for one in bits[:333]:
        first.add(one)
    again = Course.remembered(json.loads(json.dumps(first.memory())))
    for one in bits[333:]:
        again.add(one)
    assert again.stretches == whole.stretches and again.width == whole.width
    assert Course.remembered(None).stretches == []


@pytest.mark.parametrize(
    "forged",
    [
        {},
        {"width": 8, "events": [3, 8], "bits": ["0x1p0", "0x1p0"]},
        {"width": 0, "events": [], "bits": []},
        {"width": 8, "events": [8], "bits": []},
        {"width": 8, "events": [8] * 300, "bits": ["0x1p0"] * 300},
        {"width": 8, "events": [8], "bits": [1.0]},
    ],
)
def test_forged_courses_are_refused(forged: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="course"):
        Course.remembered(forged)
