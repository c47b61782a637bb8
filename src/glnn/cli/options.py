"""Options that several commands have, said once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
