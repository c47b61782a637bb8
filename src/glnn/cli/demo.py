"""`glnn demo`: the four synthetic sources, what the true model needs for them and what bzip2 does.

As in the paper's table a second sample is coded when a first one is known, and the regret is what is spent
beyond the true model. A compressor pays for every symbol, so here the true model does too.
"""

from __future__ import annotations

import json as json_format
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

# Distant XOR has 10,000 lines in the paper, most of them coin flips: fewer show the same in a moment.
_SIZES = {"xor": 1000}
_LINES_SHOWN = 2


def demo(
    seed: Annotated[int, typer.Option(min=0, help="Of the first sample; the second has the next one.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the paper's four sources, their exact bits and those of bzip2."""
    from rich.console import Console

    from glnn.sources import NAMES

    console = Console(quiet=json, highlight=False)
    console.print("Four sources of symbols: a first sample is known, a second one is to be coded.\n")
    rows = [_row(name, seed, console) for name in NAMES]
    if json:
        typer.echo(json_format.dumps(rows))
        return
    console.print(_table(rows))
    console.print(
        "\nThe true model knows how the text is made. What bzip2 spends beyond it is the\n"
        "structure it did not find: the room for a model that learns.\n"
        "[bold]glnn source NAME --out FILE[/] writes a sample to a file."
    )


def _row(name: str, seed: int, console: Console) -> dict[str, Any]:
    from glnn import sources
    from glnn.baselines.compressors import added_bits

    source = sources.get(name)
    size = _SIZES.get(name, source.default_size)
    known, coded = source.sample(size, seed), source.sample(size, seed + 1)
    console.print(f"[bold]{name}[/] ({size:,} {source.unit})")
    for line in coded.text.splitlines()[:_LINES_SHOWN]:
        console.print(_shortened(line), style="cyan", markup=False, no_wrap=True)
    console.print()
    exact = source.bits(coded.text, masked=False)
    bzip2 = added_bits(known.text, coded.text, "bzip2")
    return {
        "source": name,
        "size": size,
        "seeds": [seed, seed + 1],
        "symbols": len(coded.text),
        "true_model_bits": exact,
        "bzip2_bits": bzip2,
        "bzip2_regret": bzip2 - exact,
    }


def _shortened(line: str, width: int = 76) -> str:
    """The line, or its two ends when it is too long for the screen."""
    if len(line) <= width:
        return line
    note = f" … {len(line):,} symbols … "
    end = (width - len(note)) // 2
    return line[:end] + note + line[-end:]


def _table(rows: list[dict[str, Any]]) -> Any:
    from rich.table import Table

    table = Table(title="Bits for the second sample", title_justify="left")
    table.add_column("source")
    for heading in ("symbols", "true model", "bzip2", "regret of bzip2"):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(
            row["source"],
            f"{row['symbols']:,}",
            f"{row['true_model_bits']:,.0f}",
            f"{row['bzip2_bits']:,}",
            f"{row['bzip2_regret']:,.0f}",
        )
    return table
