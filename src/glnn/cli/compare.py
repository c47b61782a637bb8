"""`glnn compare`: your file, every model and baseline at equal CPU time, one table sorted by bits, and a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glnn.cli import options
from glnn.cli.model_options import estimator, with_model_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from glnn.cli.fit_every_model import Row
    from glnn.cli.inputs import Data

INTERRUPTED = 130


@options.with_reading()
@with_model_options("units", "degree")
def compare(
    file: options.File,
    valid: options.Valid = None,
    budget: Annotated[str, typer.Option(help="CPU time for each model: 30s, 2m; or '100 steps'.")] = "30s",
    models: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Only these, separated by commas: glnn,hmm,contexttree,bzip2")
    ] = None,
    parameters: Any = None,
    seed: options.Seed = 0,
    seeds: Annotated[int, typer.Option(min=1, help="Trainings of each random model, each with the whole budget.")] = 3,
    learning: Annotated[
        str,
        typer.Option(
            metavar="HOW",
            help="auto: as each is used, learning on after one text, frozen after several sequences; "
            "frozen: all stay as trained while they are scored; online: they learn on.",
        ),
    ] = "auto",
    asked: Any = None,
    mask: options.Mask = None,
    valid_mask: options.ValidMask = None,
    page: Annotated[
        Path | None, typer.Option(metavar="OUT", help="Where to write the page; NAME-comparison.html if left out.")
    ] = None,
    no_page: Annotated[bool, typer.Option("--no-page", help="Only the table.")] = False,
    json: options.Json = False,
    force: options.Force = False,
) -> None:
    """Compare all models on your data at equal CPU time.

    Each runs alone, on one thread, next to file compressors; a page to look at is written (with --json only if --page
    names one). The bits are those of the validation data (the last tenth of the file without --valid), which no model
    sees in training. Models with a random start are trained with several seeds. How many more bits than the best each
    needs has a 95 % interval, from paired differences on each case or stretch of a text. Each model is scored as it is
    used: after one text, mixtures, trees and n-grams learn on while they are scored, as compressors always do, and are
    marked so (with --learning frozen none of them does).

    \b
    Examples:
      glnn compare book.txt --budget 1m --page book.html
      glnn compare log.csv --case order --activity step --models glnn,hmm,contexttree
    """
    from glnn.cli.fit_every_model import compared
    from glnn.cli.inputs import check_free, free_name, read
    from glnn.cli.printing import console, print_json, tell
    from glnn.sequences import InputError, ReadOptions
    from glnn.training.budget import parse_budget

    parse_budget(budget)
    if page is not None:
        if no_page:
            raise InputError("--page and --no-page exclude each other: give one of them")
        check_free(page, force)
    if valid_mask is not None and valid is None:
        raise InputError("--valid-mask was given without --valid")
    train = read(file, ReadOptions(**asked), mask)
    assert train.options is not None
    held = read(valid, train.options, valid_mask) if valid is not None else None
    said = train.said
    train, held = (train, held) if held is not None else _last_tenth(train)
    if learning not in ("auto", "frozen", "online"):
        raise InputError(f"--learning {learning}: choose auto, frozen or online")
    names = _chosen(models, masked=held.mask is not None)
    estimator("glnn", parameters, {})
    common = {
        "budget": budget,
        "random_state": seed,
        "unknown": "escape",
        "verbose": 0,
        "n_jobs": 1,
        "learning": learning,
    }
    symbols = _symbols(held)
    tell(said, json)
    out = console(json)
    out.print(
        f"{train.path.name}: bits for {symbols:,} symbols that no model was trained on; {budget} of CPU for each"
        f"{f', random models {seeds} times' if seeds > 1 else ''}\n"
    )
    rows: list[Row] = []
    display = Growing(json)
    for row in compared(names, train, held, parameters, common, display.look, seeds):
        rows.append(row)
        display.finished(row)
    display.close()
    ranked = sorted((row for row in rows if not row.error), key=lambda row: row.bits)
    if json:
        print_json(
            {
                "data": str(file),
                "valid": None if valid is None else str(valid),
                "symbols": symbols,
                "budget": budget,
                "learning": learning,
                "rows": [_document(row, symbols, ranked) for row in [*ranked, *(row for row in rows if row.error)]],
            }
        )
    else:
        out.print(table(ranked, symbols))
        for row in rows:
            if row.error:
                tell(f"{row.name} failed: {row.error}")
    if page is None and not no_page and not json:
        page = free_name(f"{file.stem}-comparison", ".html", force)
    if page is not None and ranked:
        write_comparison(page, ranked, held, symbols, f"{file.name}", budget)
        if not json:
            out.print(f"{page}: open it in a browser")
    if any(row.interrupted for row in rows):
        tell("glnn: interrupted; the table has what was done")
        raise typer.Exit(INTERRUPTED)
    if not ranked:
        raise typer.Exit(2)


def table(rows: Sequence[Row], symbols: int) -> Any:
    """Rows in the given order, as a table."""
    from glnn.cli.printing import data_table

    best = min((row for row in rows if row.group != "true model"), key=lambda row: row.bits, default=None)
    lines = [
        (
            row.name,
            row.detail,
            _scored(row),
            f"{row.bits:,.0f}",
            f"{row.bits / max(symbols, 1):.4f}",
            "" if best is None or row is best or row.bits < best.bits else row.over(best).text(),
            "" if row.seconds is None else f"{row.seconds:.1f}",
            "" if row.parameters is None else f"{row.parameters:,}",
        )
        for row in rows
    ]
    return data_table(
        ("model", "", "scored", "bits", "bits per symbol", "over the best", "CPU s", "parameters"), lines, left=3
    )


def _scored(row: Row) -> str:
    """Whether it kept learning while it was scored."""
    if row.group == "true model":
        return ""
    return "learns on" if row.learns else "frozen"


def write_comparison(page: Path, rows: Sequence[Row], held: Data, symbols: int, name: str, budget: str) -> None:
    """The page: the comparison, and the best network or model that can be looked into."""
    from dataclasses import replace

    from glnn.report import Comparison, ComparisonRow, PageData, from_model, write_page

    shown = [
        ComparisonRow(row.name, row.bits, row.group, row.seconds, row.parameters, _said(row, rows[0]), row.curve)
        for row in rows
    ]
    caption = (
        f"Each model had {budget} of CPU time on one thread. Rows marked so keep learning as they read these "
        "data; the others are frozen. Intervals are 95 %, from paired differences on each case or stretch of the text."
    )
    comparison = Comparison(shown, symbols, caption)
    best = next((row for row in rows if row.model is not None), None)
    if best is None:
        content = PageData(title=f"Comparison on {name}", comparison=comparison)
    else:
        content = from_model(best.model, held.content, mask=held.mask, name=name, comparison=comparison)
        content = replace(content, title=f"Comparison on {name}; {best.name} at work")
    write_page(content, page)


def _said(row: Row, best: Row) -> str:
    """What the page shows next to a row's name."""
    parts = [part for part in (row.detail, "learns on" if row.learns else "") if part]
    over = row.over(best)
    if row is not best and over.half is not None:
        parts.append(f"over the best {over.text()}")
    return ", ".join(parts)


def _document(row: Row, symbols: int, ranked: list[Row]) -> dict[str, Any]:
    over = None if row.error else row.over(ranked[0])
    return {
        "learns": row.learns,
        "seeds": list(row.totals),
        "over_best": None if over is None else over.bits,
        "interval": None if over is None or over.half is None else [over.bits - over.half, over.bits + over.half],
        "told_apart": None if over is None or row is ranked[0] else over.told_apart,
        "model": row.name,
        "group": row.group,
        "bits": row.bits,
        "bits_per_symbol": row.bits / max(symbols, 1),
        "cpu_seconds": row.seconds,
        "parameters": row.parameters,
        "detail": row.detail,
        "error": row.error or None,
        "curve": [list(point) for point in row.curve],
    }


def _chosen(models: str | None, masked: bool) -> list[str]:
    from glnn.cli.fit_every_model import COMPRESSORS, NAMES
    from glnn.cli.printing import tell
    from glnn.sequences import InputError

    if models is not None:
        chosen = [name.strip().lower() for name in models.split(",") if name.strip()]
        wrong = [name for name in chosen if name not in NAMES]
        if wrong or not chosen:
            raise InputError(
                f"--models {models}: {', '.join(wrong) or 'an empty name'} is unknown; choose from {', '.join(NAMES)}"
            )
    else:
        chosen = list(NAMES)
    if masked and any(name in COMPRESSORS for name in chosen):
        chosen = [name for name in chosen if name not in COMPRESSORS]
        tell("compressors pay for every symbol, also those that are not to be predicted: they are left out")
    return chosen


def _last_tenth(data: Data) -> tuple[Data, Data]:
    """The data without their last tenth, and that."""
    from glnn.cli.inputs import Data
    from glnn.cli.inspect import part_of
    from glnn.sequences import InputError, Sequences

    total = len(data.content)
    cut = total - max(1, total // 10)
    if cut < 1:
        raise InputError(f"{data.path} holds too little to set a tenth aside: give --valid")
    several = isinstance(data.content, Sequences)
    parts = []
    for begin, end in ((0, cut), (cut, total)):
        length = end - begin
        if several:
            length = sum(len(data.content[which]) for which in range(begin, end))
        mask = None
        if data.mask is not None:
            first = sum(len(data.content[which]) for which in range(begin)) if several else begin
            mask = data.mask[first : first + length]
        content = part_of(data.content, begin, length)
        parts.append(Data(content, mask, getattr(content, "names", None), data.path))
    return parts[0], parts[1]


def _symbols(data: Data) -> int:
    from glnn.sequences import Sequences

    if data.mask is not None:
        return int(data.mask.sum())
    if isinstance(data.content, Sequences):
        return sum(len(item) + 1 for item in data.content)
    return len(data.content)


class Growing:
    """The rows as they come, one line each, and the progress of the current one."""

    def __init__(self, quiet: bool) -> None:
        from glnn.cli.printing import ProgressLine

        self._line = ProgressLine(quiet)
        self._name = ""

    def look(self, name: str, part: float, text: str) -> None:
        """Where the training of one model stands."""
        from glnn.cli.fit_every_model import title

        self._line.update(part, f"{title(name)}: {text}", new=name != self._name)
        self._name = name

    def finished(self, row: Row) -> None:
        """A finished row."""
        told = f"failed: {row.error}" if row.error else f"{row.bits:,.0f} bits"
        self._line.display.say(f"{row.name}: {told}")

    def close(self) -> None:
        """Remove the progress line."""
        self._line.close()
