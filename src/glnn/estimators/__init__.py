"""The public models, with scikit-learn's conventions; `load` reads what `save` wrote."""

from glnn.estimators.base import SequenceModel, Trace
from glnn.estimators.context_tree import ContextTree
from glnn.estimators.gated import GLNN, GNN
from glnn.estimators.hidden_markov import HMM
from glnn.estimators.persistence import load
from glnn.estimators.recurrent import LSTM, RNN

__all__ = ["GLNN", "GNN", "HMM", "LSTM", "RNN", "ContextTree", "SequenceModel", "Trace", "load"]
