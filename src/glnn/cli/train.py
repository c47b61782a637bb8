"""`glnn train`: learn a model from a file, into the folder of a run."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from glnn import registry
from glnn.cli import options

_METRICS = (
    "; ".join(f"{name}: {metric.about}" for name, metric in registry.metrics().items()) + "; adam: chunk by chunk"
)


def train(
    file: options.File,
    valid: options.Valid = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"{' | '.join(registry.models())}; mixture if left out, or glnn where an option is for networks.",
        ),
    ] = None,
    networks: Annotated[
        str | None,
        typer.Option(metavar="N", help="Networks that a mixture tries; 0 for contexts alone."),
    ] = None,
    learning: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of mixtures and context trees: auto | online | frozen.")
    ] = None,
    recipe: Annotated[
        str | None, typer.Option(metavar="NAME", help="best | paper: what of the training is not set here.")
    ] = None,
    training: Annotated[str | None, typer.Option(metavar="NAME", help="auto | batch | stochastic")] = None,
    noise: Annotated[
        float | None, typer.Option(min=0.0, help="Noise on the state while training, 0 for none; auto if left out.")
    ] = None,
    metric: Annotated[str | None, typer.Option(metavar="NAME", help=_METRICS)] = None,
    output_metric: Annotated[str | None, typer.Option(metavar="NAME", help="qdh | dh | plain")] = None,
    units: Annotated[str | None, typer.Option(metavar="N", help="Size of the network; auto if left out.")] = None,
    degree: Annotated[str | None, typer.Option(metavar="N", help="Edges from each unit; auto if left out.")] = None,
    restarts: Annotated[
        str | None, typer.Option(metavar="N", help="Random starts that share the budget; auto if left out.")
    ] = None,
    members: Annotated[
        str | None, typer.Option(metavar="N", help="Networks that predict together and share the budget.")
    ] = None,
    calibration: Annotated[
        bool | None, typer.Option(help="Correct predictions by how sure they are, as the validation data teach.")
    ] = None,
    start: Annotated[
        str | None, typer.Option(metavar="NAME", help="State at the start of a sequence: auto | trained | typical.")
    ] = None,
    depth: Annotated[int | None, typer.Option(min=0, help="Longest context, of the model contexttree.")] = None,
    patience: Annotated[
        int | None, typer.Option(min=1, help="Stop after this many steps without a better validation score.")
    ] = None,
    budget: Annotated[str, typer.Option(help="CPU time (60s, 5m, 2h), or '200 steps', '1500 passes'.")] = "60s",
    seed: options.Seed = 0,
    run: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder to write; FILE-MODEL if left out.")
    ] = None,
    format: options.Format = None,
    tokens: options.Tokens = None,
    case: options.Case = None,
    activity: options.Activity = None,
    time: options.Time = None,
    time_format: options.TimeFormat = None,
    delimiter: options.Delimiter = None,
    empty: options.Empty = "error",
    mask: options.Mask = None,
    valid_mask: options.ValidMask = None,
    predict_after: options.PredictAfter = None,
    unknown: Annotated[
        str, typer.Option(help="What a symbol first met later gets: escape (a small probability) or error.")
    ] = "escape",
    threads: options.Threads = 1,
    save_every: Annotated[float, typer.Option(min=0.0, help="Seconds between checkpoints.")] = 30.0,
    json: options.Json = False,
    quiet: options.Quiet = False,
    force: options.Force = False,
) -> None:
    """Learn a model from a file; Ctrl-C keeps the best so far.

    The folder of the run holds the model, how to repeat it, its history and checkpoints. Without --valid the end
    of the data is held out, to keep the model that predicts it best.

    \b
    Examples:
      glnn train book.txt
      glnn train tunes.txt --valid more.txt --units 16 --degree 3 --budget 5m --run tunes
      glnn train log.csv --case order --activity step --time at
    """
    from glnn.cli.compiling import compiled_ahead
    from glnn.cli.estimator import default_model, estimator, number_or_auto
    from glnn.cli.fit_into_folder import command_line, default_folder, run_training, stopped_by_signals, tell_result
    from glnn.cli.inputs import read
    from glnn.cli.run_folder import Config, Input, new_run
    from glnn.sequences import InputError, ReadOptions

    if valid_mask is not None and valid is None:
        raise InputError(
            "--valid-mask was given without --valid: it says what of the validation data is to be predicted"
        )
    asked = ReadOptions(format, tokens, case, activity, time, time_format, delimiter, empty, predict_after)
    given: dict[str, Any] = {
        "recipe": recipe,
        "training": training,
        "noise": noise,
        "metric": metric,
        "output_metric": output_metric,
        "units": number_or_auto("--units", units),
        "degree": number_or_auto("--degree", degree),
        "restarts": number_or_auto("--restarts", restarts),
        "members": number_or_auto("--members", members),
        "calibration": calibration,
        "start": start,
        "depth": depth,
        "patience": patience,
        "networks": number_or_auto("--networks", networks),
        "learning": learning,
    }
    given = {name: value for name, value in given.items() if value is not None}
    model = model or default_model(given)
    common = {"budget": budget, "random_state": seed, "n_jobs": threads, "unknown": unknown, "verbose": 0}
    chosen = estimator(model, given, common)
    ahead = compiled_ahead(chosen, file)
    data = read(file, asked, mask)
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
            command=command_line(),
            started=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        result = run_training(folder, config, chosen, data, held, None, quiet or json)
    tell_result(result, json, stop.code)
