"""Every model and compressor on the same data: each trained alone within the same CPU time, on one thread.

Models choose their best step on the end of the training data, held out; the validation data are only scored. A failure
of one is reported in its row and does not stop the others.

Differences are paired, on the same cases or stretches of a text, so that what is hard for both cancels out. If one
model needs d_u more bits than another on unit u of n, the difference is Σ d_u, and its 95 % interval ± t √(n Var d +
s²/k + s'²/k'), where s is the spread of a random model's bits over its k seeds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from glnn import registry
from glnn.cli import one_line
from glnn.cli.inputs import Data
from glnn.cli.model_options import estimator
from glnn.training.observer import Observer, fraction_spent
from glnn.training.race import Run, Training
from glnn.training.records import StepInfo
from glnn.training.trainer import Trainer

# The quick ones come first, so that there is something to see.
MODELS = tuple(sorted(registry.models(), key=lambda name: registry.models()[name].group == "network"))
COMPRESSORS = ("bzip2", "xz", "ppmd")
NAMES = (*COMPRESSORS, *MODELS)
# Scores of the validation data along the way, at CPU times that grow by this factor.
_FACTOR = 1.4
# Stretches of one sequence that differences are taken over, and how many units an interval needs.
_BLOCKS, _SHORTEST = 40, 50
_FEWEST = 5


class Difference(NamedTuple):
    """How many more bits than another, and how sure that is."""

    bits: float
    half: float | None
    """Half the interval; None where there is too little data."""

    @property
    def told_apart(self) -> bool | None:
        """Whether the difference is more than noise; None where that is not known."""
        return None if self.half is None else abs(self.bits) > self.half

    def text(self) -> str:
        """As a table shows it."""
        if self.half is None:
            return f"+{self.bits:,.0f}"
        same = "" if self.told_apart else ", may be none"
        return f"+{self.bits:,.0f} ± {self.half:,.0f}{same}"


def units_of(surprise: np.ndarray | list[np.ndarray]) -> np.ndarray:
    """The bits of every sequence; of one sequence, of stretches long enough to be nearly independent."""
    if isinstance(surprise, list):
        return np.array([part.sum() for part in surprise])
    number = min(_BLOCKS, len(surprise) // _SHORTEST)
    if number < 2:
        return surprise.sum(keepdims=True)
    edges = np.linspace(0, len(surprise), number + 1).astype(np.int64)
    return np.add.reduceat(surprise, edges[:-1])


def difference(one: np.ndarray, other: np.ndarray, variance: float = 0.0) -> Difference:
    """What `one` costs more than `other`, unit by unit; `variance` is that of their totals over seeds."""
    apart = one - other
    if len(apart) < _FEWEST or not np.isfinite(apart).all():
        return Difference(float(one.sum() - other.sum()), None)
    error = math.sqrt(len(apart) * float(np.var(apart, ddof=1)) + variance)
    return Difference(float(apart.sum()), _quantile(len(apart) - 1) * error)


def _quantile(freedom: int) -> float:
    """The 97.5 % quantile of Student's t, to about 1 % from 5 degrees of freedom on."""
    return 1.96 + 2.37 / freedom + 2.8 / freedom**2


@dataclass
class Row:
    """The result of one model or compressor on the validation data."""

    name: str
    group: str
    bits: float = math.nan
    seconds: float | None = None
    parameters: int | None = None
    detail: str = ""
    error: str = ""
    interrupted: bool = False
    curve: Sequence[tuple[float, float]] = ()
    model: Any = None
    learns: bool = False
    """Whether it goes on learning from the validation data while they are scored."""
    units: np.ndarray | None = None
    """The bits of every case, or of stretches of one sequence; the mean over the seeds."""
    totals: Sequence[float] = ()
    """The bits of every seed."""

    @property
    def spread(self) -> float | None:
        """How much the bits differ from seed to seed, as a standard deviation."""
        return float(np.std(self.totals, ddof=1)) if len(self.totals) > 1 else None

    def over(self, best: Row) -> Difference:
        """How many more bits it needs than another row."""
        if self.units is None or best.units is None:
            return Difference(self.bits - best.bits, None)
        noise = sum((row.spread or 0.0) ** 2 / max(len(row.totals), 1) for row in (self, best))
        return difference(self.units, best.units, noise)


Look = Callable[[str, float, str], None]


def title(name: str) -> str:
    """A model's name as it is written."""
    return name if name in COMPRESSORS else registry.models()[name].title


def compared(
    names: Sequence[str],
    train: Data,
    valid: Data,
    given: dict[str, Any],
    common: dict[str, Any],
    look: Look,
    seeds: int = 1,
) -> Iterator[Row]:
    """One row after the other; `look` is told of progress as (name, part of the budget, text).

    A model with a random start is trained `seeds` times, each time with the whole budget.
    """
    for name in names:
        row = Row(title(name), "compressor" if name in COMPRESSORS else registry.models()[name].group)
        try:
            look(name, 0.0, "begins")
            if name in COMPRESSORS:
                row.bits = _compressed(name, train.content, valid.content)
                row.learns = True
            else:
                _fit_seeds(row, name, train, valid, given, common, look, seeds)
        except KeyboardInterrupt:
            row.error, row.interrupted = "interrupted", True
        except Exception as error:  # One failure must not take the others with it.
            row.error = one_line(error)
        yield row
        if row.interrupted:
            return


def _fit_seeds(
    row: Row,
    name: str,
    train: Data,
    valid: Data,
    given: dict[str, Any],
    common: dict[str, Any],
    look: Look,
    seeds: int,
) -> None:
    """Train with one seed after the other; the bits are the mean, the model and the curve those of the first."""
    first = int(common.get("random_state") or 0)
    rows: list[Row] = []
    for seed in range(first, first + seeds):
        rows.append(Row(row.name, row.group))
        _fit(rows[-1], name, train, valid, given, common | {"random_state": seed}, look)
        if rows[-1].interrupted or "random_state" not in rows[-1].model.get_params():
            break
    shown = rows[0]
    row.model, row.curve, row.parameters, row.learns = shown.model, shown.curve, shown.parameters, shown.learns
    row.interrupted = rows[-1].interrupted
    row.totals = [one.bits for one in rows]
    row.bits = float(np.mean(row.totals))
    row.units = np.mean([one.units for one in rows if one.units is not None], axis=0)
    row.seconds = float(np.mean([one.seconds or 0.0 for one in rows]))
    row.detail = shown.detail
    if row.spread is not None:
        row.detail += f"{', ' if row.detail else ''}{len(rows)} seeds (± {row.spread:,.0f} bits)"


def _fit(
    row: Row, name: str, train: Data, valid: Data, given: dict[str, Any], common: dict[str, Any], look: Look
) -> None:
    model: Any = estimator(name, {}, common | given)
    curve: list[tuple[float, float]] = []

    observer = _Curve(common["budget"], valid, curve, lambda part, text: look(name, part, text))
    model.fit(train.content, mask=train.mask, observer=observer)
    surprise = model.surprise(valid.content, valid.mask)
    row.units = units_of(surprise)
    row.bits = float((np.concatenate(surprise) if isinstance(surprise, list) else surprise).sum())
    row.learns = getattr(model, "learning_", "") == "online"
    row.seconds = float(getattr(model, "total_seconds_", model.seconds_))
    row.parameters = model.n_parameters_
    row.interrupted = model.stopped_ == "interrupted"
    row.detail = _detail(model)
    row.curve = [*curve, (row.seconds, row.bits)]
    row.model = model


def _detail(model: Any) -> str:
    parts = [] if not hasattr(model, "units_") else [f"{model.units_} units"]
    if hasattr(model, "steps_") and model.steps_ > 1:
        parts.append(f"{model.steps_:,} steps")
    if model.stopped_ not in ("budget", "read"):
        parts.append(model.stopped_)
    return ", ".join(parts)


class _Curve(Observer):
    """Scores the best parameters so far on the validation data now and then, uncharged."""

    def __init__(
        self, budget: Any, valid: Data, curve: list[tuple[float, float]], look: Callable[[float, str], None]
    ) -> None:
        from glnn.training.budget import parse_budget

        self._budget, self._valid, self._curve, self._look = parse_budget(budget), valid, curve, look
        self._next = 0.1

    def begin(self, training: Training) -> None:
        """Remember the training."""
        self._training = training

    def advance(self, part: float, text: str) -> None:
        """Report how far a model without such steps is."""
        self._look(part, text)

    def step(self, run: Run, info: StepInfo, trainer: Trainer) -> None:
        """Report the step; score the best parameters when it is time."""
        training = self._training
        bits = -info.log_likelihood / math.log(2.0) / max(int(training.split.train.mask.sum()), 1)
        self._look(fraction_spent(self._budget, training), f"step {info.step}, {bits:.4f} bits per symbol in training")
        seconds = training.used("seconds")
        if seconds >= self._next:
            self._next = seconds * _FACTOR
            self._curve.append((seconds, training.fitted().bits(self._valid.content, self._valid.mask)))


def _compressed(name: str, train: Any, valid: Any) -> float:
    from glnn.baselines.compressors import added_bits

    return float(added_bits(_as_one(train), _as_one(valid), name))


def _as_one(content: Any) -> Any:
    """Several sequences as one, with a token for their ends, which a model of several pays for too."""
    from glnn.sequences import Sequences

    if not isinstance(content, Sequences):
        return bytes(content) if isinstance(content, memoryview) else content
    end = "\0"
    return [token for case in content for token in (*case, end)]
