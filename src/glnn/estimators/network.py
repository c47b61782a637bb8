"""What the estimators GLNN, GNN, RNN and LSTM share: parameters, `fit`, `trace`, and what is known after fitting.

They differ in the recurrence and in the default metric only.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import asdict
from typing import Any, ClassVar, Self

import numpy as np

from glnn.estimators.base import SequenceModel, Trace
from glnn.estimators.parameters import choice, degree_within, integer, number, number_or, seed
from glnn.metrics import TRANSITION_METHODS, WRITING_METHODS
from glnn.models import Model, Params
from glnn.models.recurrence import ACTIVATIONS
from glnn.network import Graph
from glnn.predictors.network import NetworkPredictor
from glnn.progress import Display
from glnn.sequences import Reader, TrainingData
from glnn.storage import network_arrays
from glnn.training import fitting
from glnn.training.budget import parse_budget
from glnn.training.settings import Settings
from glnn.training.trainer import Callback

# What a model file tells of the training beside the history.
_RECORD = (
    "degree_",
    "steps_",
    "passes_",
    "seconds_",
    "total_seconds_",
    "stopped_",
    "best_step_",
    "validation_bits_",
    "held_out_",
    "seed_",
    "restarts_",
)
# Files of an older version lack these.
_LATER = {"smoothing_": 0.0}


class Network(SequenceModel):
    """What the networks share. The parameters:

    units, degree: size of the network and edges from each unit; "auto" chooses them from data and budget.
    metric: "rbpm", "ruop" (full metrics), "qdrbpm", "qdruop" (quasi-diagonal), "fb", "rms" or "plain".
    output_metric: "qdh", "dh" or "plain", for the writing weights.
    activation: "tanh", "logistic" or "linear".
    damping: what is added to the diagonal of the metric.
    budget: CPU seconds as a number or "60s", "5m", "2h"; or "200 steps", "1500 passes".
    restarts: random starts that share the budget, or "auto".
    batch_size: sequences in a step; None takes all of them.
    sequence_weights: "length" counts every symbol alike, "equal" every sequence.
    patience: stop after this many steps without a better validation score.
    validation_fraction: how much of the data is held out when `fit` is given no validation data; 0 for nothing, "auto"
    for a tenth, or more of data that tell little.
    smoothing: share of the uniform distribution in every prediction, which bounds what one surprise can cost; "auto"
    takes the share that suits the validation data best, and at least 1/(T + 2) after T symbols.
    precision: "float64", or "float32" for what training stores and multiplies: faster, half the memory, less exact.
    end: learn where sequences end, when there are several.
    unknown: "error", or "escape" to give symbols first met later a small probability.
    alphabet: every symbol that can occur, when more are known than are seen.
    n_jobs: threads; results do not depend on their number.
    random_state: seed of the graph and of the initial parameters.
    verbose: 0 silent, 1 shows progress, 2 prints every step.

    Fitted: `alphabet_`, `predictor_`, `params_` (w, theta, V0), `graph_`, `units_`, `degree_`, `n_parameters_`,
    `history_` (one dict for each step of the best run), `steps_`, `passes_`, `seconds_` (of the best run),
    `total_seconds_` (of all starts), `stopped_` (why), `best_step_`, `validation_bits_` (the paper's regularised score;
    None without validation), `smoothing_` (the share of the uniform distribution), `held_out_` (symbols held out by
    `fit`), `seed_` (of the best run: with `restarts=1` and as many steps it repeats that run exactly), `restarts_` (one
    dict for each start).
    """

    params_: Params
    graph_: Graph
    _model: ClassVar[Any]
    _cost: ClassVar[float] = 1.0
    _watch: fitting.Watch | None = None
    _activations: ClassVar[tuple[str, ...]] = tuple(ACTIVATIONS)

    def __init__(
        self,
        units: int | str = "auto",
        degree: int | str = "auto",
        *,
        metric: str = "rbpm",
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
        self.units = units
        self.degree = degree
        self.metric = metric
        self.output_metric = output_metric
        self.activation = activation
        self.damping = damping
        self.budget = budget
        self.restarts = restarts
        self.batch_size = batch_size
        self.sequence_weights = sequence_weights
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.smoothing = smoothing
        self.precision = precision
        self.end = end
        self.unknown = unknown
        self.alphabet = alphabet
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        data: Any,
        validation: Any = None,
        mask: Any = None,
        validation_mask: Any = None,
        *,
        callbacks: Iterable[Callback] = (),
    ) -> Self:
        """Learn from one or several sequences of any accepted kind.

        Without `validation` the end of the data is held out (`validation_fraction`), to keep the parameters that
        predict it best. `mask` says what is to be predicted. Each callback is called with a `StepInfo` and the
        `Trainer` after every step and stops the training by returning True; so does Ctrl-C. The best model is kept.
        """
        plan = self._plan()
        given = self._given(data, validation, mask, validation_mask)
        parts = fitting.split(given.data, given.validation, plan.validation_fraction)
        if self._watch is not None:
            self._watch.fitted = lambda outcome: copy(self)._become(given, outcome)
        outcome = fitting.train(plan, parts, tuple(callbacks), Display(self.verbose), self._watch)
        return self._become(given, outcome)

    def trace(self, data: Any) -> Trace:
        """The activities of the units over time, with the symbols and their bits."""
        reading, known = self._traceable(data)
        activities = np.concatenate(list(self._without_escape().activities(known)))
        symbols = self.alphabet_.decode(known.codes)
        return Trace(symbols, activities, self._surprise(reading, False), known.starts)

    def _arrays(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        record = {name: getattr(self, name) for name in (*_RECORD, *_LATER)}
        columns, notes = network_arrays.columns_of_history(), network_arrays.notes_of(self.history_)
        arrays = network_arrays.arrays_of(self.params_, self.graph_, self.history_)
        return arrays, {**record, "history_columns": columns, "history_notes": notes}

    def _restore(self, arrays: dict[str, np.ndarray], fitted: dict[str, Any], escape: float | None) -> Self:
        integer("n_jobs", self.n_jobs, 1, none=True)
        alphabet_size = len(Reader(self.alphabet_).known)
        self.params_, self.graph_ = network_arrays.network_from(arrays, alphabet_size)
        model = self._build(self.graph_, alphabet_size)
        network_arrays.check_sizes(self.params_, model)
        for name in _RECORD:
            setattr(self, name, fitted[name])
        for name, before in _LATER.items():
            setattr(self, name, fitted.get(name, before))
        number("smoothing_", self.smoothing_, 0.0, 1.0)
        self.history_ = network_arrays.history_from(arrays, fitted["history_columns"], fitted["history_notes"])
        self._use(model, escape)
        return self

    def _plan(self) -> fitting.Plan:
        """Look at every parameter."""
        settings = Settings(
            metric=choice("metric", self.metric, TRANSITION_METHODS),
            output_metric=choice("output_metric", self.output_metric, WRITING_METHODS),
            damping=number("damping", self.damping, 0.0),
            batch_size=integer("batch_size", self.batch_size, 1, none=True),
            sequence_weights=choice("sequence_weights", self.sequence_weights, ("length", "equal")),  # type: ignore[arg-type]
            patience=integer("patience", self.patience, 1, none=True),
            threads=integer("n_jobs", self.n_jobs, 1, none=True) or 1,
            precision=choice("precision", self.precision, ("float64", "float32")),  # type: ignore[arg-type]
        )
        choice("activation", self.activation, self._activations)
        number_or("auto", "smoothing", self.smoothing, 0.0, 1.0)
        return fitting.Plan(
            name=type(self).__name__,
            build=self._build,
            units=self._units(),
            degree=degree_within("degree", self.degree, self.units),
            restarts=integer("restarts", self.restarts, 1, word="auto"),
            budget=parse_budget(self.budget),
            settings=settings,
            seed=seed("random_state", self.random_state),
            cost=self._cost,
            validation_fraction=number_or("auto", "validation_fraction", self.validation_fraction, 0.0, 1.0),
        )

    def _units(self) -> int | str:
        return integer("units", self.units, 1, word="auto")  # type: ignore[no-any-return]

    def _build(self, graph: Graph, alphabet_size: int) -> Model:
        """The network on a graph."""
        model: Model = self._model(graph, alphabet_size, activation=self.activation)
        return model

    def _become(self, given: TrainingData, outcome: fitting.Outcome) -> Self:
        """Set everything that is known after fitting."""
        self.alphabet_ = given.alphabet
        self._keep(outcome)
        self.smoothing_ = self._share(outcome)
        self._use(outcome.best.model, given.escape)
        return self

    def _keep(self, outcome: fitting.Outcome) -> None:
        """Set the fitted attributes that tell of the training."""
        best, progress = outcome.best, outcome.best.progress
        assert progress is not None
        self.params_ = progress.best
        self.graph_ = best.model.graph  # type: ignore[attr-defined]
        self.degree_ = outcome.size.degree
        self.history_ = [asdict(info) for info in progress.history]
        self.steps_, self.passes_, self.seconds_ = progress.step, progress.passes, progress.seconds
        self.total_seconds_ = sum(run.used("seconds") for run in outcome.runs)
        # What ended the whole race counts, also where it met another start than the best one.
        reasons = {run.progress.reason for run in outcome.runs if run.progress is not None}
        self.stopped_ = next((reason for reason in ("interrupted", "callback") if reason in reasons), progress.reason)
        self.stopped_ = self.stopped_ or "budget"
        self.best_step_ = progress.best_step
        validated = outcome.split.validation is not None and np.isfinite(progress.best_score)
        self.validation_bits_ = -progress.best_score / float(np.log(2.0)) if validated else None
        self.held_out_ = outcome.split.held_out
        self.seed_ = best.seed
        self.restarts_ = [
            {"seed": run.seed, "steps": int(run.used("steps")), "seconds": run.used("seconds"), "score": run.score}
            for run in outcome.runs
        ]

    def _share(self, outcome: fitting.Outcome) -> float:
        if self.smoothing != "auto":
            return float(self.smoothing)
        return fitting.share_of_uniform(outcome)

    def _use(self, model: Model, escape: float | None) -> None:
        """Set `predictor_` and what follows from the network."""
        known = Reader(self.alphabet_).known
        self._predict_with(NetworkPredictor(model, self.params_, known, self.n_jobs or 1, self.smoothing_), escape)
        self.units_ = model.units
        self.n_parameters_ = sum(part.size for part in (self.params_.w, self.params_.theta, self.params_.V0))
