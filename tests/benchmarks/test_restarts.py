"""The race of random starts is measured on what it claims: its cost, and the steps of its winner."""

from __future__ import annotations

from benchmarks import restarts
from benchmarks.peers import texts


def test_a_group_is_measured() -> None:
    found = restarts.measure(texts("anbn", 1), 0, race_steps=32, alone_steps=15)
    assert len(found["alone_seconds"]) == len(found["alone_regret"]) == restarts.STARTS
    assert found["race_seconds"] > 0
    # 1 + 2 + 4 + 8: the winner has as many steps as one that is trained alone, and the very same ones.
    assert found["winner_steps"] == found["steps_compared"] == 15
    assert found["largest_difference"] == 0.0
    assert found["race_regret"] in found["alone_regret"]
    row = restarts.table([{"source": "anbn", **found}]).splitlines()[-1]
    assert row.startswith("| aⁿbⁿ | ") and row.endswith("| none |")
