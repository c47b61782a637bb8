"""RNN and LSTM as estimators: the symbol is an input, so a unit's parameters grow with the alphabet.

Their default metric is the quasi-diagonal one, as in the paper: the full one has a block of all these for each unit.
"""

from __future__ import annotations

from typing import Any

from glnn import models
from glnn.estimators.network import Network


class _SymbolAsInput(Network):
    """A network with a smaller metric by default."""

    def __init__(
        self,
        units: int | str = "auto",
        degree: int | str = "auto",
        *,
        metric: str = "qdrbpm",
        output_metric: str = "qdh",
        activation: str = "tanh",
        damping: float = 1.0,
        budget: Any = "60s",
        restarts: int | str = "auto",
        batch_size: int | None = None,
        sequence_weights: str = "length",
        patience: int | None = None,
        validation_fraction: float | str = "auto",
        smoothing: float | str = "auto",
        precision: str = "float64",
        end: bool = True,
        unknown: str = "error",
        alphabet: Any = None,
        n_jobs: int | None = 1,
        random_state: Any = None,
        verbose: int = 1,
    ) -> None:
        super().__init__(
            units,
            degree,
            metric=metric,
            output_metric=output_metric,
            activation=activation,
            damping=damping,
            budget=budget,
            restarts=restarts,
            batch_size=batch_size,
            sequence_weights=sequence_weights,
            patience=patience,
            validation_fraction=validation_fraction,
            smoothing=smoothing,
            precision=precision,
            end=end,
            unknown=unknown,
            alphabet=alphabet,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )


class RNN(_SymbolAsInput):
    """The recurrent neural network, V_j^{t+1} = ρ_{j x_t} + Σ_i τ_ij a_i^t; its parameters are those of `Network`."""

    _model = models.RNN


class LSTM(_SymbolAsInput):
    """The LSTM with peepholes; `units` are its cells, the other parameters those of `Network`.

    The activation "logistic" writes hidden activities in (0, 1) instead of (−1, 1): the same network.
    """

    _model = models.LSTM
    _cost = 2.5
    _activations = ("tanh", "logistic")
