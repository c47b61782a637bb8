"""Equal sequences are one variant; the strangest comes first, by any of four measures."""

from __future__ import annotations

import numpy as np
import pytest

from glnn.sequences.variants import RANKINGS, ranked, score_of, variants

pytestmark = pytest.mark.small


def test_equal_sequences_are_one_variant() -> None:
    codes, starts = np.array([0, 1, 0, 1, 1, 0, 1]), np.array([0, 2, 4, 5, 7])
    bits, mask = np.array([1.0, 2.0, 1.0, 2.0, 9.0, 1.0, 2.0]), np.ones(7, bool)
    found = variants(codes, bits, starts, mask)
    assert [one.members for one in found] == [(0, 1, 3), (2,)]
    assert (found[0].peak, found[0].total, found[0].mean, found[0].strangest) == (2.0, 3.0, 1.5, 1)
    assert (found[0].two, found[1].two) == (3.0, 9.0)
    # What is to be predicted is part of what a sequence is.
    mask[6] = False
    assert [one.members for one in variants(codes, bits, starts, mask)] == [(0, 1), (2,), (3,)]


def test_ways_to_rank() -> None:
    codes, starts = np.arange(10), np.array([0, 1, 4, 10])
    bits = np.array([3.0, 0.0, 2.0, 2.0, *[1.0] * 6])
    found = variants(codes, bits, starts, np.ones(10, bool))
    first = {by: [one.members[0] for one in ranked(found, by)] for by in RANKINGS}
    assert first == {"two": [1, 0, 2], "peak": [0, 1, 2], "mean": [0, 1, 2], "total": [2, 1, 0]}
    assert ranked(found) == ranked(found, "two")


def test_scores_count_what_was_to_be_predicted() -> None:
    bits = np.array([4.0, 0.0, 2.0, 1.0])
    assert [score_of(bits, 2, by) for by in RANKINGS] == [6.0, 4.0, 3.5, 7.0]
    assert [score_of(bits[:0], 0, by) for by in RANKINGS] == [0.0] * 4
