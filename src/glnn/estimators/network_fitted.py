"""What a fitted network knows: the members that predict, how they were trained, and their file."""

from __future__ import annotations

from copy import copy
from dataclasses import asdict, replace
from typing import Any, ClassVar, Self

import numpy as np

from glnn.estimators.base import SequenceModel
from glnn.estimators.parameters import integer, number
from glnn.models import Model, Params
from glnn.network import Graph
from glnn.predictors import Predictor
from glnn.predictors.calibration import EntropyWeights
from glnn.predictors.combination import Combination, combine
from glnn.predictors.learning import learned_from
from glnn.predictors.members import Members
from glnn.predictors.network import NetworkPredictor
from glnn.sequences import Alphabet, Encoded, TrainingData
from glnn.storage import network_arrays
from glnn.training.continuing import PATIENCE_WITH_MORE, clearly_better, trained_on, with_symbols
from glnn.training.plan import Plan
from glnn.training.race import Run, Training
from glnn.training.recipes import in_batches, recorded
from glnn.training.validation import share_of_uniform, split

# What a model file says about the training besides the history.
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
_LATER: dict[str, Any] = {
    "training_": None,
    "smoothing_": 0.0,
    "member_smoothing_": None,
    "members_": None,
    "combined_bits_": None,
}
# In the record of a member that went on over all data.
_ON_ALL_DATA = ("steps_on_all_data", "seconds_on_all_data")
# What "auto" stands for in the parameters that act on the prediction alone.
_AUTOMATIC: dict[str, dict[str, Any]] = {
    "paper": {"calibration": False, "members": 1, "start": "trained", "folds": False, "refit": False},
    "best": {"calibration": True, "members": "auto", "start": "auto", "folds": True, "refit": True},
}


class FittedNetwork(SequenceModel):
    """The fitted attributes of a network, from a training or from a file."""

    n_jobs: int | None
    recipe: str
    smoothing: float | str

    _before_all_data_: list[Params] | None = None
    """What the networks were when they were chosen, where they went on over all data since."""
    _metric: ClassVar[str] = "rbpm"
    """The metric of batch training, as in the paper."""

    def _build(self, graph: Graph, alphabet_size: int) -> Model:
        """The network on a graph."""
        raise NotImplementedError

    def _plan(self) -> Plan:
        """What is to be trained, from the parameters."""
        raise NotImplementedError

    def _become(self, training: Training) -> Self:
        """Set everything that is known after fitting."""
        given = training.split
        self.alphabet_ = given.alphabet
        best, progress = training.best, training.best.progress
        assert progress is not None
        self.params_ = best.chosen
        self.graph_ = best.model.graph  # type: ignore[attr-defined]
        self.degree_ = self.graph_.edges // self.graph_.units
        self.history_ = [asdict(info) for info in progress.history]
        self.steps_, self.passes_, self.seconds_ = progress.step, progress.passes, progress.seconds
        self.total_seconds_ = training.used("seconds")
        # The reason that ended the whole race counts, even if it ended another start than the best one.
        reasons = {run.progress.reason for run in training.runs if run.progress is not None}
        self.stopped_ = next((reason for reason in ("interrupted", "callback") if reason in reasons), progress.reason)
        self.stopped_ = self.stopped_ or "budget"
        self.best_step_ = progress.best_step
        validated = given.validation is not None and np.isfinite(progress.best_score)
        self.validation_bits_ = -progress.best_score / float(np.log(2.0)) if validated else None
        self.held_out_ = given.held_out
        self.training_ = None if best.settings is None else recorded(self.recipe, best.settings)
        self.seed_ = best.seed
        self.restarts_ = [_told(run) for run in training.runs if run.progress is not None]
        runs = training.kept()
        combination = self._combination(training, runs)
        self.smoothing_, self.weights_, self.starts_ = combination.share, combination.weights, combination.starts
        self.member_smoothing_ = list(combination.shares)
        self.combined_bits_ = list(combination.bits) or None
        self.members_ = [_told(run) for run in runs]
        networks = [(run.model, run.chosen) for run in runs if run.progress is not None]
        self._use(networks, given.escape)
        if any(run.final is not None for run in runs):
            chosen = [run.progress.best for run in runs if run.progress is not None]
            starts = combination.before or (None,) * len(runs)
            self._before_all_data_ = [
                params if start is None else params.replace(V0=start)
                for params, start in zip(chosen, starts, strict=True)
            ]
        return self

    def _combination(self, training: Training, runs: list[Run]) -> Combination:
        """How the networks predict; for one network as in the paper only the share is chosen."""
        calibrate, start = self._automatic("calibration"), self._automatic("start")
        share = None if self.smoothing == "auto" else float(self.smoothing)
        if len(runs) == 1 and not calibrate and start == "trained":
            return Combination((None,), None, share_of_uniform(training) if share is None else share)
        return combine(training, runs, calibrate, start, share)

    def _use(self, networks: list[tuple[Model, Params]], escape: float | None) -> None:
        """Set `predictor_` and what follows from the networks, the best first."""
        self._before_all_data_ = None
        known, threads = self.alphabet_.known, self.n_jobs or 1
        started = [
            (model, params if start is None else params.replace(V0=start))
            for (model, params), start in zip(networks, self.starts_, strict=True)
        ]
        shares = [self.smoothing_] if self.weights_ is None else self.member_smoothing_ or [0.0] * len(networks)
        self.networks_ = [
            NetworkPredictor(*network, known, threads, share) for network, share in zip(started, shares, strict=True)
        ]
        if self.weights_ is None:
            self._predict_with(self.networks_[0], escape)
        else:
            self._predict_with(Members(self.networks_, self.weights_, self.smoothing_), escape)
        self.units_ = networks[0][0].units
        sizes = [part.size for _, params in networks for part in (params.w, params.theta, params.V0)]
        self.n_parameters_ = sum(sizes)

    def that_held_out(self) -> Self:
        """The model with those members alone that never saw the end of the data, to score that end with.

        Right after `fit` also members that went on over all data are known as they were before; a file forgets that.
        """
        kept = [k for k, member in enumerate(self.members_ or ()) if "held_out" not in member]
        before = self._before_all_data_
        if not kept or (before is None and (self.weights_ is None or len(kept) == len(self.networks_))):
            return self
        return self._of_members(kept)

    def that_held_out_inside(self) -> dict[int, Self]:
        """For each first of the sequences that members held out inside the data, the model with these members alone."""
        found: dict[int, list[int]] = {}
        for k, member in enumerate(self.members_ or ()):
            if "first_held_out" in member:
                found.setdefault(member["first_held_out"], []).append(k)
        return {first: self._of_members(kept) for first, kept in sorted(found.items())}

    def _of_members(self, kept: list[int]) -> Self:
        """The model with these members alone, as they were before they went on over all data, where that is known."""
        before, other = self._before_all_data_, copy(self)
        if self.weights_ is not None and self.weights_.members == len(self.networks_):
            own = self.weights_.weights[:, kept] * (len(self.networks_) / len(kept))
            other.weights_ = EntropyWeights(self.weights_.nodes, own)
        other.members_ = [
            {name: told for name, told in self.members_[k].items() if before is None or name not in _ON_ALL_DATA}
            for k in kept
        ]
        other.starts_ = (None,) * len(kept)
        other.member_smoothing_ = [(self.member_smoothing_ or [0.0] * len(self.networks_))[k] for k in kept]
        networks = [(self.networks_[k].model, self.networks_[k].params if before is None else before[k]) for k in kept]
        other.params_ = networks[0][1]
        other._use(networks, self.escape_probability_)
        return other

    @property
    def went_on(self) -> bool:
        """Whether members went on over all data once everything was chosen."""
        return any(_ON_ALL_DATA[0] in member for member in self.members_ or ())

    @property
    def knows_the_end(self) -> bool:
        """Whether a member of `that_held_out()` learned from the end all the same, as after going on over all data."""
        return self._before_all_data_ is None and self.went_on

    def _go_on(self, data: Encoded) -> None:
        """Learn window by window, as on a stream; or train on the new data alone, where that is clearly better.

        Steps as on a stream are weighed against all that is known, while training on new data alone forgets the old:
        the end of the new data decides. The paper's recipe always trains.
        """
        plan = self._plan()
        parts = split(TrainingData(data), plan.validation_fraction)
        if self.recipe == "paper":
            return self._train_on(plan, parts)
        if parts.validation is not None:
            trained = copy(self)
            trained._train_on(plan, parts)
            held_out = slice(data.codes.size - parts.held_out, None)
            learned, alone = (
                model.log_likelihoods(data)[held_out][data.mask[held_out]]
                for model in (learned_from(self._without_escape(), parts.train), trained._without_escape())
            )
            if clearly_better(alone, learned):
                self.__dict__.update(trained.__dict__)
                return None
        # Learn what was left out of the comparison too.
        self._take(learned_from(self._without_escape(), data))
        self._predict_with(self.predictor_, self.escape_probability_)
        return None

    def _train_on(self, plan: Plan, parts: TrainingData) -> None:
        """Train on, within the budget, from the current parameters and rates."""
        history = list(self.history_)
        settings = in_batches(plan.settings, self._metric)
        if (self.training_ or {}).get("training") == "stochastic":
            # Rates of steps on chunks say nothing about steps on all data.
            history = []
        if self.recipe != "paper" and settings.patience is None:
            settings = replace(settings, patience=PATIENCE_WITH_MORE)
        networks = [(one.model, one.params) for one in self.networks_]
        trained = trained_on(plan, settings, parts, networks, history)
        self.training_ = recorded(self.recipe, settings)
        # The start states were trained on too.
        self.starts_ = (None,) * len(networks)
        progress = trained[0]
        self.params_ = progress.best
        self.history_ = [asdict(info) for info in progress.history]
        self.steps_, self.passes_, self.seconds_ = progress.step, progress.passes, progress.seconds
        self.total_seconds_ += sum(one.seconds for one in trained)
        self.stopped_, self.best_step_ = progress.reason or "budget", progress.best_step
        self.held_out_ = parts.held_out
        self._use(
            [(one.model, own.best) for one, own in zip(self.networks_, trained, strict=True)], self.escape_probability_
        )

    def _take_symbols(self, alphabet: Alphabet, new: int, at: int | None = None) -> None:
        symbols = len(self.alphabet_.base) if at is None else at
        known = len(alphabet.known)
        networks = []
        for one in self.networks_:
            model = self._build(one.model.graph, known)  # type: ignore[attr-defined]
            networks.append((model, with_symbols(one.model, one.params, symbols, new)))
        self.alphabet_, self.params_ = alphabet, networks[0][1]
        self._use(networks, self.escape_probability_)

    def _automatic(self, name: str) -> Any:
        """A parameter of the prediction, with "auto" as the recipe has it."""
        value = getattr(self, name)
        if not (isinstance(value, str) and value == "auto"):
            return value
        return _AUTOMATIC[getattr(self, "recipe", "paper")][name]

    def _take(self, predictor: Predictor) -> None:
        super()._take(predictor)
        inner = self._without_escape()
        networks: list[Any] = list(inner.members) if isinstance(inner, Members) else [inner]
        self.networks_ = networks
        self.params_ = self.networks_[0].params

    def _arrays(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        record = {name: getattr(self, name) for name in (*_RECORD, *_LATER)}
        arrays = network_arrays.arrays_of(self.params_, self.graph_, self.history_)
        others = [(network.params, network.model.graph) for network in self.networks_[1:]]  # type: ignore[attr-defined]
        arrays |= network_arrays.members_to_arrays(others, self.starts_)
        if self.weights_ is not None:
            arrays |= {"entropy_nodes": self.weights_.nodes, "entropy_weights": self.weights_.weights}
        for k, network in enumerate(self.networks_):
            arrays |= {f"running{k}.{name}": part for name, part in (network.running or {}).items()}
        return arrays, {**record, **network_arrays.record_of(self.history_)}

    def _restore(self, arrays: dict[str, np.ndarray], fitted: dict[str, Any], escape: float | None) -> Self:
        if "training_" not in fitted:
            # A file from before recipes, when all networks were trained as in the paper.
            self.recipe = "paper"
        integer("n_jobs", self.n_jobs, 1, none=True)
        alphabet_size = len(self.alphabet_.known)
        self.params_, self.graph_ = network_arrays.network_from(arrays, alphabet_size)
        model = self._build(self.graph_, alphabet_size)
        network_arrays.check_sizes(self.params_, model)
        for name in _RECORD:
            setattr(self, name, fitted[name])
        for name, before in _LATER.items():
            setattr(self, name, fitted.get(name, before))
        for share in (self.smoothing_, *(fitted.get("member_smoothing_") or ())):
            number("smoothing_", share, 0.0, 1.0)
        self.history_ = network_arrays.history_from(arrays, fitted["history_columns"], fitted["history_notes"])
        networks = [(model, self.params_)]
        for params, graph in network_arrays.members_from(arrays, alphabet_size):
            networks.append((self._build(graph, alphabet_size), params))
            network_arrays.check_sizes(params, networks[-1][0])
        self.starts_ = network_arrays.starts_from(arrays, [one.state_size for one, _ in networks])
        self.weights_ = None
        if "entropy_nodes" in arrays:
            self.weights_ = EntropyWeights(arrays["entropy_nodes"], arrays["entropy_weights"])
        if len(networks) > 1 if self.weights_ is None else not self.weights_.suit(len(networks)):
            raise ValueError(f"{len(networks)} members and weights for another number of them")
        self._use(networks, escape)
        for k, network in enumerate(self.networks_):
            network.running = network_arrays.running_from(arrays, k, network.params)
        return self


def _told(run: Run) -> dict[str, Any]:
    """A start in the record."""
    told: dict[str, Any] = {"seed": run.seed, "steps": int(run.used("steps"))}
    told |= {"seconds": run.used("seconds"), "score": run.score}
    if run.final is not None:
        told |= dict(zip(_ON_ALL_DATA, (run.final.step, run.final.seconds), strict=True))
    if run.own is None:
        return told
    told["held_out"] = "inside"
    return told if run.own.inside is None else {**told, "first_held_out": run.own.inside}
