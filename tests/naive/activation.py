"""The activation function s of Section 1.2, its derivative and its inverse, one number at a time."""

from __future__ import annotations

import math


def s(V: float, activation: str) -> float:
    if activation == "tanh":
        return math.tanh(V)
    if activation == "logistic":
        # Both of the paper's forms, e^V/(1+e^V) and 1/(1+e^-V): the one whose exponential cannot overflow.
        return math.exp(V) / (1 + math.exp(V)) if V < 0 else 1 / (1 + math.exp(-V))
    if activation == "linear":
        return V
    raise ValueError(f"activation is {activation!r}: expected 'tanh', 'logistic' or 'linear'")


def s_prime(V: float, activation: str) -> float:
    if activation == "tanh":
        return 1 - math.tanh(V) ** 2
    if activation == "logistic":
        return s(V, "logistic") * (1 - s(V, "logistic"))
    if activation == "linear":
        return 1.0
    raise ValueError(f"activation is {activation!r}: expected 'tanh', 'logistic' or 'linear'")


def s_inverse(a: float, activation: str) -> float:
    if activation == "tanh":
        return math.atanh(a)
    if activation == "logistic":
        return math.log(a / (1 - a))
    if activation == "linear":
        return a
    raise ValueError(f"activation is {activation!r}: expected 'tanh', 'logistic' or 'linear'")
