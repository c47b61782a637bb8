"""A sparse matrix per symbol, laid out so that a product runs over many units at once.

Units are ordered by their number of edges; slot k holds the k-th edge of every unit that has one, so a slot is a
contiguous row and a shorter one than the slot before. Four slots at a time share the loads of the result.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from glnn.numeric.kernel import CONTRACT, kernel

_TOGETHER = 4
_LANES = 4


class Slots(NamedTuple):
    """Where each edge of a compressed-row graph stands."""

    rank: np.ndarray
    """The column of each unit, most edges first."""
    ptr: np.ndarray
    """Where each group of four slots begins in the flat arrays, (groups + 1,)."""
    ends: np.ndarray
    """The unit at the other end of each edge, flat over (group, slot, column); 0 where there is no edge."""
    position: np.ndarray
    """The flat place of each edge, in the order of the compressed rows."""

    @property
    def size(self) -> int:
        """Places in all, with and without an edge."""
        return len(self.ends)

    def fill(self, edges: np.ndarray) -> np.ndarray:
        """Edge weights (matrices, edges) in the order of the compressed rows, laid out as slots."""
        out = np.zeros((len(edges), self.size))
        out[:, self.position] = edges
        return out


def slots(ptr: np.ndarray, ends: np.ndarray) -> Slots:
    """Lay out the compressed rows `ends[ptr[j]:ptr[j + 1]]`."""
    degree = np.diff(ptr)
    order = np.argsort(-degree, kind="stable")
    group_ptr, widths = [0], []
    for first in range(0, int(degree.max()), _TOGETHER):
        width = int((degree > first).sum())
        widths.append(min(-(-width // _LANES) * _LANES, -(-len(order) // _LANES) * _LANES))
        group_ptr.append(group_ptr[-1] + _TOGETHER * widths[-1])
    index = np.zeros(group_ptr[-1], np.uint32)
    position = np.empty(len(ends), np.int64)
    for column, unit in enumerate(order):
        for k in range(degree[unit]):
            group, slot = divmod(k, _TOGETHER)
            place = group_ptr[group] + slot * widths[group] + column
            index[place] = ends[ptr[unit] + k]
            position[ptr[unit] + k] = place
    # Unsigned, so that the kernels need not think of indices from the end.
    return Slots(np.argsort(order).astype(np.uint32), np.array(group_ptr), index, position)


@kernel(CONTRACT, inline="always")
def add_slots(ptr: np.ndarray, index: np.ndarray, weight: np.ndarray, v: np.ndarray, out: np.ndarray) -> None:
    """out_c += Σ over the slots of column c of weight · v[index]; `out` is in the order of the columns, padded."""
    for g in range(ptr.size - 1):
        width = (ptr[g + 1] - ptr[g]) // _TOGETHER
        p0 = ptr[g]
        p1, p2, p3 = p0 + width, p0 + 2 * width, p0 + 3 * width
        i0, i1 = index[p0 : p0 + width], index[p1 : p1 + width]
        i2, i3 = index[p2 : p2 + width], index[p3 : p3 + width]
        w0, w1 = weight[p0 : p0 + width], weight[p1 : p1 + width]
        w2, w3 = weight[p2 : p2 + width], weight[p3 : p3 + width]
        for c in range(width):
            out[c] += (w0[c] * v[i0[c]] + w1[c] * v[i1[c]]) + (w2[c] * v[i2[c]] + w3[c] * v[i3[c]])
