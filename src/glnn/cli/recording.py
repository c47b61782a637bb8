"""A training as the command line does it: shown as it goes, its steps written down, its state kept against crashes.

Steps go to `history.jsonl` as they are made; every so many seconds the best model and a checkpoint are written. None of
it is charged to the budget.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict

import numpy as np

from glnn.cli.printing import ProgressLine, finite
from glnn.cli.run_folder import Config, RunFolder
from glnn.sequences import InputError
from glnn.storage.checkpoint import Checkpoint, write_checkpoint
from glnn.training.budget import parse_budget
from glnn.training.observer import Observer, Training, fraction_spent, opening
from glnn.training.race import Run
from glnn.training.records import Progress, StepInfo
from glnn.training.trainer import Trainer

_BITS = 1.0 / float(np.log(2.0))


class Recording(Observer):
    """Writes a training into its folder; `checkpoint` is where it continues from."""

    def __init__(
        self,
        folder: RunFolder,
        config: Config,
        line: ProgressLine,
        checkpoint: Checkpoint | None = None,
        said: str = "",
        begun: Callable[[], None] = lambda: None,
    ) -> None:
        self.folder, self.config, self.line = folder, config, line
        self._checkpoint, self._said, self._begun = checkpoint, said, begun
        self._saved = time.monotonic()
        self.counts: dict[str, int] | None = None
        """How many symbols were to be predicted, to make bits of likelihoods bits a symbol."""

    def begin(self, training: Training) -> None:
        """Make the folder this run's: what is there from before is replaced."""
        self.training, self.budget = training, parse_budget(self.config.parameters["budget"])
        self.runs, self.size, self.parts = training.runs, training.size, training.split
        size, parts = training.size, {"train": self.parts.train, "validation": self.parts.validation}
        self.counts = {name: int(part.mask.sum()) for name, part in parts.items() if part is not None}
        if self._checkpoint is None:
            self.folder.clear()
        else:
            self._check(self._checkpoint)
        self.config.size = {"units": size.units, "degree": size.degree, "restarts": size.restarts}
        self.folder.write_config(self.config)
        self.folder.result_file.unlink(missing_ok=True)
        self._write_history([] if self._checkpoint is None else [run.history for run in self._checkpoint.runs])
        self._begun()
        self.line.display.say(self._said)
        self.line.display.say(opening(self.config.model, *size, self.budget, self.parts))

    def ready(self) -> None:
        """The same for a model without steps to keep: it is quick, and starts again when it is resumed."""
        self.folder.clear()
        self.folder.write_config(self.config)
        self._begun()
        self.line.display.say(self._said)

    def advance(self, part: float, text: str) -> None:
        """Show how far such a model is."""
        self.line.update(part, text)

    def recorded(self, run: Run) -> Progress | None:
        """The steps of the checkpoint."""
        return None if self._checkpoint is None else self._checkpoint.runs[self.runs.index(run)]

    def finish(self) -> None:
        """Write down where the training ended."""
        if self.counts is None:
            return
        self._write_history([run.progress.history for run in self.runs if run.progress is not None])
        self._write_checkpoint()

    def step(self, run: Run, info: StepInfo, trainer: Trainer) -> None:
        """Write the step down, show it, and save when it is time."""
        which = self.runs.index(run)
        with self.folder.history.open("a", encoding="utf-8") as file:
            file.write(_line_of(which, info))
        self.line.update(fraction_spent(self.budget, self.training), self._text(which, info, trainer.progress))
        if time.monotonic() - self._saved >= self.config.save_every:
            self.save()

    def save(self) -> None:
        """The best model so far and a checkpoint, each at once or not at all."""
        model = self.training.fitted()
        model.stopped_ = "running"
        model.save(self.folder.model)
        self._write_checkpoint()
        self._saved = time.monotonic()

    def _write_checkpoint(self) -> None:
        write_checkpoint(self.folder.path, [run.progress or _before(run) for run in self.runs], {})

    def _write_history(self, histories: Sequence[Sequence[StepInfo]]) -> None:
        from glnn.storage.atomic import write_whole

        lines = [_line_of(which, info) for which, history in enumerate(histories) for info in history]
        write_whole(self.folder.history, "".join(lines).encode())

    def _check(self, checkpoint: Checkpoint) -> None:
        shapes = [[part.shape for part in vars(run.params).values()] for run in self.runs]
        recorded = [[part.shape for part in vars(run.params).values()] for run in checkpoint.runs]
        if shapes != recorded:
            raise InputError(
                f"the checkpoint in {self.folder.path} is of other networks than its configuration asks for: "
                "one of the two was altered; begin a new run"
            )

    def _text(self, which: int, info: StepInfo, progress: Progress) -> str:
        start = f"start {which + 1}/{len(self.runs)} " if len(self.runs) > 1 else ""
        learned = -info.log_likelihood * _BITS / max(int(self.parts.train.mask.sum()), 1)
        text = f"{start}step {info.step}  train {learned:.4f}"
        if info.validation is not None and self.parts.validation is not None:
            scale = _BITS / max(int(self.parts.validation.mask.sum()), 1)
            text += f"  valid {-info.validation * scale:.4f} (best {-progress.best_score * scale:.4f})"
        seconds = self.training.used("seconds")
        return f"{text} bits/symbol  rates {info.writing_rate:.3g} {info.transition_rate:.3g}  {seconds:.0f} s"


def _before(run: Run) -> Progress:
    """A start that has not had its turn yet."""
    rate = 1.0 / run.model.units
    return Progress(run.params, rate, rate, best=run.params)


def _line_of(which: int, info: StepInfo) -> str:
    return json.dumps(finite({"start": which, **asdict(info)}), allow_nan=False) + "\n"
