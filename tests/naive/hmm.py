"""A linear GNN with linear output is the forward pass of a hidden Markov model (Section 1.2)."""

from __future__ import annotations

import math

import numpy as np

from .forward import forward
from .problem import Data, Network, OneSequence, Parameters, each_sequence, edges


def hmm_probabilities(start: np.ndarray, transition: np.ndarray, emission: np.ndarray, x: list[int]) -> np.ndarray:
    """P(x_t = y | x_0 … x_{t-1}) as (T, A), by the recursion over P(x_0 … x_{t-1}, z_t = i).

    `start` (n,) is the law of z_0; rows of `transition` (n, n) and `emission` (n, A) those of z_{t+1}, x_t.
    """
    states, symbols = emission.shape
    joint = [float(start[i]) for i in range(states)]
    predicted = np.zeros((len(x), symbols))
    for t in range(len(x)):
        total = sum(joint)
        for y in range(symbols):
            for i in range(states):
                predicted[t, y] += joint[i] * emission[i, y] / total
        following = [0.0] * states
        for j in range(states):
            for i in range(states):
                following[j] += joint[i] * emission[i, x[t]] * transition[i, j]
        joint = following
    return predicted


def hmm_as_gnn(net: Network, start: np.ndarray, transition: np.ndarray, emission: np.ndarray) -> Parameters:
    """τ_ijx = P(i prints x) P(i → j), w_ix = P(i prints x), V⁰ = P(z_0); the constant unit is unused."""
    states, symbols = emission.shape
    tau, w = np.zeros((symbols, len(edges(net)))), np.zeros((states + 1, symbols))
    for e, (i, j) in enumerate(edges(net)):
        if i != 0:
            for x in range(symbols):
                tau[x, e] = emission[i - 1, x] * transition[i - 1, j]
    for i in range(states):
        for x in range(symbols):
            w[1 + i, x] = emission[i, x]
    return {"w": w, "tau": tau, "V0": np.array(start, float)}


def linear_output(w: np.ndarray, a_t: np.ndarray) -> list[float]:
    """π_t(x) = Σ_i a_i^t w_ix / Σ_i a_i^t over the units, the always-activated one left out."""
    total = 0.0
    for i in range(1, w.shape[0]):
        total += float(a_t[i])
    pi = [0.0] * w.shape[1]
    for x in range(w.shape[1]):
        for i in range(1, w.shape[0]):
            pi[x] += float(a_t[i] * w[i, x]) / total
    return pi


def linear_probabilities(net: Network, params: Parameters, sequence: OneSequence) -> np.ndarray:
    """π (T, A) with the linear output."""
    _, a = forward(net, params, sequence)
    return np.array([linear_output(params["w"], a[t]) for t in range(len(sequence.x))])


def linear_log_likelihood(net: Network, params: Parameters, data: Data) -> float:
    """Σ_s c_s Σ_t χ_t log π_t(x_t) with the linear output."""
    total = 0.0
    for sequence in each_sequence(data):
        pi = linear_probabilities(net, params, sequence)
        for t in range(len(sequence.x)):
            if sequence.chi[t]:
                total += sequence.weight * math.log(pi[t, sequence.x[t]])
    return total
