"""The writing weights w: gradient W, terms h of the Hessian (`eq:hessian`), the methods plain, DH, QDH."""

from __future__ import annotations

import math

import numpy as np

from .forward import forward, output
from .problem import Data, Network, Parameters, each_sequence, frequencies


def gradient_w(net: Network, params: Parameters, data: Data) -> np.ndarray:
    """W_iy = Σ_s c_s Σ_t χ_t a_i^t (1_{x_t=y} - π_t(y)) (`eq:gradw`), shape (N+1, A)."""
    w = params["w"]
    W = np.zeros(w.shape)
    for sequence in each_sequence(data):
        _, a = forward(net, params, sequence)
        for t in range(len(sequence.x)):
            pi = output(w, a[t])
            for i in range(w.shape[0]):
                for y in range(w.shape[1]):
                    printed = 1 if sequence.x[t] == y else 0
                    W[i, y] += sequence.weight * sequence.chi[t] * a[t, i] * (printed - pi[y])
    return W


def damping_w(data: Data, symbols: int) -> list[float]:
    """ε_y: the frequency of y in the training data plus the machine epsilon."""
    return [frequency + math.ulp(1.0) for frequency in frequencies(data, symbols)]


def hessian(net: Network, params: Parameters, data: Data) -> tuple[np.ndarray, np.ndarray]:
    """`eq:hessian`: h_ii^y (damped by ε_y) and h_0i^y, both (N+1, A); row 0 of the second is unused."""
    w = params["w"]
    epsilon = damping_w(data, w.shape[1])
    h_ii, h_0i = np.zeros(w.shape), np.zeros(w.shape)
    for i in range(w.shape[0]):
        for y in range(w.shape[1]):
            h_ii[i, y] = epsilon[y]
    for sequence in each_sequence(data):
        _, a = forward(net, params, sequence)
        for t in range(len(sequence.x)):
            pi = output(w, a[t])
            for i in range(w.shape[0]):
                for y in range(w.shape[1]):
                    spread = sequence.weight * sequence.chi[t] * pi[y] * (1 - pi[y])
                    h_ii[i, y] += a[t, i] ** 2 * spread
                    if i != 0:
                        h_0i[i, y] += a[t, i] * spread
    return h_ii, h_0i


def diagonal_hessian(W: np.ndarray, h_ii: np.ndarray) -> np.ndarray:
    """DH: W_iy / h_ii^y."""
    direction = np.zeros(W.shape)
    for i in range(W.shape[0]):
        for y in range(W.shape[1]):
            direction[i, y] = W[i, y] / h_ii[i, y]
    return direction


def quasi_diagonal_hessian(W: np.ndarray, h_ii: np.ndarray, h_0i: np.ndarray) -> np.ndarray:
    """QDH: `eq:qdw1` for i ≠ 0, `eq:qdw2` for i = 0."""
    direction = np.zeros(W.shape)
    for y in range(W.shape[1]):
        h_00 = h_ii[0, y]
        direction[0, y] = W[0, y] / h_00
        for i in range(1, W.shape[0]):
            numerator = W[i, y] - W[0, y] * h_0i[i, y] / h_00
            denominator = h_ii[i, y] - h_0i[i, y] ** 2 / h_00
            direction[i, y] = numerator / denominator
            direction[0, y] -= h_0i[i, y] / h_00 * direction[i, y]
    return direction


def writing_direction(net: Network, params: Parameters, data: Data, method: str) -> dict[str, np.ndarray]:
    """What η_w multiplies, under the key "w", for the method "plain", "dh" or "qdh"."""
    W = gradient_w(net, params, data)
    if method == "plain":
        return {"w": W}
    h_ii, h_0i = hessian(net, params, data)
    if method == "dh":
        return {"w": diagonal_hessian(W, h_ii)}
    if method == "qdh":
        return {"w": quasi_diagonal_hessian(W, h_ii, h_0i)}
    raise ValueError(f"writing method is {method!r}: expected 'plain', 'dh' or 'qdh'")
