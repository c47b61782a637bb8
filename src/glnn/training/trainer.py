"""The training loop of Section 2: a step of the writing weights, a step of the transitions and start values, again.

A step is a proposal, its acceptance (both in `proposals.py`) and a record (`records.py`). Each group
has its own rate and its own direction. The parameters with the best validation score are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from glnn.metrics import WRITING_METHODS, TransitionStep
from glnn.models import Model, Params
from glnn.sequences import Encoded
from glnn.training.budget import Budget, Clock, OutOfBudgetError, limit, parse_budget
from glnn.training.corpus import Corpus, prepare, stretch_length
from glnn.training.engine import Engine
from glnn.training.noise import Noise, takes_noise
from glnn.training.parallel import Workers, single_threaded_blas
from glnn.training.proposals import Acceptance, MetricProposer, Proposer, TransitionProposal, WritingProposal, climb
from glnn.training.records import Outcome, Progress, Recorder, StepInfo, Update, step_info
from glnn.training.results import Forward, Rewritten
from glnn.training.settings import Settings
from glnn.training.validation import Validation

Callback = Callable[[StepInfo, "Trainer"], Any]

DRAW_STEPS = 8
"""Steps that see one draw of the noise, trials included: a new one costs a pass more, to know where it stands."""


class Trainer:
    """Trains one network on one set of sequences.

    `proposer`, `accept` and `recorder` can be exchanged; with the paper's acceptance, `climb`, every accepted step
    raises the likelihood of the training data (or of the batch it was made on).
    """

    def __init__(
        self,
        model: Model,
        data: Encoded,
        params: Params,
        settings: Settings | None = None,
        validation: Validation | None = None,
        random_state: int | np.random.Generator = 0,
        progress: Progress | None = None,
        accept: Acceptance = climb,
        recorder: Recorder | None = None,
    ) -> None:
        self.model, self.data, self.settings = model, data, settings or Settings()
        self.validation = validation
        self.generator = np.random.default_rng(random_state)
        # Of a generator, which may have been drawn from, nothing is known that a resumed run could know again.
        self.noise_seed = 0 if isinstance(random_state, np.random.Generator) else int(random_state)
        self.workers = Workers(self.settings.threads)
        rate = 1.0 / model.units
        self.progress = progress or Progress(params, rate, rate, best=params)
        if self.progress.generator is not None:
            self.generator.bit_generator.state = self.progress.generator
        self._prepare = partial(prepare, length=stretch_length(model.units), weights=self.settings.sequence_weights)
        self._whole = self._prepare(data)
        self._current: Forward | None = None
        self._spare: Forward | None = None
        self._rewritten: Rewritten | None = None
        self._to_remember: dict[str, np.ndarray] | None = None
        self._batched = self.settings.batch_size is not None and self.settings.batch_size < len(data)
        if self.settings.noise not in (0.0, "auto") and not takes_noise(model):
            raise ValueError(f"noise is {self.settings.noise} and forward of {model.name} takes none: leave noise out")
        self._noisy = self.settings.training == "batch" and self.settings.noise not in (0.0, "auto")
        self._engine = Engine(model, self._whole, self.workers, self.settings.memory, self.settings.precision)
        self.accept, self.recorder = accept, recorder or Recorder()
        self.most_seconds: float | None = None
        """A step that is still at work after this many seconds of training is broken off; None lets each one end."""
        self.hopeless: Callable[[float], bool] | None = None
        """Whether stochastic training with such a validation score, well after its beginning, should be given up."""
        method, writing = self.settings.transition_method, WRITING_METHODS[self.settings.output_metric]
        self.proposer: Proposer = MetricProposer(method, writing, self.settings.damping)

    @property
    def corpus(self) -> Corpus:
        """The whole training data."""
        return self._whole

    @property
    def engine(self) -> Engine:
        """The passes over the data of the current step."""
        return self._engine

    def go_on_from(self, params: Params, transition_rate: float) -> None:
        """Let the next step start from other parameters, with this rate of the transitions."""
        self.progress.params, self.progress.transition_rate = params, transition_rate
        self.forget_passes()

    def run(self, budget: Budget | str | float, callbacks: tuple[Callback, ...] = ()) -> Progress:
        """Train until the budget is spent, patience ends, nothing moves, a callback says so, or Ctrl-C."""
        budget = parse_budget(budget)
        progress = self.progress
        progress.reason = ""
        clock = Clock(progress.seconds)
        self.workers.limit = None if self.most_seconds is None else limit(clock, self.most_seconds)
        with single_threaded_blas():
            while not progress.reason:
                if budget.spent(clock.seconds, progress.step, progress.passes):
                    progress.reason = "budget"
                    break
                try:
                    info = self.recorder.read(self, clock) or self.step(clock)
                    if any([callback(info, self) for callback in callbacks]):
                        progress.reason = "callback"
                except (KeyboardInterrupt, OutOfBudgetError) as broken:
                    progress.reason = "budget" if isinstance(broken, OutOfBudgetError) else "interrupted"
                    # The arrays of a step that was broken off may be half written.
                    self.forget_passes()
                    break
                # What a step itself says comes before what a callback says.
                progress.reason = self._reason_to_end(info) or progress.reason
        self.workers.limit = None
        progress.seconds = clock.seconds
        return progress

    def _reason_to_end(self, info: StepInfo) -> str:
        """Why training should stop after a step; empty if it should not."""
        patience, same = self.settings.patience, not (self._batched or self._noisy)
        if info.log_likelihood == -np.inf and same:
            return "not finite"
        if info.writing_rate == 0.0 and info.transition_rate == 0.0 and same:
            return "converged"
        enough = self.settings.enough
        if enough is not None and same and info.log_likelihood >= enough * self._whole.predicted:
            return "enough"
        if patience is not None and self.progress.step - self.progress.best_step >= patience:
            return "patience"
        return ""

    # What overflows is caught and reported in the step's record.
    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def step(self, clock: Clock | None = None) -> StepInfo:
        """One update of the writing weights and one of the transitions: each is proposed, accepted or not, recorded.

        `progress` changes only when both are done.
        """
        clock = clock or Clock(self.progress.seconds)
        progress = self.progress
        current = self._begin_step()
        notes = [] if current.failure is None else [str(current.failure)]
        writing = self.proposer.writing(self._engine, current)
        current, evidence, of_writing = self._try_writing(current, writing)
        transition = self.proposer.transition(self._engine, current, evidence, progress)
        notes += transition.notes
        current, of_transition = self._try_transition(current, transition, notes)
        self._current = current
        found = transition.found
        lengths = np.linalg.norm(writing.direction), np.hypot(np.linalg.norm(found.step), np.linalg.norm(found.start))
        updates = Update(of_writing, float(lengths[0])), Update(of_transition, float(lengths[1]))
        return self._keep(current, updates, found, notes, clock)

    def _keep(
        self, current: Forward, updates: tuple[Update, Update], found: TransitionStep, notes: list[str], clock: Clock
    ) -> StepInfo:
        """Score the result of a step, record it and continue from there."""
        progress, seconds = self.progress, clock.seconds
        with self.uncharged(clock):
            score = self._score(current)
            info = step_info(progress, current.log_likelihood, updates, found, seconds, notes)
            if self.validation is not None:
                info = replace(info, validation=score)
            progress.generator = self.generator.bit_generator.state
            rates = updates[0].outcome.rate, updates[1].outcome.rate
            with self.recorder.changing:
                progress.take(info, current.params, *rates, found.remembered)
                if self._to_remember is not None:
                    progress.memory, self._to_remember = self._to_remember, None
                if self.note_score(score, info.step):
                    progress.best = current.params
                self.recorder.keep(info, self)
        return info

    def uncharged(self, clock: Clock) -> AbstractContextManager[None]:
        """Around what is no training: looks at validation data and records."""
        return nullcontext() if self.settings.all_counts else clock.paused()

    @property
    def _noise(self) -> Noise:
        sigma = 0.0 if self.settings.noise == "auto" else self.settings.noise
        return Noise(float(sigma), self.noise_seed)

    def forget_passes(self) -> None:
        """Passes at hand, and arrays that are kept to be used again: they belong to other data, or are half written."""
        self._current = self._spare = self._rewritten = self._to_remember = None

    def _begin_step(self) -> Forward:
        """The forward pass at the current parameters, on a new batch when there are batches."""
        if self._batched and (self._current is None or self.progress.step % self.settings.batch_steps == 0):
            chosen = np.sort(self.generator.permutation(len(self.data))[: self.settings.batch_size])
            corpus = self._prepare(self.data.select(chosen))
            self._engine = self._engine.on(corpus)
            self.forget_passes()
        fresh = False
        if self._noisy:
            fresh = self.progress.step % DRAW_STEPS == 0
            self._engine.noise, self._engine.draw = self._noise, self.progress.step // DRAW_STEPS
        if fresh and self._current is not None:
            self._current = self._engine.forward(self.progress.params, reuse=self._current)
        elif self._current is None:
            self._current = self._engine.forward(self.progress.params)
            if self.recorder.exact and not (self._batched or fresh) and self.progress.history:
                # The same number from another sum may differ in its last bit, and a step be accepted that was not.
                known = self.progress.history[-1].log_likelihood
                self._current = replace(self._current, log_likelihood=known)
        return self._current

    def _try_writing(self, current: Forward, proposal: WritingProposal) -> tuple[Forward, Any, Outcome]:
        """The pass with the accepted writing weights, and what the way back wants of its output, if that is at hand."""
        spare = self._rewritten

        def attempt(rate: float) -> tuple[float, Params]:
            nonlocal spare
            params = proposal.at(rate, current.params)
            spare = self._engine.rewrite(current, params.w, self.proposer.method, spare)
            return spare.log_likelihood, params

        outcome, value, accepted = self.accept(self.progress.writing_rate, current.log_likelihood, attempt)
        # Its arrays serve again at the next step; in this one they hold the evidence of the last trial.
        self._rewritten = spare
        if accepted is None or spare is None:
            return current, None, outcome
        return replace(current, params=accepted, log_likelihood=value, writing=None), spare.evidence, outcome

    def _try_transition(
        self, current: Forward, proposal: TransitionProposal, notes: list[str]
    ) -> tuple[Forward, Outcome]:
        """The pass at the accepted transitions and start values; notes tell of trials that failed."""
        spare = self._spare

        def attempt(rate: float) -> tuple[float, Forward]:
            nonlocal spare
            spare = self._engine.forward(proposal.at(rate, current.params), reuse=spare)
            if spare.failure is not None and len(notes) < 4:
                notes.append(f"trial at rate {rate:g}: {spare.failure}")
            return spare.log_likelihood, spare

        outcome, _, accepted = self.accept(self.progress.transition_rate, current.log_likelihood, attempt)
        if accepted is None:
            self._spare = spare
            return current, outcome
        self._spare = current
        return accepted, outcome

    def note_score(self, score: float | None, step: int) -> bool:
        """Note the score of a step; whether its parameters are to be kept."""
        if score is None:
            return False
        # Likelihoods of different batches or draws of noise say nothing about which parameters are better: the last
        # ones are kept.
        best = score > self.progress.best_score or ((self._batched or self._noisy) and self.validation is None)
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
        if (self._batched or self._noisy) and self.validation.continues:
            # It continues after the last of all sequences, which need not be in this batch.
            state = Engine(self.model, self._whole, self.workers, 0).forward(current.params).state
        return self.validation.score(current.params, state)
