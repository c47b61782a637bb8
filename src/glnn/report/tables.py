"""What the page writes as text: the table of a comparison, the most surprising sequences, samples."""

from __future__ import annotations

from html import escape

import numpy as np

from glnn.report.labels import LONGEST_NAME, NEWLINE, label
from glnn.report.page_data import Comparison, ComparisonRow, Sample, Surprise, Together
from glnn.sequences.alphabet import END
from glnn.sequences.variants import Variant, ranked, variants

_MOST_SEQUENCES = 12
_MOST_PIECES = 700
_LONGEST_RUN = 16


def comparison_table(given: Comparison) -> str:
    """Rows from the fewest bits to the most, and how many more than the true model, or than the best."""
    rows = sorted(given.rows, key=lambda row: row.bits)
    true = next((row.bits for row in rows if row.group == "true model"), None)
    best = next((row.bits for row in rows if row.group != "true model"), None)
    heads = ["model", "bits"]
    heads += ["bits per symbol"] if given.symbols else []
    heads += ["over the best" if true is None else "over the true model", "CPU s", "parameters"]
    body = [_comparison_row(row, given.symbols, best if true is None else true, best) for row in rows]
    return _table("Comparison", heads, body)


def sequence_table(given: Surprise) -> str:
    """The sequences with the strangest symbols; equal ones are one row."""
    rows = []
    for variant in strangest_variants(given):
        which = variant.members[0]
        name = given.names[which] if given.names is not None else f"sequence {which}"
        others = f" and {len(variant.members) - 1:,} like it" if len(variant.members) > 1 else ""
        link = f'class="link" data-begin="{given.starts[which]}" data-end="{given.starts[which + 1]}"'
        rows.append(
            f'<tr><th scope="row"><button type="button" {link}>{escape(str(name))}</button>{others}</th>'
            f"<td>{_strangest(given, variant)}</td><td>{_number(variant.peak)}</td>"
            f"<td>{_number(variant.mean, 3)}</td><td>{_number(variant.total)}</td><td>{variant.predicted:,}</td></tr>"
        )
    heads = ["sequence", "strangest symbol", "its bits", "bits per symbol", "bits", "symbols"]
    number = len(given.starts) - 1
    return f"<h3>The most surprising of {number:,} sequences</h3>{_table('Sequences', heads, rows)}"


def strangest_variants(given: Surprise) -> list[Variant]:
    """The sequences that the table shows."""
    return ranked(variants(given.codes, given.bits, given.starts, given.mask))[:_MOST_SEQUENCES]


def _strangest(given: Surprise, variant: Variant) -> str:
    """What came and what was expected instead."""
    position = variant.strangest
    if not given.symbols:
        return ""
    got = f"{escape(given.symbols[given.codes[position]])} {_share(2.0 ** -float(given.bits[position]))}"
    if position not in given.expected:
        return got
    code, probability = given.expected[position]
    return f"{got}, expected {escape(given.symbols[code])} {_share(probability)}"


def _share(probability: float) -> str:
    return f"{probability:.2f}" if probability >= 0.095 else f"{probability:.2g}"


def members_table(given: Together) -> str:
    """Each network's training, and what it needs on the validation data alone, next to all together."""
    rows = []
    for k, member in enumerate(given.members, 1):
        start = "typical" if member.typical_start else "trained"
        cells = [str(member.seed), f"{member.steps:,}", f"{member.seconds:,.1f}", start, _optional(member.bits, ".4f")]
        rows.append(f'<tr><th scope="row">network {k}</th>{_cells(cells)}</tr>')
    empty = ["", "", "", ""]
    if len(given.members) > 1 and given.evenly is not None:
        rows.append(f'<tr><th scope="row">mixed evenly</th>{_cells([*empty, f"{given.evenly:.4f}"])}</tr>')
    if given.weighed is not None:
        rows.append(f'<tr class="best"><th scope="row">weighed</th>{_cells([*empty, f"{given.weighed:.4f}"])}</tr>')
    heads = ["", "seed", "steps", "CPU s", "start state", "bits per symbol, validation"]
    return _table("Networks", heads, rows)


def weights_table(given: Together) -> str:
    """A row for each entropy, shaded where a weight is below or above its even share."""
    columns = given.weights.shape[1]
    even = 1.0 / columns
    heads = ["entropy, bits", *(["β"] if columns == 1 else [f"w{k + 1}" for k in range(columns)])]
    rows = []
    for entropy, weights in zip(given.entropies, given.weights, strict=True):
        cells = "".join(f'<td style="background:{_shade(weight / even - 1.0)}">{weight:.3f}</td>' for weight in weights)
        rows.append(f'<tr><th scope="row">{entropy:.3f}</th>{cells}</tr>')
    return _table("Weights by entropy", heads, rows)


def _shade(part: float) -> str:
    """Blue above the even share, red under it, clear at it; readable on light and dark ground."""
    strength = min(abs(part), 1.0) * 0.45
    return f"rgba({'64,120,216' if part > 0 else '216,80,64'},{strength:.2f})"


def _cells(values: list[str]) -> str:
    return "".join(f"<td>{value}</td>" for value in values)


def sample_text(sample: Sample) -> str:
    """The symbols, with long runs of one symbol given by their length."""
    pieces = [_sampled(symbol, "given") for symbol in sample.prefix]
    symbols, position = list(sample.symbols), 0
    while position < len(symbols) and len(pieces) < _MOST_PIECES:
        symbol = symbols[position]
        end = next((k for k in range(position, len(symbols)) if symbols[k] != symbol), len(symbols))
        run = end - position
        shown = run if run <= _LONGEST_RUN else 3
        pieces += [_sampled(symbol, "")] * shown
        if shown < run:
            pieces.append(f'<span class="more"> ⋯ {run - 6:,} more ⋯ </span>')
            pieces += [_sampled(symbol, "")] * 3
        position = end
    if position < len(symbols):
        pieces.append('<span class="unseen"> …</span>')
    if not pieces:
        return '<span class="unseen">(empty)</span>'
    if not sample.separate:
        return "".join(pieces)
    # Names of several words need more between them than a space.
    between = '<span class="unseen"> → </span>' if any(" " in symbol for symbol in symbols) else " "
    return between.join(pieces).replace(f"<br>{between}", "<br>")


def _comparison_row(row: ComparisonRow, symbols: int | None, reference: float | None, best: float | None) -> str:
    is_true = row.group == "true model"
    over = "" if reference is None or is_true else _number(row.bits - reference)
    cells = [_number(row.bits)]
    cells += [_number(row.bits / symbols, 4)] if symbols else []
    cells += [
        over if over not in ("0.0", "-0.0") else "",
        _optional(row.seconds, ",.1f"),
        _optional(row.parameters, ",d"),
    ]
    kind = ' class="true"' if is_true else ' class="best"' if row.bits == best else ""
    detail = f"<span class='detail'>{escape(row.detail)}</span>" if row.detail else ""
    name = f'<th scope="row">{escape(label(row.name, longest=LONGEST_NAME))}{detail}</th>'
    return f"<tr{kind}>{name}{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _sampled(symbol: str, kind: str) -> str:
    if symbol in (NEWLINE, label(END)):
        return f'<span class="unseen">{symbol}</span><br>'
    # Marks in place of spaces and unseen characters stay in the background; a line may break after them.
    faint = symbol in "·⇥␍" or symbol.startswith(("U+", "\\x"))
    names = " ".join(name for name in (kind, "unseen" if faint else "") if name)
    text = f'<span class="{names}">{escape(symbol)}</span>' if names else escape(symbol)
    return text + "<wbr>" if faint else text


def _number(value: float, digits: int = 1) -> str:
    return f"{value:,.{digits}f}" if np.isfinite(value) else "∞"


def _optional(value: float | int | None, form: str) -> str:
    return "" if value is None else format(value, form)


def _table(name: str, heads: list[str], rows: list[str]) -> str:
    cells = "".join(f'<th scope="col">{head}</th>' for head in heads)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{name}"><table class="numbers">'
        f"<thead><tr>{cells}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )
