"""The graph as `glnn.cpp` reads it: edges listed by the unit they arrive at and by the unit they leave.

A row of τ holds the edges unit after unit, in each unit the one from the constant unit first; unit 0 is the
constant one on the C++ side, so the units of the graph count from 1 there.
"""

from __future__ import annotations

import ctypes

import numpy as np

from glnn.network.graph import Graph


class CProblem(ctypes.Structure):
    """`struct Problem`, field by field."""

    _fields_ = [
        *[(name, ctypes.c_int64) for name in ("T", "N", "A", "E", "sequences")],
        *[(name, ctypes.c_void_p) for name in ("starts", "x", "chi", "first", "from", "out_first", "out_edge")],
        *[(name, ctypes.c_void_p) for name in ("out_unit", "loop", "block")],
    ]


def edge_lists(graph: Graph) -> list[np.ndarray]:
    """first, from, out_first, out_edge, out_unit, loop, as `glnn.cpp` describes them."""
    units = graph.units
    into = graph.edge_targets
    place = np.arange(graph.edges) + into + 1  # of each edge of the graph in a row of τ
    origin = np.zeros(graph.edges + units, np.int32)
    origin[place] = graph.sources + 1
    between = np.flatnonzero(graph.sources != into)
    by_source = between[np.argsort(graph.sources[between], kind="stable")]
    arrays = [
        row_starts(graph.in_degrees + 1),
        origin,
        row_starts(np.bincount(graph.sources[between], minlength=units)),
        place[by_source],
        into[by_source] + 1,
        loops(graph),
    ]
    return [np.ascontiguousarray(array, np.int32) for array in arrays]


def row_starts(counts: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts)])


def loops(graph: Graph) -> np.ndarray:
    """Where the loop of each unit stands in a row of τ."""
    edge = np.flatnonzero(graph.sources == graph.edge_targets)
    if edge.size != graph.units:
        missing = sorted(set(range(graph.units)) - set(graph.sources[edge].tolist()))
        raise ValueError(f"units {missing} have no loop: every unit of a GLNN has one, as random_graph gives")
    return edge + np.arange(graph.units) + 1
