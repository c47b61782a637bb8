"""What all networks share as estimators: parameters, `fit`, `trace`, and what is known after fitting.

A parameter is one line: its type, default, check and description. `__init__`, `get_params`, the checks of `fit`, the
help and the model file come from that line, and what `Settings` knows by the same name reaches the trainer.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from glnn.estimators.network_fitted import FittedNetwork
from glnn.estimators.parameters import (
    callable_or_none,
    checked,
    choice,
    degree_within,
    described,
    flag,
    integer,
    metric_of,
    number,
    parameter,
    patience_of,
    seed,
)
from glnn.metrics import WRITING_METHODS, TransitionMethod
from glnn.models import Model
from glnn.models.recurrence import ACTIVATIONS
from glnn.network import Graph
from glnn.predictors.scores import Trace
from glnn.progress import Display
from glnn.sequences import InputError
from glnn.training import fitting
from glnn.training.budget import Budget, parse_budget
from glnn.training.observer import Observer
from glnn.training.parallel import cores
from glnn.training.plan import Plan
from glnn.training.recipes import RECIPES, resolve
from glnn.training.short import is_short
from glnn.training.sizes import MANY_UNITS
from glnn.training.trainer import Callback
from glnn.training.validation import split

KERNELS = 32


@described
@dataclass(eq=False, repr=False)
class Network(FittedNetwork):
    """What the networks share.

    Fitted: `alphabet_`, `predictor_`, `params_` (w, theta, V0), `graph_`, `units_`, `degree_`, `n_parameters_`,
    `training_` (how the best run was trained: recipe, kind, metric, noise, averaging, patience), `history_` (one dict
    for each step of the best run), `steps_`, `passes_`, `seconds_` (of the best run), `total_seconds_` (of all
    starts), `stopped_` (why), `best_step_`, `validation_bits_` (the paper's regularised score; None without
    validation), `smoothing_` (the share of the uniform distribution; `member_smoothing_` those in the members, before
    they are weighed), `held_out_` (symbols held out by `fit`), `seed_` (of the best run: with `restarts=1` and as
    many steps it repeats that run exactly), `restarts_` (one dict for each start), `members_` (one dict for each
    network that predicts, the best first) and `networks_` (their predictors), `weights_` (how they are mixed by
    entropy, `glnn.predictors.calibration.EntropyWeights`; None for one network as it is), `starts_` (the start state
    of each, None as trained), `combined_bits_` (bits per symbol of the validation data: of each member, of all mixed
    evenly, of all as they are weighed; members that held out other data are scored on those, and are in neither mix).
    """

    units: int | str = parameter(
        "auto", partial(integer, low=1, word="auto"), 'size of the network; "auto" chooses it from data and budget'
    )
    degree: int | str = parameter(
        "auto", partial(integer, low=1, word="auto"), 'edges from each unit; "auto" chooses it from data and budget'
    )
    _: KW_ONLY
    recipe: str = parameter(
        "best",
        partial(choice, allowed=RECIPES),
        '"paper" trains as the paper does; "best" is the best known; parameters left at "auto" follow from it',
    )
    training: str = parameter(
        "auto",
        partial(choice, allowed=("auto", "batch", "stochastic")),
        '"batch" steps on all data at once, "stochastic" on chunks of them',
    )
    metric: str | TransitionMethod = parameter(
        "auto",
        metric_of,
        '"rbpm", "ruop" (full metrics), "qdrbpm", "qdruop" (quasi-diagonal), "fb", "rms", "plain", '
        '"adam" (stochastic training only), or a `glnn.metrics.TransitionMethod`',
    )
    noise: float | str = parameter(
        "auto",
        partial(number, word="auto", low=0.0, high=100.0),
        'standard deviation of the noise on the state while training, 0 for none; "auto": none in batch training, '
        "as much as the validation data ask for in stochastic training",
    )
    averaging: float | str = parameter(
        "auto",
        partial(number, word="auto", low=0.0, high=1e9),
        "how many chunks the running average of the parameters covers, in stochastic training; 0 for none",
    )
    output_metric: str = parameter(
        "qdh", partial(choice, allowed=WRITING_METHODS), '"qdh", "dh" or "plain", for the writing weights'
    )
    activation: str = parameter("tanh", partial(choice, allowed=ACTIVATIONS), '"tanh", "logistic" or "linear"')
    damping: float = parameter(1.0, partial(number, low=0.0), "what is added to the diagonal of the metric")
    budget: Any = parameter(
        "60s",
        lambda name, value: parse_budget(value),
        'CPU seconds as a number or "60s", "5m", "2h"; or "200 steps", "1500 passes"',
    )
    restarts: int | str = parameter(
        "auto", partial(integer, low=1, word="auto"), 'random starts that share the budget, or "auto"'
    )
    batch_size: int | None = parameter(
        None, partial(integer, low=1, none=True), "sequences in a step; None takes all of them"
    )
    sequence_weights: str = parameter(
        "length",
        partial(choice, allowed=("length", "equal")),
        '"length" counts every symbol alike, "equal" every sequence',
    )
    patience: Any = parameter(
        "auto",
        patience_of,
        "stop after this many steps, or after this part of the budget if it is below 1 (stochastic training), without "
        'a better validation score; None for never; "auto" is never in batch training',
    )
    validation_fraction: float | str = parameter(
        "auto",
        partial(number, word="auto", low=0.0, high=1.0),
        "how much of the data is held out when `fit` is given no validation data; 0 for nothing, "
        '"auto" for a tenth, or more if the data are few',
    )
    smoothing: float | str = parameter(
        "auto",
        partial(number, word="auto", low=0.0, high=1.0),
        "share of the uniform distribution in every prediction, which bounds what one surprise can cost; "
        '"auto" takes the share that suits the validation data best, and at least 1/(T + 2) after T symbols',
    )
    calibration: bool | str = parameter(
        "auto",
        partial(flag, word="auto"),
        "correct predictions by how sure they are, fitted to the validation data: p ∝ p^β with β by the entropy of p; "
        '"auto" does so in recipe "best"',
    )
    members: int | str = parameter(
        "auto",
        partial(integer, low=1, word="auto"),
        "networks that predict together, mixed by weights fitted to the validation data; they share the budget; "
        '"auto" is one in recipe "paper"; in recipe "best" one for every ten seconds, up to 8, or 12 if some end early',
    )
    start: str = parameter(
        "auto",
        partial(choice, allowed=("auto", "trained", "typical")),
        'state at the start of a sequence: "trained", or "typical" of the middle of the data, which suits snippets of '
        'one long text; "auto" chooses in recipe "best"',
    )
    folds: bool | str = parameter(
        "auto",
        partial(flag, word="auto"),
        "two of three members hold out parts inside the data instead of the end, so that together they learn from all "
        'of it; "auto" does so in recipe "best" where no validation data are given',
    )
    refit: bool | str = parameter(
        "auto",
        partial(flag, word="auto"),
        "once everything is chosen, let the networks that predict go on over training and validation data together, "
        "where the second are a fifth of the first or more (stochastic training, budgets of seconds); "
        '"auto" does so in recipe "best"',
    )
    precision: str = parameter(
        "float64",
        partial(choice, allowed=("float64", "float32")),
        '"float64", or "float32" for what training stores and multiplies: faster, half the memory, less exact',
    )
    trainer: Any = parameter(
        None,
        callable_or_none,
        "what trains one start, called like `glnn.training.trainer.Trainer`; None for that class",
    )
    n_jobs: int | None = parameter(
        None,
        partial(integer, low=1, none=True),
        "threads; None trains members and starts side by side on all cores, a single network on one; results do not "
        "depend on their number",
    )
    random_state: Any = parameter(None, seed, "seed, a generator to draw it from, or None for a fresh one")

    sizes_for: ClassVar[Budget | None] = None
    """The budget that sizes are chosen for, if it is not the one that is spent: a continued training has both."""
    _model: ClassVar[Any]
    _cost: ClassVar[float] = 1.0
    _gated: ClassVar[bool] = True
    """Whether each symbol has a matrix of its own."""
    _full: ClassVar[int] = MANY_UNITS
    """Units in stochastic training where all symbols share a matrix."""
    _full_of_long: ClassVar[int] = 128
    """The same where data are long."""
    _own: ClassVar[tuple[str, ...]] = ()
    """Parameters that the network itself takes, apart from the activation."""
    _for_each_unit: ClassVar[tuple[str, ...]] = ()
    """Those of them with a number for each unit, which then say how many units there are."""

    def fit(
        self,
        data: Any,
        validation: Any = None,
        mask: Any = None,
        validation_mask: Any = None,
        *,
        sample_weight: Any = None,
        callbacks: Iterable[Callback] = (),
        observer: Observer | None = None,
        cluster: Any = None,
    ) -> Self:
        """Learn from one or several sequences of any accepted kind.

        Without `validation` the end of the data is held out (`validation_fraction`), and the parameters that predict it
        best are kept. In recipe "best" the networks learn from what validates too, at last (`refit`): to know how good
        a model is, score other data or read `validation_bits_`. `mask` says what is to be predicted. Each callback is
        called with a `StepInfo` and the `Trainer` after every step and stops the training by returning True; so does
        Ctrl-C. The best model is kept. An `observer` (`glnn.training.observer.Observer`) sees everything, and its time
        is not charged. With a `cluster`, a `distributed.Client` of Dask, members train on its workers at the same time.
        """
        plan = self._plan()
        given = self._given(data, validation, mask, validation_mask, sample_weight)
        parts = split(given, plan.validation_fraction)
        finish = lambda training: copy(self)._become(training)  # noqa: E731
        training = fitting.train(plan, parts, tuple(callbacks), Display(self.verbose), finish, observer, cluster)
        return self._become(training)

    @property
    def kernels(self) -> int:
        """About how many kernels a first training compiles."""
        return KERNELS

    def trace(self, data: Any) -> Trace:
        """The activities of the units over time, with the symbols and their bits."""
        reading, known = self._traceable(data)
        activities = np.concatenate(list(self.networks_[0].activities(known)))
        symbols = self.alphabet_.decode(known.codes)
        return Trace(symbols, activities, self._surprise(reading, False), known.starts)

    def _plan(self) -> Plan:
        """Check every parameter."""
        values = checked(self)
        if self.units != "auto":
            degree_within("degree", self.degree, self.units)
        values["threads"] = values["n_jobs"] or 1
        units = values["units"]
        for name in self._for_each_unit:
            given = np.shape(getattr(self, name))
            if getattr(self, name) is not None:
                if len(given) != 1 or (units != "auto" and given[0] != units):
                    raise InputError(f"{name} has shape {given} and units is {units!r}: give one number for each unit")
                units = int(given[0])
        method = resolve(values, self._metric)
        hurried = self.members == "auto" and is_short(method.settings, values["budget"])
        return Plan(
            name=type(self).__name__,
            build=self._build,
            units=units,
            degree=values["degree"],
            restarts=values["restarts"],
            budget=values["budget"],
            sizes_for=self.sizes_for or values["budget"],
            settings=method.settings,
            rival=method.rival if self._gated or hurried else None,
            seed=values["random_state"],
            cost=self._cost,
            gated=self._gated,
            full=self._full,
            full_of_long=self._full_of_long,
            validation_fraction=values["validation_fraction"],
            members=self._automatic("members"),
            folds=bool(self._automatic("folds")),
            refit=bool(self._automatic("refit")) and values["trainer"] is None,
            cores=values["n_jobs"] or cores(),
            trainer=values["trainer"] or method.trainer,
        )

    def _build(self, graph: Graph, alphabet_size: int) -> Model:
        """The network on a graph."""
        own = {name: getattr(self, name) for name in self._own}
        model: Model = self._model(graph, alphabet_size, activation=self.activation, **own)
        return model
