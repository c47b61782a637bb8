"""Drift on the page: the bits are those of scoring and of streams, and a change is told where there is one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import glnn
from glnn.report import from_model
from glnn.report.drift import change_of, drift_of, drift_of_stretches
from glnn.report.page import render
from glnn.report.positions import read_positions

LEARNED, OTHER = "abcabcabd" * 40, "acbacbacd" * 30


@pytest.fixture(scope="module")
def tree() -> Any:
    return glnn.ContextTree(learning="frozen", unknown="escape", verbose=0).fit(LEARNED)


def noisy(levels: list[float], seed: int = 0) -> np.ndarray:
    return np.array(levels) + 0.2 * np.random.default_rng(seed).standard_normal(len(levels))


def test_both_curves_are_means_of_what_streams_cost(tree: Any) -> None:
    text = LEARNED[:210] + "x" + OTHER
    drift = drift_of(tree, read_positions(tree, text))
    assert drift is not None and drift.frozen is not None and drift.learning is not None
    for curve, learning in ((drift.frozen, "frozen"), (drift.learning, "online")):
        bits = tree.stream(learning=learning).push_many(text)
        begin = np.append(0, drift.ends[:-1])
        expected = [bits[a:b].mean() for a, b in zip(begin, drift.ends, strict=True)]
        np.testing.assert_allclose(curve, expected, rtol=1e-9)
    assert drift.ends[-1] == len(text) and drift.counts.sum() == len(text)
    assert drift.change is not None and abs(drift.change.after - 210) <= 16
    assert drift.change.bits_after > 2 * drift.change.bits_before


def test_a_model_that_scores_online_shows_both_too() -> None:
    model = glnn.Mixture(networks=0, verbose=0).fit(LEARNED)
    drift = drift_of(model, read_positions(model, OTHER))
    assert drift is not None and drift.frozen is not None and drift.learning is not None
    bits = {learning: model.stream(learning=learning).push_many(OTHER).sum() for learning in ("frozen", "online")}
    assert (drift.frozen * drift.counts).sum() == pytest.approx(bits["frozen"])
    # Scores go on after what was learned, streams begin a text of their own.
    assert (drift.learning * drift.counts).sum() == pytest.approx(model.bits(OTHER))
    assert bits["online"] < bits["frozen"]


def test_only_what_is_predicted_counts(tree: Any) -> None:
    mask = np.zeros(len(OTHER), bool)
    mask[::2] = True
    drift = drift_of(tree, read_positions(tree, OTHER, mask))
    assert drift is None or drift.ends[-1] == mask.sum()
    assert drift_of(tree, read_positions(tree, OTHER[:100])) is None


@pytest.mark.parametrize(
    ("levels", "cut", "before", "after"),
    [
        ([1.0] * 30 + [3.0] * 30, 30, 1.0, 3.0),
        ([3.0] * 50 + [1.0] * 10, 50, 3.0, 1.0),
        ([1.0] * 60, None, None, None),
    ],
)
def test_a_change_is_found_where_it_is(levels: list[float], cut: int | None, before: float, after: float) -> None:
    change = change_of(np.full(60, 8), noisy(levels))
    if cut is None:
        assert change is None
        return
    assert change is not None and abs(change.after - 8 * cut) <= 8
    assert change.bits_before == pytest.approx(before, abs=0.15)
    assert change.bits_after == pytest.approx(after, abs=0.15)


def test_chance_is_hardly_ever_taken_for_a_change() -> None:
    assert sum(change_of(np.full(100, 8), noisy([2.0] * 100, seed)) is not None for seed in range(60)) <= 1


def test_a_change_that_matters_to_nobody_is_not_told() -> None:
    means = np.concatenate([np.full(30, 1.0), np.full(30, 1.02)]) + 1e-4 * np.random.default_rng(0).standard_normal(60)
    assert change_of(np.full(60, 8), means) is None
    assert change_of(np.full(60, 8), means + np.append(np.zeros(30), np.full(30, 0.02))) is not None


def test_what_was_followed_is_shown(tree: Any) -> None:
    stretches = [(8, 8.0)] * 30 + [(8, 24.0)] * 30 + [(3, 9.0)]
    course = drift_of_stretches(stretches, learned=False)
    assert course is not None and course.change is not None and course.change.after == 240
    page = render(from_model(tree, LEARNED[:90], followed=course, samples=False))
    assert "Followed" in page and "after 240 events, at the dotted line" in page and 'id="followed-chart"' in page
    assert "Over time" not in page
    learned = drift_of_stretches(stretches, learned=True)
    assert learned is not None and learned.frozen is None and learned.learning is not None
    assert drift_of_stretches(stretches[:10], learned=False) is None
    assert "Over time" in render(from_model(tree, LEARNED, samples=False))
