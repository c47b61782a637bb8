"""The hidden Markov model as an estimator: EM within a budget, from one or several random starts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Self

import numpy as np

from glnn import registry
from glnn.baselines.hmm import EMStep, HiddenMarkovModel, expected_counts, first_positions, fit_hmm, initial_hmm
from glnn.baselines.hmm_growth import few_states, markov_chain, softened, split_states
from glnn.estimators.base import SequenceModel, Trace
from glnn.estimators.parameters import degree_within, integer, number, number_or, seed
from glnn.output.uniform import best_share
from glnn.predictors import regularise
from glnn.predictors.uniform import Smoothed
from glnn.progress import Display
from glnn.sequences import Encoded, Reader
from glnn.storage.model_file import ModelFileError
from glnn.training import observer as narration
from glnn.training.budget import Budget, Clock, parse_budget
from glnn.training.compiling import beginning, compiling
from glnn.training.race import seeds
from glnn.training.validation import Split, split

# A held-out tail is scored after this much of what comes before it.
_CONTEXT = 1000
# Where a model begins that grows, how it grows, and how far; a chain has a state for each symbol.
_FEW, _GROWTH, _MOST, _LARGEST_CHAIN = 8, 2.0, 512, 512
# A stage of growth ends when a step of EM gains less than this fraction of the log-likelihood.
_LEAST_GAIN = 3e-5
# Steps with what was held out, once it has decided.
_LAST_STEPS = 5
# What each state is thought to have moved and written before, in symbols, in a model that grows.
_PRIOR = 1.0
# How much every state does as all of them do.
_SHARES = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3)
# Looked at after so many steps, over so many.
_LEAST_STEPS, _OVER = 15, 5
_RECORD = (
    "degree_", "steps_", "passes_", "seconds_", "total_seconds_", "stopped_", "best_step_", "validation_bits_",
    "held_out_", "seed_", "restarts_", "history_", "smoothing_",
)  # fmt: skip


class _Run(NamedTuple):
    seed: int
    best: HiddenMarkovModel
    score: float
    best_step: int
    history: list[dict[str, Any]]
    seconds: float
    reason: str


@registry.model("hmm", "a hidden Markov model, trained by expectation-maximisation")
class HMM(SequenceModel):
    """A hidden Markov model on a sparse random graph, trained by expectation-maximisation on all symbols.

    units, degree: hidden states and edges from each. Where both are "auto", the model grows, from a Markov chain and
    from few states, as long as validation and budget allow, with all edges. Where one is given, "auto" takes the
    states from data and budget, and as many edges as there are symbols.
    budget: CPU seconds as a number or "60s", "5m", "2h"; or "200 steps" of EM.
    restarts: random starts, which share the budget equally; "auto" is 1, and to grow once from each beginning.
    tolerance: EM stops when a step gains less than this fraction of the log-likelihood.
    smoothing: share of the uniform distribution in every prediction, or "auto": what suits the validation data best
    when the model grew, else 1/(T + 2) after T symbols.
    validation_fraction, end, unknown, alphabet, random_state, verbose: as in the networks.

    Fitted as in the networks; `params_` is a dict of arrays, `smoothing_` the share. The mask applies to scores only.
    """

    def __init__(
        self,
        units: int | str = "auto",
        degree: int | str = "auto",
        *,
        budget: Any = "60s",
        restarts: int | str = "auto",
        tolerance: float = 1e-7,
        smoothing: float | str = "auto",
        validation_fraction: float | str = "auto",
        end: bool = True,
        unknown: str = "auto",
        alphabet: Any = None,
        random_state: Any = None,
        verbose: int = 1,
    ) -> None:
        self.units = units
        self.degree = degree
        self.budget = budget
        self.restarts = restarts
        self.tolerance = tolerance
        self.smoothing = smoothing
        self.validation_fraction = validation_fraction
        self.end = end
        self.unknown = unknown
        self.alphabet = alphabet
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        data: Any,
        validation: Any = None,
        mask: Any = None,
        validation_mask: Any = None,
        *,
        sample_weight: Any = None,
        callbacks: Iterable[Callable[[EMStep], Any]] = (),
    ) -> Self:
        """Learn from one or several sequences; the model with the best validation score is kept.

        Each callback is called with an `EMStep` and stops the training by returning True; so does Ctrl-C.
        """
        budget = parse_budget(self.budget)
        units = integer("units", self.units, 1, word="auto")
        degree = degree_within("degree", self.degree, self.units)
        restarts = integer("restarts", self.restarts, 1, word="auto")
        restarts = 1 if restarts == "auto" else restarts
        tolerance = number("tolerance", self.tolerance, 0.0)
        smoothing = number_or("auto", "smoothing", self.smoothing, 0.0, 1.0)
        fraction = number_or("auto", "validation_fraction", self.validation_fraction, 0.0, 1.0)
        first_seed = seed("random_state", self.random_state)
        given = self._given(data, validation, mask, validation_mask, sample_weight)
        parts = split(given.data, given.validation, fraction)
        A = len(parts.train.alphabet)
        grows = units == degree == "auto" and parts.validation is not None and self.restarts == "auto"
        share: float | None = None
        if grows:
            runs = self._grow(parts, seeds(first_seed, 2), budget, tolerance, tuple(callbacks))
            best = max(runs, key=lambda run: run.score)
            shares = _best_softening(best.best, parts)
            share = _best_share(_softened(best.best, parts.train, shares), parts)
            # What was held out has said how far to go; now it is learned from too.
            everything = given.data if parts.held_out else parts.train
            last = fit_hmm(everything, best.best, _LAST_STEPS if parts.held_out else 0, -math.inf, prior=_PRIOR)
            best = best._replace(best=_softened(last, everything, shares))
            units = degree = best.best.states
        else:
            degree = A if degree == "auto" else degree
            units = _units(parts.train.codes.size, A, degree, budget) if units == "auto" else units
            runs = self._train(parts, units, degree, seeds(first_seed, restarts), budget, tolerance, tuple(callbacks))
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
        return self

    def trace(self, data: Any) -> Trace:
        """The distribution of the hidden state over time, with the symbols and their bits."""
        reading, known = self._traceable(data)
        model: HiddenMarkovModel = self._without_escape().inner
        alpha, c = np.empty((known.codes.size, model.states)), np.empty(known.codes.size)
        model.forward(known.codes, first_positions(known), model.start.copy(), alpha, c)
        return Trace(self.alphabet_.decode(known.codes), alpha, self._surprise(reading, False), known.starts)

    def _train(
        self,
        parts: Split,
        units: int,
        degree: int,
        all_seeds: list[int],
        budget: Budget,
        tolerance: float,
        callbacks: tuple[Callable[[EMStep], Any], ...],
    ) -> list[_Run]:
        display = Display(self.verbose)
        display.say(narration.opening("HMM", units, min(degree, units), len(all_seeds), budget, parts))
        with compiling(display):
            few = beginning(parts.train)
            fit_hmm(few, initial_hmm(few, units, degree, 0), steps=1)
        held = _with_context(parts)
        runs: list[_Run] = []
        try:
            for which, one in enumerate(all_seeds):
                share = _share(budget, runs, len(all_seeds) - which)
                start = initial_hmm(parts.train, units, degree, one)
                runs.append(_em(one, start, parts.train, held, share, tolerance, callbacks, display))
                if runs[-1].reason in ("callback", "interrupted"):
                    break
        finally:
            display.close()
        display.say(f"stopped ({runs[-1].reason}) after {sum(run.seconds for run in runs):.1f} CPU seconds")
        return runs

    def _grow(
        self,
        parts: Split,
        all_seeds: list[int],
        budget: Budget,
        tolerance: float,
        callbacks: tuple[Callable[[EMStep], Any], ...],
    ) -> list[_Run]:
        """Stages of growth from a Markov chain and from few states, each within half of the budget."""
        display, A = Display(self.verbose), len(parts.train.alphabet)
        display.say(f"HMM: grows by validation, budget {budget}; {parts.train.codes.size:,} symbols of {A} kinds")
        with compiling(display):
            few = beginning(parts.train)
            fit_hmm(few, few_states(few, _FEW, np.random.default_rng(0)), steps=1)
        held, runs = _with_context(parts), list[_Run]()
        beginnings = ["few"] if A > _LARGEST_CHAIN else ["chain", "few"]

        def stage(one: int, start: HiddenMarkovModel, share: Budget, least_gain: float, patience: int) -> bool:
            runs.append(_em(one, start, parts.train, held, share, least_gain, callbacks, display, patience))
            return runs[-1].reason in ("callback", "interrupted")

        try:
            for which, (first, one) in enumerate(zip(beginnings, all_seeds, strict=False)):
                generator, spent_before = np.random.default_rng(one), len(runs)
                share = _share(budget, runs, len(beginnings) - which)
                start = markov_chain(parts.train) if first == "chain" else few_states(parts.train, _FEW, generator)
                best_score, failures = -math.inf, 0
                while failures < 2:
                    if stage(one, start, _share(share, runs[spent_before:], 1), max(tolerance, _LEAST_GAIN), 5):
                        return runs
                    failures = 0 if runs[-1].score > best_score else failures + 1
                    best_score = max(best_score, runs[-1].score)
                    states = min(math.ceil(_GROWTH * runs[-1].best.states), _MOST)
                    if runs[-1].reason == "budget" or states == runs[-1].best.states:
                        break
                    counts = expected_counts(runs[-1].best, parts.train)
                    start = split_states(runs[-1].best, counts, states, generator)
            best = max(runs, key=lambda run: run.score)
            rest = _share(budget, runs, 1)
            if runs[-1].reason != "budget" and (rest.seconds is None or rest.seconds > 0.0):
                stage(best.seed, best.best, rest, tolerance, 10)
        finally:
            display.close()
        display.say(f"stopped ({runs[-1].reason}) after {sum(run.seconds for run in runs):.1f} CPU seconds")
        return runs

    def _go_on(self, data: Encoded) -> None:
        """Further steps of EM."""
        display = Display(self.verbose)
        try:
            tolerance = number("tolerance", self.tolerance, 0.0)
            start = self._without_escape().inner
            run = _em(self.seed_, start, data, None, parse_budget(self.budget), tolerance, (), display)
        finally:
            display.close()
        self.history_, self.stopped_ = run.history, run.reason
        self.steps_ = self.passes_ = run.history[-1]["step"]
        self.seconds_ = run.seconds
        self.total_seconds_ += run.seconds
        self._use(run.best, self.escape_probability_)

    def _use(self, model: HiddenMarkovModel, escape: float | None) -> None:
        self.params_ = model.arrays()
        self.units_ = model.states
        self.n_parameters_ = model.start.size + model.transitions.size + model.emissions.size
        self._predict_with(Smoothed(model, self.smoothing_), escape)

    def _arrays(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        return self.params_, {name: getattr(self, name) for name in _RECORD}

    def _restore(self, arrays: dict[str, np.ndarray], fitted: dict[str, Any], escape: float | None) -> Self:
        states = arrays["start"].size
        for ends in (arrays["edge_sources"], arrays["edge_targets"]):
            if ends.dtype.kind not in "iu" or not ends.size or ends.min() < 0 or ends.max() >= states:
                raise ModelFileError(f"the graph has edges outside the {states} states")
        for name in _RECORD:
            setattr(self, name, fitted[name])
        number("smoothing_", self.smoothing_, 0.0, 1.0)
        self._use(HiddenMarkovModel.from_arrays(Reader(self.alphabet_).known, arrays), escape)
        return self


def _em(
    one: int,
    start: HiddenMarkovModel,
    data: Encoded,
    held: Encoded | None,
    budget: Budget,
    tolerance: float,
    callbacks: tuple[Callable[[EMStep], Any], ...],
    display: Display,
    patience: int | None = None,
) -> _Run:
    """EM from a start; with `patience`, until so many steps in a row are no better on the validation data."""
    clock = Clock()
    best, best_score, best_step, reason = start, -math.inf, 0, "converged"
    history: list[dict[str, Any]] = []

    def look(step: EMStep) -> bool:
        nonlocal best, best_score, best_step, reason
        seconds = clock.seconds
        with clock.paused():
            score = step.log_likelihood if held is None else _score(step.model, held)
            history.append(
                {
                    "step": step.step,
                    "log_likelihood": step.log_likelihood,
                    "validation": None if held is None else score,
                    "seconds": seconds,
                }
            )
            if score > best_score:
                best, best_score, best_step = step.model, score, step.step
            bits = -step.log_likelihood / math.log(2.0) / data.codes.size
            limit = budget.seconds or math.inf
            display.update(seconds / limit, f"step {step.step}, {seconds:.0f} s, {bits:.4f} bits a symbol")
            if any([callback(step) for callback in callbacks]):
                reason = "callback"
            elif budget.spent(seconds, step.step, step.step):
                reason = "budget"
            elif patience is not None and step.step >= _LEAST_STEPS:
                # Copies of a state part slowly at first: single steps say little.
                gained = step.log_likelihood - history[-_OVER - 1]["log_likelihood"]
                if step.step - best_step >= patience or gained < _OVER * tolerance * abs(step.log_likelihood):
                    reason = "validation"
        return reason != "converged"

    try:
        if patience is None:
            fit_hmm(data, start, steps=10**9, tolerance=tolerance, callback=look)
        else:
            fit_hmm(data, start, steps=10**9, tolerance=-math.inf, callback=look, prior=_PRIOR)
    except KeyboardInterrupt:
        reason = "interrupted"
        if not history:
            raise
    return _Run(one, best, best_score, best_step, history, clock.seconds, reason)


def _score(model: HiddenMarkovModel, held: Encoded) -> float:
    """The regularised log-likelihood of what is to be predicted; t counts from the first of it on."""
    begin = int(np.argmax(held.mask))
    values = regularise(model.log_likelihoods(held)[begin:], len(held.alphabet))
    return float(values[held.mask[begin:]].sum())


def _softened(model: HiddenMarkovModel, data: Encoded, shares: tuple[float, float]) -> HiddenMarkovModel:
    return model if shares == (0.0, 0.0) else softened(model, expected_counts(model, data), *shares)


def _best_softening(model: HiddenMarkovModel, parts: Split) -> tuple[float, float]:
    """The shares of common moves and writings that suit the validation data best, one after the other."""
    held, counts = _with_context(parts), expected_counts(model, parts.train)
    assert held is not None
    scores: dict[tuple[float, float], float] = {}

    def score(moves: float, writings: float) -> float:
        values = softened(model, counts, moves, writings).log_likelihoods(held)[held.mask]
        share = best_share(values, len(held.alphabet), 1e-9)
        return float(np.logaddexp(np.log1p(-share) + values, math.log(share / len(held.alphabet))).sum())

    for moves in _SHARES:
        scores[moves, 0.0] = score(moves, 0.0)
    moves = max(scores, key=lambda pair: scores[pair])[0]
    for writings in _SHARES[1:]:
        scores[moves, writings] = score(moves, writings)
    return max(scores, key=lambda pair: scores[pair])


def _best_share(model: HiddenMarkovModel, parts: Split) -> float:
    """The share of the uniform distribution that suits the validation data best."""
    held = _with_context(parts)
    assert held is not None
    return best_share(model.log_likelihoods(held)[held.mask], len(held.alphabet), 0.0)


def _with_context(parts: Split) -> Encoded | None:
    """Held-out data; a tail comes after the end of the training data, which is read and not predicted."""
    held = parts.validation
    if held is None or not parts.continues:
        return held
    before = parts.train.codes[max(int(parts.train.starts[-2]), parts.train.codes.size - _CONTEXT) :]
    codes = np.concatenate([before, held.codes])
    mask = np.concatenate([np.zeros(before.size, bool), held.mask])
    return Encoded(codes, np.array([0, codes.size], np.int64), mask, held.alphabet)


def _share(budget: Budget, runs: list[_Run], left: int) -> Budget:
    """What the next of `left` starts may spend."""
    seconds = None if budget.seconds is None else (budget.seconds - sum(run.seconds for run in runs)) / left
    spent = sum(run.history[-1]["step"] for run in runs)
    steps = None if budget.steps is None else max(1, (budget.steps - spent) // left)
    passes = None if budget.passes is None else max(1, (budget.passes - spent) // left)
    return Budget(seconds, steps, passes)


def _units(length: int, alphabet_size: int, degree: int, budget: Budget) -> int:
    """States that leave about a hundred steps of EM, at some 3 ns a symbol and edge, and enough data for each."""
    seconds = budget.seconds or 60.0
    edges = seconds / (100 * 3e-9 * length)
    affordable = edges / degree if edges > degree**2 else math.sqrt(edges)
    # Ten symbols or more for each parameter.
    learnable = length / (10 * (alphabet_size + min(degree, 64)))
    return int(min(max(4, affordable), max(4, learnable), 256))
