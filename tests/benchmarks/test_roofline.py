"""The least time of a part is that of what it needs most, and ratios follow from it."""

from __future__ import annotations

import pytest

from benchmarks.roofline import Need, Roofs, needs, steps, summary, table
from benchmarks.yardstick import NAMES, problem

ROOFS = Roofs(flops=100.0, bytes=10.0, edges=4.0, steps=2.0, steps_back=1.0)
RECORD = {
    "results": [
        {
            "problem": NAMES[0],
            "total_s": 0.4,
            "parts": [
                {"part": "forward", "flops": 2e9, "bytes": 3e6, "least_s": 0.1, "s": 0.3},
                {"part": "backward", "flops": 1e9, "bytes": 0, "least_s": 0.06, "s": 0.1},
            ],
        }
    ]
}


@pytest.mark.parametrize(
    ("need", "seconds"),
    [
        (Need(50.0, 1.0), 0.5),
        (Need(50.0, 20.0), 2.0),
        (Need(50.0, 20.0, 12.0), 3.0),
        (Need(50.0, 20.0, 12.0, 8.0), 4.0),
        (Need(50.0, 20.0, 12.0, 8.0, 5.0), 5.0),
    ],
)
def test_the_slowest_need_decides(need: Need, seconds: float) -> None:
    assert need.seconds(ROOFS) == seconds


def test_a_full_network_is_counted_by_hand() -> None:
    """Ten units that all read the constant and ten others: 11 sums for G, 66 products for M̃ at every time."""
    given = problem("distant XOR, 10 units")
    found, times = needs(given.name), len(given.data.codes)
    assert found["sums of G and M"].flops == times * 10 * (2 * 11 + 11 + 2 * 66)
    assert found["forward"].steps == found["backward"].steps_back == times
    assert found["forward"].edges == 0 and needs("insertions, 64 units")["forward"].edges > 0


def test_steps_are_counted_in_a_second() -> None:
    assert min(steps(1, length=2_000)) > 0


def test_tables_compare_with_plain_c() -> None:
    against = {
        "results": [
            {"problem": NAMES[0], "threads": 1, "yardstick_ms": {"total": 800.0}},
            {"problem": NAMES[0], "threads": 2, "yardstick_ms": {"total": 1.0}},
        ]
    }
    assert f"| {NAMES[0]} | 800 ms | 160.0 ms | 5.0 | 3.5 | 40% |" in summary(RECORD, against)
    assert f"| {NAMES[0]} | forward | 2.00 | 3 | 100.0 ms | 300.0 ms |" in table(RECORD)
