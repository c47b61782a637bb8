"""Edges in groups of eight units lead where the graph's do, and are summed in their order."""

from __future__ import annotations

import numpy as np
import pytest

from glnn.models.eights import in_eights, sum_over_edges
from glnn.network import random_graph
from glnn.network.graph import Graph

pytestmark = pytest.mark.small


@pytest.mark.parametrize("units", [1, 5, 8, 13, 64])
def test_sums_over_edges_in_eights(units: int) -> None:
    """Also where units have different numbers of edges, some of them none."""
    generator = np.random.default_rng(units)
    uneven = np.flatnonzero(generator.random(units * units) < 0.3)
    for graph in (random_graph(units, min(3, units), 0), Graph.from_edges(units, uneven // units, uneven % units)):
        tau, v = generator.standard_normal((2, graph.edges)), generator.standard_normal(units)
        for left_out in (None, np.arange(0, graph.edges, 3)):
            eights = in_eights(graph.in_ptr, graph.sources, left_out)
            weights, out = eights.arranged(tau), np.full(8 * len(eights.ptr) - 8, np.nan)
            sum_over_edges(eights.ptr, eights.ends, weights[1], v, out)
            kept = tau[1].copy()
            kept[[] if left_out is None else left_out] = 0.0
            expected = np.zeros(units)
            np.add.at(expected, graph.edge_targets, kept * v[graph.sources])
            np.testing.assert_allclose(out[:units], expected, atol=1e-14)
            assert np.all(out[units:] == 0.0)
