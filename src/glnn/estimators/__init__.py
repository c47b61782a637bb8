"""The public models, with scikit-learn's conventions; `load` reads what `save` wrote, `estimator` knows them all."""

from typing import Any

from glnn.estimators.architectures import GLNN, GNN, LSTM, RNN, estimator, estimators
from glnn.estimators.base import SequenceModel
from glnn.estimators.counting import ContextTree, NGram
from glnn.estimators.hidden_markov import HMM
from glnn.estimators.mixture import Mixture
from glnn.estimators.persistence import load
from glnn.predictors.scores import Trace

__all__ = [
    "GLNN",
    "GNN",
    "HMM",
    "LSTM",
    "RNN",
    "ContextTree",
    "Mixture",
    "NGram",
    "SequenceModel",
    "Trace",
    "estimator",
    "estimators",
    "load",
]


def __getattr__(name: str) -> Any:
    """Estimators of networks that are registered and have no class of their own."""
    if name[:1].isupper() and name in (found := estimators()):
        return found[name]
    raise AttributeError(f"module 'glnn.estimators' has no attribute {name!r}")
