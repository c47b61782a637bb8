"""The sparse random graph of Section 2, "Initialization of the parameters".

Each unit has `d` distinct outgoing edges, the loop i → i always among them. The constant unit 0 of the
paper reaches every unit, is not counted in `d` and is not stored here; units are numbered from 0 in code.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class Graph:
    """An oriented graph as compressed rows in both directions, each row sorted.

    The edges into unit j come from `sources[in_ptr[j]:in_ptr[j + 1]]`;
    the edges out of unit i go to `targets[out_ptr[i]:out_ptr[i + 1]]`.
    """

    units: int
    in_ptr: np.ndarray
    sources: np.ndarray
    out_ptr: np.ndarray
    targets: np.ndarray

    @property
    def edges(self) -> int:
        """The number of edges, loops included."""
        return int(self.sources.size)

    @property
    def in_degrees(self) -> np.ndarray:
        """The number of edges into each unit."""
        return np.diff(self.in_ptr)

    @cached_property
    def edge_targets(self) -> np.ndarray:
        """The unit each edge arrives at, in the order of `sources`."""
        return np.repeat(np.arange(self.units), np.diff(self.in_ptr))

    @cached_property
    def edge_sources(self) -> np.ndarray:
        """The unit each edge leaves, in the order of `targets`."""
        return np.repeat(np.arange(self.units), np.diff(self.out_ptr))

    @classmethod
    def from_edges(cls, units: int, sources: np.ndarray, targets: np.ndarray) -> Graph:
        """Build both compressed directions from a list of distinct edges source → target."""
        sources, targets = np.asarray(sources, np.int64), np.asarray(targets, np.int64)
        by_target = np.lexsort((sources, targets))
        by_source = np.lexsort((targets, sources))
        in_ptr, out_ptr = (
            np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=units))]).astype(np.int64)
            for ends in (targets, sources)
        )
        return cls(units, in_ptr, sources[by_target], out_ptr, targets[by_source])


def random_graph(units: int, degree: int, random_state: int | np.random.Generator = 0) -> Graph:
    """Draw `degree` distinct edges from each unit, the loop included; `degree >= units` connects all to all."""
    if units < 1:
        raise ValueError(f"units is {units}: a network needs at least 1 unit")
    if degree < 1:
        raise ValueError(f"degree is {degree}: at least 1 edge leaves each unit, its loop")
    generator = np.random.default_rng(random_state)
    degree = min(degree, units)
    others = degree - 1
    targets = np.empty((units, degree), np.int64)
    targets[:, 0] = np.arange(units)
    for unit in range(units):
        drawn = generator.choice(units - 1, size=others, replace=False) if others else np.empty(0, np.int64)
        targets[unit, 1:] = drawn + (drawn >= unit)
    return Graph.from_edges(units, np.repeat(np.arange(units), degree), targets.ravel())
