"""The training loop of Section 2: a step of the writing weights, a step of the transitions and start values, again.

Each group has its own rate and its own direction; every accepted step raises the likelihood of the training data (or of
the batch it was made on). The parameters with the best validation score are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from glnn.metrics import TRANSITION_METHODS, WRITING_METHODS, Scales, hessian_damping
from glnn.models import Model, Params
from glnn.sequences import Encoded
from glnn.training.budget import Budget, Clock, parse_budget
from glnn.training.coherence import Step, coherence, shortened
from glnn.training.corpus import Corpus, prepare, stretch_length
from glnn.training.engine import Engine, Forward
from glnn.training.learning_rate import climb
from glnn.training.parallel import Workers, single_threaded_blas
from glnn.training.records import Progress, StepInfo
from glnn.training.settings import Settings
from glnn.training.validation import Validation

Callback = Callable[[StepInfo, "Trainer"], Any]


class Trainer:
    """Trains one network on one set of sequences."""

    def __init__(
        self,
        model: Model,
        data: Encoded,
        params: Params,
        settings: Settings | None = None,
        validation: Validation | None = None,
        random_state: int | np.random.Generator = 0,
        progress: Progress | None = None,
    ) -> None:
        self.model, self.data, self.settings = model, data, settings or Settings()
        self.validation = validation
        self.generator = np.random.default_rng(random_state)
        self.workers = Workers(self.settings.threads)
        rate = 1.0 / model.units
        self.progress = progress or Progress(params, rate, rate, best=params)
        if self.progress.generator is not None:
            self.generator.bit_generator.state = self.progress.generator
        self._whole = self._prepare(data)
        self._current: Forward | None = None
        self._spare: Forward | None = None
        self._batched = self.settings.batch_size is not None and self.settings.batch_size < len(data)
        self._engine = self._engine_for(self._whole)
        self._method = TRANSITION_METHODS[self.settings.metric]
        self._writing_direction = WRITING_METHODS[self.settings.output_metric]

    @property
    def corpus(self) -> Corpus:
        """The whole training data."""
        return self._whole

    def run(self, budget: Budget | str | float, callbacks: tuple[Callback, ...] = ()) -> Progress:
        """Train until the budget is spent, patience ends, nothing moves, a callback says so, or Ctrl-C."""
        budget = parse_budget(budget)
        progress = self.progress
        progress.reason = ""
        clock = Clock(progress.seconds)
        with single_threaded_blas():
            while not progress.reason:
                if budget.spent(clock.seconds, progress.step, progress.passes):
                    progress.reason = "budget"
                    break
                try:
                    info = self.step(clock)
                    if any([callback(info, self) for callback in callbacks]):
                        progress.reason = "callback"
                except KeyboardInterrupt:
                    progress.reason = "interrupted"
                    # The arrays of a step that was broken off may be half written.
                    self._current = self._spare = None
                    break
                patience = self.settings.patience
                if info.log_likelihood == -np.inf and not self._batched:
                    progress.reason = "not finite"
                elif info.writing_rate == 0.0 and info.transition_rate == 0.0 and not self._batched:
                    progress.reason = "converged"
                elif patience is not None and progress.step - progress.best_step >= patience:
                    progress.reason = "patience"
        progress.seconds = clock.seconds
        return progress

    # What overflows is caught and told in the step's record.
    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def step(self, clock: Clock | None = None) -> StepInfo:
        """One update of the writing weights and one of the transitions; `progress` changes only when both are done."""
        clock = clock or Clock(self.progress.seconds)
        progress, notes = self.progress, []
        current = self._begin_step()
        if current.failure:
            notes.append(str(current.failure))
        current, writing, writing_size = self._writing_step(current)
        derivatives = self._engine.derivatives(current, self._method)
        corpus = self._engine.corpus
        scales = Scales(self.settings.damping, corpus.frequencies, corpus.length)
        direction = self._method.direction(derivatives.statistics, self._engine.layout, scales)
        if derivatives.failure:
            notes.append(str(derivatives.failure))
        start_step = derivatives.start_gradient
        if self._method.invariant:
            start_step = _divide(start_step, derivatives.start_modulus + self.settings.damping)
        start_step = np.where(np.isfinite(start_step), start_step, 0.0)
        step = Step(np.where(np.isfinite(direction.step), direction.step, 0.0), start_step)
        quotients = progress.coherence
        if self.settings.coherence is not None:
            due = progress.step % self.settings.coherence == 0
            if quotients is None or due or len(quotients) != self._engine.layout.units + 1:
                # No step becomes longer than the metric has it.
                quotients = np.maximum(1.0, coherence(self._engine, current.params, derivatives, step))
            step = shortened(step, quotients, self._engine.layout)
        current, transition, transition_size = self._transition_step(current, *step, notes)
        self._current = current
        passes = progress.passes + (writing.used > 0) + (transition.used > 0)
        seconds = clock.seconds
        with clock.paused():
            score = self._score(current)
            info = StepInfo(
                step=progress.step + 1,
                log_likelihood=current.log_likelihood,
                validation=score if self.validation is not None else None,
                writing_rate=writing.used,
                transition_rate=transition.used,
                writing_rejected=writing.rejected,
                transition_rejected=transition.rejected,
                writing_size=writing_size,
                transition_size=transition_size,
                conditioning=direction.conditioning,
                retries=direction.retries,
                quasi_diagonal=direction.quasi_diagonal,
                resting=direction.resting,
                passes=passes,
                seconds=seconds,
                coherence=1.0 if quotients is None else float(quotients.max()),
                notes=tuple(notes),
            )
            self.progress = progress
            progress.params, progress.step, progress.passes = current.params, info.step, passes
            progress.writing_rate, progress.transition_rate = writing.rate, transition.rate
            progress.seconds = seconds
            progress.generator = self.generator.bit_generator.state
            progress.coherence = quotients
            progress.history.append(info)
            if self._is_best(score, info.step):
                progress.best = current.params
        return info

    def _engine_for(self, corpus: Corpus) -> Engine:
        return Engine(self.model, corpus, self.workers, self.settings.memory, self.settings.precision)

    def _begin_step(self) -> Forward:
        """The forward pass at the current parameters, on a new batch when there are batches."""
        if self._batched:
            chosen = np.sort(self.generator.permutation(len(self.data))[: self.settings.batch_size])
            corpus = self._prepare(self.data.select(chosen))
            self._engine = self._engine_for(corpus)
            self._current = self._spare = None
        if self._current is None:
            self._current = self._engine.forward(self.progress.params)
        return self._current

    def _writing_step(self, current: Forward) -> tuple[Forward, Any, float]:
        statistics = self._engine.writing_statistics(current)
        damping = hessian_damping(self._engine.corpus.counts)
        direction = self._writing_direction(*statistics, damping)
        direction = np.where(np.isfinite(direction), direction, 0.0)
        w = current.params.w

        def attempt(rate: float) -> tuple[float, np.ndarray]:
            trial = w + rate * direction
            return self._engine.rewrite(current, trial, self._method), trial

        outcome, value, accepted = climb(self.progress.writing_rate, current.log_likelihood, attempt)
        if accepted is not None:
            current = replace(current, params=current.params.replace(w=accepted), log_likelihood=value, writing=None)
        return current, outcome, outcome.used * float(np.linalg.norm(direction))

    def _transition_step(
        self, current: Forward, step: np.ndarray, start_step: np.ndarray, notes: list[str]
    ) -> tuple[Forward, Any, float]:
        params = current.params
        spare = self._spare

        def attempt(rate: float) -> tuple[float, Forward]:
            nonlocal spare
            trial = params.replace(theta=params.theta + rate * step, V0=params.V0 + rate * start_step)
            spare = self._engine.forward(trial, reuse=spare)
            if spare.failure is not None and len(notes) < 4:
                notes.append(f"trial at rate {rate:g}: {spare.failure}")
            return spare.log_likelihood, spare

        outcome, _, accepted = climb(self.progress.transition_rate, current.log_likelihood, attempt)
        if accepted is None:
            self._spare = spare
        else:
            self._spare, current = current, accepted
        return (
            current,
            outcome,
            outcome.used * float(np.hypot(np.linalg.norm(step), np.linalg.norm(start_step))),
        )

    def _is_best(self, score: float | None, step: int) -> bool:
        """Note the score of a step; whether its parameters are to be kept."""
        if score is None:
            return False
        # Likelihoods of different batches say nothing about which parameters are better: the last ones are kept.
        best = score > self.progress.best_score or (self._batched and self.validation is None)
        if best:
            self.progress.best_score, self.progress.best_step = score, step
        return best

    def _score(self, current: Forward) -> float | None:
        """What chooses the best parameters: the validation score, None at steps that leave it out.

        Where there is nothing to validate on it is the likelihood of the training data.
        """
        if self.validation is None:
            return current.log_likelihood
        if self.progress.step % self.settings.validate_every:
            return None
        state = current.state
        if self._batched and self.validation.continues:
            # It goes on behind the last of all sequences, which need not be in this batch.
            state = Engine(self.model, self._whole, self.workers, 0).forward(current.params).state
        return self.validation.score(current.params, state)

    def _prepare(self, data: Encoded) -> Corpus:
        return prepare(data, stretch_length(self.model.units), self.settings.sequence_weights)


def _divide(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Quotients, 0 where the denominator is 0."""
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator != 0)
