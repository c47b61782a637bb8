"""`glnn follow`: watch a log as it grows, and report surprising events with what was expected instead."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from glnn.cli import options


class Wanted(NamedTuple):
    """What to tell, and how long to go on."""

    threshold: Annotated[
        float | None, typer.Option(metavar="BITS", min=0.0, help="Report events that cost more than this many bits.")
    ] = None
    false_alarms: Annotated[
        float | None,
        typer.Option(metavar="RATE", help="The share of normal events to report; 0.001 unless --threshold is given."),
    ] = None
    normal: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A file of normal events; the run's validation data if left out."),
    ] = None
    learn: Annotated[bool, typer.Option("--learn", help="Keep learning from what is followed.")] = False
    once: Annotated[bool, typer.Option("--once", help="Stop at the end of the file.")] = False
    last: Annotated[
        str | None, typer.Option(metavar="ACTIVITY", help="Event log: the activity after which a case is over.")
    ] = None
    cases: Annotated[
        int, typer.Option(min=1, help="Event log: how many cases to keep; the one unused longest is forgotten.")
    ] = 10_000
    state: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to keep its place; next to the model if left out.")
    ] = None
    save_every: Annotated[float, typer.Option(metavar="SECONDS", min=0.0, help="How often to write it.")] = 5.0


@options.with_reading("format", "tokens", "case", "activity", "delimiter", "predict_after")
@options.with_fields("wanted", Wanted)
def follow(
    run: options.Run,
    file: Annotated[
        Path, typer.Argument(metavar="[FILE]", help="A file that grows, through rotation; - is standard input.")
    ] = Path("-"),
    wanted: Any = None,
    asked: Any = None,
    json: Annotated[bool, typer.Option("--json", help="Print a JSON document for each surprise.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Follow a log as it grows, and report surprising events.

    Lines are read as the training data were. Its place in the log is kept in a file, so that the next start continues
    where the last one ended or was killed; what came after the last save is then reported again. A model trained to
    predict only what comes after a symbol is asked about nothing else.

    \b
    Examples:
      glnn follow orders /var/log/orders.csv --false-alarms 0.0001
      glnn follow orders new.csv --once --threshold 8 --json
      journalctl -f | glnn follow lines - --learn
    """
    from glnn.cli.follow_a_file import followed

    followed(run, file, wanted, asked, json, quiet)
