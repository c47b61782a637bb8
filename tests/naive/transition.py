"""The methods for the transition weights and V⁰: plain, FB, RMS, and the invariant ones."""

from __future__ import annotations

import math

import numpy as np

from .metric import (
    Place,
    contributions,
    damped,
    full_solve,
    gradient_start,
    gradient_transition,
    metric_blocks,
    modulus_start,
    parameters_into,
    quasi_diagonal,
)
from .problem import (
    Data,
    Network,
    Parameters,
    each_sequence,
    frequencies,
    rnn_parameters,
    symbol_counts,
    transition_key,
)

INVARIANT = ("ruop", "rbpm", "qdruop", "qdrbpm")


def frequency_adjusted(net: Network, params: Parameters, data: Data) -> np.ndarray:
    """FB (Section 4): the gradient of a parameter tied to symbol y divided by the frequency of y.

    Every τ_ijy of GNN and GLNN, only ρ_jy in the RNN. A symbol that is never read takes no step.
    """
    G = gradient_transition(net, params, data)
    power = frequencies(data, params["w"].shape[1])
    direction = np.zeros(G.shape)
    if net.model == "rnn":
        for p, (kind, index, _) in enumerate(rnn_parameters(net, params["w"].shape[1])):
            if kind == "tau":
                direction[0, p] = G[0, p]
            else:
                direction[0, p] = G[0, p] / power[index] if power[index] > 0 else 0.0
    else:
        for y in range(G.shape[0]):
            for e in range(G.shape[1]):
                direction[y, e] = G[y, e] / power[y] if power[y] > 0 else 0.0
    return direction


def root_mean_square(net: Network, params: Parameters, data: Data) -> np.ndarray:
    """RMS (Section 4): the gradient divided by sqrt(1/T Σ_s c_s Σ_t g_t²), zero where that is zero."""
    G = gradient_transition(net, params, data)
    squares = np.zeros(G.shape)
    for sequence in each_sequence(data):
        for g in contributions(net, params, sequence):
            squares += sequence.weight * g**2
    _, T = symbol_counts(data, params["w"].shape[1])
    direction = np.zeros(G.shape)
    for row in range(G.shape[0]):
        for column in range(G.shape[1]):
            rms = math.sqrt(squares[row, column] / T)
            direction[row, column] = G[row, column] / rms if rms > 0 else 0.0
    return direction


def is_read(net: Network, params: Parameters, data: Data, block: list[Place]) -> bool:
    """Whether the symbol of a block of τ is in the data; blocks of the RNN always count."""
    if net.model == "rnn":
        return True
    return symbol_counts(data, params["w"].shape[1])[0][block[0][0]] > 0


def metric_direction(net: Network, params: Parameters, data: Data, method: str, damping: float) -> np.ndarray:
    """M̃^{-1} G, or its quasi-diagonal form, block after block."""
    solve = quasi_diagonal if method.startswith("qd") else full_solve
    G = gradient_transition(net, params, data)
    M = metric_blocks(net, params, data, method.removeprefix("qd"))
    direction = np.zeros(G.shape)
    for j in range(net.units):
        for b, block in enumerate(parameters_into(net, params, j)):
            if is_read(net, params, data, block):
                step = solve(np.array([G[place] for place in block]), damped(M[j][b], damping))
                for p, place in enumerate(block):
                    direction[place] = step[p]
    return direction


def start_direction(net: Network, params: Parameters, data: Data, method: str, damping: float) -> np.ndarray:
    """V⁰: B⁰_j / (m̃⁰_j + ε) under the invariant methods, B⁰_j under the others."""
    B_0 = gradient_start(net, params, data)
    if method not in INVARIANT:
        return B_0
    m_0 = modulus_start(net, params, data, method.removeprefix("qd"))
    direction = np.zeros(net.units)
    for j in range(net.units):
        direction[j] = B_0[j] / (m_0[j] + damping)
    return direction


def transition_direction(
    net: Network, params: Parameters, data: Data, method: str, damping: float = 1.0
) -> dict[str, np.ndarray]:
    """What η_τ multiplies: the transition parameters under their own key, and "V0".

    `method` is "plain", "fb", "rms", "ruop", "rbpm", "qdruop" or "qdrbpm".
    """
    if method == "plain":
        direction = gradient_transition(net, params, data)
    elif method == "fb":
        direction = frequency_adjusted(net, params, data)
    elif method == "rms":
        direction = root_mean_square(net, params, data)
    elif method in INVARIANT:
        direction = metric_direction(net, params, data, method, damping)
    else:
        raise ValueError(f"transition method is {method!r}: expected plain, fb, rms or one of {INVARIANT}")
    return {
        transition_key(params): direction,
        "V0": start_direction(net, params, data, method, damping),
    }
