"""`glnn resume`: continue a run that was interrupted or killed, or give a finished one more time."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glnn.cli import options

if TYPE_CHECKING:
    from glnn.cli.run_folder import Config
    from glnn.storage.checkpoint import Checkpoint


def resume(
    run: options.Run,
    budget: Annotated[
        str | None, typer.Option(help="A larger budget than the run was given, including what is spent.")
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads, if different from before.")] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Go on with a run from its last checkpoint.

    With a budget in steps the result has the same bits as that of a run that was never interrupted. The data must be
    where they were, and unchanged. Models without checkpoints (hmm, contexttree) start again.

    \b
    Examples:
      glnn resume tunes
      glnn resume tunes --budget 20m
    """
    from glnn.cli.estimator import estimator
    from glnn.cli.fit_into_folder import command_line, run_training, stopped_by_signals, tell_result
    from glnn.cli.printing import tell
    from glnn.cli.run_folder import RunFolder
    from glnn.sequences import InputError
    from glnn.storage.checkpoint import has_checkpoint, read_checkpoint
    from glnn.training.budget import Budget

    folder = RunFolder(run)
    if not run.is_dir():
        raise InputError(f"{run} is not a folder: give the folder that glnn train wrote")
    config = folder.config()
    with stopped_by_signals() as stop, folder.locked():
        result = folder.result()
        checkpoint = read_checkpoint(run) if has_checkpoint(run) else None
        if budget is not None:
            _give_more(config, budget, checkpoint)
        elif result is not None and result["stopped"] != "interrupted":
            tell(f"{run} came to its end ({result['stopped']}); --budget gives it more", quiet or json)
            tell_result(result, json)
            return
        if threads is not None and "n_jobs" in config.parameters:
            config.parameters["n_jobs"] = threads
        data, held = config.data("data"), config.data("valid")
        assert data is not None
        now = datetime.now(UTC).isoformat(timespec="seconds")
        config.resumed.append({"at": now, "command": command_line()})
        model = estimator(config.model, config.parameters, {})
        if config.sizes_for is not None:
            model.sizes_for = Budget(seconds=config.sizes_for)  # type: ignore[attr-defined]
        if checkpoint is not None:
            tell(f"going on from step {checkpoint.steps:,}", quiet or json)
        result = run_training(folder, config, model, data, held, checkpoint, quiet or json)
    tell_result(result, json, stop.code)


def _give_more(config: Config, budget: str, checkpoint: Checkpoint | None) -> None:
    """Change the budget; sizes that were chosen for the old one stay."""
    from glnn.sequences import InputError
    from glnn.training.budget import parse_budget

    parameters: dict[str, Any] = config.parameters
    if "budget" not in parameters:
        raise InputError(f"--budget is not for the model {config.model}, which reads its data once")
    larger = parse_budget(budget)
    if checkpoint is not None:
        used = [sum(getattr(run, what) for run in checkpoint.runs) for what in ("seconds", "step", "passes")]
        if larger.spent(float(used[0]), int(used[1]), int(used[2])):
            raise InputError(
                f"--budget {budget}: the run has spent {used[0]:.1f} s, {used[1]} steps and {used[2]} passes; give more"
            )
    first, size = parse_budget(parameters["budget"]), config.size or {}
    parameters["budget"] = budget
    if checkpoint is None or len(checkpoint.runs) == size.get("restarts", 1):
        parameters.update(size)
    elif config.sizes_for is None:
        # Beside the starts there are networks that are trained in another way, with sizes of their own.
        config.sizes_for = first.seconds
