"""The logarithm that has the same bits everywhere, against numpy's."""

from __future__ import annotations

import numpy as np
import pytest

from glnn.numeric.portable import log

pytestmark = pytest.mark.small


def test_log_is_exact_to_a_few_last_bits() -> None:
    near_one = 1.0 + np.concatenate([-np.geomspace(1e-16, 0.3, 300), np.geomspace(1e-16, 0.5, 300)])
    roots = np.sqrt(0.5) * 2.0 ** np.arange(-8, 9)
    borders = np.concatenate([np.nextafter(roots, 0.0), roots, np.nextafter(roots, np.inf)])
    x = np.concatenate([np.geomspace(1e-300, 1e300, 2000), np.linspace(0.001, 3.0, 1000), near_one, borders])
    found = np.array([log(float(value)) for value in x])
    np.testing.assert_allclose(found, np.log(x), rtol=1e-15, atol=0.0)
    assert log(1.0) == 0.0


def test_log_of_nothing_is_held() -> None:
    least = log(2.0**-1022)
    assert least == pytest.approx(-1022 * np.log(2.0), rel=1e-15)
    assert log(0.0) == log(-1.0) == log(5e-324) == log(float("nan")) == log(-float("nan")) == least
