"""Training iterations of the LSTM: writing and transition directions, learning-rate control.

The reductions, the damping and the rule for rates are those of the other models; only what reads the network is here.
"""

from __future__ import annotations

import math

import numpy as np

from .forward import output
from .lstm import (
    lstm_blocks,
    lstm_contributions,
    lstm_forward,
    lstm_gradients,
    lstm_log_likelihood,
    lstm_metric,
    lstm_places,
)
from .metric import damped, full_solve, quasi_diagonal
from .problem import Data, Network, Parameters, each_sequence, frequencies, symbol_counts
from .training import MOST_HALVINGS, Record, Update, moved
from .transition import INVARIANT
from .writing import damping_w, diagonal_hessian, quasi_diagonal_hessian


def lstm_writing_direction(net: Network, params: Parameters, data: Data, method: str) -> dict[str, np.ndarray]:
    """W, or W divided by the diagonal or quasi-diagonal Hessian, with the hidden activities for a."""
    w = params["w"]
    W, h_ii, h_0i = np.zeros(w.shape), np.zeros(w.shape), np.zeros(w.shape)
    for sequence in each_sequence(data):
        _, _, a = lstm_forward(net, params, sequence)
        for t in range(len(sequence.x)):
            pi = output(w, a[t])
            for i, y in np.ndindex(*w.shape):
                counted = sequence.weight * sequence.chi[t]
                W[i, y] += counted * a[t, i] * ((1 if sequence.x[t] == y else 0) - pi[y])
                h_ii[i, y] += counted * a[t, i] ** 2 * pi[y] * (1 - pi[y])
                h_0i[i, y] += counted * a[t, i] * pi[y] * (1 - pi[y])
    h_ii += np.array(damping_w(data, w.shape[1]))
    if method == "plain":
        return {"w": W}
    return {"w": diagonal_hessian(W, h_ii) if method == "dh" else quasi_diagonal_hessian(W, h_ii, h_0i)}


def lstm_transition_direction(
    net: Network, params: Parameters, data: Data, method: str, damping: float = 1.0
) -> dict[str, np.ndarray]:
    """What η_τ multiplies: "theta" and "V0", for any of the seven methods. FB rescales the symbol inputs only."""
    G, G_start = lstm_gradients(net, params, data)
    symbols = params["w"].shape[1]
    direction = G.copy()
    if method == "fb":
        nu = frequencies(data, symbols)
        for p, (kind, y, _, _) in enumerate(lstm_places(net, symbols)):
            if kind == "x":
                direction[0, p] = G[0, p] / nu[y] if nu[y] > 0 else 0.0
    elif method == "rms":
        squares = np.zeros(G.shape[1])
        for sequence in each_sequence(data):
            for g in lstm_contributions(net, params, sequence):
                squares += sequence.weight * g**2
        T = symbol_counts(data, symbols)[1]
        for p in range(G.shape[1]):
            direction[0, p] = G[0, p] / math.sqrt(squares[p] / T) if squares[p] > 0 else 0.0
    elif method in INVARIANT:
        M, m_start = lstm_metric(net, params, data, method.removeprefix("qd"))
        solve = quasi_diagonal if method.startswith("qd") else full_solve
        for u, block in enumerate(lstm_blocks(net, symbols)):
            direction[0, block] = solve(G[0, block], damped(M[u], damping))
        return {"theta": direction, "V0": G_start / (m_start + damping)}
    elif method != "plain":
        raise ValueError(f"transition method is {method!r}: expected plain, fb, rms or one of {INVARIANT}")
    return {"theta": direction, "V0": G_start}


def lstm_update(
    net: Network, params: Parameters, data: Data, direction: dict[str, np.ndarray], rate: float, before: float
) -> Update:
    """The learning-rate rule of `controlled_update`."""
    for rejected in range(MOST_HALVINGS + 1):
        trial = moved(params, direction, rate / 2**rejected)
        after = lstm_log_likelihood(net, trial, data)
        if after >= before:
            return Update(trial, after, rate / 2**rejected * 1.1, rejected)
    return Update(params, before, rate, MOST_HALVINGS + 1)


def lstm_train(
    net: Network,
    params: Parameters,
    data: Data,
    iterations: int,
    writing: str = "qdh",
    transition: str = "rbpm",
    damping: float = 1.0,
) -> tuple[Parameters, list[Record]]:
    """`iterations` times an update of w and then one of the transition weights and the start state."""
    rate_w = rate_tau = 1 / net.units
    current = lstm_log_likelihood(net, params, data)
    records = []
    for _ in range(iterations):
        direction = lstm_writing_direction(net, params, data, writing)
        of_w = lstm_update(net, params, data, direction, rate_w, current)
        direction = lstm_transition_direction(net, of_w.params, data, transition, damping)
        of_tau = lstm_update(net, of_w.params, data, direction, rate_tau, of_w.log_likelihood)
        params, current, rate_w, rate_tau = of_tau.params, of_tau.log_likelihood, of_w.rate, of_tau.rate
        records.append(Record(of_w.log_likelihood, current, rate_w, rate_tau, of_w.rejected, of_tau.rejected))
    return params, records
