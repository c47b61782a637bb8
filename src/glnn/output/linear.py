"""The linear output, π_t(y) = Σ_i a_i^t w_iy / Σ_i a_i^t over the units, the constant one left out (Section 1.2.2).

With it a GNN of linear activation is a hidden Markov model: a_i^t = P(x_0 … x_{t−1}, state i). Such activities vanish
with t, but only their ratios matter, so the state is scaled back every few steps and no length underflows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

_STEPS = 64
# Inside this range a ratio of sums of activities keeps its accuracy.
_SMALLEST, _LARGEST = 1e-250, 1e250


class LinearNetwork(Protocol):
    """What is asked of a network: that of `glnn.models`, with a linear activation and no biases."""

    activation: Any
    units: int

    def split(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Edge weights and biases."""
        ...

    def weights(self, theta: np.ndarray) -> Any:
        """The transition parameters as the recurrence wants them."""
        ...

    def forward(
        self, weights: Any, V0: np.ndarray, x: np.ndarray, first: np.ndarray, state: np.ndarray, trace: np.ndarray
    ) -> None:
        """Fill the activities of a stretch."""
        ...


def distributions(a: np.ndarray, w: np.ndarray) -> np.ndarray:
    """π for every row of activities `a` (T, N), with `w` (N + 1, A); its row 0, of the constant unit, is not used."""
    return (a @ w[1:]) / a.sum(axis=1, keepdims=True)


def symbol_log_likelihoods(a: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """log π_t(y_t) for every row of `a`; −inf where it is 0."""
    with np.errstate(divide="ignore"):
        return np.log(np.einsum("ti,ti->t", a, w[1:, y].T)) - np.log(a.sum(axis=1))


def scaled_activities(
    network: LinearNetwork, theta: np.ndarray, V0: np.ndarray, x: np.ndarray, first: np.ndarray
) -> Iterator[tuple[slice, np.ndarray]]:
    """The activities over the data in blocks of time, each row up to a factor that the linear output does not see.

    `first` marks where sequences begin. A symbol of probability 0 inside a sequence is an error.
    """
    if network.activation != "linear":
        raise ValueError(f"the activation is {network.activation!r}: only a linear network may be scaled, use 'linear'")
    if np.any(network.split(theta)[1]):
        raise ValueError("the network has biases: they do not scale with its state, set every τ_0j to 0")
    weights, state = network.weights(theta), np.array(V0, float)
    begin, steps = 0, _STEPS
    while begin < len(x):
        rows = slice(begin, min(begin + steps, len(x)))
        before, a = state.copy(), np.empty((rows.stop - begin, network.units))
        network.forward(weights, V0, x[rows], first[rows], state, a)
        # Where a sequence ends, the state after it is not used: it may be 0 when the last symbol was impossible.
        ends = rows.stop == len(x) or first[rows.stop]
        sizes = np.abs(a.sum(axis=1) if ends else np.append(a.sum(axis=1), state.sum()))
        low, high = (_SMALLEST, _LARGEST) if steps > 1 else (0.0, np.inf)
        if np.all((sizes > low) & (sizes < high)):
            yield rows, a
            if not ends:
                state /= sizes[-1]
            begin, steps = rows.stop, min(2 * steps, _STEPS)
        elif steps > 1:
            state, steps = before, steps // 2
        else:
            raise ValueError(
                f"the activities after position {begin} sum to {sizes[-1]:g}, so nothing can be predicted from them: "
                "the symbol there has probability 0"
            )


def log_likelihoods(
    network: LinearNetwork, w: np.ndarray, theta: np.ndarray, V0: np.ndarray, x: np.ndarray, first: np.ndarray
) -> np.ndarray:
    """log π_t(x_t) at every position of sequences of any length."""
    out = np.empty(len(x))
    for rows, a in scaled_activities(network, theta, V0, x, first):
        out[rows] = symbol_log_likelihoods(a, x[rows], w)
    return out
