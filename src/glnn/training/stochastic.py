"""Stochastic training: a step for every chunk, rates that fall to 0, averaged parameters that predict.

A recorded step is a round of chunks. Rates follow the part of the budget that is spent: they rise for the first
fiftieth, stay, and fall linearly to 0 from three tenths on. When the loss jumps, or a number is not finite, training
goes back to the averaged parameters of its best round, with half the rate, and says so.
"""

from __future__ import annotations

import numpy as np

from glnn.metrics import WRITING_METHODS, Layout, Scales
from glnn.models import Model, Params
from glnn.sequences import Encoded
from glnn.training.budget import Budget, Clock, parse_budget
from glnn.training.chunk_steps import ChunkSteps
from glnn.training.corpus import LENGTH, MANY_STREAMS, SHORT_STREAMS, STREAMS, Streams, prepare, stretch_length
from glnn.training.engine import Engine
from glnn.training.misreading import PART, Misreading
from glnn.training.noise import Noise, takes_noise
from glnn.training.passes import pass_for
from glnn.training.records import Progress, Recorder, StepInfo
from glnn.training.remembered import check_remembered, under
from glnn.training.settings import ADAM, Settings
from glnn.training.sizes import LONG
from glnn.training.trainer import Callback, Trainer
from glnn.training.unbroken import steps_on
from glnn.training.updates import ADAM_RATE, Adam, RunningMetric, Update, longest, own_share
from glnn.training.validation import Validation, last_of

ROUND = 25_000
"""Positions in a round, or once all data if there are fewer."""
LOOKS = 24
"""How often validation data are scored within a budget."""
FIRST_NOISE = 0.15
"""The noise that "auto" begins with."""
_LEAST_NOISE, _MOST_NOISE, _NOISE_STEP, _FAR_ABOVE, _LAST_CHANGE = 0.05, 0.4, 1.17, 1.1, 0.6
_RISE, _FALL = 0.02, 0.3
_ENOUGH = 0.25
_JUMP, _LEAST_JUMP = 1.25, 0.05
_LEAST_SCALE = 1.0 / 64.0
_PARTS = ("w", "theta", "V0")


class StochasticTrainer(Trainer):
    """Trains one network on one set of sequences, chunk by chunk; used like `Trainer`."""

    def __init__(
        self,
        model: Model,
        data: Encoded,
        params: Params,
        settings: Settings | None = None,
        validation: Validation | None = None,
        random_state: int | np.random.Generator = 0,
        progress: Progress | None = None,
        recorder: Recorder | None = None,
    ) -> None:
        super().__init__(model, data, params, settings, validation, random_state, progress, recorder=recorder)
        signals = model.signals
        self._layout = Layout(signals.ptr, signals.rows, model.alphabet_size, signals.symbols == "gate")
        self._cycle: tuple[Budget, dict[str, float]] | None = None
        self._start(self.progress.memory)

    def _start(self, memory: dict[str, np.ndarray]) -> None:
        """Begin where `memory` says, or from the parameters as they are."""
        params, settings = self.progress.params, self.settings
        method = settings.transition_method
        beside = method is ADAM and not self._layout.gated and self.model.side_by_side() is not None
        # Trainings from before there were large networks go on with the streams that they have.
        many = self.model.many_streams and not (memory and memory["places"].size <= SHORT_STREAMS[0])
        short = MANY_STREAMS if many else SHORT_STREAMS
        shape = short if beside else (STREAMS, LENGTH)
        self._streams = Streams(self.data, settings.sequence_weights, *shape)
        self._pass = pass_for(self.model, method, self._streams.count, params)
        self._rounds = max(1, round(min(ROUND, self._streams.size) / self._streams.positions))
        self._update = self._make_update()
        self._longest = longest(self.model, self._streams.size, settings.unhurried) if method is ADAM else 1.0
        self._average, self._safe = params, params
        self._chunks, self._lowest, self._scale, self._look, self._best_at = 0, np.inf, 1.0, 0.0, 0.0
        self._sigma = FIRST_NOISE if settings.noise == "auto" else float(settings.noise)
        if settings.noise == "auto" and not takes_noise(self.model):
            self._sigma = 0.0
        part = PART / self._longest if self.model.misreads and self._sigma > 0.0 else 0.0
        misreading = Misreading(part, self.noise_seed)
        self._steps: ChunkSteps = steps_on(self._pass, self.data, self._streams, settings, misreading)
        # Of the last round, as long as one has met something to predict.
        self._loss, self._losses = float(np.log(max(self.model.alphabet_size, 2))), [0.0, 0.0]
        if memory:
            check_remembered(memory, self._memory())
            self._update = self._make_update(under("update.", memory))
            self._streams.places = np.array(memory["places"])
            self._pass.state = np.array(memory["state"])
            self._average = Params(*(memory[f"average.{part}"] for part in _PARTS))
            self._safe = Params(*(memory[f"safe.{part}"] for part in _PARTS))
            numbers = memory["numbers"]
            self._chunks, (self._lowest, self._scale, self._look) = int(numbers[0]), numbers[1:4].tolist()
            self._best_at, self._sigma, self._loss, *self._losses = numbers[4:].tolist()
            # What was done within a smaller budget is less of this one.
            fraction = self._fraction(self.progress.seconds, 0.0)
            self._look = min(self._look, (np.floor(fraction * LOOKS) + 1.0) / LOOKS)
            self._best_at = min(self._best_at, fraction)

    def _make_update(self, memory: dict[str, np.ndarray] | None = None) -> Update:
        corpus, settings = self._whole, self.settings
        method = settings.transition_method
        if method is ADAM:
            own = own_share(corpus.counts, self._streams.positions)
            return Adam(self.progress.params, self._layout, own, memory)
        scales = Scales(settings.damping, corpus.frequencies, corpus.length)
        writing = WRITING_METHODS[settings.output_metric]
        return RunningMetric(self._layout, method, writing, scales, corpus.counts, memory)

    def run(self, budget: Budget | str | float, callbacks: tuple[Callback, ...] = ()) -> Progress:
        """Train until the budget is spent; rates rise and fall within what is left of it."""
        budget = parse_budget(budget)
        progress = self.progress
        used = {"seconds": progress.seconds, "steps": progress.step, "passes": progress.passes}
        self._cycle = budget, {name: float(value) for name, value in used.items()}
        self._look, self._best_at = 0.0, 0.0
        return super().run(budget, callbacks)

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def step(self, clock: Clock | None = None) -> StepInfo:
        """A round of chunks; `progress` changes only when it is done."""
        clock = clock or Clock(self.progress.seconds)
        before, params = self.progress.params, self.progress.params
        notes: list[str] = []
        noise = Noise(self._sigma, self.noise_seed)
        total, predicted, rate, done, k = 0.0, 0.0, 0.0, 0, 0
        while k < self._rounds:
            rates = self._rates(clock.seconds, range(k, min(k + self._steps.at_once, self._rounds)))
            walked = self._steps(params, self._average, self._update, noise, self._chunks, rates)
            self._chunks, k, rate = self._chunks + walked.begun, k + walked.begun, rates[walked.begun - 1]
            params, self._average = walked.params, walked.average
            for log_likelihood, positions in walked.found:
                total, predicted, done = total + log_likelihood, predicted + positions, done + 1
            if walked.failure is not None:
                params = self._go_back(str(walked.failure), notes)
        if done:
            self._loss = -total / predicted
            params = self._look_after(self._loss, params, notes)
        return self._record(clock, before, params, self._loss, rate, done, notes)

    def _rates(self, seconds: float, chunks: range) -> list[float]:
        """The rate for each of these chunks of a round, from the time before the first of them."""
        scale = self._longest * self._scale
        return [scale * _rate(self._fraction(seconds, k / self._rounds)) for k in chunks]

    def _look_after(self, loss: float, params: Params, notes: list[str]) -> Params:
        """Keep the averaged parameters of the best round, and go back to them when the loss jumps."""
        if loss > max(_JUMP * self._lowest, self._lowest + _LEAST_JUMP):
            return self._go_back(f"the loss rose from {self._lowest:.4g} to {loss:.4g} nats a symbol", notes)
        if loss < self._lowest:
            self._lowest, self._safe = loss, self._average
        return params

    def _go_back(self, why: str, notes: list[str]) -> Params:
        """The averaged parameters of the best round, with half the rate and nothing remembered."""
        self._scale = max(0.5 * self._scale, _LEAST_SCALE)
        if len(notes) < 4:
            notes.append(f"{why}: back to the average of the best round, rate times {self._scale:g}")
        self._average = self._safe
        self._update = self._make_update()
        self._pass.state[:] = self.model.begin(self._safe.V0)
        return self._safe

    def _record(
        self, clock: Clock, before: Params, params: Params, loss: float, rate: float, done: int, notes: list[str]
    ) -> StepInfo:
        progress = self.progress
        seconds, passes = clock.seconds, progress.passes + done
        with self.uncharged(clock):
            fraction = self._fraction(seconds, 1.0)
            due = fraction >= self._look or self._spent(seconds, progress.step + 1, passes)
            likelihood = -loss * self._whole.predicted
            self._losses = [self._losses[0] + 1.0, self._losses[1] + loss]
            score = self._score_of_average(likelihood) if due else None
            if score is not None:
                self._look = (np.floor(fraction * LOOKS) + 1.0) / LOOKS
                self._adapt_noise(score, fraction)
                if score > progress.best_score or self.validation is None:
                    self._best_at = fraction
            info = StepInfo(
                step=progress.step + 1,
                log_likelihood=likelihood,
                validation=score if self.validation is not None else None,
                writing_rate=ADAM_RATE * rate,
                transition_rate=ADAM_RATE * rate,
                writing_rejected=0,
                transition_rejected=0,
                writing_size=float(np.linalg.norm(params.w - before.w)),
                transition_size=float(np.linalg.norm(params.theta - before.theta)),
                conditioning=1.0,
                retries=0,
                quasi_diagonal=0,
                resting=0,
                passes=passes,
                seconds=seconds,
                notes=(*notes, f"noise {self._sigma:.3g}") if score is not None else tuple(notes),
            )
            with self.recorder.changing:
                progress.generator = self.generator.bit_generator.state
                progress.take(info, params, info.writing_rate, info.transition_rate)
                progress.memory = self._memory()
                if self.note_score(score, info.step):
                    progress.best = self._average
                self.recorder.keep(info, self)
        return info

    def _adapt_noise(self, score: float, fraction: float) -> None:
        """More noise while the training data, noise and all, are better known than the validation data; less where
        noise is what stands in the way. Towards the end it stays, so that the last steps are towards one goal."""
        rounds, total = self._losses
        self._losses = [0.0, 0.0]
        if self.settings.noise != "auto" or self._sigma == 0.0 or self.validation is None or fraction > _LAST_CHANGE:
            return
        learned, held_out = total / rounds, -score / max(self.validation.predicted, 1)
        if learned < held_out:
            most = _MOST_NOISE
            if self._streams.size >= LONG:
                # What was read only a few times is not known by heart: it is the data that are unlike.
                epochs = self._chunks * self._streams.positions / self._streams.size
                most = max(self._sigma, min(most, FIRST_NOISE * _NOISE_STEP**epochs))
            self._sigma = min(self._sigma * _NOISE_STEP, most)
        elif learned > _FAR_ABOVE * held_out:
            self._sigma = max(self._sigma / _NOISE_STEP, _LEAST_NOISE)

    def _reason_to_end(self, info: StepInfo) -> str:
        score, enough = info.validation, self._look > _ENOUGH + 1.0 / LOOKS
        if self.hopeless is not None and score is not None and enough and self.hopeless(score):
            return "behind"
        part = self.settings.patience_part
        if part is not None and info.validation is not None and self._look - self._best_at > part + 1.0 / LOOKS:
            return "patience"
        return ""

    def forget_passes(self) -> None:
        """Start again from `progress`: a round was broken off, or a record has been read."""
        self._start(self.progress.memory)

    def note_score(self, score: float | None, step: int) -> bool:
        """Note the score of a look; without validation data the last average is the best known."""
        if score is None:
            return False
        best = score > self.progress.best_score or self.validation is None
        if best:
            self.progress.best_score, self.progress.best_step = score, step
        return best

    def _score_of_average(self, likelihood: float) -> float:
        if self.validation is None:
            return likelihood
        state = None
        if self.validation.continues:
            state = self._state_after(self._average)
        return self.validation.score(self._average, state)

    def _state_after(self, params: Params) -> np.ndarray:
        """The state after the training data, from its last thousand symbols."""
        corpus = prepare(last_of(self.data), stretch_length(self.model.units))
        return Engine(self.model, corpus, self.workers, 0).forward(params).state

    def _memory(self) -> dict[str, np.ndarray]:
        memory = {f"update.{name}": np.array(part) for name, part in self._update.memory.items()}
        for name, params in (("average", self._average), ("safe", self._safe)):
            memory.update({f"{name}.{part}": getattr(params, part) for part in _PARTS})
        memory["places"], memory["state"] = self._streams.places, self._pass.state.copy()
        state = (self._chunks, self._lowest, self._scale, self._look, self._best_at, self._sigma, self._loss)
        memory["numbers"] = np.array([*state, *self._losses], float)
        return memory

    def _spent(self, seconds: float, steps: int, passes: int) -> bool:
        return self._cycle is not None and self._cycle[0].spent(seconds, steps, passes)

    def _fraction(self, seconds: float, part: float) -> float:
        """How much of this run's budget is spent; `part` of the step at hand is done."""
        if self._cycle is None:
            return 0.0
        budget, begin = self._cycle
        progress = self.progress
        used = {
            "seconds": seconds,
            "steps": progress.step + part,
            "passes": progress.passes + part * self._rounds,
        }
        parts = [
            (used[name] - begin[name]) / max(limit - begin[name], 1e-9)
            for name, limit in vars(budget).items()
            if limit is not None
        ]
        return min(max(parts, default=0.0), 1.0)


def last_noise(memory: dict[str, np.ndarray]) -> float:
    """The noise that a training had come to."""
    return float(memory["numbers"][5]) if "numbers" in memory else FIRST_NOISE


def _rate(fraction: float) -> float:
    """1, after a short rise and before a long fall to 0."""
    return min(1.0, (fraction + 1e-3) / _RISE, (1.0 - fraction) / (1.0 - _FALL))
