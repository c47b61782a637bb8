"""The sum of products in a fixed order: to the same bits as four sums in plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from glnn.numeric.dot import SUMS, dot
from glnn.numeric.kernel import kernel

pytestmark = pytest.mark.small


@kernel()
def rows(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Of rows, which are views into larger arrays."""
    for k in range(out.size):
        out[k] = dot(a[k], b[k])


@pytest.mark.parametrize("size", [0, 4, 8, 52, 76])
def test_four_sums_side_by_side(size: int) -> None:
    generator = np.random.default_rng(size)
    a, b = generator.standard_normal((2, 50, size))
    out = np.full(50, np.nan)
    rows(a, b, out)
    for k in range(50):
        sums = [0.0] * SUMS
        for i in range(size):
            sums[i % SUMS] += float(a[k, i]) * float(b[k, i])
        assert out[k] == (sums[0] + sums[1]) + (sums[2] + sums[3])
