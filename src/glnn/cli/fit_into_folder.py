"""One training from its configuration to its folder: what `glnn train` and `glnn resume` share.

Steps are shown and go to `history.jsonl` as they are made; the best model and a checkpoint are written every few
seconds, in case of a crash. None of it is charged to the budget.
"""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from glnn.cli.inputs import Data
from glnn.cli.printing import ProgressLine, finite, print_facts, print_json, tell
from glnn.cli.run_folder import Config, RunFolder
from glnn.sequences import InputError
from glnn.sequences.formats.source import STANDARD_INPUT
from glnn.storage.atomic import write_whole
from glnn.storage.checkpoint import Checkpoint, write_checkpoint
from glnn.training.budget import parse_budget
from glnn.training.compiling import said_if_compiling
from glnn.training.observer import Observer, fraction_spent, opening
from glnn.training.race import Run, Training
from glnn.training.records import Progress, StepInfo, furthest
from glnn.training.trainer import Trainer

if TYPE_CHECKING:
    from glnn.estimators import SequenceModel

INTERRUPTED, TERMINATED = 130, 143
_BITS = 1.0 / float(np.log(2.0))
_READ = {
    "read": "all was read",
    "budget": "the budget was enough for this much of the data: --budget gives more",
    "interrupted": "all was read; the training of a network was interrupted",
}


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
        """How many symbols were to be predicted, to make bits of likelihoods bits per symbol."""

    def begin(self, training: Training) -> None:
        """Take over the folder: what an earlier run left is replaced."""
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
        """Record where the training ended."""
        if self.counts is None:
            return
        self._write_history([known.history for run in self.runs if (known := self._known(run)) is not None])
        self._write_checkpoint()

    def step(self, run: Run, info: StepInfo, trainer: Trainer) -> None:
        """Record the step, show it, and save when it is time."""
        which = self.runs.index(run)
        with self.folder.history.open("a", encoding="utf-8") as file:
            file.write(_line_of(which, info))
        self.line.update(fraction_spent(self.budget, self.training), self._text(which, info, trainer.progress))
        if time.monotonic() - self._saved >= self.config.save_every:
            self.save()

    def save(self) -> None:
        """The best model so far and a checkpoint, each at once or not at all."""
        # The best parameters of a network that has not caught up with its record are not available.
        if all(self._known(run) is run.progress for run in self.runs):
            model = self.training.fitted()
            model.stopped_ = "running"
            model.save(self.folder.model)
        self._write_checkpoint()
        self._saved = time.monotonic()

    def _write_checkpoint(self) -> None:
        write_checkpoint(self.folder.path, [self._known(run) or _before(run) for run in self.runs], {})

    def _known(self, run: Run) -> Progress | None:
        """The furthest a network is known to have got: in the checkpoint, until it has caught up with it."""
        return furthest(run.progress, self.recorded(run))

    def _write_history(self, histories: Sequence[Sequence[StepInfo]]) -> None:
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


def run_training(
    folder: RunFolder,
    config: Config,
    model: SequenceModel,
    data: Data,
    valid: Data | None,
    checkpoint: Checkpoint | None,
    quiet: bool,
) -> dict[str, Any]:
    """Fit the model, with everything written to the folder as it goes; returns the result."""
    line = ProgressLine(quiet)
    validation = {} if valid is None else {"validation": valid.content, "validation_mask": valid.mask}
    begin = time.monotonic()
    with ExitStack() as stack:
        stack.callback(line.close)
        compiling = stack.enter_context(ExitStack())
        compiling.enter_context(said_if_compiling(line.display, model.kernels))
        recording = Recording(folder, config, line, checkpoint, data.said, compiling.close)
        model.fit(data.content, mask=data.mask, observer=recording, **validation)  # type: ignore[attr-defined]
        recording.finish()
    model.save(folder.model)
    result = _result(folder, config, model, valid, time.monotonic() - begin)
    result["counts"] = recording.counts
    folder.write_result(result)
    return result


def _result(folder: RunFolder, config: Config, model: Any, valid: Data | None, wall: float) -> dict[str, Any]:
    from glnn.cli.symbol_bits import scored

    result: dict[str, Any] = {
        "run": str(folder.path),
        "model": config.model,
        "stopped": model.stopped_,
        "steps": model.steps_,
        "best_step": getattr(model, "best_step_", None),
        "parameters": model.n_parameters_,
        **{name: getattr(model, f"{name}_", None) for name in ("units", "degree", "seed", "held_out")},
        "starts": len(getattr(model, "restarts_", [0])),
        "cpu_seconds": getattr(model, "total_seconds_", model.seconds_),
        "wall_seconds": wall,
        "validation_bits": model.validation_bits_,
    }
    if hasattr(model, "members_"):
        # What stands between the trained networks and their predictions.
        weights = model.weights_
        result |= {
            "members": model.members_,
            "starts_typical": [start is not None for start in model.starts_],
            "combined_bits": model.combined_bits_,
            "weights": None if weights is None else {"nodes": weights.nodes.tolist(), "at": weights.weights.tolist()},
            "smoothing": model.smoothing_,
        }
    if valid is not None:
        found = scored(model, valid)
        result |= {"valid_bits": found.bits, "valid_symbols": found.symbols}
        if result.get("combined_bits") and any("steps_on_all_data" in one for one in result["members"]):
            # Learned by now: what they cost before is what tells.
            result |= {"valid_bits": result["combined_bits"][-1] * found.symbols, "valid_learned": True}
    return finite(result)  # type: ignore[no-any-return]


def tell_result(result: dict[str, Any], as_json: bool, code: int = 0) -> None:
    """Print what a run came to, and leave with the code when it was interrupted."""
    if as_json:
        print_json(result)
    else:
        _print(result)
    if result["stopped"] == "interrupted":
        tell(f"glnn: interrupted; continue with: glnn resume {result['run']}")
        raise typer.Exit(code)


def _print(result: dict[str, Any]) -> None:
    units = "" if result["units"] is None else f"{result['units']} units, "
    rows = [("model", f"{result['model']}, {units}{result['parameters']:,} parameters")]
    kept = "" if result["best_step"] is None else f", kept step {result['best_step']:,}"
    read = None if result["units"] is not None else _READ.get(result["stopped"])
    rows.append(("trained", read or f"{result['steps']:,} steps{kept}, stopped: {result['stopped']}"))
    rows.append(("time", f"{result['cpu_seconds']:.1f} s of CPU, {result['wall_seconds']:.1f} s in all"))
    if result.get("valid_symbols"):
        each = result["valid_bits"] / result["valid_symbols"]
        learned = ", before they were learned too" if result.get("valid_learned") else ""
        rows.append(("validation data", f"{result['valid_bits']:,.1f} bits, {each:.4f} per symbol{learned}"))
    elif result["validation_bits"] is not None and result["held_out"]:
        each = result["validation_bits"] / result["held_out"]
        rows.append(("held-out end", f"{result['validation_bits']:,.1f} bits, {each:.4f} per symbol"))
    if result.get("weights") and result.get("combined_bits"):
        *_, evenly, weighed = result["combined_bits"]
        what = f"{len(result['members'])} members" if len(result["members"]) > 1 else "calibration"
        rows.append((what, f"{evenly:.4f} → {weighed:.4f} bits per symbol of the validation data"))
    rows.append(("folder", result["run"]))
    print_facts(rows)


class Stop:
    """Why a training stopped, as an exit code."""

    code = INTERRUPTED


@contextmanager
def stopped_by_signals() -> Iterator[Stop]:
    """SIGTERM, which schedulers send, stops a training as Ctrl-C does: what was learned is kept."""
    found = Stop()

    def stop(number: int, frame: FrameType | None) -> None:
        found.code = TERMINATED
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, stop)
    except ValueError:
        # Only the main thread may listen to signals.
        yield found
        return
    try:
        yield found
    finally:
        signal.signal(signal.SIGTERM, before)


def default_folder(data: Path, model: str) -> Path:
    """The default folder of a run: in the current folder, named after data and model."""
    name = data.name.split(".")[0] or data.stem
    return Path(f"{'stdin' if str(data) == STANDARD_INPUT else name}-{model.lower()}")
