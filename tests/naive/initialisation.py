"""Initial parameters (`eq:initw`, `eq:initdiag`, `eq:initread`; Section 4 for the RNN) and tanh → logistic.

The uniform numbers u_jy are passed in. The paper's unit number j ≥ 1 is j + 1 of the code's j ≥ 0.
"""

from __future__ import annotations

import math

import numpy as np

from .activation import s_inverse
from .problem import Data, Network, Parameters, each_sequence, edges, rnn_parameters


def predicted_frequencies(data: Data, symbols: int) -> tuple[list[float], int]:
    """ν_y = Σ_t χ_t 1_{x_t=y} / Σ_t χ_t over all sequences, and Σ_t χ_t."""
    counts, total = [0] * symbols, 0
    for sequence in each_sequence(data):
        for t in range(len(sequence.x)):
            counts[sequence.x[t]] += sequence.chi[t]
            total += sequence.chi[t]
    return [counts[y] / total for y in range(symbols)], total


def initial_w(net: Network, nu: np.ndarray, predicted: int) -> np.ndarray:
    """`eq:initw`: w_0y = log ν_y, w_iy = 0; half a count for a symbol never to be predicted."""
    w = np.zeros((net.units + 1, len(nu)))
    for y in range(len(nu)):
        w[0, y] = math.log(nu[y]) if nu[y] > 0 else math.log(0.5 / predicted)
    return w


def centred(u: np.ndarray, nu_tilde: np.ndarray, j: int, y: int) -> float:
    """u_jy - Σ_y' ν̃_y' u_jy'."""
    mean = 0.0
    for other in range(len(nu_tilde)):
        mean += nu_tilde[other] * u[j, other]
    return float(u[j, y] - mean)


def time_scales(units: int) -> list[float]:
    """μ_j = 1/(j+1) for the paper's j = 1, 2, …"""
    return [1 / (j + 2) for j in range(units)]


def initial_glnn(
    net: Network, u: np.ndarray, nu_tilde: np.ndarray, alpha: float, mu: list[float]
) -> tuple[np.ndarray, np.ndarray]:
    """`eq:initdiag`, `eq:initread`: τ_iiy = -α, τ_0jy = β_j + μ_j/4 (u_jy - Σν̃u); V⁰_j = s^{-1}(β_j/α)."""
    beta = [-math.sqrt(alpha * (alpha - mu[j])) for j in range(net.units)]
    tau = np.zeros((u.shape[1], len(edges(net))))
    for e, (i, j) in enumerate(edges(net)):
        for y in range(u.shape[1]):
            if i == 0:
                tau[y, e] = beta[j] + mu[j] / 4 * centred(u, nu_tilde, j, y)
            elif i == 1 + j:
                tau[y, e] = -alpha
    return tau, np.array([s_inverse(beta[j] / alpha, "tanh") for j in range(net.units)])


def initial_gnn(net: Network, u: np.ndarray, nu_tilde: np.ndarray) -> np.ndarray:
    """The RNN's principle, gated: τ_iiy = 1 - 1/i, τ_0jy = ½ (u_jy - Σν̃u), the rest 0."""
    tau = np.zeros((u.shape[1], len(edges(net))))
    for e, (i, j) in enumerate(edges(net)):
        for y in range(u.shape[1]):
            if i == 0:
                tau[y, e] = centred(u, nu_tilde, j, y) / 2
            elif i == 1 + j:
                tau[y, e] = 1 - 1 / i
    return tau


def initial_rnn(net: Network, u: np.ndarray, nu_tilde: np.ndarray) -> np.ndarray:
    """Section 4, reference RNN: τ_ii = 1 - 1/i, ρ_jy = ½ (u_jy - Σν̃u), the rest 0."""
    places = rnn_parameters(net, u.shape[1])
    theta = np.zeros((1, len(places)))
    for p, (kind, index, j) in enumerate(places):
        if kind == "rho":
            theta[0, p] = centred(u, nu_tilde, j, index) / 2
        elif index == 1 + j:
            theta[0, p] = 1 - 1 / index
    return theta


def initial_parameters(
    net: Network,
    u: np.ndarray,
    nu: np.ndarray,
    nu_tilde: np.ndarray,
    predicted: int,
    alpha: float = 0.5,
    mu: list[float] | None = None,
) -> Parameters:
    """Initial parameters for tanh, or, when the network is logistic, those that behave in the same way.

    `u` is (N, A); `nu` are frequencies among the `predicted` = Σχ positions with χ = 1, `nu_tilde` among all.
    """
    w = initial_w(net, nu, predicted)
    V0 = np.zeros(net.units)
    if net.model == "rnn":
        params = {"w": w, "theta": initial_rnn(net, u, nu_tilde), "V0": V0}
    elif net.model == "gnn":
        params = {"w": w, "tau": initial_gnn(net, u, nu_tilde), "V0": V0}
    else:
        mu = time_scales(net.units) if mu is None else list(mu)
        tau, V0 = initial_glnn(net, u, nu_tilde, alpha, mu)
        params = {"w": w, "tau": tau, "V0": V0}
    return tanh_to_logistic(params, net) if net.activation == "logistic" else params


def logistic_w(w: np.ndarray) -> np.ndarray:
    """With a = 2a' - 1, Σ_i a_i w_iy = (w_0y - Σ_i w_iy) + Σ_i a'_i (2 w_iy)."""
    changed = np.zeros(w.shape)
    for y in range(w.shape[1]):
        changed[0, y] = w[0, y]
        for i in range(1, w.shape[0]):
            changed[i, y] = 2 * w[i, y]
            changed[0, y] -= w[i, y]
    return changed


def logistic_gated(net: Network, tau: np.ndarray) -> np.ndarray:
    """GNN: V' = 2V = 2 Σ_i τ_i (2a'_i - 1) + 2τ_0, so τ'_i = 4τ_i and τ'_0 = 2τ_0 - 2 Σ_i τ_i.

    GLNN: the leak is linear, V'^{t+1} = 2V^t + (that sum) = V'^t + (that sum), so nothing else changes.
    """
    changed = np.zeros(tau.shape)
    constant = {j: e for e, (i, j) in enumerate(edges(net)) if i == 0}
    for y in range(tau.shape[0]):
        for e, (i, j) in enumerate(edges(net)):
            if i == 0:
                changed[y, e] += 2 * tau[y, e]
            else:
                changed[y, e] += 4 * tau[y, e]
                changed[y, constant[j]] -= 2 * tau[y, e]
    return changed


def logistic_rnn(net: Network, theta: np.ndarray, symbols: int) -> np.ndarray:
    """V' = 2ρ + 2τ_0 + 2 Σ_i τ_i (2a'_i - 1): ρ' = 2ρ, τ'_i = 4τ_i, and the constant takes the rest."""
    places = rnn_parameters(net, symbols)
    changed = np.zeros(theta.shape)
    constant = {j: p for p, (kind, i, j) in enumerate(places) if kind == "tau" and i == 0}
    for p, (kind, index, j) in enumerate(places):
        if kind == "rho" or index == 0:
            changed[0, p] += 2 * theta[0, p]
        else:
            changed[0, p] += 4 * theta[0, p]
            changed[0, constant[j]] -= 2 * theta[0, p]
    return changed


def tanh_to_logistic(params: Parameters, net: Network) -> Parameters:
    """Parameters for s = logistic with V' = 2V, a' = (a+1)/2 and the same π_t as `params` with s = tanh.

    From logistic(2v) = (1 + tanh v)/2; the model and the graph are those of `net`, whatever its activation.
    """
    changed = {"w": logistic_w(params["w"]), "V0": 2 * np.asarray(params["V0"])}
    if net.model == "rnn":
        changed["theta"] = logistic_rnn(net, params["theta"], params["w"].shape[1])
    else:
        changed["tau"] = logistic_gated(net, params["tau"])
    return changed
