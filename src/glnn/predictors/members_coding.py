"""Encode and decode with several networks as one: a compiled loop around the step kernels of `models` and the mixing.

All arrays have the members as their first axis, so networks of one kind and size go together; others take their states.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from glnn.coding.loops import LoopSteps, added_to_each
from glnn.coding.quantised import code_symbol
from glnn.coding.range_coder import MARGIN, fits
from glnn.models.stepping import Stepper
from glnn.models.stepping_kernels import activities, move, write
from glnn.models.stepping_lstm_kernels import advance_lstm
from glnn.numeric.kernel import kernel
from glnn.output.uniform import mix_in
from glnn.predictors.calibration import EntropyWeights, mix, take_logs


def loops_together(
    steppers: Sequence[Stepper], shares: np.ndarray, weights: EntropyWeights, escape: float | None, share: float
) -> LoopSteps | None:
    """The coding steps of networks of one kind and size; None for others.

    `shares` are those of the uniform distribution in each network, `share` that in what comes of them.
    """
    kind = steppers[0].kind
    loop = _LOOPS.get(kind)
    if loop is None or any(stepper.kind != kind for stepper in steppers):
        return None
    found = stacked([stepper.given for stepper in steppers])
    if found is None:
        return None
    given = list(found)
    start = np.stack([stepper.begin() for stepper in steppers])
    given += [shares, weights.nodes, weights.weights, added_to_each(share, given[-1].shape[2])]
    return LoopSteps(f"encode_{kind}_members", start, tuple(given), loop, escape)


def stacked(given: Sequence[tuple[Any, ...]]) -> tuple[Any, ...] | None:
    """What several are given, as one: arrays with the members as their first axis; None where they do not fit."""
    found = tuple(_together(parts) for parts in zip(*given, strict=True))
    return None if any(part is None for part in found) else found


def _together(parts: tuple[Any, ...]) -> Any:
    """One array of all members' arrays, or the number that they share; None where they differ."""
    if isinstance(parts[0], np.ndarray):
        return np.stack(parts) if all(part.shape == parts[0].shape for part in parts) else None
    return parts[0] if all(part == parts[0] for part in parts) else None


@kernel()
def _mixed(
    a: np.ndarray,
    w: np.ndarray,
    shares: np.ndarray,
    nodes: np.ndarray,
    weights: np.ndarray,
    added: float,
    logs: np.ndarray,
    v: np.ndarray,
    p: np.ndarray,
) -> None:
    """p from the activities a[k]; `added` times its sum comes to each, for the share of the uniform distribution."""
    for k in range(a.shape[0]):
        write(a[k], w[k], p)
        mix_in(p, shares[k])
        take_logs(p, logs[k])
    mix(logs, nodes, weights, v, p)
    if added > 0.0:
        total = 0.0
        for y in range(p.size):
            total += p[y]
        for y in range(p.size):
            p[y] += added * total


@kernel()
def code_linear_members(
    decoding: bool,
    codes: np.ndarray,
    end: int,
    V: np.ndarray,
    group: np.ndarray,
    leak: float,
    activation: int,
    in_ptr: np.ndarray,
    sources: np.ndarray,
    tau: np.ndarray,
    bias: np.ndarray,
    w: np.ndarray,
    shares: np.ndarray,
    nodes: np.ndarray,
    weights: np.ndarray,
    added: float,
    M: np.uint64,
    coder: np.ndarray,
    buffer: np.ndarray,
) -> int:
    """Code symbols from the states V[k] on, until `end`, an escape or the end of the buffer; returns how many."""
    K, N = V.shape
    A = w.shape[2]
    a, logs, v, p, C = np.empty((K, N)), np.empty((K, A)), np.empty(K), np.empty(A), np.empty(A + 1)
    for t in range(codes.size):
        if not fits(decoding, coder, buffer, MARGIN):
            return t
        for k in range(K):
            activities(V[k], activation, a[k])
        _mixed(a, w, shares, nodes, weights, added, logs, v, p)
        y = code_symbol(decoding, codes[t], p, C, M, coder, buffer)
        codes[t] = y
        if y in (end, A):
            return t + 1
        for k in range(K):
            move(V[k], a[k], y, group[k], leak, in_ptr[k], sources[k], tau[k], bias[k])
    return codes.size


@kernel()
def code_lstm_members(
    decoding: bool,
    codes: np.ndarray,
    end: int,
    state: np.ndarray,
    in_ptr: np.ndarray,
    sources: np.ndarray,
    edges: np.ndarray,
    bias: np.ndarray,
    peepholes: np.ndarray,
    scale: float,
    shift: float,
    w: np.ndarray,
    shares: np.ndarray,
    nodes: np.ndarray,
    weights: np.ndarray,
    added: float,
    M: np.uint64,
    coder: np.ndarray,
    buffer: np.ndarray,
) -> int:
    """`code_linear_members` for LSTMs, whose states are (c, h)."""
    K, A, N = state.shape[0], w.shape[2], state.shape[1] // 2
    logs, v, p, C = np.empty((K, A)), np.empty(K), np.empty(A), np.empty(A + 1)
    for t in range(codes.size):
        if not fits(decoding, coder, buffer, MARGIN):
            return t
        _mixed(state[:, N:], w, shares, nodes, weights, added, logs, v, p)
        y = code_symbol(decoding, codes[t], p, C, M, coder, buffer)
        codes[t] = y
        if y in (end, A):
            return t + 1
        for k in range(K):
            advance_lstm(state[k], y, in_ptr[k], sources[k], edges[k], bias[k], peepholes[k], scale, shift)
    return codes.size


_LOOPS: dict[str, Any] = {"linear": code_linear_members, "lstm": code_lstm_members}
