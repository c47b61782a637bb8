"""`glnn demo`: learn how texts are made in half a minute, and see what was learned.

A sample of one of the paper's sources is learned and another one coded. The network's bits lie between those of the
true model, which knows how the text is made, and those of models that learn no structure. Insertions shows it best: to
go on with the alphabet after a block of digits, with words inside it, one has to remember where one was.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glnn.cli import options

if TYPE_CHECKING:
    from glnn.cli.fit_every_model import Row
    from glnn.sources import Sample

# Distant XOR has 10,000 lines in the paper, most of them coin flips: fewer show the same in a moment.
_SIZES = {"xor": 1000}
_LINES, _WIDTH, _READ = 5, 76, 500
_INTERRUPTED = 130


def demo(
    source: Annotated[str, typer.Option(metavar="NAME", help="insertions | music | xor | anbn")] = "insertions",
    budget: Annotated[str, typer.Option(help="CPU time for the network.")] = "30s",
    seed: options.Seed = 0,
    out: Annotated[Path | None, typer.Option(metavar="OUT", help="The page; glnn-demo.html if left out.")] = None,
    json: options.Json = False,
    force: options.Force = False,
) -> None:
    """The one to show a friend: under a minute, ends with a page.

    \b
    Examples:
      glnn demo
      glnn demo --source music
    """
    from glnn import sources
    from glnn.cli.compare import Growing, table
    from glnn.cli.fit_every_model import Row, compared
    from glnn.cli.inputs import Data, check_free, free_name
    from glnn.cli.printing import console, print_json, working
    from glnn.training.budget import parse_budget

    parse_budget(budget)
    chosen = sources.get(source)
    target = out or free_name("glnn-demo", ".html", force)
    check_free(target, force)
    size = _SIZES.get(source, chosen.default_size)
    known, coded = chosen.sample(size, seed), chosen.sample(size, seed + 1)
    show = console(json)
    show.print(f"A program makes texts like this one ({source}, {len(known.text):,} symbols):\n")
    _show(show, known.text)
    masked = not coded.mask.all()
    train, valid = (Data(part.text, part.mask if masked else None, None, Path(source)) for part in (known, coded))
    symbols = int(coded.mask.sum())
    show.print("\nA network learns from it, and then codes a second text that it has not seen.\n")
    names = ["contexttree", "glnn"] if masked else ["bzip2", "contexttree", "glnn"]
    common = {"budget": budget, "random_state": seed, "unknown": "error", "verbose": 0, "n_jobs": 1}
    growing = Growing(json)
    rows = [Row("true model", "true model", chosen.bits(coded.text), detail="knows how the text is made")]
    for row in compared(names, train, valid, {}, common, growing.look):
        rows.append(row)
        growing.finished(row)
    growing.close()
    failed = [row for row in rows if row.error]
    if failed:
        raise ValueError(f"{failed[0].name} failed: {failed[0].error}")
    rows.sort(key=lambda row: row.bits)
    network = next(row for row in rows if row.model is not None and row.group == "network")
    # The beginning of the one text it learned from is learned by heart: it continues from the end.
    written = network.model.sample(_LINES * _WIDTH, prefix=known.text[-_READ:], random_state=seed)
    with working("writing the page", json):
        _write_page(target, rows, valid, symbols, source, budget, network)
    if json:
        print_json(_document(source, size, seed, known, rows, symbols, written, target))
    else:
        show.print(table(rows, symbols))
        show.print(_said(rows, network))
        show.print("\nWhat the network writes when it is asked to go on by itself:\n")
        _show(show, written)
        show.print(f"\nHow it learned, where it is surprised and what its units do: open [bold]{target}[/bold]")
    if network.interrupted:
        raise typer.Exit(_INTERRUPTED)


def _said(rows: list[Row], network: Row) -> str:
    """What the table says, in a sentence."""
    bits = {row.name: row.bits for row in rows}
    true = bits["true model"]
    text = f"The network needs {network.bits - true:,.0f} bits more than the true model"
    others = [name for name in ("ContextTree", "bzip2") if name in bits]
    return text + "".join(f", {name} {bits[name] - true:,.0f}" for name in others) + "."


def _write_page(
    target: Path, rows: list[Row], valid: Any, symbols: int, source: str, budget: str, network: Row
) -> None:
    from glnn.report import Comparison, ComparisonRow, from_model, write_page

    shown = [
        ComparisonRow(row.name, row.bits, row.group, row.seconds, row.parameters, row.detail, row.curve) for row in rows
    ]
    comparison = Comparison(shown, symbols, f"The network had {budget} of CPU time on one thread.")
    page = from_model(network.model, valid.content, mask=valid.mask, name=source, comparison=comparison)
    write_page(page, target)


def _document(
    source: str, size: int, seed: int, known: Sample, rows: list[Row], symbols: int, written: str, target: Path
) -> dict[str, Any]:
    return {
        "source": source,
        "size": size,
        "seeds": [seed, seed + 1],
        "symbols": symbols,
        "rows": [
            {"model": row.name, "bits": row.bits, "cpu_seconds": row.seconds, "detail": row.detail} for row in rows
        ],
        "sample": written,
        "page": str(target),
    }


def _show(show: Any, text: str) -> None:
    """The first lines of a text, long ones shortened to their two ends."""
    for line in text.splitlines()[:_LINES]:
        show.print(shortened(line), style="cyan", markup=False, no_wrap=True)


def shortened(line: str, width: int = _WIDTH) -> str:
    """The line, or its two ends when it is too long for the screen."""
    if len(line) <= width:
        return line
    note = f" … {len(line):,} symbols … "
    end = (width - len(note)) // 2
    return line[:end] + note + line[-end:]
