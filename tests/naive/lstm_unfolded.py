"""M̃ of the LSTM by its definition (`def:recmetric`): the time-unfolded network as a list of units and arrows.

A unit is (name, cell, time): ("i" | "f" | "o" | "z", j, t) are the gates and the cell input of the step that reads x_t;
("c", j, t) and ("h", j, t) the cell and the hidden activity, t = 0 … T. Each unit is a function of the units with an
arrow to it, differentiated by finite differences: no derivative or modulus of the oracle is used.
"""

from __future__ import annotations

import math

import numpy as np

from .activation import s
from .forward import output
from .lstm import GATES, SQUASHING, hidden, lstm_blocks, lstm_places
from .problem import Data, Network, OneSequence, Parameters, each_sequence
from .unfolded import H, displaced

Unit = tuple[str, int, int]
Values = dict[Unit, float]


def units_in_order(net: Network, sequence: OneSequence) -> list[Unit]:
    """Every unit behind those that influence it."""
    order = [(name, j, 0) for name in "ch" for j in range(net.units)]
    for t in range(len(sequence.x)):
        for name, time in (("i", t), ("f", t), ("z", t), ("c", t + 1), ("o", t), ("h", t + 1)):
            order += [(name, j, time) for j in range(net.units)]
    return order


def arrows_into(net: Network, unit: Unit) -> list[Unit]:
    """The units that influence this one directly; none for the start state."""
    name, j, t = unit
    if name in GATES:
        from_hidden = [("h", int(net.sources[e]), t) for e in range(net.in_ptr[j], net.in_ptr[j + 1])]
        peephole = {"i": [("c", j, t)], "f": [("c", j, t)], "o": [("c", j, t + 1)], "z": []}
        return from_hidden + peephole[name]
    if t == 0:
        return []
    if name == "c":
        return [("i", j, t - 1), ("f", j, t - 1), ("z", j, t - 1), ("c", j, t - 1)]
    return [("o", j, t - 1), ("c", j, t)]


def activity(net: Network, params: Parameters, sequence: OneSequence, unit: Unit, values: Values) -> float:
    """The value of a unit from those with an arrow to it."""
    name, j, t = unit
    if name in GATES:
        V = 0.0
        for p, (kind, index, gate, target) in enumerate(lstm_places(net, params["w"].shape[1])):
            if (gate, target) != (name, j):
                continue
            if kind == "h":
                signal = 1.0 if index == 0 else values["h", index - 1, t]
            elif kind == "c":
                signal = values["c", j, t + 1 if name == "o" else t]
            else:
                signal = 1.0 if sequence.x[t] == index else 0.0
            V += float(params["theta"][0, p]) * signal
        return s(V, SQUASHING[name])
    if t == 0:
        return float(params["V0"][j if name == "c" else net.units + j])
    if name == "c":
        kept = values["f", j, t - 1] * values["c", j, t - 1]
        return kept + values["i", j, t - 1] * values["z", j, t - 1]
    return hidden(net, values["o", j, t - 1], values["c", j, t])


def hidden_at(net: Network, values: Values, t: int) -> np.ndarray:
    return np.array([1.0] + [values["h", j, t] for j in range(net.units)])


def run(
    net: Network, params: Parameters, sequence: OneSequence, dummy: Parameters | None = None, time: int = -1
) -> Values:
    """All values, when the gates of step `time` use the dummy parameters instead."""
    values: Values = {}
    for unit in units_in_order(net, sequence):
        theirs = dummy if dummy is not None and unit[0] in GATES and unit[2] == time else params
        values[unit] = activity(net, theirs, sequence, unit, values)
    return values


def unfolded_log_likelihood(net: Network, params: Parameters, sequence: OneSequence, values: Values) -> float:
    total = 0.0
    for t, x_t in enumerate(sequence.x):
        if sequence.chi[t]:
            total += math.log(output(params["w"], hidden_at(net, values, t))[x_t])
    return total


def output_norm(net: Network, params: Parameters, values: Values, t: int, i: int) -> float:
    """Σ_y (∂π_t(y)/∂h_i)²/π_t(y), the Fisher norm of a change of π_t."""
    a = hidden_at(net, values, t)
    up, down = a.copy(), a.copy()
    up[1 + i] += H
    down[1 + i] -= H
    pairs = zip(output(params["w"], up), output(params["w"], down), output(params["w"], a), strict=True)
    return sum(((above - below) / (2 * H)) ** 2 / here for above, below, here in pairs)


def unfolded_modulus(net: Network, params: Parameters, sequence: OneSequence) -> Values:
    """m of every unit, in its activity: ‖δa‖² is that of δπ_t plus, for every arrow out, that of the change there."""
    values = run(net, params, sequence)
    order = units_in_order(net, sequence)
    m = dict.fromkeys(order, 0.0)
    for t, chi in enumerate(sequence.chi):
        for i in range(net.units):
            m["h", i, t] = chi * output_norm(net, params, values, t, i)
    for unit in reversed(order):
        for source in arrows_into(net, unit):
            up, down = (
                activity(net, params, sequence, unit, values | {source: values[source] + amount}) for amount in (H, -H)
            )
            m[source] += ((up - down) / (2 * H)) ** 2 * m[unit]
    return m


def lstm_unfolded_start_modulus(net: Network, params: Parameters, sequence: OneSequence) -> np.ndarray:
    """m of c^0 and h^0, whose activities are the parameters themselves."""
    m = unfolded_modulus(net, params, sequence)
    return np.array([m[name, j, 0] for name in "ch" for j in range(net.units)])


def dummy_gradients(net: Network, params: Parameters, sequence: OneSequence) -> list[np.ndarray]:
    """RUOP: at each time g with ‖δθ_u^t‖² = (g · δθ_u^t)², namely ∂log Pr/∂θ^t with θ^t used in step t only."""
    gradients = []
    for t in range(len(sequence.x)):
        g = np.zeros(params["theta"].shape[1])
        for p in range(g.size):
            up, down = (run(net, params, sequence, displaced(params, "theta", (0, p), d), t) for d in (H, -H))
            g[p] = unfolded_log_likelihood(net, params, sequence, up)
            g[p] -= unfolded_log_likelihood(net, params, sequence, down)
        gradients.append(g / (2 * H))
    return gradients


def backpropagated_norms(net: Network, params: Parameters, sequence: OneSequence) -> list[np.ndarray]:
    """RBPM: at each time g with ‖δθ_u^t‖² = m_u (∂a_u/∂θ_u^t · δθ_u^t)² = (g · δθ_u^t)²."""
    values, m = run(net, params, sequence), unfolded_modulus(net, params, sequence)
    norms = []
    for t in range(len(sequence.x)):
        g = np.zeros(params["theta"].shape[1])
        for p, (_, _, gate, j) in enumerate(lstm_places(net, params["w"].shape[1])):
            up, down = (
                activity(net, displaced(params, "theta", (0, p), d), sequence, (gate, j, t), values) for d in (H, -H)
            )
            g[p] = math.sqrt(m[gate, j, t]) * (up - down) / (2 * H)
        norms.append(g)
    return norms


def lstm_unfolded_metric(net: Network, params: Parameters, data: Data, metric: str) -> list[np.ndarray]:
    """`eq:rmetric`: the unfolded network's metric summed over time, for every unit 4j + g, not damped."""
    norms_of = {"ruop": dummy_gradients, "rbpm": backpropagated_norms}[metric]
    blocks = lstm_blocks(net, params["w"].shape[1])
    M = [np.zeros((len(block), len(block))) for block in blocks]
    for sequence in each_sequence(data):
        for g in norms_of(net, params, sequence):
            for u, block in enumerate(blocks):
                M[u] += sequence.weight * np.outer(g[block], g[block])
    return M
