"""Which way of mixing is chosen for networks that were trained on all data at once."""

from __future__ import annotations

import numpy as np
import pytest

from glnn.predictors.combination import _fitted

small = pytest.mark.small
LENGTH = 500


def rows_of(codes: np.ndarray, sure: float) -> np.ndarray:
    """Distributions over three symbols that foresee the codes so surely."""
    rows = np.full((codes.size, 3), (1.0 - sure) / 2.0)
    rows[np.arange(codes.size), codes] = sure
    return rows


@small
def test_networks_that_foresee_nearly_everything_predict_by_their_median() -> None:
    generator = np.random.default_rng(0)
    expected = generator.integers(0, 3, LENGTH)
    codes = np.where(generator.random(LENGTH) < 0.99, expected, (expected + 1) % 3)
    rows = np.stack([rows_of(expected, sure) for sure in (0.992, 0.988, 0.99)])
    assert _fitted(rows, codes, safely=True).members == 1
    assert _fitted(rows, codes, safely=False).members == 3


@small
def test_a_network_that_is_clearly_better_is_not_outvoted() -> None:
    generator = np.random.default_rng(0)
    codes = generator.integers(0, 3, LENGTH)
    # Two that guess alike, and wrongly in two of three cases.
    others = rows_of(generator.integers(0, 3, LENGTH), 0.6)
    rows = np.stack([rows_of(codes, 0.9), others, others])
    assert _fitted(rows, codes, safely=True).members == 3
