"""The transition weights' gradient G and metric M̃ (`eq:tildeM`), and how M̃ is applied to G.

A unit's parameters enter its V linearly: r_p^t = ∂V_j^{t+1}/∂θ_p, θ_p used at time t only, is the *incoming
signal* (Section 3.4), so that G_p = Σ_t r_p^t B_j^{t+1} and M̃_pq = Σ_t m̃_j^{t+1} r_p^t r_q^t.
"""

from __future__ import annotations

import numpy as np

from .backward import backward, modulus
from .forward import forward
from .problem import (
    Data,
    Network,
    OneSequence,
    Parameters,
    each_sequence,
    edges,
    rnn_parameters,
    transition_key,
)

Place = tuple[int, int]  # (row, column) in the array of transition parameters


def parameters_into(net: Network, params: Parameters, j: int) -> list[list[Place]]:
    """The blocks of the full metric at unit j, each with its constant first.

    GNN and GLNN: one for each symbol. RNN: one, of all τ_0j, τ_ij, ρ_jy.
    """
    if net.model == "rnn":
        places_rnn = rnn_parameters(net, params["w"].shape[1])
        return [[(0, p) for p, (_, _, target) in enumerate(places_rnn) if target == j]]
    columns = [e for e, (_, target) in enumerate(edges(net)) if target == j]
    return [[(y, e) for e in columns] for y in range(params["w"].shape[1])]


def incoming_signals(net: Network, params: Parameters, a_t: np.ndarray, x_t: int) -> np.ndarray:
    """r^t = ∂V^{t+1}/∂θ for every transition parameter, in the shape of their array.

    GNN, GLNN: 1_{x_t=y} a_i^t for τ_ijy. RNN: a_i^t for τ_ij, 1_{x_t=y} for ρ_jy.
    """
    r = np.zeros(params[transition_key(params)].shape)
    if net.model == "rnn":
        for p, (kind, index, _) in enumerate(rnn_parameters(net, params["w"].shape[1])):
            if kind == "tau":
                r[0, p] = a_t[index]
            else:
                r[0, p] = 1 if x_t == index else 0
    else:
        for e, (i, _) in enumerate(edges(net)):
            for y in range(r.shape[0]):
                r[y, e] = a_t[i] if x_t == y else 0
    return r


def contributions(net: Network, params: Parameters, sequence: OneSequence) -> list[np.ndarray]:
    """g_t = r^t B_j^{t+1}, the part of time t in the gradient of this sequence (unweighted), for each t."""
    _, a = forward(net, params, sequence)
    B = backward(net, params, sequence)
    places = [parameters_into(net, params, j) for j in range(net.units)]
    parts = []
    for t in range(len(sequence.x)):
        r = incoming_signals(net, params, a[t], sequence.x[t])
        g = np.zeros(r.shape)
        for j in range(net.units):
            for block in places[j]:
                for place in block:
                    g[place] = r[place] * B[t + 1, j]
        parts.append(g)
    return parts


def gradient_transition(net: Network, params: Parameters, data: Data) -> np.ndarray:
    """G_i^{(jy)} = Σ_s c_s Σ_t 1_{x_t=y} a_i^t B_j^{t+1} and its likes, in the shape of the parameters."""
    G = np.zeros(params[transition_key(params)].shape)
    for sequence in each_sequence(data):
        for g in contributions(net, params, sequence):
            G += sequence.weight * g
    return G


def gradient_start(net: Network, params: Parameters, data: Data) -> np.ndarray:
    """∂log Pr/∂V_j^0 = Σ_s c_s B_j^0."""
    gradient = np.zeros(net.units)
    for sequence in each_sequence(data):
        B = backward(net, params, sequence)
        for j in range(net.units):
            gradient[j] += sequence.weight * B[0, j]
    return gradient


def modulus_start(net: Network, params: Parameters, data: Data, metric: str) -> np.ndarray:
    """Σ_s c_s m̃_j^0, not damped."""
    total = np.zeros(net.units)
    for sequence in each_sequence(data):
        m = modulus(net, params, sequence, metric)
        for j in range(net.units):
            total[j] += sequence.weight * m[0, j]
    return total


def metric_blocks(net: Network, params: Parameters, data: Data, metric: str) -> list[list[np.ndarray]]:
    """M̃ (`eq:tildeM`), not damped: [j][block], blocks as in `parameters_into`.

    GNN and GLNN: M̃^{(jy)}_{ii'} = Σ_s c_s Σ_t 1_{x_t=y} a_i^t a_i'^t m̃_j^{t+1} is [j][y].
    """
    places = [parameters_into(net, params, j) for j in range(net.units)]
    M = [[np.zeros((len(block), len(block))) for block in of_unit] for of_unit in places]
    for sequence in each_sequence(data):
        _, a = forward(net, params, sequence)
        m = modulus(net, params, sequence, metric)
        for t in range(len(sequence.x)):
            r = incoming_signals(net, params, a[t], sequence.x[t])
            for j in range(net.units):
                for b, block in enumerate(places[j]):
                    for p in range(len(block)):
                        for q in range(len(block)):
                            term = m[t + 1, j] * r[block[p]] * r[block[q]]
                            M[j][b][p, q] += sequence.weight * term
    return M


def damped(M: np.ndarray, damping: float) -> np.ndarray:
    """M̃ with ε added to its diagonal."""
    result = M.copy()
    for p in range(len(M)):
        result[p, p] += damping
    return result


def full_solve(G: np.ndarray, M: np.ndarray) -> np.ndarray:
    """M̃^{-1} G of one damped block."""
    return np.linalg.solve(M, G)


def quasi_diagonal(G: np.ndarray, M: np.ndarray) -> np.ndarray:
    """The quasi-diagonal reduction of one damped block, that reads only M̃_00, M̃_ii, M̃_0i (Section 2)."""
    direction = np.zeros(len(G))
    direction[0] = G[0] / M[0, 0]
    for i in range(1, len(G)):
        numerator = G[i] - G[0] * M[0, i] / M[0, 0]
        denominator = M[i, i] - M[0, i] ** 2 / M[0, 0]
        direction[i] = numerator / denominator
        direction[0] -= M[0, i] / M[0, 0] * direction[i]
    return direction
