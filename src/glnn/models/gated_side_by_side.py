"""Streams side by side for gated networks, where every stream has a matrix of its own symbol at each time.

As in `side_by_side`, rows stand in the order of time, stream after stream within a time, and derivatives end at the
beginning of the chunk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from glnn.models.base import Params
from glnn.models.gated_kernels import arrange, collect, gated_backward, gated_forward
from glnn.numeric.lanes import LANES
from glnn.numeric.scratch import Workspace

if TYPE_CHECKING:
    from glnn.models.linear import Gated

# Measured: an edge whose end has to be looked up costs as much as this many others.
_LOOKED_UP = 3.0


class GatedLoops(NamedTuple):
    """What the loops of `gated_kernels` are told of a network: slots on the edges into units, and on those out of them.

    `places` say which parameter of a symbol stands in a slot, `constants` which are the units' constants.
    """

    leak: float
    activation: int
    dense: bool
    into_ptr: np.ndarray
    into_ends: np.ndarray
    into_places: np.ndarray
    out_ptr: np.ndarray
    out_ends: np.ndarray
    out_places: np.ndarray
    constants: np.ndarray


class GatedSideBySide:
    """GLNN and GNN: activities (L, K, N) are all that has to be kept."""

    precision: type[np.floating] = np.float64

    def __init__(self, model: Gated) -> None:
        self._model, self._space = model, Workspace()
        N, graph = model.units, model.graph
        self._dense = _LOOKED_UP * graph.edges >= N * N
        edges, by_source = model.edge_positions, model.edge_positions[model.by_source]
        if self._dense:
            place = np.full((N, N + -N % LANES), -1)
            place[graph.sources, graph.edge_targets] = edges
            turned = np.full((N, N + -N % LANES), -1)
            turned[graph.edge_targets, graph.sources] = edges
            # Groups of eight columns, row after row in each.
            groups = [np.ascontiguousarray(m.reshape(N, -1, LANES).transpose(1, 0, 2)).ravel() for m in (place, turned)]
            ptr = (LANES * N * np.arange(N // LANES + (N % LANES > 0) + 1)).astype(np.uint32)
            self._into = self._out = (ptr, np.zeros(LANES, np.uint16))
            self._into_places, self._out_places = groups
        else:
            into, out = model.into, model.out_of
            self._into, self._out = (into.ptr, into.ends), (out.ptr, out.ends)
            self._into_places = np.append(edges, -1)[into.edges]
            self._out_places = np.append(by_source, -1)[out.edges]
        self._kept: np.ndarray | None = None

    @property
    def loops(self) -> GatedLoops:
        """What its loops are told."""
        how = float(self._model.leak), self._model.activation_code, self._dense
        into, out = (*self._into, self._into_places), (*self._out, self._out_places)
        return GatedLoops(*how, *into, *out, self._model.constants)

    def forward(
        self, params: Params, x: np.ndarray, first: np.ndarray, state: np.ndarray, noise: np.ndarray
    ) -> np.ndarray:
        """Activities of a chunk; V of every stream moves on to its end."""
        model = self._model
        (L, K), N = x.shape, model.units
        theta = params.theta.reshape(model.alphabet_size, -1)
        tau = self._space.array("into", model.alphabet_size, self._into_places.size)
        bias = self._space.array("bias", model.alphabet_size, N)
        arrange(theta, self._into_places, tau)
        arrange(theta, model.constants, bias)
        a = self._space.array("activities", L, K, N, dtype=np.float32)
        settings = (float(model.leak), model.activation_code, self._dense)
        gated_forward(x, first, *settings, *self._into, tau, bias, params.V0, state, a, noise)
        self._kept = a
        return a.reshape(L * K, N)

    def backward(
        self, params: Params, x: np.ndarray, first: np.ndarray, error: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The gradients of θ and of the start state."""
        assert self._kept is not None
        model, a = self._model, self._kept
        theta, slots = params.theta.reshape(model.alphabet_size, -1), self._out_places.size
        tau = self._space.array("out", model.alphabet_size, slots)
        arrange(theta, self._out_places, tau)
        sums = self._space.array("sums", model.alphabet_size, slots)
        of_bias = self._space.array("of bias", model.alphabet_size, model.units)
        sums[:], of_bias[:] = 0.0, 0.0
        start = np.zeros(model.units)
        settings = (float(model.leak), model.activation_code, self._dense)
        gated_backward(x, first, *settings, *self._out, tau, a, error.reshape(a.shape), sums, of_bias, start)
        gradient = np.empty(theta.shape)
        collect(sums, self._out_places, gradient)
        collect(of_bias, model.constants, gradient)
        return gradient.ravel(), start
