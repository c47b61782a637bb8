"""The figures of Section 4: validation log-likelihood against time for each source, distant XOR against passes.

Every setting is a thin line, the best one of each family a strong one labelled with its name; families are few, so that
colours can be told apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glnn.reproduction.drawing import (
    AMBER,
    BLUE,
    INK,
    RED,
    SOFT,
    named_at_the_right,
    plain_ticks,
    saved,
    styled,
    without_clutter,
)
from glnn.reproduction.results import Line
from glnn.reproduction.settings import SOURCES, from_json
from glnn.reproduction.tables import TITLES, number


class Family(NamedTuple):
    """Settings that share a colour."""

    title: str
    colour: str
    models: tuple[str, ...]
    invariant: bool


FAMILIES = (
    Family("GLNN, invariant", RED, ("glnn",), True),
    Family("GNN, invariant", AMBER, ("gnn",), True),
    Family("RNN, invariant", BLUE, ("rnn",), True),
    Family("GLNN and GNN, DH+FB", "#8e7cc3", ("glnn", "gnn"), False),
    Family("RNN, DH+FB or RMS", "#7f8c8d", ("rnn",), False),
    Family("LSTM", "#a6acb5", ("lstm",), False),
)
METRICS = {"rbpm": ("RBPM", RED), "ruop": ("RUOP", BLUE)}


def draw_figures(lines: Sequence[Line], xor: Sequence[Line], folder: Path) -> list[Path]:
    """Draw the figures that there are runs for, each as PNG and SVG; the files that were written."""
    written: list[Path] = []
    with styled():
        for source in SOURCES:
            chosen = [line for line in lines if line["setting"]["source"] == source]
            if any("trajectory" in line for line in chosen):
                written += saved(draw_source(chosen, source), folder / source)
        if xor:
            written += saved(draw_xor(xor), folder / "xor")
    return written


def family_of(line: Line) -> Family | None:
    """The family of a network's line; None for a baseline."""
    setting = from_json(line["setting"])
    invariant = setting.output_metric == "qdh"
    found = (family for family in FAMILIES if setting.model in family.models and family.invariant == invariant)
    return next(found, None)


def curve(line: Line) -> tuple[list[float], list[float]]:
    """CPU seconds and regret on validation along a run, without points that are not finite or under the true model."""
    path, true = line["trajectory"], line["true_bits"]["valid"]
    pairs = zip(path["seconds"], path["valid_bits"], strict=True)
    kept = [(seconds, bits - true) for seconds, bits in pairs if bits is not None and bits > true and seconds > 0]
    return [seconds for seconds, _ in kept], [regret for _, regret in kept]


def draw_source(lines: Sequence[Line], source: str) -> Figure:
    """Validation log-likelihood below the true model against CPU seconds, every setting of one source."""
    figure, axes = plt.subplots(figsize=(8.6, 5.2), layout="constrained")
    ends: list[tuple[float, str, str]] = []
    drawn = (line for line in lines if line.get("regret") is not None and "trajectory" in line)
    runs = [line for line in drawn if family_of(line) is not None]
    for family in reversed(FAMILIES):
        mine = sorted((line for line in runs if family_of(line) == family), key=lambda line: -line["regret"])
        order = 10 - FAMILIES.index(family)
        for line in mine[:-1]:
            axes.plot(*curve(line), color=family.colour, lw=0.7, alpha=0.4, zorder=order)
        if mine:
            _strong(axes, mine[-1], family.colour, 20 + order)
            ends.append((curve(mine[-1])[1][-1], f"{family.title}: best −{number(mine[-1]['regret'])}", family.colour))
    best, worst = _range(runs)
    axes.set(xscale="log", yscale="log", ylim=(worst, best))
    longest = max((max(curve(line)[0], default=1.0) for line in runs), default=1.0)
    seen = (seconds for line in runs for seconds, regret in zip(*curve(line), strict=True) if regret < worst)
    shortest = min(0.8 * min(seen, default=longest / 100), longest / 5)
    axes.set_xlim(shortest, longest)
    named_at_the_right(axes, ends + _levels(axes, lines))
    axes.set_xlabel("CPU seconds")
    _titled(axes, f"{TITLES[source][0].upper()}{TITLES[source][1:]}" if source != "anbn" else "aⁿbⁿ", len(runs))
    plain_ticks(axes.yaxis, axes.get_ylim(), "−{:,.0f}")
    plain_ticks(axes.xaxis, axes.get_xlim(), "{:g}")
    without_clutter(axes)
    return figure


def _strong(axes: Axes, line: Line, colour: str, order: int) -> None:
    """A run as a strong line up to its best score, and a weaker one after it."""
    seconds, regrets = curve(line)
    best = min(range(len(regrets)), key=regrets.__getitem__)
    axes.plot(seconds[: best + 1], regrets[: best + 1], color=colour, lw=2.4, solid_capstyle="round", zorder=order)
    axes.plot(seconds[best:], regrets[best:], color=colour, lw=1.2, alpha=0.8, zorder=order)
    axes.plot(
        seconds[best], regrets[best], "o", ms=5.5, mfc="white", mec=colour, mew=1.8, zorder=order + 20, clip_on=False
    )


def draw_xor(lines: Sequence[Line]) -> Figure:
    """Validation log-likelihood and error of the last bit against passes, one line per run.

    Runs that depart from the paper have rows of panels of their own.
    """
    forms = [from_json(line["setting"]).form for line in lines]
    shown = sorted(set(forms))
    rows = len(shown)
    figure, panels = plt.subplots(rows, 2, figsize=(10.5, 0.5 + 3.9 * rows), layout="constrained", squeeze=False)
    longest = max((line["trajectory"]["passes"][-1] for line in lines), default=1)
    for form, pair in zip(shown, panels, strict=True):
        mine = [line for line, its in zip(lines, forms, strict=True) if its == form]
        _draw_xor_runs(mine, pair, form or ("as in the paper" if rows > 1 else ""))
        for axes in pair:
            axes.set_xlim(0, max(longest, 1))
    for axes in panels[-1]:
        axes.set_xlabel("passes over the training data")
    figure.suptitle("Distant XOR, T = 100, validation", x=0.01, ha="left", weight="bold", fontsize=12.5)
    return figure


def _draw_xor_runs(lines: Sequence[Line], panels: Sequence[Axes], name: str) -> None:
    """Likelihoods on the left, errors on the right, and how many runs of each metric succeeded."""
    for line in lines:
        path = line["trajectory"]
        predicted = line["setting"].get("size") or 10_000
        look: dict[str, Any] = {"color": METRICS[line["setting"]["metric"]][1], "lw": 1.4, "alpha": 0.75}
        per_line = [math.nan if bits is None else -bits / predicted for bits in path["valid_bits"]]
        panels[0].plot(path["passes"], per_line, **look)
        panels[1].plot(path["passes"], [100 * error for error in path["valid_error"]], **look)
    named = f"{name[0].upper()}{name[1:]}: log-likelihood" if name else "Log-likelihood"
    panels[0].set_title(f"{named} of the last bit, bits per line", loc="left", fontsize=10.5)
    panels[0].set_ylim(-1.3, 0.02)
    panels[1].set_title("Error, %", loc="left", fontsize=10.5)
    panels[1].set_ylim(-1, 60)
    panels[1].axhline(1.0, color=INK, lw=0.8, ls=(0, (4, 3)))
    # On the left no run has come down yet.
    panels[1].annotate("1 %: success", (0.0, 1.0), xycoords=("axes fraction", "data"), xytext=(4, 4),
                       textcoords="offset points", ha="left", fontsize=9)  # fmt: skip
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
    counted = []
    for metric, (title, colour) in METRICS.items():
        mine = [line for line in lines if line["setting"]["metric"] == metric]
        if mine:
            won = sum(line["success_passes"] is not None for line in mine)
            counted.append((f"{title}: {won} of {len(mine)} under 1 %", colour))
    for place, (text, colour) in enumerate(counted):
        # One below the other in the corner above the curves that have come down.
        look = {"color": colour, "weight": "bold", "ha": "right", "va": "top", "transform": panels[1].transAxes}
        panels[1].text(0.99, 0.97 - 0.07 * place, text, **look)


def _range(runs: Iterable[Line]) -> tuple[float, float]:
    """The best and the worst regret worth showing."""
    found = [line["regret"] for line in runs if line["regret"] > 0]
    if not found:
        return 1.0, 1000.0
    return 0.6 * min(found), max(25 * min(found), 2.5 * sorted(found)[len(found) // 2])


def _levels(axes: Axes, lines: Sequence[Line]) -> list[tuple[float, str, str]]:
    """The sanity checks as levels; their names and where they stand."""
    named = []
    for model, title in (("ctw", "context tree"), ("hmm", "hidden Markov")):
        found = [line["regret"] for line in lines if line["setting"]["model"] == model and line.get("regret")]
        if found:
            axes.axhline(min(found), color=SOFT, lw=0.8, ls=(0, (4, 3)), zorder=1)
            named.append((min(found), f"{title}: −{number(min(found))}", SOFT))
    return named


def _titled(axes: Axes, title: str, runs: int) -> None:
    axes.set_title(title, loc="left", weight="bold", fontsize=12.5, pad=22)
    text = f"Validation log-likelihood, bits below the true model; {runs} settings, the best of each family strong"
    axes.annotate(
        text, (0, 1), xycoords="axes fraction", xytext=(0, 7), textcoords="offset points", color=SOFT, fontsize=9
    )
