"""How a hidden Markov model is trained: EM from random starts that share a budget, or stages of growth.

A model that grows begins as a Markov chain and with few states; after every stage its states are split in two, as long
as the validation data are predicted better. Then every state takes a share of what all of them do, as much as suits
the validation data.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from glnn.baselines.hmm import EMStep, ExpectedCounts, expected_counts, fit_hmm, initial_hmm
from glnn.baselines.hmm_growth import few_states, markov_chain, softened, split_states
from glnn.baselines.hmm_model import HiddenMarkovModel
from glnn.output.uniform import best_share, log_mixed, regularise
from glnn.progress import Display
from glnn.sequences import Encoded, TrainingData
from glnn.training.budget import Budget, Clock
from glnn.training.compiling import beginning, compiling
from glnn.training.observer import opening

Callbacks = tuple[Callable[[EMStep], Any], ...]

# A held-out tail is scored after this much of what comes before it.
_CONTEXT = 1000
# Where a growing model begins, how it grows, and how far; a chain has a state for each symbol.
_FEW, _GROWTH, _MOST, _LARGEST_CHAIN = 8, 2.0, 512, 512
# A stage of growth ends when a step of EM gains less than this fraction of the log-likelihood.
_LEAST_GAIN = 3e-5
# Steps with the held-out data, once they have decided.
LAST_STEPS = 5
# What each state of a growing model counts as having moved and written before, in symbols.
PRIOR = 1.0
# How much every state does as all of them do.
_SHARES = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3)
# Looked at after this many steps, over this many.
_LEAST_STEPS, _OVER = 15, 5


class Run(NamedTuple):
    """EM from one start: the best model and how it was found."""

    seed: int
    best: HiddenMarkovModel
    score: float
    best_step: int
    history: list[dict[str, Any]]
    seconds: float
    reason: str


class How(NamedTuple):
    """How EM goes on: how long, until when, and who watches it."""

    budget: Budget
    tolerance: float
    callbacks: Callbacks
    display: Display


def started(
    parts: TrainingData, units: int, degree: int, all_seeds: list[int], how: How, begun: Callable[[], None]
) -> list[Run]:
    """EM from each of several random starts, which share the budget."""
    display = how.display
    display.say(opening("HMM", units, min(degree, units), len(all_seeds), how.budget, parts))
    with compiling(display):
        few = beginning(parts.train)
        fit_hmm(few, initial_hmm(few, units, degree, 0), steps=1)
    begun()
    held = with_context(parts)
    runs: list[Run] = []
    try:
        for which, one in enumerate(all_seeds):
            share = how._replace(budget=_share(how.budget, runs, len(all_seeds) - which))
            runs.append(em(one, initial_hmm(parts.train, units, degree, one), parts.train, held, share))
            if runs[-1].reason in ("callback", "interrupted"):
                break
    finally:
        display.close()
    display.say(f"stopped ({runs[-1].reason}) after {sum(run.seconds for run in runs):.1f} CPU seconds")
    return runs


def grown(parts: TrainingData, all_seeds: list[int], how: How, begun: Callable[[], None]) -> list[Run]:
    """Stages of growth from a Markov chain and from few states, each within half of the budget."""
    A, budget, display = len(parts.train.alphabet), how.budget, how.display
    display.say(f"HMM: grows by validation, budget {budget}; {parts.train.codes.size:,} symbols of {A} kinds")
    with compiling(display):
        few = beginning(parts.train)
        fit_hmm(few, few_states(few, _FEW, np.random.default_rng(0)), steps=1)
    begun()
    held, runs = with_context(parts), list[Run]()
    beginnings = ["few"] if A > _LARGEST_CHAIN else ["chain", "few"]

    def stage(one: int, start: HiddenMarkovModel, share: Budget, least_gain: float, patience: int) -> bool:
        own = how._replace(budget=share, tolerance=least_gain)
        runs.append(em(one, start, parts.train, held, own, patience))
        return runs[-1].reason in ("callback", "interrupted")

    try:
        for which, (first, one) in enumerate(zip(beginnings, all_seeds, strict=False)):
            generator, spent_before = np.random.default_rng(one), len(runs)
            share = _share(budget, runs, len(beginnings) - which)
            start = markov_chain(parts.train) if first == "chain" else few_states(parts.train, _FEW, generator)
            best_score, failures = -math.inf, 0
            while failures < 2:
                if stage(one, start, _share(share, runs[spent_before:], 1), max(how.tolerance, _LEAST_GAIN), 5):
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
            stage(best.seed, best.best, rest, how.tolerance, 10)
    finally:
        display.close()
    display.say(f"stopped ({runs[-1].reason}) after {sum(run.seconds for run in runs):.1f} CPU seconds")
    return runs


def em(
    one: int,
    start: HiddenMarkovModel,
    data: Encoded,
    held: Encoded | None,
    how: How,
    patience: int | None = None,
    known: ExpectedCounts | None = None,
) -> Run:
    """EM from a start; with `patience`, until this many steps in a row are no better on the validation data.

    `known` holds counts from earlier data; with it the last model is the best.
    """
    clock, budget, tolerance = Clock(), how.budget, how.tolerance
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
            if score > best_score or known is not None:
                best, best_score, best_step = step.model, score, step.step
            bits = -step.log_likelihood / math.log(2.0) / data.codes.size
            limit = budget.seconds or math.inf
            how.display.update(seconds / limit, f"step {step.step}, {seconds:.0f} s, {bits:.4f} bits per symbol")
            if any([callback(step) for callback in how.callbacks]):
                reason = "callback"
            elif budget.spent(seconds, step.step, step.step):
                reason = "budget"
            elif patience is not None and step.step >= _LEAST_STEPS:
                # Copies of a state separate slowly at first: single steps say little.
                gained = step.log_likelihood - history[-_OVER - 1]["log_likelihood"]
                if step.step - best_step >= patience or gained < _OVER * tolerance * abs(step.log_likelihood):
                    reason = "validation"
        return reason != "converged"

    try:
        if patience is None:
            fit_hmm(data, start, steps=10**9, tolerance=tolerance, callback=look, known=known)
        else:
            fit_hmm(data, start, steps=10**9, tolerance=-math.inf, callback=look, prior=PRIOR)
    except KeyboardInterrupt:
        reason = "interrupted"
        if not history:
            raise
    return Run(one, best, best_score, best_step, history, clock.seconds, reason)


def _score(model: HiddenMarkovModel, held: Encoded) -> float:
    """The regularised log-likelihood of what is to be predicted; t counts from the first of it on."""
    begin = int(np.argmax(held.mask))
    values = regularise(model.log_likelihoods(held)[begin:], len(held.alphabet))
    return float(values[held.mask[begin:]].sum())


def softened_by(model: HiddenMarkovModel, data: Encoded, shares: tuple[float, float]) -> HiddenMarkovModel:
    """Every state with shares of common moves and writings."""
    return model if shares == (0.0, 0.0) else softened(model, expected_counts(model, data), *shares)


def best_softening(model: HiddenMarkovModel, parts: TrainingData) -> tuple[float, float]:
    """The shares of common moves and writings that suit the validation data best, one after the other."""
    held, counts = with_context(parts), expected_counts(model, parts.train)
    assert held is not None
    scores: dict[tuple[float, float], float] = {}

    def score(moves: float, writings: float) -> float:
        values = softened(model, counts, moves, writings).log_likelihoods(held)[held.mask]
        share = best_share(values, len(held.alphabet), 1e-9)
        return float(log_mixed(values, share, len(held.alphabet)).sum())

    for moves in _SHARES:
        scores[moves, 0.0] = score(moves, 0.0)
    moves = max(scores, key=lambda pair: scores[pair])[0]
    for writings in _SHARES[1:]:
        scores[moves, writings] = score(moves, writings)
    return max(scores, key=lambda pair: scores[pair])


def best_share_of(model: HiddenMarkovModel, parts: TrainingData) -> float:
    """The share of the uniform distribution that suits the validation data best."""
    held = with_context(parts)
    assert held is not None
    return best_share(model.log_likelihoods(held)[held.mask], len(held.alphabet), 0.0)


def with_context(parts: TrainingData) -> Encoded | None:
    """Held-out data; a tail comes after the end of the training data, which is read and not predicted."""
    held = parts.validation
    if held is None or not parts.continues:
        return held
    before = parts.train.codes[max(int(parts.train.starts[-2]), parts.train.codes.size - _CONTEXT) :]
    codes = np.concatenate([before, held.codes])
    mask = np.concatenate([np.zeros(before.size, bool), held.mask])
    return Encoded(codes, np.array([0, codes.size], np.int64), mask, held.alphabet)


def _share(budget: Budget, runs: list[Run], left: int) -> Budget:
    """What the next of `left` starts may spend."""
    seconds = None if budget.seconds is None else (budget.seconds - sum(run.seconds for run in runs)) / left
    spent = sum(run.history[-1]["step"] for run in runs)
    steps = None if budget.steps is None else max(1, (budget.steps - spent) // left)
    passes = None if budget.passes is None else max(1, (budget.passes - spent) // left)
    return Budget(seconds, steps, passes)


def states_for(length: int, alphabet_size: int, degree: int, budget: Budget) -> int:
    """States that leave about a hundred steps of EM, at some 3 ns per symbol and edge, and enough data for each."""
    seconds = budget.seconds or 60.0
    edges = seconds / (100 * 3e-9 * length)
    affordable = edges / degree if edges > degree**2 else math.sqrt(edges)
    # Ten symbols or more for each parameter.
    learnable = length / (10 * (alphabet_size + min(degree, 64)))
    return int(min(max(4, affordable), max(4, learnable), 256))
