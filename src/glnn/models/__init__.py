"""The models, one file each: initial parameters, forward and backward pass, modulus, incoming signals."""

from glnn import registry
from glnn.models.base import Evidence, Flow, Model, Params, Signals
from glnn.models.glnn import GLNN
from glnn.models.gnn import GNN
from glnn.models.lstm import LSTM
from glnn.models.rnn import RNN

MODELS = {name: entry.load() for name, entry in registry.networks().items()}

__all__ = ["GLNN", "GNN", "LSTM", "MODELS", "RNN", "Evidence", "Flow", "Model", "Params", "Signals"]
