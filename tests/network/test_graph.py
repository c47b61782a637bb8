"""The random graph: degree, loop, uniformity, no duplicates, and two directions that tell the same edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from glnn.network import Graph, random_graph

pytestmark = pytest.mark.small


def edges_out(graph: Graph) -> list[tuple[int, int]]:
    return [
        (unit, int(target))
        for unit in range(graph.units)
        for target in graph.targets[graph.out_ptr[unit] : graph.out_ptr[unit + 1]]
    ]


def edges_in(graph: Graph) -> list[tuple[int, int]]:
    return [
        (int(source), unit)
        for unit in range(graph.units)
        for source in graph.sources[graph.in_ptr[unit] : graph.in_ptr[unit + 1]]
    ]


sizes = st.integers(1, 30)


@given(units=sizes, degree=sizes, seed=st.integers(0, 1000))
def test_degree_loop_and_no_duplicates(units: int, degree: int, seed: int) -> None:
    graph = random_graph(units, degree, seed)
    edges = edges_out(graph)
    assert np.diff(graph.out_ptr).tolist() == [min(degree, units)] * units
    assert len(set(edges)) == len(edges) == graph.edges == units * min(degree, units)
    assert all((unit, unit) in edges for unit in range(units))
    assert all(0 <= target < units for _, target in edges)


@given(units=sizes, degree=sizes, seed=st.integers(0, 1000))
def test_both_directions_tell_the_same_edges(units: int, degree: int, seed: int) -> None:
    graph = random_graph(units, degree, seed)
    assert sorted(edges_in(graph)) == edges_out(graph)
    assert edges_in(graph) == sorted(edges_in(graph), key=lambda edge: (edge[1], edge[0]))
    np.testing.assert_array_equal(
        np.stack([graph.sources, graph.edge_targets]).T, np.array(edges_in(graph)).reshape(-1, 2)
    )
    assert graph.in_degrees.sum() == graph.edges


def test_edges_in_any_order_make_the_same_graph() -> None:
    graph = random_graph(7, 3, 5)
    order = np.random.default_rng(0).permutation(graph.edges)
    sources, targets = graph.sources[order], graph.edge_targets[order]
    again = Graph.from_edges(7, sources, targets)
    for name in ("in_ptr", "sources", "out_ptr", "targets"):
        np.testing.assert_array_equal(getattr(again, name), getattr(graph, name))


@pytest.mark.parametrize("degree", [6, 7, 100])
def test_a_degree_of_all_units_or_more_connects_all_to_all(degree: int) -> None:
    graph = random_graph(6, degree)
    assert edges_out(graph) == [(source, target) for source in range(6) for target in range(6)]


def test_edges_are_uniform() -> None:
    """Every set of d - 1 other units is as likely as every other, from every unit."""
    units, degree, draws = 6, 3, 3000
    generator = np.random.default_rng(3)
    single = np.zeros((units, units))
    pairs = np.zeros((units, units, units))
    for _ in range(draws):
        targets = random_graph(units, degree, generator).targets.reshape(units, degree)
        for unit in range(units):
            first, second = targets[unit][targets[unit] != unit]
            single[unit, [first, second]] += 1
            pairs[unit, first, second] += 1
    off_diagonal = ~np.eye(units, dtype=bool)
    assert np.diagonal(single).sum() == 0
    expected_pairs = [
        pairs[unit, first, second]
        for unit in range(units)
        for first in range(units)
        for second in range(first + 1, units)
        if unit not in (first, second)
    ]
    assert len(expected_pairs) == units * 10
    # From each unit the pairs add up to the number of draws: 10 classes, 9 degrees of freedom, 6 units.
    assert chisquare(expected_pairs, ddof=units - 1).pvalue > 0.001
    assert np.abs(single[off_diagonal] / draws - 2 / 5).max() < 0.05


def test_the_seed_decides() -> None:
    first, again, other = random_graph(20, 4, 1), random_graph(20, 4, 1), random_graph(20, 4, 2)
    np.testing.assert_array_equal(first.targets, again.targets)
    assert (first.targets != other.targets).any()
    generator = np.random.default_rng(1)
    np.testing.assert_array_equal(random_graph(20, 4, generator).targets, first.targets)
    assert (random_graph(20, 4, generator).targets != first.targets).any()


def test_arrays_are_64_bit_integers() -> None:
    graph = random_graph(5, 2)
    for array in (graph.in_ptr, graph.sources, graph.out_ptr, graph.targets):
        assert array.dtype == np.int64


@pytest.mark.parametrize(("units", "degree"), [(0, 1), (-1, 1), (3, 0), (3, -2)])
def test_wrong_sizes(units: int, degree: int) -> None:
    with pytest.raises(ValueError, match=f"{'units is ' + str(units) if units < 1 else 'degree is ' + str(degree)}"):
        random_graph(units, degree)
