"""The oracle that every kernel is compared with: the paper's equations as plain loops, without `glnn`.

    net = naive.Network("glnn", graph.in_ptr, graph.sources, "tanh")
    data = naive.Data([codes, ...], [mask, ...], [weight, ...])        # masks and weights may be None
    params, records = naive.train(net, params, data, iterations=3, writing="qdh", transition="rbpm")

Every function of one sequence takes an element of `naive.each_sequence(data)`.
"""

from __future__ import annotations

from .activation import s, s_inverse, s_prime
from .backward import backward, modulus, modulus_rbpm, modulus_ruop, output_variance, state_derivative
from .example import example
from .forward import (
    activities,
    forward,
    log_likelihood,
    log_output,
    output,
    probabilities,
    step,
)
from .hmm import (
    hmm_as_gnn,
    hmm_probabilities,
    linear_log_likelihood,
    linear_output,
    linear_probabilities,
)
from .initialisation import (
    initial_parameters,
    initial_w,
    predicted_frequencies,
    tanh_to_logistic,
    time_scales,
)
from .lstm import (
    lstm_backward,
    lstm_blocks,
    lstm_forward,
    lstm_gradients,
    lstm_log_likelihood,
    lstm_metric,
    lstm_modulus,
    lstm_places,
)
from .lstm_training import lstm_train, lstm_transition_direction, lstm_writing_direction
from .lstm_unfolded import lstm_unfolded_metric, lstm_unfolded_start_modulus
from .metric import (
    contributions,
    damped,
    full_solve,
    gradient_start,
    gradient_transition,
    incoming_signals,
    metric_blocks,
    modulus_start,
    parameters_into,
    quasi_diagonal,
)
from .problem import (
    Data,
    Network,
    OneSequence,
    Parameters,
    each_sequence,
    edges,
    edges_into,
    frequencies,
    rnn_parameters,
    signals_into,
    symbol_counts,
    transition_key,
)
from .training import Record, Update, controlled_update, moved, train
from .transition import (
    frequency_adjusted,
    metric_direction,
    root_mean_square,
    start_direction,
    transition_direction,
)
from .unfolded import displaced, dummy_gradients, finite_difference, unfolded_metric_blocks
from .writing import (
    damping_w,
    diagonal_hessian,
    gradient_w,
    hessian,
    quasi_diagonal_hessian,
    writing_direction,
)

__all__ = [
    "Data",
    "Network",
    "OneSequence",
    "Parameters",
    "Record",
    "Update",
    "activities",
    "backward",
    "contributions",
    "controlled_update",
    "damped",
    "damping_w",
    "diagonal_hessian",
    "displaced",
    "dummy_gradients",
    "each_sequence",
    "edges",
    "edges_into",
    "example",
    "finite_difference",
    "forward",
    "frequencies",
    "frequency_adjusted",
    "full_solve",
    "gradient_start",
    "gradient_transition",
    "gradient_w",
    "hessian",
    "hmm_as_gnn",
    "hmm_probabilities",
    "incoming_signals",
    "initial_parameters",
    "initial_w",
    "linear_log_likelihood",
    "linear_output",
    "linear_probabilities",
    "log_likelihood",
    "log_output",
    "lstm_backward",
    "lstm_blocks",
    "lstm_forward",
    "lstm_gradients",
    "lstm_log_likelihood",
    "lstm_metric",
    "lstm_modulus",
    "lstm_places",
    "lstm_train",
    "lstm_transition_direction",
    "lstm_unfolded_metric",
    "lstm_unfolded_start_modulus",
    "lstm_writing_direction",
    "metric_blocks",
    "metric_direction",
    "modulus",
    "modulus_rbpm",
    "modulus_ruop",
    "modulus_start",
    "moved",
    "output",
    "output_variance",
    "parameters_into",
    "predicted_frequencies",
    "probabilities",
    "quasi_diagonal",
    "quasi_diagonal_hessian",
    "rnn_parameters",
    "root_mean_square",
    "s",
    "s_inverse",
    "s_prime",
    "signals_into",
    "start_direction",
    "state_derivative",
    "step",
    "symbol_counts",
    "tanh_to_logistic",
    "time_scales",
    "train",
    "transition_direction",
    "transition_key",
    "unfolded_metric_blocks",
    "writing_direction",
]
