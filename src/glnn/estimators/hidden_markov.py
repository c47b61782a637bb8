"""The hidden Markov model as an estimator: EM within a budget, from one or several random starts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, Self

import numpy as np

from glnn import registry
from glnn.baselines.hmm import EMStep, expected_counts, fit_hmm
from glnn.baselines.hmm_growth import counted, with_a_chance, with_symbols
from glnn.baselines.hmm_model import HiddenMarkovModel
from glnn.baselines.hmm_training import (
    LAST_STEPS,
    PRIOR,
    How,
    best_share_of,
    best_softening,
    em,
    grown,
    softened_by,
    started,
    states_for,
)
from glnn.estimators.base import SequenceModel
from glnn.estimators.parameters import checked, degree_within, described, integer, number, parameter, seed
from glnn.predictors.scores import Trace
from glnn.predictors.uniform import Smoothed
from glnn.progress import Display
from glnn.sequences import Alphabet, Encoded
from glnn.storage.model_file import ModelFileError
from glnn.training.budget import parse_budget
from glnn.training.observer import Observer
from glnn.training.race import seeds
from glnn.training.validation import split

_RECORD = (
    "degree_", "steps_", "passes_", "seconds_", "total_seconds_", "stopped_", "best_step_", "validation_bits_",
    "held_out_", "seed_", "restarts_", "history_", "smoothing_",
)  # fmt: skip


@registry.model("hmm", "a hidden Markov model, trained by expectation-maximisation")
@described
@dataclass(eq=False, repr=False)
class HMM(SequenceModel):
    """A hidden Markov model on a sparse random graph, trained by expectation-maximisation on all symbols.

    Fitted as in the networks; `params_` is a dict of arrays, `smoothing_` the share, `visits_` how often each state was
    visited, and then the number of sequences, which is all that further learning needs. The mask applies to
    scores only.
    """

    units: int | str = parameter(
        "auto",
        partial(integer, low=1, word="auto"),
        'hidden states; if units and degree are "auto", the model grows with all edges, from a Markov chain and from '
        "few states, as long as validation and budget allow; if one is given, data and budget choose the other",
    )
    degree: int | str = parameter(
        "auto",
        partial(integer, low=1, word="auto"),
        'edges from each state; with a given number of states "auto" is as many as there are symbols',
    )
    _: KW_ONLY
    budget: Any = parameter(
        "60s",
        lambda name, value: parse_budget(value),
        'CPU seconds as a number or "60s", "5m", "2h"; or "200 steps" of EM',
    )
    restarts: int | str = parameter(
        "auto",
        partial(integer, low=1, word="auto"),
        'random starts, which share the budget equally; "auto" is 1, or when growing one from each beginning',
    )
    tolerance: float = parameter(
        1e-7,
        partial(number, low=0.0),
        "EM stops when a step gains less than this fraction of the log-likelihood",
    )
    smoothing: float | str = parameter(
        "auto",
        partial(number, low=0.0, high=1.0, word="auto"),
        'share of the uniform distribution in every prediction; "auto" is what suits the validation data best if the '
        "model grew, else 1/(T + 2) after T symbols",
    )
    validation_fraction: float | str = parameter(
        "auto",
        partial(number, low=0.0, high=1.0, word="auto"),
        "how much of the data is held out when `fit` is given no validation data; 0 for nothing",
    )
    random_state: Any = parameter(None, seed, "seed, a generator to draw it from, or None for a fresh one")

    def fit(
        self,
        data: Any,
        validation: Any = None,
        mask: Any = None,
        validation_mask: Any = None,
        *,
        sample_weight: Any = None,
        callbacks: Iterable[Callable[[EMStep], Any]] = (),
        observer: Observer | None = None,
    ) -> Self:
        """Learn from one or several sequences; the model with the best validation score is kept.

        Each callback is called with an `EMStep` and stops the training by returning True; so does Ctrl-C.
        An `observer` (`glnn.training.observer.Observer`) is told how far the training is.
        """
        values = checked(self)
        units, degree = values["units"], degree_within("degree", self.degree, self.units)
        budget, smoothing, first_seed = values["budget"], values["smoothing"], values["random_state"]
        display = Display(self.verbose, None if observer is None else observer.advance)
        how = How(budget, values["tolerance"], tuple(callbacks), display)
        begun = (lambda: None) if observer is None else observer.ready
        given = self._given(data, validation, mask, validation_mask, sample_weight)
        parts = split(given, values["validation_fraction"])
        A = len(parts.train.alphabet)
        grows = units == degree == "auto" and parts.validation is not None and self.restarts == "auto"
        share: float | None = None
        if grows:
            runs = grown(parts, seeds(first_seed, 2), how, begun)
            best = max(runs, key=lambda run: run.score)
            shares = best_softening(best.best, parts)
            share = best_share_of(softened_by(best.best, parts.train, shares), parts)
            # The held-out data have said how far to go; now they are learned from too.
            everything = given.train if parts.held_out else parts.train
            last = fit_hmm(everything, best.best, LAST_STEPS if parts.held_out else 0, -math.inf, prior=PRIOR)
            best = best._replace(best=softened_by(last, everything, shares))
            units = degree = best.best.states
        else:
            degree = A if degree == "auto" else degree
            units = states_for(parts.train.codes.size, A, degree, budget) if units == "auto" else units
            all_seeds = seeds(first_seed, 1 if self.restarts == "auto" else values["restarts"])
            runs = started(parts, units, degree, all_seeds, how, begun)
            best = max(runs, key=lambda run: run.score)
        self.alphabet_ = given.alphabet
        self.smoothing_ = 1.0 / (parts.train.codes.size + 2.0) if isinstance(smoothing, str) else smoothing
        if share is not None and isinstance(smoothing, str):
            self.smoothing_ = max(share, self.smoothing_)
        self.degree_ = min(degree, units)
        self.history_, self.seconds_ = best.history, best.seconds
        self.steps_ = self.passes_ = best.history[-1]["step"]
        self.total_seconds_ = sum(run.seconds for run in runs)
        self.stopped_, self.best_step_, self.seed_ = best.reason, best.best_step, best.seed
        self.validation_bits_ = None if parts.validation is None else -best.score / math.log(2.0)
        self.held_out_ = parts.held_out
        self.restarts_ = [
            {
                "seed": run.seed,
                "units": run.best.states,
                "steps": run.history[-1]["step"],
                "seconds": run.seconds,
                "score": run.score,
            }
            for run in runs
        ]
        self._use(best.best, given.escape)
        self._count(given.train, np.zeros(self.units_ + 1))
        return self

    def trace(self, data: Any) -> Trace:
        """The distribution of the hidden state over time, with the symbols and their bits."""
        reading, known = self._traceable(data)
        model: HiddenMarkovModel = self._without_escape().inner
        alpha, c = np.empty((known.codes.size, model.states)), np.empty(known.codes.size)
        model.forward(known.codes, known.first, model.start.copy(), alpha, c)
        return Trace(self.alphabet_.decode(known.codes), alpha, self._surprise(reading, False), known.starts)

    def _go_on(self, data: Encoded) -> None:
        """Further steps of EM, in which earlier counts still count."""
        display = Display(self.verbose)
        before = self.visits_
        start = with_a_chance(self._without_escape().inner, data, None if before is None else before[:-1])
        known = None if before is None else counted(start, before[:-1], before[-1])
        try:
            how = How(parse_budget(self.budget), number("tolerance", self.tolerance, 0.0), (), display)
            run = em(self.seed_, start, data, None, how, known=known)
        finally:
            display.close()
        self.history_, self.stopped_ = run.history, run.reason
        self.steps_ = self.passes_ = run.history[-1]["step"]
        self.seconds_ = run.seconds
        self.total_seconds_ += run.seconds
        self._use(run.best, self.escape_probability_)
        if before is not None:
            self._count(data, before)

    def _take_symbols(self, alphabet: Alphabet, new: int) -> None:
        visits = np.zeros(self.units_) if self.visits_ is None else self.visits_[:-1]
        at = len(self.alphabet_.base)
        model = with_symbols(self._without_escape().inner, alphabet.known, visits, at, new)
        self.alphabet_ = alphabet
        self._use(model, self.escape_probability_)

    def _count(self, data: Encoded, before: np.ndarray) -> None:
        """How often each state was visited, and how many sequences there were, in addition to earlier counts."""
        # The held-out data may be impossible for the model.
        counts = expected_counts(with_a_chance(self._without_escape().inner, data), data)
        self.visits_: np.ndarray | None = before + np.append(counts.writings.sum(axis=1), len(data))

    def _use(self, model: HiddenMarkovModel, escape: float | None) -> None:
        self.params_ = model.arrays()
        self.units_ = model.states
        self.n_parameters_ = model.start.size + model.transitions.size + model.emissions.size
        self._predict_with(Smoothed(model, self.smoothing_), escape)

    def _arrays(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        visits = {} if self.visits_ is None else {"visits": self.visits_}
        return {**self.params_, **visits}, {name: getattr(self, name) for name in _RECORD}

    def _restore(self, arrays: dict[str, np.ndarray], fitted: dict[str, Any], escape: float | None) -> Self:
        states = arrays["start"].size
        for ends in (arrays["edge_sources"], arrays["edge_targets"]):
            if ends.dtype.kind not in "iu" or not ends.size or ends.min() < 0 or ends.max() >= states:
                raise ModelFileError(f"the graph has edges outside the {states} states")
        for name in _RECORD:
            setattr(self, name, fitted[name])
        number("smoothing_", self.smoothing_, 0.0, 1.0)
        self._use(HiddenMarkovModel.from_arrays(self.alphabet_.known, arrays), escape)
        # Files of an older version lack it: their models follow new data alone.
        self.visits_ = arrays.get("visits")
        if self.visits_ is not None and (
            self.visits_.shape != (states + 1,) or self.visits_.dtype != np.float64 or not (self.visits_ >= 0.0).all()
        ):
            raise ModelFileError(f"the visits of the {states} states are none")
        return self
