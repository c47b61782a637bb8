"""`glnn inspect`: what happens inside a model along a sequence, as a page or a picture. For a network, the activities
of its units. A mixture has no units: it shows how much each context, match and network spoke for the symbol that came;
a context tree shows how much contexts of each length counted.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glnn.cli import options

if TYPE_CHECKING:
    from glnn.estimators import Trace


_MOST_VOICES = 12


def inspect(
    run: options.Run,
    file: options.File,
    out: Annotated[
        Path | None,
        typer.Option(metavar="OUT", help="A page (.html) or a picture (.png); FILE-inside.html if left out."),
    ] = None,
    begin: Annotated[int, typer.Option(min=0, help="The first symbol (or case) to look at.")] = 0,
    length: Annotated[int, typer.Option(min=2, help="How many symbols to look at.")] = 2000,
    json: options.Json = False,
    force: options.Force = False,
) -> None:
    """Look inside a model at work on a file.

    It shows the activity of each unit of a network at each symbol. On the page (.html) you can zoom and see the
    symbols, the graph and the time scales. A picture (.png) is the heat map alone: time from left to right, a row for
    each unit, blue below zero and red above. --json prints the numbers too.

    For a mixture it shows how much each context, match and network spoke for the symbols that came.

    \b
    Examples:
      glnn inspect tunes other.txt
      glnn inspect tunes other.txt --length 300 --out units.png
    """
    from glnn.cli.inputs import check_free, read
    from glnn.cli.printing import print_json, tell, working
    from glnn.cli.run_folder import open_model
    from glnn.report.heat_map import png
    from glnn.sequences import InputError
    from glnn.storage.atomic import write_whole

    target = out or Path(f"{file.stem}-inside.html")
    if target.suffix.lower() not in (".html", ".png"):
        raise InputError(f"--out {target}: give a name that ends with .html or .png")
    check_free(target, force)
    model: Any
    model, reading = open_model(run)
    if not hasattr(model, "trace"):
        raise InputError(f"a {type(model).__name__} has nothing inside to look at: glnn report shows what it expects")
    data = read(file, reading)
    shown = part_of(data.content, begin, length)
    with working(f"looking inside {run}", json):
        trace: Trace = model.trace(shown)
        if target.suffix.lower() == ".png":
            write_whole(target, png(trace.activities, trace.starts))
        else:
            _write_page(model, shown, file.name, target)
    tell(data.said, json)
    if json:
        print_json(
            {
                "out": str(target),
                "units": trace.activities.shape[1],
                "names": list(trace.names),
                "positions": len(trace.symbols),
                "activities": trace.activities.tolist(),
                "bits": trace.bits.tolist(),
            }
        )
        return
    if trace.names:
        _print_voices(trace)
    what = "rows" if trace.names else "units"
    typer.echo(f"{trace.activities.shape[1]} {what} over {len(trace.symbols):,} symbols: {target}")


def _print_voices(trace: Trace) -> None:
    """Who spoke for what came: on average, and for how many symbols most of all."""
    import numpy as np

    from glnn.cli.printing import console, data_table

    mean = trace.activities.mean(axis=0)
    loudest = np.bincount(trace.activities.argmax(axis=1), minlength=len(trace.names)) / max(len(trace.symbols), 1)
    order = sorted(range(len(trace.names)), key=lambda column: -mean[column])[:_MOST_VOICES]
    rows = [(trace.names[column], f"{mean[column]:.3f}", f"{loudest[column]:.0%}") for column in order]
    console().print(data_table(("what spoke for the symbol that came", "on average", "loudest at"), rows))


def part_of(content: Any, begin: int, length: int) -> Any:
    """Some symbols of one sequence, or enough whole cases to have about that many symbols."""
    from glnn.sequences import InputError, Lines, Sequences, Words

    if begin >= len(content):
        raise InputError(f"--begin {begin}: the data have {len(content)} symbols (or cases), counted from 0")
    if isinstance(content, Sequences):
        kept, total = [], 0
        for which in range(begin, len(content)):
            kept.append(which)
            total += len(content[which])
            if total >= length:
                break
        names = None if content.names is None else [content.names[which] for which in kept]
        return Sequences([content[which] for which in kept], names)
    part = content[begin : begin + length]
    for kind in (Words, Lines):
        if isinstance(content, kind):
            return kind(part)
    return part


def _write_page(model: Any, content: Any, name: str, target: Path) -> None:
    from glnn.report import from_model, write_page

    write_page(from_model(model, content, name=name, samples=False), target)
