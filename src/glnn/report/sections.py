"""The page's text: header, one HTML section for each part, and the places where the scripts draw.

Everything that comes from data goes through `escape`; captions are ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np

from glnn.report.page_data import (
    Comparison,
    Drift,
    Fact,
    Inside,
    Learning,
    PageData,
    Sample,
    Surprise,
    TimeScales,
    Together,
)
from glnn.report.tables import comparison_table, members_table, sample_text, sequence_table, weights_table


def header(page: PageData, chapters: Iterable[tuple[str, str]]) -> str:
    """Title, facts and the table of contents."""
    links = "".join(f'<a href="#{name}">{escape(title)}</a>' for name, title in chapters)
    subtitle = f'<p class="subtitle">{escape(page.subtitle)}</p>' if page.subtitle else ""
    return (
        f"<header><h1>{escape(page.title)}</h1>{subtitle}"
        f'<dl class="facts">{"".join(map(_fact, page.facts))}</dl>'
        f'<nav aria-label="Sections">{links}</nav></header>'
    )


def chapters(page: PageData) -> list[tuple[str, str, str]]:
    """Name, title and HTML of the sections that have something to show."""
    found = []
    if page.comparison is not None and page.comparison.rows:
        found.append(("comparison", "Comparison", comparison(page.comparison)))
    if page.learning is not None and page.learning.history:
        found.append(("learning", "Learning", learning(page.learning)))
    if page.surprise is not None and len(page.surprise.codes):
        found.append(("surprise", "Surprise", surprise(page.surprise)))
    if page.drift is not None:
        found.append(("drift", "Over time", drift(page.drift, "drift-chart")))
    if page.followed is not None:
        found.append(("followed", "Followed", drift(page.followed, "followed-chart")))
    if page.samples:
        found.append(("samples", "Samples", samples(page.samples)))
    if page.together is not None:
        title = "Members" if len(page.together.members) > 1 else "Calibration"
        found.append(("together", title, together(page.together)))
    if page.inside is not None and len(page.inside.codes):
        title = "Inside the network" if page.inside.weights is not None else "Inside the model"
        found.append(("inside", title, inside(page.inside)))
    return found


def comparison(given: Comparison) -> str:
    """Bars, the table and learning curves, from fewest bits to most."""
    caption = given.caption or "Bits that each model needs for the same data, fewest first."
    curves = ""
    if any(len(row.curve) > 1 for row in given.rows):
        curves = _figure("comparison-curves", "medium", "Bits on the same data while each model was learning.")
    return f"<p>{escape(caption)}</p>{_figure('comparison-bars', 'bars', '')}{comparison_table(given)}{curves}"


def learning(given: Learning) -> str:
    """The curves of training."""
    validated = any(info.get("validation") is not None for info in given.history)
    rates = any(info.get("writing_rate") is not None for info in given.history)
    controls = _controls(
        _choice("learning-axis", "against", [("seconds", "CPU seconds"), ("steps", "steps")]),
        _choice("learning-scale", "bits", [("linear", "linear"), ("log", "logarithmic")]),
    )
    caption = "Training and validation data." if validated else "Training data."
    if rates:
        caption += (
            " Below, the learning rates of the writing weights <i>w</i> and of the transitions <i>τ</i>, and how "
            "often a step was rejected and tried again at half the rate."
        )
    if given.best_step:
        caption += " The dotted line marks the step that was kept."
    return controls + _figure("learning-curves", "tall" if rates else "medium", caption)


def surprise(given: Surprise) -> str:
    """Bits along the sequence, the reading pane and the most surprising places."""
    predicted, total = int(given.mask.sum()), float(given.bits.sum())
    intro = (
        f"What each of {predicted:,} symbols cost the model, −log<sub>2</sub> of the probability it gave: "
        f"{_bits(total)} in all, {total / max(predicted, 1):.4g} per symbol. Drag across the chart, or use the "
        "buttons, to look closer; symbols appear under it as soon as they fit."
    )
    if given.about:
        intro = f"<b>{escape(given.about)}</b> {intro}"
    body = f"<p>{intro}</p>" + _zoom("surprise") + _figure("surprise-chart", "medium", "")
    body += '<div class="key" id="surprise-key"></div>'
    body += (
        '<h3>Reading along</h3><p class="hint" id="reading-hint"></p>'
        '<div class="reading" id="reading" tabindex="0" role="region" aria-label="Symbols with their surprise"></div>'
        '<div class="places"><h3>The most surprising symbols</h3><ol id="places"></ol></div>'
    )
    if len(given.starts) > 2:
        body += sequence_table(given)
    return body


def drift(given: Drift, chart: str) -> str:
    """Bits per event over time, and whether they changed."""
    total = int(given.ends[-1])
    words = f"What {total:,} {given.events} cost, one after the other, averaged over {len(given.counts)} stretches. "
    if given.change is None:
        words += "No change stands out from chance."
    else:
        change = given.change
        words += (
            f"The largest change is after {change.after:,} {given.events}, at the dotted line: "
            f"<b>{change.bits_before:.3g}</b> bits each before it and <b>{change.bits_after:.3g}</b> after it"
            + (", for the model as it was trained." if given.frozen is not None else ".")
        )
    if given.frozen is not None and given.learning is not None:
        weights = given.counts / given.counts.sum()
        own, learning = (float((part * weights).sum()) for part in (given.frozen, given.learning))
        words += (
            f" As it was trained, the model needs {own:.4g} bits on average. When it goes on learning, from "
            f"each of the {given.events} once it was predicted, it needs {learning:.4g}."
        )
    return f"<p>{words}</p>{_figure(chart, 'medium', '')}"


def samples(given: Sequence[Sample]) -> str:
    """What the model writes by itself."""
    return "<p>What the model writes when it draws symbol after symbol from its own predictions.</p>" + "".join(
        f"<figure><figcaption>{escape(sample.heading)}</figcaption>"
        f'<div class="sample{" apart" if sample.separate else ""}">{sample_text(sample)}</div></figure>'
        for sample in given
    )


def together(given: Together) -> str:
    """The networks one by one, and their weights by entropy."""
    if len(given.members) > 1 and given.weights.shape[1] == 1:
        text = (
            f"{len(given.members)} networks predict together by their median, <i>p</i>(<i>y</i>) ∝ exp "
            "<i>β</i>(<i>h</i>) med<sub><i>k</i></sub> log <i>p<sub>k</sub></i>(<i>y</i>), so that one that is sure "
            "and wrong is outvoted. <i>β</i> depends on the entropy <i>h</i> of the median and was learned on the "
            "validation data."
        )
    elif len(given.members) > 1:
        text = (
            f"{len(given.members)} networks predict together, <i>p</i>(<i>y</i>) ∝ exp Σ<sub><i>k</i></sub> "
            "<i>w<sub>k</sub></i>(<i>h</i>) log <i>p<sub>k</sub></i>(<i>y</i>): the weights depend on the entropy "
            "<i>h</i> of their even mixture and were learned on the validation data."
        )
    else:
        text = (
            "Predictions are corrected by how sure they are, <i>p</i> ∝ <i>p</i><sup><i>β</i>(<i>h</i>)</sup>, where "
            "<i>h</i> is their own entropy. A <i>β</i> under 1 makes them less sure, one above 1 surer; it was learned "
            "on the validation data."
        )
    return f"<p>{text}</p>{members_table(given)}{weights_table(given)}"


def inside(given: Inside) -> str:
    """Activities, runs, the graph, writing weights, time scales."""
    units = given.activities.shape[1]
    behind = {
        "V": " Behind its activity <i>a</i> = <i>s</i>(<i>V</i>) each unit holds a value <i>V</i> without bounds, "
        "which the symbols raise and lower.",
        "c": " Behind its activity each unit holds the value <i>c</i> of its cell.",
    }
    body = (
        "<p>The activity of every unit, and the symbols that the network reads."
        + (behind.get(given.held_name, "") if given.held is not None else "")
        + " Choose units, here or by clicking on a row, to see them as curves.</p>"
        + _controls(
            _choice("unit-show", "show", [("activity", "activity a"), ("held", given.held_name)]),
            _choice(
                "unit-order",
                "order by",
                [("ramp", "ramp"), ("time", "time scale"), ("varies", "variation"), ("number", "number")],
            ),
            _choice("unit-colours", "colours", [("own", "range of each unit"), ("same", "one scale for all")]),
        )
        + '<div class="chips" id="unit-chips" role="group" aria-label="Units shown as curves"></div>'
        + _zoom("activity")
        + _figure("activity-chart", "tallest", "")
        + '<div class="key" id="activity-key"></div>'
    )
    body += (
        '<div id="folds-part"><h3>Counting</h3><p>Runs of one symbol, laid over one another: each curve is one run, '
        "the dot its end. Runs are aligned at their starts or at their ends, whichever brings them closer together. "
        "Where curves of different lengths fall on one another from the start, the unit knows how many symbols went "
        "by; where they do so towards the end, it knows how many are left.</p>"
        + _controls(
            _choice("fold-unit", "unit", []),
            _choice("fold-show", "show", [("activity", "activity a"), ("held", given.held_name)]),
            _choice("fold-align", "align", _ALIGNMENTS),
        )
        + _figure("folds-chart", "medium", "")
        + "</div>"
    )
    if given.weights is not None:
        body += (
            '<div class="pair"><div><h3>The graph</h3>'
            + _controls(_choice("graph-symbol", "weights on reading", []), _choice("graph-group", "into", []))
            + '<div class="graph" id="graph"></div>'
            + '<p class="hint" id="graph-hint"></p><div class="key" id="graph-key"></div></div>'
            + '<div><h3>Writing weights</h3><p class="hint">How much each unit speaks for (orange) or against (blue) '
            "each symbol, when its activity is positive.</p>" + _figure("writing-chart", "square", "") + "</div></div>"
        )
    if given.time_scales is not None:
        body += "<h3>Time scales</h3>" + _figure("scales-chart", "medium", _about_scales(given.time_scales, units))
    return body


def _about_scales(scales: TimeScales, units: int) -> str:
    words = f"How many symbols each of the {units} units remembers."
    if scales.own is not None:
        words += (
            " <b>Alone</b>: for how long the unit's own loop keeps a change; a triangle at the upper edge stands for a "
            "change that does not die out."
        )
    return words + (
        " <b>Measured</b>: the lag at which its activity along these data is correlated with itself by less than 1/e."
    )


_ALIGNMENTS = [("best", "whichever is closer"), ("start", "starts"), ("end", "ends")]


def _fact(fact: Fact) -> str:
    detail = f"<dd class='detail'>{escape(fact.detail)}</dd>" if fact.detail else ""
    return f"<div><dt>{escape(fact.name)}</dt><dd>{escape(fact.value)}</dd>{detail}</div>"


def _figure(name: str, size: str, caption: str) -> str:
    """A place for a chart; captions are HTML of ours."""
    words = f"<figcaption>{caption}</figcaption>" if caption else ""
    return f'<figure><div class="chart {size}" id="{name}"></div>{words}</figure>'


def _controls(*parts: str) -> str:
    return f'<div class="controls">{"".join(parts)}</div>'


def _choice(name: str, words: str, options: Sequence[tuple[str, str]]) -> str:
    listed = "".join(f'<option value="{value}">{escape(text)}</option>' for value, text in options)
    return f'<label class="choice" for="{name}">{words} <select id="{name}">{listed}</select></label>'


def _zoom(name: str) -> str:
    buttons = (
        ("left", "←", "earlier"),
        ("in", "+", "closer"),
        ("out", "−", "wider"),
        ("right", "→", "later"),
        ("all", "all", "everything"),
    )
    return (
        f'<div class="zoom" id="{name}-zoom">'
        + "".join(
            f'<button type="button" data-move="{m}" aria-label="{a}" title="{a}">{t}</button>' for m, t, a in buttons
        )
        + f'<output id="{name}-range"></output></div>'
    )


def _bits(value: float) -> str:
    return f"{value:,.1f} bits" if np.isfinite(value) else "infinitely many bits (a symbol was given probability 0)"
