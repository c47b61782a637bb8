"""The gated networks as estimators: one set of transition parameters for each symbol."""

from __future__ import annotations

from typing import Any

import numpy as np

from glnn import models
from glnn.estimators.network import Network
from glnn.estimators.parameters import number
from glnn.models import Model
from glnn.network import Graph
from glnn.sequences import InputError


class GLNN(Network):
    """The gated leaky neural network, V_j^{t+1} = V_j^t + Σ_i τ_{ij x_t} a_i^t: a unit keeps its value until told.

    alpha, time_scales: strength of the feedback of each unit at the start, and how fast each forgets then (μ_j, one
    for each unit, at most alpha; 1/μ_j is about how many symbols it remembers; None for the paper's 1/(j+1)).
    The other parameters are those of `Network`.
    """

    _model = models.GLNN

    def __init__(
        self,
        units: int | str = "auto",
        degree: int | str = "auto",
        *,
        metric: str = "rbpm",
        output_metric: str = "qdh",
        activation: str = "tanh",
        alpha: float = 0.5,
        time_scales: Any = None,
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
        self.alpha = alpha
        self.time_scales = time_scales

    def _units(self) -> int | str:
        number("alpha", self.alpha, 0.0, open_low=True)
        if self.time_scales is None:
            return super()._units()
        given = np.shape(self.time_scales)
        units = super()._units()
        if len(given) != 1 or (units != "auto" and given[0] != units):
            raise InputError(f"time_scales has shape {given} and units is {units!r}: give one number for each unit")
        return int(given[0])

    def _build(self, graph: Graph, alphabet_size: int) -> Model:
        return models.GLNN(graph, alphabet_size, self.activation, self.alpha, self.time_scales)  # type: ignore[arg-type]


class GNN(Network):
    """The gated neural network, V_j^{t+1} = Σ_i τ_{ij x_t} a_i^t; its parameters are those of `Network`."""

    _model = models.GNN
