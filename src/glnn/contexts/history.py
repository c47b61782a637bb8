"""The symbols that were read, one padding symbol before each sequence, and the context: the last of them, latest first.

Padding is the code A, base − 1. `used[SYMBOLS]` says how long the history is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glnn.numeric.kernel import kernel

SYMBOLS = 1


@dataclass(frozen=True)
class ReadProgress:
    """Given to the callback: symbols read, of how many, how likely they were, and how many nodes it took."""

    symbols: int
    total: int
    log_likelihood: float
    nodes: int


@kernel(_nrt=False)
def begin_sequence(context: np.ndarray, base: int, learn: bool, used: np.ndarray, history: np.ndarray) -> None:
    """Padding all over; one symbol of it in the history, where what comes before a sequence is never looked at."""
    for d in range(context.size):
        context[d] = base - 1
    if learn:
        history[used[SYMBOLS]] = base - 1
        used[SYMBOLS] += 1


@kernel(_nrt=False)
def move(y: int, base: int, context: np.ndarray, first: bool) -> None:
    """A symbol goes into the context, which is padding before the first; nothing is learned."""
    for d in range(context.size - 1, 0, -1):
        context[d] = base - 1 if first else context[d - 1]
    if context.size > 0:
        context[0] = y


@kernel(_nrt=False)
def push(y: int, context: np.ndarray, learn: bool, used: np.ndarray, history: np.ndarray) -> None:
    """A symbol goes into the context, and into the history that leaves point to."""
    for d in range(context.size - 1, 0, -1):
        context[d] = context[d - 1]
    if context.size > 0:
        context[0] = y
    if learn:
        history[used[SYMBOLS]] = y
        used[SYMBOLS] += 1


def likeliest_of(distribution: np.ndarray, top: int) -> np.ndarray:
    """Rows (code, probability) of the likeliest symbols; among equals the lower code comes first."""
    order = np.argsort(-distribution, kind="stable")[:top]
    rows = np.full((top, 2), -1.0)
    rows[: order.size, 0], rows[: order.size, 1] = order, distribution[order]
    return rows
