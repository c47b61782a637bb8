"""Forward pass: the evolution equations (`eq:rnn`, `eq:cnn`, `def:glnn`) and the output (`eq:output`).

V^0..V^T and a^0..a^T are kept: at time t the network prints x_t from a^t, then x_t makes V^{t+1}.
"""

from __future__ import annotations

import math

import numpy as np

from .activation import s
from .problem import (
    Data,
    Network,
    OneSequence,
    Parameters,
    each_sequence,
    edges,
    rnn_parameters,
)


def activities(net: Network, V_t: np.ndarray) -> np.ndarray:
    """a_0 = 1 and a_j = s(V_j)."""
    a_t = np.ones(net.units + 1)
    for j in range(net.units):
        a_t[1 + j] = s(float(V_t[j]), net.activation)
    return a_t


def step_rnn(net: Network, params: Parameters, V_t: np.ndarray, x_t: int) -> np.ndarray:
    """`eq:rnn`: V_j^{t+1} = ρ_{j x_t} + Σ_i τ_ij a_i^t."""
    a_t = activities(net, V_t)
    V_next = np.zeros(net.units)
    for p, (kind, index, j) in enumerate(rnn_parameters(net, params["w"].shape[1])):
        if kind == "tau":
            V_next[j] += params["theta"][0, p] * a_t[index]
        elif index == x_t:
            V_next[j] += params["theta"][0, p]
    return V_next


def step_gnn(net: Network, params: Parameters, V_t: np.ndarray, x_t: int) -> np.ndarray:
    """`eq:cnn`: V_j^{t+1} = Σ_i a_i^t τ_{ij x_t}."""
    a_t = activities(net, V_t)
    V_next = np.zeros(net.units)
    for e, (i, j) in enumerate(edges(net)):
        V_next[j] += params["tau"][x_t, e] * a_t[i]
    return V_next


def step_glnn(net: Network, params: Parameters, V_t: np.ndarray, x_t: int) -> np.ndarray:
    """`def:glnn`: V_j^{t+1} = V_j^t + Σ_i τ_{ij x_t} a_i^t."""
    a_t = activities(net, V_t)
    V_next = np.zeros(net.units)
    for j in range(net.units):
        V_next[j] = V_t[j]
    for e, (i, j) in enumerate(edges(net)):
        V_next[j] += params["tau"][x_t, e] * a_t[i]
    return V_next


def step(net: Network, params: Parameters, V_t: np.ndarray, x_t: int) -> np.ndarray:
    """V^{t+1} from V^t and the symbol read at time t."""
    return {"rnn": step_rnn, "gnn": step_gnn, "glnn": step_glnn}[net.model](net, params, V_t, x_t)


def forward(net: Network, params: Parameters, sequence: OneSequence) -> tuple[np.ndarray, np.ndarray]:
    """V (T+1, N) and a (T+1, N+1), the always-activated unit in column 0 of a."""
    T = len(sequence.x)
    V, a = np.zeros((T + 1, net.units)), np.ones((T + 1, net.units + 1))
    V[0] = params["V0"]
    a[0] = activities(net, V[0])
    for t in range(T):
        V[t + 1] = step(net, params, V[t], sequence.x[t])
        a[t + 1] = activities(net, V[t + 1])
    return V, a


def log_output(w: np.ndarray, a_t: np.ndarray) -> list[float]:
    """`eq:output`: log π_t(x) = E_x - log Σ_y e^{E_y} with E_y = Σ_i a_i^t w_iy."""
    E = [0.0] * w.shape[1]
    for y in range(w.shape[1]):
        for i in range(w.shape[0]):
            E[y] += float(a_t[i] * w[i, y])
    highest = max(E)  # taken out of every exponential so that none overflows
    total = 0.0
    for y in range(w.shape[1]):
        total += math.exp(E[y] - highest)
    return [E[y] - highest - math.log(total) for y in range(w.shape[1])]


def output(w: np.ndarray, a_t: np.ndarray) -> list[float]:
    """`eq:output`: π_t(x) = e^{Σ_i a_i^t w_ix} / Σ_y e^{Σ_i a_i^t w_iy}."""
    return [math.exp(value) for value in log_output(w, a_t)]


def probabilities(net: Network, params: Parameters, sequence: OneSequence) -> np.ndarray:
    """π (T, A): the distribution of x_t knowing what came before."""
    _, a = forward(net, params, sequence)
    return np.array([output(params["w"], a[t]) for t in range(len(sequence.x))])


def log_likelihood(net: Network, params: Parameters, data: Data) -> float:
    """Σ_s c_s Σ_t χ_t log π_t(x_t) (`eq:tobepredicted`)."""
    total = 0.0
    for sequence in each_sequence(data):
        _, a = forward(net, params, sequence)
        of_sequence = 0.0
        for t in range(len(sequence.x)):
            if sequence.chi[t]:
                of_sequence += log_output(params["w"], a[t])[sequence.x[t]]
        total += sequence.weight * of_sequence
    return total
