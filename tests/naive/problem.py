"""What every equation of the oracle is given: a network, the data, and where each parameter lies.

Signals are numbered as in the paper: 0 is the always-activated unit and 1 + i is unit i of the code. So `a`
and `w` have N+1 entries and `V`, `B`, `m` have N. An *edge* (i, j) goes from signal i to unit j.
"""

from __future__ import annotations

from collections.abc import Sequence as Listing
from typing import NamedTuple

import numpy as np

Parameters = dict[str, np.ndarray]


class Network(NamedTuple):
    """`model` is "rnn", "gnn" or "glnn"; `activation` is "tanh", "logistic" or "linear"."""

    model: str
    in_ptr: np.ndarray
    sources: np.ndarray
    activation: str = "tanh"

    @property
    def units(self) -> int:
        return len(self.in_ptr) - 1


class Data(NamedTuple):
    """Sequences x with their masks χ (all ones if None) and weights c (all ones if None).

    With `inputs`, a (T, K) array for each sequence, the network reads these and `sequences` are targets only.
    """

    sequences: Listing
    masks: Listing | None = None
    weights: Listing | None = None


class OneSequence(NamedTuple):
    """What is read and to be printed, χ, and the weight c_s."""

    x: list[int]
    chi: list[int]
    weight: float


def each_sequence(data: Data) -> list[OneSequence]:
    every = []
    for s in range(len(data.sequences)):
        x = [int(symbol) for symbol in data.sequences[s]]
        chi = [1] * len(x) if data.masks is None else [int(bool(value)) for value in data.masks[s]]
        weight = 1.0 if data.weights is None else float(data.weights[s])
        every.append(OneSequence(x, chi, weight))
    return every


def transition_key(params: Parameters) -> str:
    """The name of the array of transition parameters: theta (RNN) or tau."""
    return "theta" if "theta" in params else "tau"


def signals_into(net: Network, j: int) -> list[int]:
    """The signals i with i → j, the always-activated one first."""
    return [0] + [1 + int(net.sources[e]) for e in range(net.in_ptr[j], net.in_ptr[j + 1])]


def edges(net: Network) -> list[tuple[int, int]]:
    """The (i, j) of each column of `tau`: unit after unit, in each the constant, then the graph's edges."""
    return [(i, j) for j in range(net.units) for i in signals_into(net, j)]


def edges_into(net: Network, j: int) -> list[int]:
    """The columns of `tau` that arrive at unit j."""
    return [e for e, (_, target) in enumerate(edges(net)) if target == j]


def rnn_parameters(net: Network, symbols: int) -> list[tuple[str, int, int]]:
    """What each column of `theta` is: ("tau", i, j) or ("rho", y, j); unit after unit, the constant first."""
    places = []
    for j in range(net.units):
        for i in signals_into(net, j):
            places.append(("tau", i, j))
        for y in range(symbols):
            places.append(("rho", y, j))
    return places


def symbol_counts(data: Data, symbols: int) -> tuple[list[int], int]:
    """n_y over all sequences, masked or not, and T, the number of all symbols."""
    counts, total = [0] * symbols, 0
    for sequence in each_sequence(data):
        for x_t in sequence.x:
            counts[x_t] += 1
            total += 1
    return counts, total


def frequencies(data: Data, symbols: int) -> list[float]:
    """n_y / T, the frequency ν̃_y of each symbol in the data."""
    counts, total = symbol_counts(data, symbols)
    return [counts[y] / total for y in range(symbols)]
