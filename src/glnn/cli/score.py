"""`glnn score`: the bits that a model needs for a file; cases ranked by what is strangest in them, with what was
expected.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glnn.cli import options

if TYPE_CHECKING:
    from glnn.cli.alarms import Alarm
    from glnn.cli.symbol_bits import Scored
    from glnn.predictors.expected import Expected
    from glnn.sequences.variants import Variant

_MOST_CASES = 20
_CONTEXT = 24
_WIDEST = 48


@options.with_reading("predict_after", "format", "case", "activity", "time")
def score(
    run: options.Run,
    file: options.File,
    per_symbol: Annotated[bool, typer.Option("--per-symbol", help="A line for each symbol, with its bits.")] = False,
    by: Annotated[
        str,
        typer.Option(metavar="WHAT", help="Rank cases by bits: of the two strangest events (two), peak, mean, total."),
    ] = "two",
    top: Annotated[
        int | None, typer.Option(min=1, help="How many cases to show (20), or how many places of one text.")
    ] = None,
    alarms: Annotated[
        float, typer.Option(metavar="RATE", help="The share of normal cases that may be above the threshold.")
    ] = 0.01,
    normal: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Normal cases for the threshold; the held-out ones if left out."),
    ] = None,
    mask: options.Mask = None,
    asked: Any = None,
    json: options.Json = False,
) -> None:
    """Say how many bits a model needs for a file. The cases of an event log are ranked by their two strangest events,
    with what was expected instead; equal cases share a line. Cases above the threshold are marked: it is the score that
    one in a hundred normal cases would pass (--alarms). The file is read as the training data were.

    \b
    Examples:
      glnn score tunes other.txt --top 5
      glnn score orders new.csv --top 5 --alarms 0.001
      glnn score tunes other.txt --per-symbol > bits.tsv
    """
    from glnn.cli.alarms import bound, normal_scores, scores_of
    from glnn.cli.inputs import read
    from glnn.cli.printing import print_facts, print_json, tell, working
    from glnn.cli.run_folder import open_model
    from glnn.cli.symbol_bits import scored
    from glnn.predictors.expected import expected_at
    from glnn.sequences import InputError
    from glnn.sequences.formats import as_in
    from glnn.sequences.variants import RANKINGS, ranked

    if by not in RANKINGS:
        raise InputError(f"--by {by}: rank cases by one of {', '.join(RANKINGS)}")
    if not 0.0 < alarms < 1.0:
        raise InputError(f"--alarms {alarms}: give a share between 0 and 1, such as 0.01")
    model, reading = open_model(run)
    reading = as_in(reading, **asked)
    if mask is not None:
        reading = replace(reading, predict_after=None)
    data = read(file, reading, mask)
    usual = None if normal is None else read(normal, reading)
    cases: list[Variant] = []
    places: list[int] = []
    alarm: Alarm | None = None
    with working(f"scoring {file}", json):
        found = scored(model, data)
        if data.names is not None:
            cases = ranked(found.variants(), by)
            places = [variant.strangest for variant in (cases if json else cases[: top or _MOST_CASES])]
            scores = normal_scores(model, run, by) if usual is None else (scores_of(model, usual, by), False)
            alarm = None if scores is None or not len(scores[0]) else bound(scores[0], alarms, scores[1])
        elif top is not None:
            places = found.strangest(top)
        expected = expected_at(model.predictor_, found.encoded, places)
    tell(data.said, json or per_symbol)
    shown = _Shown(model, found, expected, data.names)
    if json:
        print_json(_document(shown, str(file), cases, places, alarm, by, per_symbol))
        return
    if per_symbol:
        _print_symbols(found, data.names)
        return
    rows = [("symbols", f"{found.symbols:,} to be predicted{_ends(found)}"), ("bits", f"{found.bits:,.1f}")]
    rows.append(("bits per symbol", f"{_each(found.bits, found.symbols):.4f}"))
    if found.unknown:
        rows.append(("unknown", _unknown_text(shown)))
    if alarm is not None:
        above = sum(len(variant.members) for variant in cases if variant.score(by) > alarm.bits)
        rows.append(("threshold", alarm.text(above, len(found.encoded))))
    print_facts(rows)
    if cases:
        _print_cases(shown, cases, top or _MOST_CASES, alarm, by)
    elif places:
        _print_places(shown, places)


class _Shown:
    """A scored file, with names for everything in it."""

    def __init__(self, model: Any, found: Scored, expected: dict[int, Expected], names: tuple[str, ...] | None) -> None:
        self.model, self.found, self.expected, self.names = model, found, expected, names

    def label(self, token: Any) -> str:
        """A symbol as people read it; the end has a name too."""
        from glnn.report.labels import label

        return label(token, self.model.alphabet_.kind)

    def got(self, position: int) -> str:
        """What came, with its probability."""
        return f"{self.label(self.found.tokens[position])} {_share(2.0 ** -self.found.surprise[position])}"

    def instead(self, position: int) -> str:
        """What was expected, with its probability."""
        there = self.expected[position]
        return f"{self.label(self.model.alphabet_.symbols[there.code])} {_share(there.probability)}"

    def facts(self, position: int) -> dict[str, Any]:
        """The same for machines."""
        there = self.expected.get(position)
        facts: dict[str, Any] = {
            "strangest": plain(self.found.tokens[position]),
            "strangest_bits": float(self.found.surprise[position]),
        }
        if there is not None:
            facts["expected"] = plain(self.model.alphabet_.symbols[there.code])
            facts["expected_probability"] = there.probability
        return facts


def _print_cases(shown: _Shown, cases: list[Variant], most: int, alarm: Alarm | None, by: str) -> None:
    from glnn.cli.printing import console, data_table

    assert shown.names is not None
    starts = shown.found.encoded.starts
    rows = []
    for variant in cases[:most]:
        first = variant.members[0]
        others = f" and {len(variant.members) - 1:,} like it" if len(variant.members) > 1 else ""
        mark = "" if alarm is None or variant.score(by) <= alarm.bits else "! "
        rows.append(
            (
                f"{mark}{shown.names[first]}{others}",
                shown.got(variant.strangest),
                shown.instead(variant.strangest),
                f"{variant.peak:.1f}",
                f"{variant.strangest - int(starts[first]) + 1:,} of {variant.predicted:,}",
                f"{variant.two:.1f}",
                f"{variant.total:.1f}",
                f"{variant.mean:.2f}",
            )
        )
    out = console()
    columns = ("case", "strangest event: got", "expected", "its bits", "place", "of two", "of all", "an event")
    out.print(data_table(columns, rows, left=3))
    if len(cases) > most:
        left = sum(len(variant.members) for variant in cases[most:])
        out.print(f"… and {left:,} less surprising case{'s' * (left != 1)} (--top shows more, --json all)")


def _print_places(shown: _Shown, places: list[int]) -> None:
    from glnn.cli.printing import console, data_table

    apart = "" if shown.model.alphabet_.kind in ("characters", "bytes") else " "
    rows = []
    for position in places:
        before = apart.join(map(shown.label, shown.found.tokens[max(position - _CONTEXT, 0) : position]))
        rows.append(
            (
                # Words and lines may be long: the table is to stay one that can be read.
                before if len(before) <= _WIDEST else f"…{before[1 - _WIDEST :]}",
                shown.got(position),
                shown.instead(position),
                f"{shown.found.surprise[position]:.1f}",
                f"{position:,}",
            )
        )
    console().print(data_table(("after", "got", "expected", "its bits", "place"), rows, left=3))


def _document(
    shown: _Shown, file: str, cases: list[Variant], places: list[int], alarm: Alarm | None, by: str, per_symbol: bool
) -> dict[str, Any]:
    found = shown.found
    document: dict[str, Any] = {
        "file": file,
        "symbols": found.symbols,
        "bits": found.bits,
        "bits_per_symbol": _each(found.bits, found.symbols),
    }
    starts = found.encoded.starts.tolist()
    if found.unknown:
        document["unknown"] = _unknown(shown)
    if shown.names is not None:
        document["threshold"] = None if alarm is None else {**vars(alarm), "by": by}
        document["cases"] = [
            {
                "case": shown.names[which],
                "variant": number,
                "score": variant.score(by),
                "bits": variant.total,
                "mean": variant.mean,
                "events": variant.predicted,
                **shown.facts(variant.strangest),
                "position": variant.strangest - starts[variant.members[0]] + 1,
                "alarm": None if alarm is None else variant.score(by) > alarm.bits,
            }
            for number, variant in enumerate(cases)
            for which in variant.members
        ]
    elif places:
        document["places"] = [{"position": position, **shown.facts(position)} for position in places]
    if per_symbol:
        document["per_symbol"] = [
            {
                "symbols": [plain(token) for token in found.tokens[begin:end]],
                "bits": found.surprise[begin:end].tolist(),
            }
            for begin, end in pairwise(starts)
        ]
    return document


def _unknown(shown: _Shown) -> list[dict[str, Any]]:
    """Symbols that the model does not know, the most frequent first, with those it knows that look like them."""
    from collections import Counter

    from glnn.sequences.nearest import nearest_symbols

    return [
        {"symbol": plain(symbol), "count": count, "nearest": nearest_symbols(symbol, shown.model.alphabet_)}
        for symbol, count in Counter(shown.found.unknown).most_common()
    ]


def _unknown_text(shown: _Shown) -> str:
    rows = _unknown(shown)
    told = []
    for row in rows[:3]:
        near = f", near {', '.join(row['nearest'])}" if row["nearest"] else ""
        told.append(f"{shown.label(row['symbol'])} ({row['count']:,} times{near})")
    more = f" and {len(rows) - 3:,} more" if len(rows) > 3 else ""
    return f"{len(shown.found.unknown):,} symbols that the model does not know: {'; '.join(told)}{more}"


def _print_symbols(found: Scored, names: tuple[str, ...] | None) -> None:
    """Tab-separated lines: case, position, symbol, bits."""
    import json as json_format

    starts = found.encoded.starts.tolist()
    typer.echo("position\tsymbol\tbits" if names is None else "case\tposition\tsymbol\tbits")
    for which, (begin, end) in enumerate(pairwise(starts)):
        name = "" if names is None else f"{names[which]}\t"
        for position in range(begin, end):
            symbol = json_format.dumps(plain(found.tokens[position]), ensure_ascii=False)
            typer.echo(f"{name}{position - begin}\t{symbol}\t{found.surprise[position]:.6g}")


def plain(token: Any) -> Any:
    """A symbol as JSON; the end and the escape have names of their own."""
    from glnn.report.labels import label
    from glnn.sequences.alphabet import Special

    if isinstance(token, Special):
        return label(token)
    return token if isinstance(token, str | int | float | bool) or token is None else str(token)


def _share(probability: float) -> str:
    """A probability with two significant digits."""
    return f"{probability:.2f}" if probability >= 0.095 else f"{probability:.2g}"


def _ends(found: Scored) -> str:
    sequences = len(found.encoded)
    return f", in {sequences:,} cases with their ends" if sequences > 1 else ""


def _each(bits: float, symbols: int) -> float:
    return bits / symbols if symbols else 0.0
