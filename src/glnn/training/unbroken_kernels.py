"""Several chunks in one compiled call: for each of them the passes, the step by Adam's rule and the average.

The loops are those that `passes` and `updates` call one by one, in the same order: the bits are the same.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from glnn.models.base import Params
from glnn.models.gated_kernels import arrange, collect, gated_backward, gated_forward
from glnn.models.gated_side_by_side import GatedLoops
from glnn.numeric.blas import product, product_turned
from glnn.numeric.kernel import kernel
from glnn.output.gradient import errors, exponentials_single, shift
from glnn.training.noise import fill
from glnn.training.updates import draw_near, scale_of_gradient, squared_length, step_of_part, step_of_symbols, zero

Arrays = tuple[np.ndarray, ...]

WALKED, NOT_FINITE, STEP_NOT_FINITE = 0, 1, 2
"""How a call ended: after all its chunks, or at one whose likelihood, or whose step, is not finite."""


class Places(NamedTuple):
    """The data, and where the next chunk begins in each stream."""

    x: np.ndarray
    first: np.ndarray
    places: np.ndarray


class Learned(NamedTuple):
    """Parameters, their averages, and what Adam's rule remembers: all are changed in place; θ is (A, a symbol's)."""

    w: np.ndarray
    theta: np.ndarray
    start: np.ndarray
    average_w: np.ndarray
    average_theta: np.ndarray
    average_start: np.ndarray
    mean_w: np.ndarray
    mean_theta: np.ndarray
    mean_start: np.ndarray
    mean_shared: np.ndarray
    square_w: np.ndarray
    square_theta: np.ndarray
    square_start: np.ndarray
    square_shared: np.ndarray
    own: np.ndarray

    def params(self) -> tuple[Params, Params]:
        """The parameters, and their average."""
        average = self.average_w, self.average_theta.reshape(-1), self.average_start
        return Params(self.w, self.theta.reshape(-1), self.start), Params(*average)


class Room(NamedTuple):
    """Arrays that every chunk uses again."""

    x: np.ndarray
    first: np.ndarray
    state: np.ndarray
    noise: np.ndarray
    into: np.ndarray
    bias: np.ndarray
    out: np.ndarray
    sums: np.ndarray
    of_bias: np.ndarray
    a: np.ndarray
    error: np.ndarray
    logits: np.ndarray
    weight: np.ndarray
    of_w: np.ndarray
    of_theta: np.ndarray
    of_start: np.ndarray


class Schedule(NamedTuple):
    """For each chunk the key of its noise, the numbers of Adam's rule, and the weight of its step in the average."""

    keys: np.ndarray
    scales: np.ndarray
    roots: np.ndarray
    weights: np.ndarray


@kernel()
def walk(
    functions: np.ndarray,
    places: Arrays,
    network: tuple[Any, ...],
    arrays: Arrays,
    parts: Arrays,
    lists: Arrays,
    sigma: np.float32,
    log_likelihoods: np.ndarray,
) -> tuple[int, int]:
    """Fills the log-likelihoods of the chunks; returns how many were begun, and how it ended.

    Given plain tuples: those with names take a third of a millisecond to be told apart, at every call.
    """
    data, loops, room = Places(*places), GatedLoops(*network), Room(*arrays)
    learned, schedule = Learned(*parts), Schedule(*lists)
    for c in range(schedule.scales.size):
        _next_chunk(data, room.x, room.first)
        if room.noise.shape[0] > 0:
            fill(schedule.keys[c], 0, room.x.shape[1], sigma, room.noise)
        _forward(loops, room, learned)
        log_likelihoods[c] = _output(functions, room, learned.w)
        if not np.isfinite(log_likelihoods[c]):
            return c + 1, NOT_FINITE
        _backward(loops, room, learned)
        _step(room, learned, schedule.scales[c], schedule.roots[c])
        if zero(learned.w.reshape(-1)) + zero(learned.theta.reshape(-1)) + zero(learned.start) != 0.0:
            return c + 1, STEP_NOT_FINITE
        draw_near(learned.average_w.reshape(-1), learned.w.reshape(-1), schedule.weights[c])
        draw_near(learned.average_theta.reshape(-1), learned.theta.reshape(-1), schedule.weights[c])
        draw_near(learned.average_start, learned.start, schedule.weights[c])
    return schedule.scales.size, WALKED


@kernel(inline="always")
def _next_chunk(data: Places, x: np.ndarray, first: np.ndarray) -> None:
    """The next positions of every stream, time after time; the data are a circle."""
    L, K = x.shape
    for k in range(K):
        place = data.places[k]
        for t in range(L):
            x[t, k], first[t, k] = data.x[place], data.first[place]
            place += 1
            if place == data.x.size:
                place = 0
        data.places[k] = place


@kernel(inline="always")
def _forward(loops: GatedLoops, room: Room, learned: Learned) -> None:
    arrange(learned.theta, loops.into_places, room.into)
    arrange(learned.theta, loops.constants, room.bias)
    gated_forward(
        room.x,
        room.first,
        loops.leak,
        loops.activation,
        loops.dense,
        loops.into_ptr,
        loops.into_ends,
        room.into,
        room.bias,
        learned.start,
        room.state,
        room.a,
        room.noise,
    )


@kernel(inline="always")
def _output(functions: np.ndarray, room: Room, w: np.ndarray) -> float:
    """As `gradient_terms`: w's gradient, the errors, and the log-likelihood."""
    (L, K, N), A = room.a.shape, w.shape[1]
    n = L * K
    a, error, x = room.a.reshape(n, N), room.error.reshape(n, N), room.x.reshape(n)
    constant, columns, rows_of_w = np.empty(A, np.float32), np.empty((N, A), np.float32), np.empty((A, N), np.float32)
    for y in range(A):
        constant[y] = w[0, y]
        for i in range(N):
            columns[i, y] = rows_of_w[y, i] = w[i + 1, y]
    gradient, part, of_constant, total = np.zeros((A, N)), np.empty((A, N), np.float32), np.zeros(A), 0.0
    for begin in range(0, n, room.logits.shape[0]):
        end = min(begin + room.logits.shape[0], n)
        E, symbols, weight = room.logits[: end - begin], x[begin:end], room.weight[begin:end]
        product(functions, a[begin:end], columns, E)
        total += shift(E, constant, symbols, weight)
        exponentials_single(E.reshape(-1))
        total += errors(E, symbols, weight, of_constant)
        product_turned(functions, E, a[begin:end], part)
        for k in range(A):
            for i in range(N):
                gradient[k, i] += part[k, i]
        product(functions, E, rows_of_w, error[begin:end])
    for k in range(A):
        room.of_w[0, k] = of_constant[k]
        for i in range(N):
            room.of_w[i + 1, k] = gradient[k, i]
    return total


@kernel(inline="always")
def _backward(loops: GatedLoops, room: Room, learned: Learned) -> None:
    arrange(learned.theta, loops.out_places, room.out)
    for y in range(room.sums.shape[0]):
        for slot in range(room.sums.shape[1]):
            room.sums[y, slot] = 0.0
        for j in range(room.of_start.size):
            room.of_bias[y, j] = 0.0
    for j in range(room.of_start.size):
        room.of_start[j] = 0.0
    gated_backward(
        room.x,
        room.first,
        loops.leak,
        loops.activation,
        loops.dense,
        loops.out_ptr,
        loops.out_ends,
        room.out,
        room.a,
        room.error,
        room.sums,
        room.of_bias,
        room.of_start,
    )
    collect(room.sums, loops.out_places, room.of_theta)
    collect(room.of_bias, loops.constants, room.of_theta)


@kernel(inline="always")
def _step(room: Room, learned: Learned, scale: float, root: float) -> None:
    """As `Adam`: what units learn from all symbols together is a step of its own."""
    of_w, of_theta = room.of_w.reshape(-1), room.of_theta.reshape(-1)
    square = squared_length(of_w) + squared_length(of_theta) + squared_length(room.of_start)
    factor = scale_of_gradient(square, float(room.x.size))
    mean_w, square_w = learned.mean_w.reshape(-1), learned.square_w.reshape(-1)
    step_of_part(of_w, mean_w, square_w, factor, scale, root, learned.w.reshape(-1))
    step_of_part(room.of_start, learned.mean_start, learned.square_start, factor, scale, root, learned.start)
    together = np.zeros(room.of_theta.shape[1])
    for y in range(room.of_theta.shape[0]):
        for s in range(together.size):
            together[s] += room.of_theta[y, s]
    shared = np.zeros(together.size)
    step_of_part(together, learned.mean_shared, learned.square_shared, factor, scale, root, shared)
    step_of_symbols(
        room.of_theta,
        learned.mean_theta,
        learned.square_theta,
        factor,
        scale,
        root,
        learned.own,
        shared,
        learned.theta,
    )
