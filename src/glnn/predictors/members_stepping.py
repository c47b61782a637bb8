"""Several networks of one kind and size, one step at a time in one call: what `MembersState` says, to the bit.

A call for each network would take longer than its arithmetic. Arrays have the members as their first axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from glnn.models.stepping import Stepper
from glnn.models.stepping_kernels import activities, move, write
from glnn.models.stepping_lstm_kernels import advance_lstm
from glnn.numeric.kernel import kernel
from glnn.output.uniform import mix_in
from glnn.predictors.calibration import EntropyWeights, mix, take_logs
from glnn.predictors.members_coding import stacked

_LSTM = "lstm"


class Together:
    """The networks, their own shares of the uniform distribution, their weights, and the share in what comes of them.

    The state is an array that belongs to the caller, a row for each network.
    """

    def __init__(
        self, kind: str, given: tuple[Any, ...], shares: np.ndarray, weights: EntropyWeights, share: float
    ) -> None:
        *self._given, self._w = given
        self._lstm, self._mixing = kind == _LSTM, (shares, weights.nodes, weights.weights, share)
        # Of an LSTM the state holds the activities; of others they are s(V).
        self._activation = -1 if self._lstm else int(given[2])

    def probabilities(self, state: np.ndarray) -> np.ndarray:
        """The distribution of the next symbol."""
        pi = np.empty(self._w.shape[2])
        _say(state, self._activation, self._w, *self._mixing, pi)
        return pi

    def advance(self, state: np.ndarray, code: int) -> None:
        """Read a symbol."""
        (_advance_lstm if self._lstm else _advance_linear)(state, code, *self._given)


def together(steppers: Sequence[Stepper], shares: np.ndarray, weights: EntropyWeights, share: float) -> Together | None:
    """Networks that step as one, where they are of one kind and size and have compiled steps."""
    kind = steppers[0].kind
    if kind not in ("linear", _LSTM) or any(stepper.kind != kind for stepper in steppers):
        return None
    given = stacked([stepper.given for stepper in steppers])
    return None if given is None else Together(kind, given, shares, weights, share)


@kernel()
def _say(
    state: np.ndarray,
    activation: int,
    w: np.ndarray,
    shares: np.ndarray,
    nodes: np.ndarray,
    weights: np.ndarray,
    share: float,
    pi: np.ndarray,
) -> None:
    K, A = state.shape[0], pi.size
    units = w.shape[1] - 1
    a, logs, v = np.empty(units), np.empty((K, A)), np.empty(K)
    for k in range(K):
        if activation < 0:
            a[:] = state[k, units:]
        else:
            activities(state[k], activation, a)
        write(a, w[k], pi)
        mix_in(pi, shares[k])
        take_logs(pi, logs[k])
    mix(logs, nodes, weights, v, pi)
    total = 0.0
    for y in range(A):
        total += pi[y]
    for y in range(A):
        pi[y] /= total
    mix_in(pi, share)


@kernel()
def _advance_linear(
    V: np.ndarray,
    x: int,
    group: np.ndarray,
    leak: float,
    activation: int,
    in_ptr: np.ndarray,
    sources: np.ndarray,
    tau: np.ndarray,
    bias: np.ndarray,
) -> None:
    a = np.empty(V.shape[1])
    for k in range(V.shape[0]):
        activities(V[k], activation, a)
        move(V[k], a, x, group[k], leak, in_ptr[k], sources[k], tau[k], bias[k])


@kernel()
def _advance_lstm(
    state: np.ndarray,
    x: int,
    in_ptr: np.ndarray,
    sources: np.ndarray,
    edges: np.ndarray,
    bias: np.ndarray,
    peepholes: np.ndarray,
    scale: float,
    shift: float,
) -> None:
    for k in range(state.shape[0]):
        advance_lstm(state[k], x, in_ptr[k], sources[k], edges[k], bias[k], peepholes[k], scale, shift)
