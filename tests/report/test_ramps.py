"""Runs, units that ramp along them, and runs laid over one another."""

from __future__ import annotations

import numpy as np
import pytest

from glnn.report.ramps import find_runs, fold, ramp_strength

pytestmark = pytest.mark.small


def counting(lengths: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Codes of aⁿ0bⁿ0 … (0 separates) and a perfect counter's activity when it predicts each of them."""
    codes, count = [], []
    for n in lengths:
        codes += [1] * n + [0] + [2] * n + [0]
        count += [*range(n), n, *range(n, 0, -1), 0]
    return np.array(codes), np.array(count, float)


def test_runs_begin_and_end_where_symbols_change() -> None:
    codes = np.array([1] * 9 + [0] + [2] * 8 + [2] * 8 + [0] * 3)
    one_sequence, two_sequences = np.array([0, 29]), np.array([0, 18, 29])
    np.testing.assert_array_equal(find_runs(codes, one_sequence), [[0, 9, 1], [10, 26, 2]])
    np.testing.assert_array_equal(find_runs(codes, two_sequences), [[0, 9, 1], [10, 18, 2], [18, 26, 2]])


def test_a_row_of_dashes_in_a_text_is_nothing_to_count() -> None:
    codes = np.concatenate([np.arange(100) % 7, np.full(10, 3)])
    assert find_runs(codes, np.array([0, codes.size])).shape == (0, 3)


def test_a_counter_ramps_and_others_do_not() -> None:
    codes, count = counting([30, 55, 41])
    starts = np.array([0, codes.size])
    which_symbol = (codes == 1) * 1.0
    decaying = np.exp(-np.arange(codes.size) % 31.0)
    noise = np.random.default_rng(0).normal(size=codes.size)
    # Hardly any of its range is a ramp: it jumps far beyond between the runs.
    still = np.full(codes.size, 0.3)
    units = np.stack([count, which_symbol, decaying, noise, still, -1e-3 * count + 5.0], axis=1)
    strength = ramp_strength(units, find_runs(codes, starts))
    assert strength[0] > 0.5 and strength[5] == pytest.approx(strength[0])
    assert np.all(strength[1:5] < 0.1 * strength[0])


def test_a_jump_between_two_runs_does_not_hide_a_ramp() -> None:
    codes, count = counting([300, 410])
    with_jumps = np.where(codes == 0, 1e4, count)
    runs = find_runs(codes, np.array([0, codes.size]))
    assert ramp_strength(with_jumps[:, None], runs)[0] > 0.5


def test_laid_over_one_another_a_counter_shows_what_went_by_and_what_is_left() -> None:
    lengths = [30, 55, 41]
    codes, count = counting(lengths)
    starts = np.array([0, codes.size])
    a, b = fold({"activity": count[:, None]}, find_runs(codes, starts), starts)
    assert (a.code, b.code) == (1, 2)
    np.testing.assert_array_equal(a.lengths, lengths)
    np.testing.assert_array_equal(a.positions[:, -1], lengths)
    np.testing.assert_array_equal(a.shown["activity"][:, :, 0], a.positions)
    np.testing.assert_array_equal(b.shown["activity"][:, :, 0], b.lengths[:, None] - b.positions)


def test_a_run_that_ends_with_its_sequence_is_left_out() -> None:
    codes = np.array([1] * 10 + [0] + [1] * 12 + [0] + [1] * 30)
    starts = np.array([0, codes.size])
    (only,) = fold({"activity": np.zeros((codes.size, 1))}, find_runs(codes, starts), starts)
    np.testing.assert_array_equal(only.lengths, [10, 12])
