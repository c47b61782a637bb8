"""The edges of a graph for sums over eight units at once: the units in groups of eight, edge after edge.

Slot 8 k + q of a group holds the k-th edge of its q-th unit, so that a unit's sum keeps the order of its edges. Where a
unit has fewer edges than others of its group, slots have weight 0 and end at the unit itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from glnn.numeric.kernel import CONTRACT, kernel
from glnn.numeric.lanes import LANES, fma, load, numbers_at, prefetch, spread, store
from glnn.numeric.scratch import aligned


class Eights(NamedTuple):
    """Where the groups' slots begin, where each edge leads, and which edge it is (past the last: none)."""

    ptr: np.ndarray
    ends: np.ndarray
    edges: np.ndarray

    def arranged(self, weights: np.ndarray) -> np.ndarray:
        """The weights (matrices, edges) as (matrices, slots)."""
        if self.edges.max(initial=0) == weights.shape[1]:
            weights = np.concatenate([weights, np.zeros((len(weights), 1), weights.dtype)], axis=1)
        out = aligned(len(weights), len(self.edges), dtype=weights.dtype)
        return np.take(weights, self.edges, axis=1, out=out, mode="clip")

    def of_pairs(self) -> np.ndarray:
        """Where the ends stand among pairs, two numbers for every unit, as `evens` and `odds` join them."""
        group, place = np.divmod(self.ends.astype(np.int64), LANES)
        return _short(2 * LANES * group + 2 * (place // 2) + LANES * (place % 2))


def in_eights(ptr: np.ndarray, ends: np.ndarray, left_out: np.ndarray | None = None) -> Eights:
    """The edges ptr[i] ≤ e < ptr[i + 1] of every unit i, those to be left out excepted."""
    units, count = len(ptr) - 1, len(ends)
    skipped = set() if left_out is None else set(left_out.tolist())
    lists = [[e for e in range(ptr[i], ptr[i + 1]) if e not in skipped] for i in range(units)]
    group_ptr, edges, targets = [0], [], []
    for begin in range(0, units, LANES):
        group = [*enumerate(lists[begin : begin + LANES], begin)]
        group += [(units - 1, [])] * (LANES - len(group))
        for k in range(max(len(own) for _, own in group)):
            for unit, own in group:
                edges.append(own[k] if k < len(own) else count)
                targets.append(ends[own[k]] if k < len(own) else unit)
        group_ptr.append(len(edges))
    return Eights(np.array(group_ptr, np.uint32), _short(np.array(targets, np.int64)), np.array(edges, np.int64))


def _short(places: np.ndarray) -> np.ndarray:
    """Numbers of 16 bits where they suffice: four are read at once."""
    return places.astype(np.uint16 if places.max(initial=0) < 1 << 16 else np.uint32)


@kernel(CONTRACT)
def sum_over_edges(ptr: np.ndarray, ends: np.ndarray, weight: np.ndarray, v: np.ndarray, out: np.ndarray) -> None:
    """out_j = Σ over the edges of unit j of weight · v[end]; `out` has whole groups."""
    for group in range(ptr.size - 1):
        total = spread(0.0)
        for e in range(ptr[group], ptr[group + 1], LANES):
            total = fma(load(weight, e), numbers_at(v, ends, e), total)
        store(out, LANES * group, total)


@kernel(CONTRACT)
def fetch(rows: np.ndarray, t: int) -> None:
    """Let row t come into the cache, from its end to its beginning, for a walk back over time.

    The processor foresees addresses that only fall. In a walk back that reads every row upwards it foresees nothing,
    and waits for memory at each row.
    """
    if t >= 0:
        for k in range(rows.shape[1] - 1, -1, -LANES):
            prefetch(rows, t, k)
