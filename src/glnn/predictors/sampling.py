"""New symbols drawn from a predictor, one after the other."""

from __future__ import annotations

import numpy as np

from glnn.predictors.protocol import State
from glnn.sequences import Alphabet


def draw(
    state: State, alphabet: Alphabet, length: int, temperature: float, generator: np.random.Generator
) -> list[int]:
    """Codes until the end symbol or the length; never an escape, which names no symbol."""
    codes: list[int] = []
    end, escape = alphabet.end, alphabet.escape
    while len(codes) < length:
        if codes:
            state.advance(codes[-1])
        pi = state.probabilities()
        if escape is not None:
            pi[escape] = 0.0
        code = _choose(pi, temperature, generator)
        if code == end:
            break
        codes.append(code)
    return codes


def _choose(pi: np.ndarray, temperature: float, generator: np.random.Generator) -> int:
    """One code with probability ∝ π^{1/temperature}."""
    if temperature == 0.0:
        return int(np.argmax(pi))
    if temperature != 1.0:
        with np.errstate(divide="ignore"):
            logarithms = np.log(pi) / temperature
        pi = np.exp(logarithms - logarithms.max())
    cumulated = np.cumsum(pi)
    return int(np.searchsorted(cumulated, generator.random() * cumulated[-1], side="right"))
