"""`glnn score`: the bits that a model needs for a file; for event logs, the cases in the order of their surprise."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glnn.cli import options

if TYPE_CHECKING:
    from glnn.cli.symbol_bits import Scored


def score(
    run: options.Run,
    file: options.File,
    per_symbol: Annotated[bool, typer.Option("--per-symbol", help="A line for each symbol, with its bits.")] = False,
    by: Annotated[str, typer.Option(metavar="WHAT", help="Rank cases by mean, total or peak bits.")] = "mean",
    top: Annotated[int, typer.Option(min=1, help="How many cases to show.")] = 20,
    mask: options.Mask = None,
    predict_after: options.PredictAfter = None,
    format: options.Format = None,
    case: options.Case = None,
    activity: options.Activity = None,
    time: options.Time = None,
    json: options.Json = False,
) -> None:
    """Tell how many bits a model needs for a file.

    Of an event log the cases come in the order of their surprise, the strangest first, each with its strangest event.
    The file is read as the training data were.

    \b
    Examples:
      glnn score tunes other.txt
      glnn score orders new.csv --top 5
      glnn score tunes other.txt --per-symbol > bits.tsv
    """
    from glnn.cli.inputs import read
    from glnn.cli.printing import console, data_table, print_facts, print_json, tell, working
    from glnn.cli.run_folder import open_model
    from glnn.cli.symbol_bits import scored
    from glnn.sequences import InputError
    from glnn.sequences.formats import as_in

    if by not in _RANKINGS:
        raise InputError(f"--by {by}: rank cases by one of {', '.join(_RANKINGS)}")
    model, reading = open_model(run)
    reading = as_in(reading, format=format, case=case, activity=activity, time=time, predict_after=predict_after)
    if mask is not None:
        reading = replace(reading, predict_after=None)
    data = read(file, reading, mask)
    with working(f"scoring {file}", json):
        found = scored(model, data)
    tell(data.said, json or per_symbol)
    cases = None if data.names is None else _ranked(found, data.names, by)
    if json:
        print_json(_document(found, str(file), cases, per_symbol))
        return
    if per_symbol:
        _print_symbols(found, data.names)
        return
    out = console()
    rows = [("symbols", f"{found.symbols:,} to be predicted{_ends(found)}"), ("bits", f"{found.bits:,.1f}")]
    print_facts([*rows, ("bits a symbol", f"{_each(found.bits, found.symbols):.4f}")])
    if cases is not None:
        shown = cases[:top]
        rows_of = [
            (
                row["case"],
                _label(row["strangest"], model),
                f"{row['strangest_bits']:.1f}",
                f"{row['position']:,}",
                f"{row['events']:,}",
                f"{row['bits']:.1f}",
                f"{row['mean']:.2f}",
            )
            for row in shown
        ]
        columns = ("case", "strangest event", "its bits", "place", "events", "bits", "bits an event")
        out.print(data_table(columns, rows_of, left=2))
        if len(cases) > len(shown):
            out.print(f"… and {len(cases) - len(shown):,} less surprising cases (--top shows more, --json all)")


_RANKINGS = {"mean": "mean", "total": "bits", "peak": "strangest_bits"}


def _ranked(found: Scored, names: tuple[str, ...], by: str) -> list[dict[str, Any]]:
    """One row a case, the most surprising first."""
    import numpy as np

    rows = []
    starts, mask = found.encoded.starts, found.encoded.mask
    for which, name in enumerate(names):
        here = slice(int(starts[which]), int(starts[which + 1]))
        own, predicted = found.surprise[here], int(mask[here].sum())
        place = int(np.argmax(own)) if own.size else 0
        rows.append(
            {
                "case": name,
                "bits": float(own.sum()),
                "mean": _each(float(own.sum()), predicted),
                "events": predicted,
                "strangest": found.tokens[here.start + place],
                "strangest_bits": float(own[place]),
                "position": place + 1,
            }
        )
    return sorted(rows, key=lambda row: -row[_RANKINGS[by]])


def _document(found: Scored, file: str, cases: list[dict[str, Any]] | None, per_symbol: bool) -> dict[str, Any]:
    document: dict[str, Any] = {
        "file": file,
        "symbols": found.symbols,
        "bits": found.bits,
        "bits_per_symbol": _each(found.bits, found.symbols),
    }
    if cases is not None:
        document["cases"] = [{**row, "strangest": _plain(row["strangest"])} for row in cases]
    if per_symbol:
        starts = found.encoded.starts.tolist()
        document["per_symbol"] = [
            {
                "symbols": [_plain(token) for token in found.tokens[begin:end]],
                "bits": found.surprise[begin:end].tolist(),
            }
            for begin, end in pairwise(starts)
        ]
    return document


def _print_symbols(found: Scored, names: tuple[str, ...] | None) -> None:
    """Tab-separated lines: case, position, symbol, bits."""
    import json as json_format

    starts = found.encoded.starts.tolist()
    typer.echo("position\tsymbol\tbits" if names is None else "case\tposition\tsymbol\tbits")
    for which, (begin, end) in enumerate(pairwise(starts)):
        name = "" if names is None else f"{names[which]}\t"
        for position in range(begin, end):
            symbol = json_format.dumps(_plain(found.tokens[position]), ensure_ascii=False)
            typer.echo(f"{name}{position - begin}\t{symbol}\t{found.surprise[position]:.6g}")


def _plain(token: Any) -> Any:
    """A symbol in terms of JSON: an end as null."""
    from glnn.sequences.special import Special

    if isinstance(token, Special):
        return None
    return token if isinstance(token, str | int | float | bool) or token is None else str(token)


def _label(token: Any, model: Any) -> str:
    from glnn.report.labels import label

    return label(token, model.alphabet_.kind)


def _ends(found: Scored) -> str:
    sequences = len(found.encoded)
    return f", in {sequences:,} cases with their ends" if sequences > 1 else ""


def _each(bits: float, symbols: int) -> float:
    return bits / symbols if symbols else 0.0
