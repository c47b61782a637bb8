"""`glnn train` and `glnn resume`: learn a model from a file into the folder of a run, and continue one.

The options of `train` that say what to learn are the parameters of the models.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glnn import registry
from glnn.cli import options
from glnn.cli.model_options import default_model, estimator, with_model_options

if TYPE_CHECKING:
    from glnn.cli.run_folder import Config
    from glnn.storage.checkpoint import Checkpoint
    from glnn.training.compiling import Ahead

# A shorter file is read in a moment.
_LONG = 1_000_000


@options.with_reading()
@with_model_options()
def train(
    file: options.File,
    valid: options.Valid = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"{' | '.join(registry.models())}; mixture if left out, or glnn if an option is for networks.",
        ),
    ] = None,
    parameters: Any = None,
    budget: Annotated[str, typer.Option(help="CPU time (60s, 5m, 2h), or '200 steps', '1500 passes'.")] = "60s",
    seed: options.Seed = 0,
    run: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder to write; FILE-MODEL if left out.")
    ] = None,
    asked: Any = None,
    mask: options.Mask = None,
    valid_mask: options.ValidMask = None,
    unknown: Annotated[
        str, typer.Option(help="A symbol first met later: escape gives it a small probability, error refuses it.")
    ] = "escape",
    threads: options.AllThreads = None,
    save_every: Annotated[float, typer.Option(min=0.0, help="Seconds between checkpoints.")] = 30.0,
    json: options.Json = False,
    quiet: options.Quiet = False,
    force: options.Force = False,
) -> None:
    """Learn a model from a file; Ctrl-C keeps the best one so far.

    The folder of the run holds the model, how to repeat it, its history and checkpoints. Without --valid the end
    of the data is held out, and the model that predicts it best is kept.

    \b
    Examples:
      glnn train book.txt
      glnn train tunes.txt --valid more.txt --units 16 --degree 3 --budget 5m --run tunes
      glnn train log.csv --case order --activity step --time at
    """
    from glnn.cli.fit_into_folder import default_folder, run_training, stopped_by_signals, tell_result
    from glnn.cli.inputs import read
    from glnn.cli.run_folder import Config, Input, new_run
    from glnn.sequences import InputError, ReadOptions
    from glnn.training.compiling import nothing_compiled

    if valid_mask is not None and valid is None:
        raise InputError(
            "--valid-mask was given without --valid: it says what of the validation data is to be predicted"
        )
    model = model or default_model(parameters)
    common = {"budget": budget, "random_state": seed, "n_jobs": threads, "unknown": unknown, "verbose": 0}
    chosen = estimator(model, parameters, common)
    ahead = _compiled_ahead(chosen, file) if nothing_compiled() else None
    data = read(file, ReadOptions(**asked), mask)
    if ahead is not None:
        ahead.wait()
    assert data.options is not None
    held = None if valid is None else read(valid, data.options, valid_mask)
    files = {"data": file, "valid": valid, "data_mask": mask, "valid_mask": valid_mask}
    with stopped_by_signals() as stop, new_run(run or default_folder(file, model), force) as folder:
        config = Config(
            model=model.lower(),
            parameters=chosen.get_params(deep=False),
            reading=data.options,
            inputs={name: Input.of(path) for name, path in files.items() if path is not None},
            save_every=save_every,
            command=["glnn", *sys.argv[1:]],
            started=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        result = run_training(folder, config, chosen, data, held, None, quiet or json)
    tell_result(result, json, stop.code)


def _compiled_ahead(model: Any, file: Path) -> Ahead | None:
    """Start compiling what the model needs, the first time of all.

    In this process while a long file is read (None where that is no use); in another the networks of a mixture, which
    come after its contexts.
    """
    from glnn.training.compiling import Ahead, compile_beside

    try:
        long = file.stat().st_size > _LONG
    except OSError:
        return None  # standard input, or a file that is not there: reading it will tell
    if getattr(model, "tries_networks", False):
        compile_beside("glnn.cli.compile_networks")
    if not long:
        return None
    parameters = model.get_params(deep=False) | {"verbose": 0}
    if "budget" in parameters:
        parameters["budget"] = "1 steps"
    return Ahead(lambda: type(model)(**parameters).fit("abba" * 150))


def resume(
    run: options.Run,
    budget: Annotated[str | None, typer.Option(help="A larger budget than before, including what is spent.")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads, if different from before.")] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Continue a run from its last checkpoint.

    With a budget in steps the result has the same bits as that of a run that was never interrupted. The data must be
    where they were, and unchanged. Models without checkpoints (hmm, contexttree) start again.

    \b
    Examples:
      glnn resume tunes
      glnn resume tunes --budget 20m
    """
    from glnn.cli.fit_into_folder import run_training, stopped_by_signals, tell_result
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
            tell(f"{run} is finished ({result['stopped']}); --budget gives it more", quiet or json)
            tell_result(result, json)
            return
        if threads is not None and "n_jobs" in config.parameters:
            config.parameters["n_jobs"] = threads
        data, held = config.data("data"), config.data("valid")
        assert data is not None
        now = datetime.now(UTC).isoformat(timespec="seconds")
        config.resumed.append({"at": now, "command": ["glnn", *sys.argv[1:]]})
        model = estimator(config.model, config.parameters, {})
        if config.sizes_for is not None:
            model.sizes_for = Budget(seconds=config.sizes_for)  # type: ignore[attr-defined]
        if checkpoint is not None:
            tell(f"continuing from step {checkpoint.steps:,}", quiet or json)
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
        # Next to the random starts there are networks trained in another way, with sizes of their own.
        config.sizes_for = first.seconds
