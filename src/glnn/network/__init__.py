"""The network: a sparse random oriented graph over the units."""

from glnn.network.graph import Graph, random_graph

__all__ = ["Graph", "random_graph"]
