"""Distant XOR: log-likelihood and error of the last bit of each line, on train and validation, against passes.

An error is a correct bit with probability ≤ ½. A run succeeds when its validation error falls under 1 %. An
`XorRecord` is given parameters and the passes they took, whichever engine made them, and writes the line of results.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

import numpy as np

from glnn.models import Model, Params
from glnn.reproduction.running import Sequences, first_params, new_trainer, step_records
from glnn.reproduction.settings import Setting
from glnn.sequences import Encoded
from glnn.training.budget import parse_budget
from glnn.training.corpus import prepare, stretch_length
from glnn.training.engine import Engine
from glnn.training.folding import FoldConstants
from glnn.training.parallel import single_threaded_blas
from glnn.training.quasi_newton import QuasiNewtonTrainer
from glnn.training.records import StepInfo
from glnn.training.trainer import Trainer

SUCCESS = 0.01
# About as many points of a curve as a run of 2,000 passes needs.
PASSES_BETWEEN_POINTS = 20
# A run that has succeeded continues for this many passes, to show that it stays there, and ends.
PASSES_AFTER_SUCCESS = 100
# A run that needs more than this part of the bits of tossing a coin is at chance.
CHANCE = 0.98
# Under this part it knows what to remember, and quasi-Newton steps do the rest.
LEFT = 0.95
# A run stands still that has gained less than this part of its bits over a quarter of the passes of `restart`.
LEAST_GAIN = 0.01
# With `strict`, a start past chance must lose this part of its bits in so many passes …
PACE, PACE_PASSES = 0.15, 60
# … until it needs less than this part of the bits of tossing a coin: what is left are a few lines.
SOLVED = 0.01
# At chance it is moving if it lost this part of the bits of tossing a coin in so many passes.
MOVING, MOVING_PASSES = 0.002, 40
# With fewer passes left than this another start comes too late, and the best that was given up goes on.
TOO_FEW = 300


@dataclass(frozen=True)
class XorPoint:
    """Where a run stands after some passes; bits are those of all last bits of lines together."""

    passes: int
    train_bits: float
    valid_bits: float
    train_error: float
    valid_error: float


@dataclass
class XorRecord:
    """Measures a run as it goes, and keeps the parameters with the least validation error."""

    model: Model
    sequences: Sequences
    points: list[XorPoint] = field(default_factory=list)
    best: Params | None = None
    _engines: dict[str, Engine] = field(default_factory=dict)

    def measure(self, params: Params, passes: int) -> XorPoint:
        """Measure parameters that took this many passes."""
        train, valid = (self._scores(name, params) for name in ("train", "valid"))
        least = min(((point.valid_error, point.valid_bits) for point in self.points), default=(math.inf, math.inf))
        point = XorPoint(passes, _bits(train), _bits(valid), error_rate(train), error_rate(valid))
        self.points.append(point)
        if (point.valid_error, point.valid_bits) < least:
            self.best = params
        return point

    def result(self) -> dict[str, Any]:
        """The part of the line of results that holds the curve, the success and the error on the third sequence."""
        third = None if self.best is None else error_rate(self._scores("third", self.best))
        errors = [point.valid_error for point in self.points]
        return {
            "success_passes": success_passes(self.points),
            "best_valid_error": round(min(errors), 5) if errors else None,
            "third_error": None if third is None else round(third, 5),
            "trajectory": {
                "passes": [point.passes for point in self.points],
                "train_bits": [_rounded(point.train_bits, 2) for point in self.points],
                "valid_bits": [_rounded(point.valid_bits, 2) for point in self.points],
                "train_error": [round(point.train_error, 5) for point in self.points],
                "valid_error": [round(point.valid_error, 5) for point in self.points],
            },
        }

    def _scores(self, name: str, params: Params) -> np.ndarray:
        if name not in self._engines:
            data = self.sequences.encoded(getattr(self.sequences, name))
            self._engines[name] = _scoring_engine(self.model, data)
        with single_threaded_blas():
            return self._engines[name].log_likelihoods(params)


def error_rate(log_likelihoods: np.ndarray) -> float:
    """The part of the predicted symbols whose probability is ≤ ½; NaN is an error too."""
    return float(np.mean(~(log_likelihoods > math.log(0.5))))


def success_passes(points: list[XorPoint]) -> int | None:
    """The passes after which the validation error was first seen under 1 %, or None."""
    return next((point.passes for point in points if point.valid_error < SUCCESS), None)


def successes(lines: list[dict[str, Any]], passes: int) -> int:
    """How many runs succeeded within this many passes."""
    return sum(line["success_passes"] is not None and line["success_passes"] <= passes for line in lines)


def run_xor(setting: Setting, sequences: Sequences) -> dict[str, Any]:
    """One run with the trainer of every other setting; a point of its curve every 20 passes.

    The points are all the validation there is: scoring after every step would take as long as training. Where a step
    is made on a part of the data, it is that part of a pass.
    """
    trainer: Trainer = new_trainer(setting, sequences, validated=False)
    record = XorRecord(trainer.model, sequences)
    record.measure(trainer.progress.params, 0)
    parts, lines = max(1, setting.batches), int(trainer.data.mask.sum())
    measuring, starts, anew = 0.0, [0], bool(setting.restart or setting.strict)
    # Where the start, or its memory, begins, and the bits it had when it forgot.
    since, stood = 0, math.inf
    forgotten: list[int] = []
    given_up: list[tuple[float, Params]] = []
    taken_up: int | None = None
    budget = parse_budget(setting.budget)
    most = math.inf if budget.passes is None else budget.passes

    def watch(info: StepInfo, trainer: Trainer) -> bool:
        nonlocal measuring, taken_up, since, stood
        passes = info.passes // parts
        if isinstance(trainer, QuasiNewtonTrainer) and info.log_likelihood > -LEFT * math.log(2.0) * lines:
            trainer.first_steps = min(trainer.first_steps, info.step)
        if passes - record.points[-1].passes >= PASSES_BETWEEN_POINTS:
            begun = time.process_time()
            record.measure(trainer.progress.params, passes)
            measuring += time.process_time() - begun
            # What has succeeded is only watched a little longer.
            done = taken_up is not None or (setting.strict and success_passes(record.points) is not None)
            slow = anew and not done and hopeless(setting, record.points, since, lines)
            if slow and setting.forget and helps_to_forget(record.points[-1], stood, lines):
                trainer.progress.memory = {}
                since, stood = passes, record.points[-1].train_bits
                forgotten.append(passes)
            elif slow:
                given_up.append((record.points[-1].train_bits, trainer.progress.params))
                if setting.strict and most - passes < TOO_FEW:
                    taken_up = passes
                    take_up(trainer, min(given_up, key=itemgetter(0))[1])
                else:
                    begin_anew(setting, trainer)
                    starts.append(passes)
                    since, stood = passes, math.inf
        success = success_passes(record.points)
        return success is not None and passes >= success + PASSES_AFTER_SUCCESS

    fold = FoldConstants(setting.fold)
    if budget.passes is not None:
        budget = replace(budget, passes=budget.passes * parts)
    progress = trainer.run(budget, (fold, watch) if setting.fold else (watch,))
    passes = progress.passes // parts
    if record.points[-1].passes < passes:
        record.measure(progress.params, passes)
    return {
        "steps": progress.step,
        "passes": passes,
        **({"folds": fold.folds} if setting.fold else {}),
        **({"starts": starts} if anew else {}),
        **({"taken_up": taken_up} if setting.strict else {}),
        **({"forgotten": forgotten} if setting.forget else {}),
        **step_records(progress),
        "cpu_seconds": round(progress.seconds - measuring, 1),
        "stopped": "success" if progress.reason == "callback" else progress.reason,
        "engine": "trainer",
        **record.result(),
    }


def at_chance(point: XorPoint, lines: int) -> bool:
    """Whether next to nothing has been learned of the training data: tossing coins costs a bit a line."""
    return not point.train_bits < CHANCE * lines


def hopeless(setting: Setting, points: list[XorPoint], start: int, lines: int) -> bool:
    """Whether a run that began after `start` passes is still at chance, or, past chance, stands still.

    Quasi-Newton steps find the next local optimum; if it is a bad one they stay there. Training data alone decide.
    """
    if setting.strict:
        return not keeps_pace(points, start, setting.strict, lines)
    last, chance = points[-1], at_chance(points[-1], lines)
    if chance or not setting.quasi:
        return chance and last.passes >= start + setting.restart
    window = range(start + 1, last.passes - setting.restart // 4 + 1)
    before = [point.train_bits for point in points if point.passes in window]
    return bool(before) and not last.train_bits < (1.0 - LEAST_GAIN) * before[-1]


def keeps_pace(points: list[XorPoint], start: int, strict: int, lines: int) -> bool:
    """Whether a start does what those that succeed do: it leaves chance, and then loses a seventh again and again.

    After `strict` passes it must be on its way. What stands in a bad optimum, or creeps, costs more than another start.
    """
    mine = [point for point in points if point.passes > start]
    last = mine[-1]

    def before(passes: int, which: list[XorPoint]) -> float:
        return next((point.train_bits for point in reversed(which) if point.passes <= last.passes - passes), math.inf)

    if last.train_bits < LEFT * lines:
        past = [point for point in mine if point.train_bits < LEFT * lines]
        return last.train_bits < max((1.0 - PACE) * before(PACE_PASSES, past), SOLVED * lines)
    return last.passes < start + strict or last.train_bits < before(MOVING_PASSES, mine) - MOVING * lines


def helps_to_forget(point: XorPoint, stood: float, lines: int) -> bool:
    """Whether a slow start should try without its pairs: past chance, unless that did not help the last time.

    Pairs of steps and gradients tell the curvature where the start was; where it stands they can lead astray. `stood`
    is what it needed when it forgot them last, infinity if it never did.
    """
    return point.train_bits < min(LEFT * lines, (1.0 - PACE) * stood)


def begin_anew(setting: Setting, trainer: Trainer) -> None:
    """Go on from another random start, with the rates of the first one."""
    params = first_params(setting, trainer.model, trainer.data, trainer.generator)
    rate = 1.0 / trainer.model.units
    trainer.progress.writing_rate = rate
    if isinstance(trainer, QuasiNewtonTrainer):
        # What it remembers belongs to the way so far.
        trainer.progress.memory, trainer.first_steps = {}, trainer.progress.step + setting.quasi
    trainer.go_on_from(params, rate)


def take_up(trainer: Trainer, params: Params) -> None:
    """Go on from a start that was given up, by quasi-Newton steps that remember nothing."""
    trainer.progress.memory = {}
    if isinstance(trainer, QuasiNewtonTrainer):
        trainer.first_steps = trainer.progress.step
    trainer.go_on_from(params, trainer.progress.transition_rate)


def _scoring_engine(model: Model, data: Encoded) -> Engine:
    return Engine(model, prepare(data, stretch_length(model.units)), memory=0)


def _bits(log_likelihoods: np.ndarray) -> float:
    return float(-log_likelihoods.sum() / math.log(2.0))


def _rounded(value: float, digits: int) -> float | None:
    return round(value, digits) if math.isfinite(value) else None
