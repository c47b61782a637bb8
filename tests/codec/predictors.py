"""Small predictors of every kind, made with NumPy alone: the same numbers whatever Numba compiles for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from glnn.baselines.hmm import initial_hmm
from glnn.baselines.hmm_model import HiddenMarkovModel
from glnn.contexts.tree import ContextTreeSettings, fit_context_tree
from glnn.models import GLNN, GNN, LSTM, RNN, Params
from glnn.network import random_graph
from glnn.predictors import Predictor, StepwisePredictor
from glnn.predictors.calibration import EntropyWeights
from glnn.predictors.escape import WithEscape
from glnn.predictors.members import Members
from glnn.predictors.network import NetworkPredictor
from glnn.predictors.uniform import Smoothed
from glnn.sequences import Alphabet, encode
from glnn.sequences.alphabet import END, ESCAPE, Special

LETTERS = "abcdefg \n"
KINDS = (
    "glnn",
    "gnn",
    "rnn",
    "rnn-logistic",
    "lstm",
    "hmm",
    "hmm-sparse",
    "tree",
    "tree-frozen",
    "stepwise",
    "members",
    "median",
    "calibrated-lstm",
)

_NETWORKS: dict[str, tuple[Any, str]] = {
    "glnn": (GLNN, "tanh"),
    "gnn": (GNN, "tanh"),
    "rnn": (RNN, "tanh"),
    "rnn-logistic": (RNN, "logistic"),
    "lstm": (LSTM, "tanh"),
}


def predictor(
    kind: str, symbols: Iterable[Any] = LETTERS, end: bool = False, escape: float | None = None, seed: int = 0
) -> Predictor:
    """A predictor over the symbols, with an end and an escape if wanted."""
    base = symbols if isinstance(symbols, Alphabet) else Alphabet(symbols)
    special: list[Special] = [END] if end else []
    made = _plain(kind, base.with_special(*special), np.random.default_rng(seed))
    if escape is None:
        return made
    return WithEscape(made, base.with_special(*special, ESCAPE), escape)


def _plain(kind: str, alphabet: Alphabet, generator: np.random.Generator) -> Predictor:
    if kind in ("members", "median", "calibrated-lstm"):
        kinds = ("lstm",) if kind == "calibrated-lstm" else ("glnn", "glnn", "glnn")
        columns = len(kinds) if kind == "members" else 1
        weights = 1.0 / columns + 0.2 * generator.normal(size=(4, columns))
        networks: list[Any] = [_plain(name, alphabet, generator) for name in kinds]
        networks[0].share = 0.01
        return Smoothed(Members(networks, EntropyWeights(np.array([0.1, 0.5, 0.9, 1.5]), weights)), 1e-3)
    if kind in _NETWORKS:
        build, activation = _NETWORKS[kind]
        model = build(random_graph(6, 3, generator), len(alphabet), activation=activation)
        return NetworkPredictor(model, random_params(model, generator), alphabet)
    codes = generator.integers(0, len(alphabet), 600).astype(np.int32)
    data = replace(encode(np.arange(600) % 2), codes=codes, alphabet=alphabet)
    if kind.startswith("hmm"):
        return Smoothed(initial_hmm(data, 12 if kind == "hmm-sparse" else 5, 1 if kind == "hmm-sparse" else 4, 0), 1e-3)
    if kind.startswith("tree"):
        trees = fit_context_tree(data, ContextTreeSettings(depth=3))
        return trees.with_learning("frozen" if kind == "tree-frozen" else "online")
    return Markov(alphabet, generator.dirichlet(np.ones(len(alphabet)), len(alphabet)))


def random_params(model: Any, generator: np.random.Generator, scale: float = 1.0) -> Params:
    """Parameters that make the network forget slowly and predict unevenly."""
    zero = model.initial(*np.ones((2, model.alphabet_size)), np.random.default_rng(0))
    return Params(
        w=scale * generator.normal(size=zero.w.shape),
        theta=0.4 * generator.normal(size=zero.theta.shape),
        V0=generator.normal(size=zero.V0.shape),
    )


class Markov(StepwisePredictor):
    """A predictor that glnn knows nothing of: each symbol depends on the one before."""

    def __init__(self, alphabet: Alphabet, rows: np.ndarray) -> None:
        self.alphabet, self.rows = alphabet, rows

    def begin(self) -> MarkovState:
        return MarkovState(self.rows, 0)


class MarkovState:
    def __init__(self, rows: np.ndarray, code: int) -> None:
        self.rows, self.code = rows, code

    def probabilities(self) -> np.ndarray:
        return self.rows[self.code]

    def advance(self, code: int) -> None:
        self.code = code

    def copy(self) -> MarkovState:
        return MarkovState(self.rows, self.code)


__all__ = ["KINDS", "LETTERS", "HiddenMarkovModel", "Markov", "predictor", "random_params"]
