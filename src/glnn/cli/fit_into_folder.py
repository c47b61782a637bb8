"""One training from its configuration to its folder: what `glnn train` and `glnn resume` share."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import typer

from glnn.cli.inputs import Data
from glnn.cli.printing import ProgressLine, finite, print_facts, print_json, tell
from glnn.cli.run_folder import Config, RunFolder
from glnn.sequences.formats.source import STANDARD_INPUT

if TYPE_CHECKING:
    from glnn.estimators import SequenceModel
    from glnn.storage.checkpoint import Checkpoint

INTERRUPTED, TERMINATED = 130, 143
_READ = {"read": "all was read", "budget": "as much was read as the budget lasts for: --budget gives more"}


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
    from glnn.cli.compiling import kernels_of
    from glnn.cli.recording import Recording
    from glnn.training.compiling import said_if_compiling

    line = ProgressLine(quiet)
    validation = {} if valid is None else {"validation": valid.content, "validation_mask": valid.mask}
    begin = time.monotonic()
    with ExitStack() as stack:
        stack.callback(line.close)
        compiling = stack.enter_context(ExitStack())
        compiling.enter_context(said_if_compiling(line.display, kernels_of(model)))
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
        **_prediction(model),
    }
    if valid is not None:
        found = scored(model, valid)
        result |= {"valid_bits": found.bits, "valid_symbols": found.symbols}
    return finite(result)  # type: ignore[no-any-return]


def _prediction(model: Any) -> dict[str, Any]:
    """What stands between the trained networks and their predictions."""
    if not hasattr(model, "members_"):
        return {}
    weights = model.weights_
    return {
        "members": model.members_,
        "starts_typical": [start is not None for start in model.starts_],
        "combined_bits": model.combined_bits_,
        "weights": None if weights is None else {"nodes": weights.nodes.tolist(), "at": weights.weights.tolist()},
        "smoothing": model.smoothing_,
    }


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
        rows.append(("validation data", f"{result['valid_bits']:,.1f} bits, {each:.4f} a symbol"))
    elif result["validation_bits"] is not None and result["held_out"]:
        each = result["validation_bits"] / result["held_out"]
        rows.append(("held-out end", f"{result['validation_bits']:,.1f} bits, {each:.4f} a symbol"))
    if result.get("weights") and result.get("combined_bits"):
        *_, evenly, weighed = result["combined_bits"]
        what = f"{len(result['members'])} members" if len(result["members"]) > 1 else "calibration"
        rows.append((what, f"{evenly:.4f} → {weighed:.4f} bits a symbol of the validation data"))
    rows.append(("folder", result["run"]))
    print_facts(rows)


class Stop:
    """What stopped a training, as an exit code."""

    code = INTERRUPTED


@contextmanager
def stopped_by_signals() -> Iterator[Stop]:
    """A request to end (SIGTERM, as schedulers send it) stops a training like Ctrl-C does: what is learned is kept."""
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


def command_line() -> list[str]:
    """The command as it was given."""
    return ["glnn", *sys.argv[1:]]


def default_folder(data: Path, model: str) -> Path:
    """Where a run goes when nobody says: beside where one works, named after data and model."""
    name = data.name.split(".")[0] or data.stem
    return Path(f"{'stdin' if str(data) == STANDARD_INPUT else name}-{model.lower()}")
