"""The public models, with scikit-learn's conventions: GLNN, GNN, RNN, LSTM; `load` reads what `save` wrote."""

from glnn.estimators.gated import GLNN, GNN
from glnn.estimators.network import Trace
from glnn.estimators.recurrent import LSTM, RNN

__all__ = ["GLNN", "GNN", "LSTM", "RNN", "Trace"]
