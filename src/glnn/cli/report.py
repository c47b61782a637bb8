"""`glnn report`: one self-contained HTML page about a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glnn.cli import options

if TYPE_CHECKING:
    from glnn.cli.inputs import Data


def report(
    run: options.Run,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="FILE", help="The data to show the model on; its validation data if left out."),
    ] = None,
    followed: Annotated[
        Path | None,
        typer.Option(metavar="STATE", help="A file that glnn follow kept: show its bits over time."),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="OUT", help="The page; RUN/report.html if left out.")] = None,
    json: options.Json = False,
    force: options.Force = False,
) -> None:
    """Write one HTML page about a run.

    It works offline and shows how the model learned, where it is surprised and whether that changes over time, samples,
    and its units at work.

    \b
    Examples:
      glnn report tunes
      glnn report tunes --data other.txt --out other.html
      glnn report orders --followed orders/follow-new.csv.state
    """
    from glnn.cli.inputs import check_free, read
    from glnn.cli.printing import print_json, tell, working
    from glnn.cli.run_folder import RunFolder, open_model
    from glnn.report import from_model, write_page
    from glnn.sequences import InputError

    is_run = run.is_dir()
    target = out or (run / "report.html" if is_run else Path(f"{run.stem}.html"))
    check_free(target, force)
    model, reading = open_model(run)
    shown: Data | None = None
    counts: dict[str, int | None] = {}
    if data is not None:
        shown = read(data, reading)
    elif is_run:
        config = RunFolder(run).config()
        shown = config.data("valid") or config.data("data")
    if shown is None:
        raise InputError(f"{run} is a model without its data: say with --data what to show it on")
    judge, about = None, ""
    content, mask = shown.content, shown.mask
    if is_run and data is None and "valid" not in config.inputs:
        judge, content, about = _as_it_was(model, shown)
        mask = mask if judge is None else None
    course = None if followed is None else _course(followed)
    if is_run:
        counts = (RunFolder(run).result() or {}).get("counts") or {}
    with working(f"writing {target}", json):
        page = from_model(
            model,
            content,
            mask=mask,
            name=shown.path.name,
            train_symbols=counts.get("train"),
            validation_symbols=counts.get("validation"),
            followed=course,
            judge=judge,
            about=about,
        )
        write_page(page, target)
    tell(shown.said, json)
    facts: dict[str, Any] = {"out": str(target), "bytes": target.stat().st_size, "data": str(shown.path)}
    if json:
        print_json(facts)
        return
    typer.echo(f"{target} ({facts['bytes'] / 1e6:.1f} MB): open it in a browser")


def _as_it_was(model: Any, data: Data) -> tuple[Any, Any, str]:
    """A model that has not read the end of the training data, that end, and a sentence about it.

    Else None, all of the data, and that they are known.
    """
    from glnn.cli.held_out import unread_end

    found = unread_end(model, data)
    if found is None:
        held = getattr(model, "held_out_", None) or 0
        told = "These are the data that the model was trained on: others will cost more."
        if held:
            told += f" The last {held:,} symbols were held out to choose what to keep."
        return None, data.content, told
    judge, end, whole = found
    if end.several and len(whole.encoded) > len(end.encoded) > 1:
        part = f"the last {len(end.encoded):,} of {len(whole.encoded):,} sequences"
    else:
        part = f"the last {end.encoded.codes.size:,} of {whole.encoded.codes.size:,} symbols"
    told = f"The model has learned these data. To show what new data would cost, this page scores {part}, "
    without = ", without its networks," if getattr(model, "networks_", ()) else ""
    return judge, end, told + f"by the same model{without} as it was before it had read them."


def _course(path: Path) -> Any:
    """The bits over time that `glnn follow` counted."""
    from glnn.estimators.streaming import load_streams
    from glnn.report.drift import drift_of_stretches
    from glnn.sequences import InputError
    from glnn.streams.course import Course

    streams = load_streams(path)
    found = Course.remembered(streams.more.get("course"))
    course = drift_of_stretches(found.stretches, streams.learner is not None)
    if course is None:
        events = sum(events for events, _ in found.stretches)
        raise InputError(f"{path} has {events:,} events, too few to show their bits over time: follow more of them")
    return course
