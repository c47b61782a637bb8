"""Every model and compressor on the same data: each trained alone within the same CPU time, on one thread.

Models choose their best step on the end of the training data, held out; the validation data are only scored. A failure
of one is told in its row and does not stop the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from glnn.cli import one_line
from glnn.cli.estimator import estimator
from glnn.cli.reading import Data
from glnn.estimators.network import Network
from glnn.training.fitting import Outcome, Split, Watch
from glnn.training.race import Run
from glnn.training.recorded import RecordedTrainer
from glnn.training.records import StepInfo
from glnn.training.sizes import Size
from glnn.training.trainer import Trainer

# What takes no time comes first, so that there is something to see.
MODELS = ("contexttree", "hmm", "glnn", "gnn", "rnn", "lstm")
COMPRESSORS = ("bzip2", "xz", "ppmd")
NAMES = (*COMPRESSORS, *MODELS)
_GROUPS = {"hmm": "baseline", "contexttree": "baseline"} | dict.fromkeys(COMPRESSORS, "compressor")
_TITLES = {"contexttree": "ContextTree"}
# Scores of the validation data along the way, at CPU times that grow by this factor.
_FACTOR = 1.4


@dataclass
class Row:
    """What one model or compressor came to on the validation data."""

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


Look = Callable[[str, float, str], None]


def title(name: str) -> str:
    """A model's name as it is written."""
    return _TITLES.get(name, name if name in COMPRESSORS else name.upper())


def compared(
    names: Sequence[str], train: Data, valid: Data, given: dict[str, Any], common: dict[str, Any], look: Look
) -> Iterator[Row]:
    """One row after the other; `look` is told of progress as (name, part of the budget, text)."""
    for name in names:
        row = Row(title(name), _GROUPS.get(name, "network"))
        try:
            look(name, 0.0, "begins")
            if name in COMPRESSORS:
                row.bits = _compressed(name, train.content, valid.content)
                row.detail = "learns on"
            else:
                _fit(row, name, train, valid, given, common, look)
        except KeyboardInterrupt:
            row.error, row.interrupted = "interrupted", True
        except Exception as error:  # One failure must not take the others with it.
            row.error = one_line(error)
        yield row
        if row.interrupted:
            return


def _fit(
    row: Row, name: str, train: Data, valid: Data, given: dict[str, Any], common: dict[str, Any], look: Look
) -> None:
    model: Any = estimator(name, {}, common | given)
    curve: list[tuple[float, float]] = []

    def step(at: Any) -> None:
        text = f"step {at.step}" if hasattr(at, "step") else f"{at.symbols:,} symbols read"
        look(name, 0.0 if hasattr(at, "step") else at.symbols / at.total, text)

    if isinstance(model, Network):
        model._watch = _Curve(model, valid, curve, lambda part, text: look(name, part, text))
        model.fit(train.content, mask=train.mask)
        model._watch = None
    else:
        model.fit(train.content, mask=train.mask, callbacks=(step,))
    row.bits = model.bits(valid.content, valid.mask)
    row.seconds = float(getattr(model, "total_seconds_", model.seconds_))
    row.parameters = model.n_parameters_
    row.interrupted = model.stopped_ == "interrupted"
    row.detail = _detail(model)
    row.curve = [*curve, (row.seconds, row.bits)]
    row.model = model


def _detail(model: Any) -> str:
    if getattr(model, "learning_", "") == "online":
        return "learns on"
    parts = [] if not hasattr(model, "units_") else [f"{model.units_} units"]
    if hasattr(model, "steps_") and model.steps_ > 1:
        parts.append(f"{model.steps_:,} steps")
    if model.stopped_ not in ("budget", "read"):
        parts.append(model.stopped_)
    return ", ".join(parts)


class _Curve(Watch):
    """Scores the best parameters so far on the validation data now and then, uncharged."""

    def __init__(
        self, model: Any, valid: Data, curve: list[tuple[float, float]], look: Callable[[float, str], None]
    ) -> None:
        from glnn.training.budget import parse_budget

        self._budget, self._valid, self._curve, self._look = parse_budget(model.budget), valid, curve, look
        self._next = 0.1

    def begin(self, runs: Sequence[Run], size: Size, parts: Split) -> None:
        """Remember the runs."""
        self._runs, self._size, self._parts = runs, size, parts

    def trainer(self, run: Run) -> Callable[..., Trainer]:
        """A trainer that is listened to."""
        return lambda *arguments: RecordedTrainer(*arguments, listener=self._listen)

    def _listen(self, info: StepInfo, trainer: Trainer) -> None:
        used = {what: sum(run.used(what) for run in self._runs) for what in ("seconds", "steps", "passes")}
        limits = {what: limit for what, limit in vars(self._budget).items() if limit is not None}
        bits = -info.log_likelihood / math.log(2.0) / max(int(self._parts.train.mask.sum()), 1)
        part = max(used[what] / limit for what, limit in limits.items())
        self._look(part, f"step {info.step}, {bits:.4f} bits a symbol in training")
        if used["seconds"] >= self._next:
            self._next = used["seconds"] * _FACTOR
            best = max((run for run in self._runs if run.progress is not None), key=lambda run: run.score)
            model = self.fitted(Outcome(best, self._runs, self._size, self._parts))
            self._curve.append((used["seconds"], model.bits(self._valid.content, self._valid.mask)))


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
