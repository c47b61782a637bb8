"""The fits of growing costs find what made the numbers, and tiny sweeps are measured whole."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import growth
from benchmarks.growth import Shape, Sweep

SIZES = (2, 4, 8, 16, 32, 64)


@pytest.mark.parametrize(("fixed", "scale", "power"), [(0.0, 3.0, 1.0), (50.0, 4.0, 1.0), (60.0, 0.2, 2.0)])
def test_fixed_part_and_power_are_found(fixed: float, scale: float, power: float) -> None:
    cost = [fixed + scale * size**power for size in SIZES]
    found = growth.fixed_and_power(SIZES, cost)
    assert found == pytest.approx((fixed, scale, power), rel=1e-6, abs=1e-6)


def test_the_slope_is_that_of_the_upper_half() -> None:
    cost = [100.0, 100.0, 100.0, 16.0, 64.0, 256.0]
    assert growth.upper_exponent(SIZES, cost) == pytest.approx(2.0)


def test_the_polynomial_and_its_largest_error() -> None:
    cost = [50.0 + 3.0 * size + 0.1 * size**2 for size in SIZES]
    coefficients, error = growth.polynomial(SIZES, cost, 2)
    assert coefficients == pytest.approx([50.0, 3.0, 0.1])
    assert error < 1e-9
    _, error = growth.polynomial(SIZES, cost, 1)
    assert error > 0.05
    assert growth.described("d", coefficients) == "50 + 3 d + 0.1 d²"
    assert growth.described("d", [0.0, 3.0]) == "3 d"


def test_problems_have_the_sizes_of_their_shape() -> None:
    given = growth.problem(Shape(T=500, N=6, d=3, A=5))
    graph = given.parameters.graph
    assert (given.data.codes.size, graph.units, graph.edges, len(given.data.alphabet)) == (500, 6, 18, 5)
    assert given.parameters.tau.shape == (5, 24)


def test_a_small_sweep(capsys: pytest.CaptureFixture[str]) -> None:
    sweep = Sweep("T", Shape(0, 6, 3, 4), (100, 200, 3_000), ("T", "T"))
    record = growth.run(1, (sweep,))
    assert [line["metric"] for line in record["sweeps"]] == ["rbpm", "qdrbpm"]
    for line in record["sweeps"]:
        parts = line["milliseconds"]
        assert line["values"] == [100, 200, 3_000] and line["others"] == {"N": 6, "d": 3, "A": 4}
        assert np.all(np.add(parts["w"], parts["tau"]) <= np.multiply(parts["total"], 1.01))
        assert min(parts["w"] + parts["tau"]) > 0
    assert record["processor"]
    assert growth.table(record).count("\n") == 3
