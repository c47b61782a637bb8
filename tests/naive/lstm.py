"""The LSTM with peepholes (Graves 2013, eqs 7–11) as plain loops: evolution, derivatives, modulus, G and M̃.

Time as in the other models: h^t prints x_t, then x_t with h^t and c^t makes the step "t", that is the gates
i, f, o, the cell input z and c^{t+1}, h^{t+1}. `net.activation` "logistic" writes h as (1 + o tanh c)/2.
`theta` is (1, P); "V0" holds c^0 and then h^0. Unit 4j + g is gate g of cell j, gates in the order of GATES.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .activation import s, s_prime
from .backward import output_variance
from .forward import log_output, output
from .problem import Data, Network, OneSequence, Parameters, each_sequence, signals_into

GATES = ("i", "f", "o", "z")
SQUASHING = {"i": "logistic", "f": "logistic", "o": "logistic", "z": "tanh"}


class Place(NamedTuple):
    """What a column of `theta` is: it multiplies h (`index` a signal, 0 the constant), c or the one-hot symbol."""

    kind: str
    index: int
    gate: str
    j: int


class Step(NamedTuple):
    """All that x_t makes: pre-activations and activities of the gates, the new cells, the new hidden activities."""

    V: dict[str, list[float]]
    a: dict[str, list[float]]
    c: list[float]
    h: list[float]


def lstm_places(net: Network, symbols: int) -> list[Place]:
    """Cell after cell, gate after gate; in each the constant, the edges, the peephole, the symbols."""
    places = []
    for j in range(net.units):
        for gate in GATES:
            for i in signals_into(net, j):
                places.append(Place("h", i, gate, j))
            if gate != "z":
                places.append(Place("c", j, gate, j))
            for y in range(symbols):
                places.append(Place("x", y, gate, j))
    return places


def hidden(net: Network, o: float, c: float) -> float:
    """o tanh c, or (1 + o tanh c)/2."""
    return o * math.tanh(c) if net.activation == "tanh" else (1 + o * math.tanh(c)) / 2


def pre_activations(
    net: Network, params: Parameters, gates: str, c: list[float], h: list[float], x_t: int
) -> dict[str, list[float]]:
    """The sums inside eqs 7–10 for some gates; `c` is what their peepholes see."""
    V = {gate: [0.0] * net.units for gate in gates}
    for p, (kind, index, gate, j) in enumerate(lstm_places(net, params["w"].shape[1])):
        theta = float(params["theta"][0, p])
        if gate not in gates:
            continue
        if kind == "h":
            V[gate][j] += theta * (1.0 if index == 0 else h[index - 1])
        elif kind == "c":
            V[gate][j] += theta * c[j]
        elif index == x_t:
            V[gate][j] += theta
    return V


def lstm_step(net: Network, params: Parameters, c: list[float], h: list[float], x_t: int) -> Step:
    """Eqs 7–11: the output gate sees the new cell, the others the old one."""
    V = pre_activations(net, params, "ifz", c, h, x_t)
    a = {gate: [s(value, SQUASHING[gate]) for value in V[gate]] for gate in "ifz"}
    c_next = [a["f"][j] * c[j] + a["i"][j] * a["z"][j] for j in range(net.units)]
    V |= pre_activations(net, params, "o", c_next, h, x_t)
    a["o"] = [s(value, "logistic") for value in V["o"]]
    return Step(V, a, c_next, [hidden(net, a["o"][j], c_next[j]) for j in range(net.units)])


def start_state(net: Network, params: Parameters) -> tuple[list[float], list[float]]:
    V0 = [float(value) for value in params["V0"]]
    return V0[: net.units], V0[net.units :]


def lstm_forward(net: Network, params: Parameters, sequence: OneSequence) -> tuple[list[Step], np.ndarray, np.ndarray]:
    """The steps t = 0 … T-1, c (T+1, N) and the activities (T+1, N+1) with the always-activated unit in column 0."""
    T = len(sequence.x)
    c, a = np.zeros((T + 1, net.units)), np.ones((T + 1, net.units + 1))
    c[0], a[0, 1:] = start_state(net, params)
    steps = []
    for t in range(T):
        steps.append(lstm_step(net, params, list(c[t]), list(a[t, 1:]), sequence.x[t]))
        c[t + 1], a[t + 1, 1:] = steps[t].c, steps[t].h
    return steps, c, a


def lstm_log_likelihood(net: Network, params: Parameters, data: Data) -> float:
    """Σ_s c_s Σ_t χ_t log π_t(x_t)."""
    total = 0.0
    for sequence in each_sequence(data):
        _, _, a = lstm_forward(net, params, sequence)
        for t in range(len(sequence.x)):
            if sequence.chi[t]:
                total += sequence.weight * log_output(params["w"], a[t])[sequence.x[t]]
    return total


class Partial(NamedTuple):
    """∂(what is influenced)/∂(what influences it), everything else held fixed, in the step that makes c', h'."""

    h_by_o: float
    h_by_c: float
    o_by_c: float
    c_by_i: float
    c_by_f: float
    c_by_z: float
    c_by_c: float
    i_by_c: float
    f_by_c: float


def partial_derivatives(net: Network, params: Parameters, step: Step, c: np.ndarray, j: int) -> Partial:
    """Those of cell j; gates stand for their pre-activations, `c` are the cells before the step."""
    peephole = {}
    for p, (kind, _, gate, target) in enumerate(lstm_places(net, params["w"].shape[1])):
        if kind == "c" and target == j:
            peephole[gate] = float(params["theta"][0, p])
    slope = {gate: s_prime(step.V[gate][j], SQUASHING[gate]) for gate in GATES}
    scale = 1.0 if net.activation == "tanh" else 0.5
    return Partial(
        h_by_o=scale * math.tanh(step.c[j]) * slope["o"],
        h_by_c=scale * step.a["o"][j] * (1 - math.tanh(step.c[j]) ** 2),
        o_by_c=peephole["o"],
        c_by_i=step.a["z"][j] * slope["i"],
        c_by_f=float(c[j]) * slope["f"],
        c_by_z=step.a["i"][j] * slope["z"],
        c_by_c=step.a["f"][j],
        i_by_c=peephole["i"],
        f_by_c=peephole["f"],
    )


def sent_back(net: Network, params: Parameters, sequence: OneSequence, power: int) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives (`power` 1) or moduli (`power` 2) of the gates of every step, (T, 4N), and of c^0, h^0, (2N,).

    Each quantity has the sum, over what it directly influences, of (partial derivative)^power times the value there.
    The output's own term at h^t is χ_t (w_{i x_t} - Σ_y π_t(y) w_iy), or χ_t Var_π(w_i).
    """
    steps, c, a = lstm_forward(net, params, sequence)
    w, T, N = params["w"], len(sequence.x), net.units
    places = lstm_places(net, w.shape[1])
    of_gates = np.zeros((T, 4 * N))
    of_c, of_h = np.zeros(N), np.zeros(N)  # behind the step; of_c without what c does in the step that makes it
    for t in reversed(range(T)):
        earlier_c, earlier_h = np.zeros(N), np.zeros(N)
        for j in range(N):
            d = partial_derivatives(net, params, steps[t], c[t], j)
            of_o = d.h_by_o**power * of_h[j]
            whole_c = of_c[j] + d.h_by_c**power * of_h[j] + d.o_by_c**power * of_o
            of_i, of_f = d.c_by_i**power * whole_c, d.c_by_f**power * whole_c
            of_gates[t, 4 * j : 4 * j + 4] = of_i, of_f, of_o, d.c_by_z**power * whole_c
            earlier_c[j] = d.c_by_c**power * whole_c + d.i_by_c**power * of_i + d.f_by_c**power * of_f
        for p, (kind, index, gate, j) in enumerate(places):
            if kind == "h" and index > 0:
                theta = float(params["theta"][0, p])
                earlier_h[index - 1] += theta**power * of_gates[t, 4 * j + GATES.index(gate)]
        pi = output(w, a[t])
        for i in range(N):
            if power == 2:
                earlier_h[i] += sequence.chi[t] * output_variance(w, pi, 1 + i)
            else:
                mean = sum(pi[y] * w[1 + i, y] for y in range(w.shape[1]))
                earlier_h[i] += sequence.chi[t] * (w[1 + i, sequence.x[t]] - mean)
        of_c, of_h = earlier_c, earlier_h
    return of_gates, np.concatenate([of_c, of_h])


def lstm_backward(net: Network, params: Parameters, sequence: OneSequence) -> tuple[np.ndarray, np.ndarray]:
    """B of the pre-activations of every step, (T, 4N), and of the start state (c^0, h^0)."""
    return sent_back(net, params, sequence, 1)


def lstm_modulus(net: Network, params: Parameters, sequence: OneSequence, metric: str) -> tuple[np.ndarray, np.ndarray]:
    """m̃ of the same quantities: B² for "ruop", backpropagated through gates, cells and hidden for "rbpm"."""
    if metric == "rbpm":
        return sent_back(net, params, sequence, 2)
    B, B_start = lstm_backward(net, params, sequence)
    return B**2, B_start**2


def lstm_blocks(net: Network, symbols: int) -> list[list[int]]:
    """The columns of `theta` of each of the 4N units, its constant first."""
    places = lstm_places(net, symbols)
    return [
        [p for p, place in enumerate(places) if (place.j, place.gate) == (j, gate)]
        for j in range(net.units)
        for gate in GATES
    ]


def lstm_signals(net: Network, symbols: int, c: np.ndarray, a: np.ndarray, t: int, x_t: int) -> np.ndarray:
    """r^t for every column of `theta`: 1 and h_i^t; c_j^t (input, forget gate), c_j^{t+1} (output gate); 1_{x_t=y}."""
    r = np.zeros(len(lstm_places(net, symbols)))
    for p, (kind, index, gate, j) in enumerate(lstm_places(net, symbols)):
        if kind == "h":
            r[p] = a[t, index]
        elif kind == "c":
            r[p] = c[t + 1, j] if gate == "o" else c[t, j]
        else:
            r[p] = 1 if x_t == index else 0
    return r


def lstm_contributions(net: Network, params: Parameters, sequence: OneSequence) -> list[np.ndarray]:
    """g_t = r^t B^t, the part of step t in the gradient of this sequence (unweighted)."""
    _, c, a = lstm_forward(net, params, sequence)
    B, _ = lstm_backward(net, params, sequence)
    symbols = params["w"].shape[1]
    parts = []
    for t in range(len(sequence.x)):
        g = lstm_signals(net, symbols, c, a, t, sequence.x[t])
        for u, block in enumerate(lstm_blocks(net, symbols)):
            for p in block:
                g[p] *= B[t, u]
        parts.append(g)
    return parts


def lstm_gradients(net: Network, params: Parameters, data: Data) -> tuple[np.ndarray, np.ndarray]:
    """Σ_s c_s Σ_t g_t for `theta`, and Σ_s c_s B of the start state."""
    G, G_start = np.zeros(params["theta"].shape), np.zeros(2 * net.units)
    for sequence in each_sequence(data):
        for g in lstm_contributions(net, params, sequence):
            G[0] += sequence.weight * g
        G_start += sequence.weight * lstm_backward(net, params, sequence)[1]
    return G, G_start


def lstm_metric(net: Network, params: Parameters, data: Data, metric: str) -> tuple[list[np.ndarray], np.ndarray]:
    """M̃ of every unit, not damped: Σ_s c_s Σ_t m̃^t r^t r^tᵀ; and Σ_s c_s m̃ of the start state."""
    symbols = params["w"].shape[1]
    blocks = lstm_blocks(net, symbols)
    M = [np.zeros((len(block), len(block))) for block in blocks]
    m_total = np.zeros(2 * net.units)
    for sequence in each_sequence(data):
        _, c, a = lstm_forward(net, params, sequence)
        m, m_start = lstm_modulus(net, params, sequence, metric)
        m_total += sequence.weight * m_start
        for t in range(len(sequence.x)):
            r = lstm_signals(net, symbols, c, a, t, sequence.x[t])
            for u, block in enumerate(blocks):
                for p, first in enumerate(block):
                    for q, second in enumerate(block):
                        M[u][p, q] += sequence.weight * m[t, u] * r[first] * r[second]
    return M, m_total
