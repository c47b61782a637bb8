"""Options that several commands have, said once; and groups of options that a command gets as one thing."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

Command = Callable[..., None]

Run = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run, or a model file.")]
File = Annotated[
    Path, typer.Argument(metavar="FILE", help="The data: text, event log, FASTA, ABC, …; - is standard input.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Force = Annotated[bool, typer.Option("--force", help="Replace what exists.")]
Seed = Annotated[int, typer.Option(min=0, help="The same seed gives the same result.")]
Threads = Annotated[int, typer.Option(min=1, help="Threads; results do not depend on their number.")]
AllThreads = Annotated[
    int | None,
    typer.Option(min=1, help="Threads; members train on all cores if left out. Results do not depend on their number."),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress on standard error.")]

Valid = Annotated[Path | None, typer.Option(metavar="FILE", help="Data that are not trained on.")]
Format = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="text, lines, fasta, xes, csv, abc or jsonl; guessed if left out."),
]
Tokens = Annotated[
    str | None,
    typer.Option(metavar="CUT", help="Cut into chars, bytes, words or lines; or numbers, one sequence per line."),
]
Case = Annotated[str | None, typer.Option(metavar="COLUMN", help="Event log: the column that names the case.")]
Activity = Annotated[str | None, typer.Option(metavar="COLUMN", help="Event log: the column of the activity.")]
Time = Annotated[str | None, typer.Option(metavar="COLUMN", help="Event log: the column of the time.")]
TimeFormat = Annotated[str | None, typer.Option(metavar="FORMAT", help="Event log: how times are written (strptime).")]
Delimiter = Annotated[
    str | None, typer.Option(metavar="CHAR", help="Event log: what separates the fields, such as ';' or '\\t'.")
]
Empty = Annotated[
    str, typer.Option(metavar="WHAT", help="Event log: an empty cell is an error; or skip the event, or keep it.")
]
Mask = Annotated[
    Path | None, typer.Option(metavar="FILE", help="A file of 0 and 1: which symbols are to be predicted.")
]
ValidMask = Annotated[Path | None, typer.Option(metavar="FILE", help="The same for the validation data.")]
PredictAfter = Annotated[
    str | None, typer.Option(metavar="SYMBOL", help="Only what follows this symbol is to be predicted.")
]
Prefix = Annotated[
    list[str] | None,
    typer.Option("--prefix", metavar="TEXT", help="What came before; for event logs, once per event."),
]

# What a file is read with, by the names of `glnn.sequences.ReadOptions`: each option with its default.
_READING: dict[str, tuple[Any, Any]] = {
    "format": (Format, None),
    "tokens": (Tokens, None),
    "case": (Case, None),
    "activity": (Activity, None),
    "time": (Time, None),
    "time_format": (TimeFormat, None),
    "delimiter": (Delimiter, None),
    "empty": (Empty, "error"),
    "predict_after": (PredictAfter, None),
}


def with_reading(*only: str) -> Callable[[Command], Command]:
    """Give a command the options of how a file is read, or some of them, as one dictionary, `asked`."""
    return as_one("asked", {name: _READING[name] for name in only or _READING}, lambda chosen: chosen)


def with_fields(parameter: str, kind: type[Any]) -> Callable[[Command], Command]:
    """Give a command an option for each field of a NamedTuple of options, which it gets as one `parameter`."""
    hints, defaults = get_type_hints(kind, include_extras=True), kind._field_defaults
    return as_one(parameter, {name: (hints[name], defaults[name]) for name in defaults}, lambda own: kind(**own))


def as_one(
    parameter: str, members: dict[str, tuple[Any, Any]], made: Callable[[dict[str, Any]], Any]
) -> Callable[[Command], Command]:
    """Let a command have many options, as (type, default), where it names one `parameter`: what is made of them."""

    def extended(command: Command) -> Command:
        @functools.wraps(command)
        def run(**values: Any) -> None:
            chosen = {name: values.pop(name) for name in members}
            command(**values, **{parameter: made(chosen)})

        listed: list[inspect.Parameter] = []
        for one in inspect.signature(command, eval_str=True).parameters.values():
            own = members if one.name == parameter else {one.name: (one.annotation, one.default)}
            listed += [
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
                for name, (kind, default) in own.items()
            ]
        run.__signature__ = inspect.Signature(listed)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in listed}
        return run

    return extended
