"""Backward pass of a sequence (no weight): B_i^t = ∂log Pr/∂V_i^t, and the modulus m̃_i^t of the two metrics.

`prop:glnnder` and `eq:explicitbpmod` are for the GLNN; the RNN and the GNN have the same equations with
their own ∂V_j^{t+1}/∂V_i^t (Section 3.5). All start from B^T = 0 and m̃^T = 0.
"""

from __future__ import annotations

import numpy as np

from .activation import s_prime
from .forward import forward, output
from .problem import (
    Network,
    OneSequence,
    Parameters,
    edges,
    rnn_parameters,
)


def edge_weights(net: Network, params: Parameters, x_t: int) -> list[tuple[int, int, float]]:
    """(i, j, weight of i → j in the step that reads x_t), for units i only: signal 0 does not depend on V."""
    weights = []
    if net.model == "rnn":
        for p, (kind, i, j) in enumerate(rnn_parameters(net, params["w"].shape[1])):
            if kind == "tau":
                weights.append((i - 1, j, float(params["theta"][0, p])))
    else:
        for e, (i, j) in enumerate(edges(net)):
            weights.append((i - 1, j, float(params["tau"][x_t, e])))
    return [(i, j, value) for i, j, value in weights if i >= 0]


def backward(net: Network, params: Parameters, sequence: OneSequence) -> np.ndarray:
    """B (T+1, N).

    GLNN: B_i^t = B_i^{t+1} + s'(V_i^t) (χ_t (w_{i x_t} - Σ_y π_t(y) w_iy) + Σ_j τ_{ij x_t} B_j^{t+1});
    RNN and GNN: the same without the first term, since V_i^{t+1} holds no V_i^t of its own.
    """
    V, a = forward(net, params, sequence)
    w, T = params["w"], len(sequence.x)
    B = np.zeros((T + 1, net.units))
    for t in reversed(range(T)):
        pi = output(w, a[t])
        transmitted = [0.0] * net.units
        for i, j, tau in edge_weights(net, params, sequence.x[t]):
            transmitted[i] += tau * B[t + 1, j]
        for i in range(net.units):
            mean = 0.0
            for y in range(w.shape[1]):
                mean += pi[y] * w[1 + i, y]
            error = sequence.chi[t] * (w[1 + i, sequence.x[t]] - mean)
            B[t, i] = s_prime(float(V[t, i]), net.activation) * (error + transmitted[i])
            if net.model == "glnn":
                B[t, i] += B[t + 1, i]
    return B


def state_derivative(net: Network, params: Parameters, V_t: np.ndarray, x_t: int) -> np.ndarray:
    """∂V_j^{t+1}/∂V_i^t at [j, i]: τ_ij s'(V_i^t), and 1_{i=j} more in the GLNN (Section 3.5)."""
    derivative = np.zeros((net.units, net.units))
    for i, j, tau in edge_weights(net, params, x_t):
        derivative[j, i] += tau * s_prime(float(V_t[i]), net.activation)
    if net.model == "glnn":
        for i in range(net.units):
            derivative[i, i] += 1
    return derivative


def output_variance(w: np.ndarray, pi: list[float], i: int) -> float:
    """Σ_y π(y) w_iy² - (Σ_y π(y) w_iy)², the Fisher norm of moving signal i (`eq:natnorm`)."""
    mean, mean_square = 0.0, 0.0
    for y in range(w.shape[1]):
        mean += pi[y] * w[i, y]
        mean_square += pi[y] * w[i, y] ** 2
    return float(mean_square - mean**2)


def modulus_ruop(net: Network, params: Parameters, sequence: OneSequence) -> np.ndarray:
    """m̃ (T+1, N) of the outer product: m̃_i^t = (B_i^t)²."""
    B = backward(net, params, sequence)
    m = np.zeros(B.shape)
    for t in range(B.shape[0]):
        for i in range(B.shape[1]):
            m[t, i] = B[t, i] ** 2
    return m


def modulus_rbpm(net: Network, params: Parameters, sequence: OneSequence) -> np.ndarray:
    """m̃ (T+1, N) backpropagated (Section 3.5, `eq:explicitbpmod` for the GLNN).

    m̃_i^t = χ_t s'(V_i^t)² Var_π(w_i) + Σ_j (∂V_j^{t+1}/∂V_i^t)² m̃_j^{t+1}.
    """
    V, a = forward(net, params, sequence)
    T = len(sequence.x)
    m = np.zeros((T + 1, net.units))
    for t in reversed(range(T)):
        pi = output(params["w"], a[t])
        derivative = state_derivative(net, params, V[t], sequence.x[t])
        for i in range(net.units):
            variance = output_variance(params["w"], pi, 1 + i)
            m[t, i] = sequence.chi[t] * s_prime(float(V[t, i]), net.activation) ** 2 * variance
            for j in range(net.units):
                m[t, i] += derivative[j, i] ** 2 * m[t + 1, j]
    return m


def modulus(net: Network, params: Parameters, sequence: OneSequence, metric: str) -> np.ndarray:
    """m̃ of "ruop" or of "rbpm"."""
    return {"ruop": modulus_ruop, "rbpm": modulus_rbpm}[metric](net, params, sequence)
