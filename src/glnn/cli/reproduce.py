"""`glnn reproduce`: Section 4 of the paper again, on this machine or on a cluster, with tables and figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glnn.cli import options
from glnn.cli.reproduce_xor import XorOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from glnn.reproduction.settings import Setting

WHAT = ("table", "figures", "xor")
INTERRUPTED = 130
# What each takes, by the names of the parameters below.
_RUNNING = ("scale", "out", "workers", "cluster", "steps", "seeds", "only", "limit", "no_run", "page", "json", "quiet")
_TAKEN = {
    "table": (*_RUNNING, "sizes", "reading"),
    "xor": (*_RUNNING, *XorOptions._fields),
    "figures": ("scale", "out", "figures", "json", "quiet"),
}


@options.with_fields("xor", XorOptions)
def reproduce(
    context: typer.Context,
    what: Annotated[str, typer.Argument(metavar="WHAT", help="table, figures or xor.")],
    scale: Annotated[
        float | None,
        typer.Option(help="Times the paper's 30, 10 and 10 minutes a run (0.06 if left out), or its 2,000 passes (1)."),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder of the results.")] = Path("reproduction"),
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes on this machine, one thread each; all cores if left out.")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="A Dask scheduler, such as tcp://host:8786.")
    ] = None,
    steps: Annotated[int | None, typer.Option(min=1, help="Steps of a run in place of CPU seconds.")] = None,
    sizes: Annotated[str | None, typer.Option(metavar="N,N", help="Only networks of these sizes.")] = None,
    reading: Annotated[
        str,
        typer.Option(
            metavar="WAY", help="How the paper is read where its figures and its text differ: figures, or text."
        ),
    ] = "figures",
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Runs of each size (2); distant XOR: of each metric (8).")
    ] = None,
    xor: Any = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT", help="Only settings whose name has this in it, such as 'music, GLNN'; repeatable."
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first settings, this many of them.")] = None,
    no_run: Annotated[bool, typer.Option("--no-run", help="Run nothing, show what is there.")] = False,
    page: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Put the table between the markers of this page too.")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where figures go; DIR/figures if left out.")
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Regenerate the results of the paper: its table, its figures, distant XOR.

    Every finished run is a line of JSON in DIR (table.jsonl, xor.jsonl), written at once; what is there is not run
    again, so a sweep can be stopped and continued. `figures` draws the runs that are there.

    \b
    Examples:
      glnn reproduce table --scale 0.03 --out results
      glnn reproduce table --scale 0.06 --only music --only "GLNN QDH" --only "d = 3"
      glnn reproduce xor --out results --cluster tcp://10.0.0.1:8786
      glnn reproduce figures --out results
    """
    from glnn.cli.printing import print_json
    from glnn.cli.sweeping import run_missing
    from glnn.reproduction.settings import READINGS
    from glnn.sequences import InputError

    if what not in WHAT:
        raise InputError(f"nothing to reproduce is called {what!r}; there are {', '.join(WHAT)}")
    _refuse_what_is_not_taken(context, what)
    if reading not in READINGS:
        raise InputError(f"--reading is {reading!r}: it must be one of {', '.join(READINGS)}")
    if scale is not None and not 0 < scale < float("inf"):
        raise InputError(f"--scale is {scale:g}: it must be positive, for example 0.03")
    if cluster is not None and workers is not None:
        raise InputError("--workers and --cluster were both given: a cluster brings its own workers")
    if what == "figures":
        paths = _drawn(out, figures or out / "figures", scale)
        if json:
            print_json({"figures": [str(path) for path in paths]})
        elif not quiet:
            for path in paths:
                typer.echo(str(path))
        return
    path = out / f"{what}.jsonl"
    if what == "table" and no_run and scale is None and steps is None:
        possible = _all_of_the_table(path, reading)
    else:
        possible = _wanted(what, scale, steps, _numbers(sizes), seeds, reading, xor)
    wanted = _with(only or [], possible)[:limit]
    interrupted = False
    failed: list[tuple[Setting, str]] = []
    if not no_run:
        interrupted, failed = run_missing(wanted, path, workers, cluster, quiet or json)
    elif not path.exists():
        raise InputError(f"{path} is not there: run without --no-run first, or give another folder with --out")
    name = _marker(what, reading, xor)
    document = _show(what, wanted, path, page, json, name)
    if json:
        print_json(
            {**document, "failed": [{"setting": str(setting), "problem": problem} for setting, problem in failed]}
        )
    if interrupted:
        raise typer.Exit(INTERRUPTED)
    if failed:
        raise typer.Exit(1)


def _marker(what: str, reading: str, xor: XorOptions) -> str:
    """The name of the place in a page where a table goes."""
    if what == "table":
        return "table-text" if reading == "text" else "table"
    return xor.marker


def _refuse_what_is_not_taken(context: typer.Context, what: str) -> None:
    """An option of another command is refused, not ignored."""
    from glnn.sequences import InputError

    # The group is click's or typer's own copy of it: only the names of its members are the same.
    given = [
        name
        for name in context.params
        if name != "what" and getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
    ]
    for name in given:
        if name not in _TAKEN[what]:
            taking = " and ".join(other for other in WHAT if name in _TAKEN[other])
            known = ", ".join(_flag(taken) for taken in _TAKEN[what])
            raise InputError(f"{_flag(name)} was given with {what}; it is an option of {taking} ({what} takes {known})")


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _wanted(
    what: str,
    scale: float | None,
    steps: int | None,
    sizes: list[int] | None,
    seeds: int | None,
    reading: str,
    xor: XorOptions,
) -> list[Setting]:
    from glnn.reproduction.planned import table_settings, xor_settings
    from glnn.reproduction.settings import SCALE, SEEDS, XOR_PASSES, XOR_SEEDS

    if what == "table":
        return table_settings(SCALE if scale is None else scale, steps, sizes, seeds or SEEDS, reading)
    xor.check()
    passes = 2 * steps if steps is not None else max(1, round(XOR_PASSES * (scale or 1.0)))
    return xor_settings(passes, seeds or XOR_SEEDS, xor.lines or 0, *xor[1:])


def _all_of_the_table(path: Path, reading: str) -> list[Setting]:
    """The settings of all lines with this reading of the paper, whatever their budgets and seeds."""
    from glnn.reproduction.results import read_lines
    from glnn.reproduction.settings import from_json, readings
    from glnn.sequences import InputError

    if not path.exists():
        raise InputError(f"{path} is not there: run without --no-run first, or give another folder with --out")
    settings = [from_json(line["setting"]) for line in read_lines(path)]
    found = [setting for setting in settings if setting in readings(setting, reading)]
    if not found:
        raise InputError(f"{path} has no run with --reading {reading}: run without --no-run first")
    return found


def _with(texts: list[str], settings: list[Setting]) -> list[Setting]:
    """The settings whose names have all these texts in them."""
    from glnn.sequences import InputError

    chosen = [setting for setting in settings if all(text.lower() in str(setting).lower() for text in texts)]
    if not chosen:
        told = " and ".join(repr(text) for text in texts)
        raise InputError(f"no setting has {told} in it (--only); one of them reads: {settings[-1]}")
    return chosen


def _show(
    what: str, wanted: Sequence[Setting], path: Path, page: Path | None, quiet: bool, name: str
) -> dict[str, Any]:
    """Print the table, put it between the markers of that name in a page; return the document it shows."""
    from glnn.cli.printing import console, data_table
    from glnn.reproduction import tables
    from glnn.reproduction.reached import told_reached
    from glnn.reproduction.results import read_lines
    from glnn.reproduction.settings import from_json, readings

    lines = read_lines(path)
    if what == "table":
        document = tables.table_document(lines, wanted)
        settings = [from_json(line["setting"]) for line in lines]
        reading = "figures" if name == "table-text" else "text"
        other = tables.table_document(lines, [s for s in settings if s in readings(s, reading)])
        columns, rows = tables.plain_rows(document)
        parts = [
            tables.markdown(document),
            told_reached(document, other),
            tables.told_pairs(document),
        ]
        text = "\n\n".join(filter(None, parts))
    else:
        document = tables.xor_document(lines, wanted)
        columns, rows = tables.xor_rows(document)
        text = f"{document['runs']} of {document['wanted']} runs are there.\n\n{tables.as_markdown(columns, rows)}"
    if page is not None:
        tables.write_between(page, name, text)
    if not quiet:
        shown = console()
        shown.print(data_table(columns, rows))
        shown.print(
            f"{document['runs']} of {document['wanted']} runs are there; regrets in bits" if what == "table" else ""
        )
    return document


def _drawn(out: Path, folder: Path, scale: float | None) -> list[Path]:
    from glnn.reproduction.planned import table_settings
    from glnn.reproduction.results import read_lines
    from glnn.sequences import InputError

    try:
        from glnn.reproduction.figures import draw_figures
    except ModuleNotFoundError as error:
        raise InputError(f"figures need {error.name}: pip install 'glnn[figures]'") from None
    lines, xor = read_lines(out / "table.jsonl"), read_lines(out / "xor.jsonl")
    if scale is not None:
        chosen = {setting.budget for setting in table_settings(scale)}
        lines = [line for line in lines if line["setting"]["budget"] in chosen]
    if not lines and not xor:
        raise InputError(f"no runs in {out}: run glnn reproduce table or xor with --out {out} first")
    return draw_figures(lines, xor, folder)


def _numbers(text: str | None) -> list[int] | None:
    from glnn.sequences import InputError

    if text is None:
        return None
    try:
        sizes = [int(part) for part in text.split(",")]
    except ValueError:
        sizes = []
    if not sizes or min(sizes) < 1:
        raise InputError(f"--sizes is {text!r}: give whole numbers separated by commas, such as 16,32")
    return sizes
