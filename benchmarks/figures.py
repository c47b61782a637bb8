"""Figures of the speed page: growth of an update's cost, and regret against CPU time beside PyTorch networks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from benchmarks.growth import described
from benchmarks.records import FIGURES, Record
from glnn.reproduction.drawing import (
    AMBER,
    BLUE,
    RED,
    SOFT,
    named_at_the_right,
    plain_ticks,
    saved,
    styled,
    without_clutter,
)

METRICS = {"rbpm": ("RBPM", RED), "qdrbpm": ("QDRBPM", BLUE)}
MODELS = {"GLNN": RED, "LSTM": BLUE, "GRU": AMBER}
SUBJECTS = {"T": "T, symbols", "N": "N, units", "d": "d, edges from each unit", "A": "A, letters"}
TITLES = {"insertions": "Insertions", "music": "Music", "anbn": "aⁿbⁿ"}


def draw_growth(record: Record, folder: Path = FIGURES) -> list[Path]:
    """Cost against T, N, d and A on logarithmic axes, and against d on plain ones."""
    with styled():
        figure, panels = plt.subplots(2, 2, figsize=(9.6, 7.4), layout="constrained")
        for letter, axes in zip(SUBJECTS, panels.flat, strict=True):
            lines = [line for line in record["sweeps"] if line["against"] == letter]
            for line in lines:
                _growth(axes, line)
            axes.set(xscale="log", yscale="log")
            _guides(axes, lines)
            _named(axes, lines)
            _log_ticks(axes)
            _titled(axes, SUBJECTS[letter], _others(lines))
        figure.suptitle("Milliseconds for one update of w and one of τ", x=0.01, ha="left", weight="bold", fontsize=13)
        written = saved(figure, folder / "speed_growth")
        figure, axes = plt.subplots(figsize=(7.6, 4.2), layout="constrained")
        lines = [line for line in record["sweeps"] if line["against"] == "d"]
        for line in lines:
            _growth(axes, line, law=True)
        _named(axes, lines, law=True)
        axes.set(xlim=(0, None), ylim=(0, None))
        without_clutter(axes)
        axes.set_xlabel(f"{SUBJECTS['d']}; {_others(lines)}", color=SOFT, fontsize=9)
        axes.set_title("Milliseconds for one update of w and one of τ", loc="left", weight="bold", fontsize=12)
        return written + saved(figure, folder / "speed_degree")


def _others(lines: Sequence[Record]) -> str:
    return ", ".join(f"{name} = {value:,}" for name, value in lines[0]["others"].items())


def _growth(axes: Axes, line: Record, law: bool = False) -> None:
    """What was measured, over the fitted power and fixed part or, as `law`, the paper's polynomial."""
    colour, fit = METRICS[line["metric"]][1], line["fit"]
    sizes = np.geomspace(line["values"][0], line["values"][-1], 200)
    cost = fit["fixed_ms"] + fit["scale_ms"] * sizes ** fit["exponent"]
    if law:
        cost = np.polynomial.Polynomial(fit["polynomial_ms"])(sizes)
    axes.plot(sizes, cost, color=colour, lw=1.6, zorder=3)
    axes.plot(line["values"], line["milliseconds"]["total"], "o", ms=5, mfc="white", mec=colour, mew=1.5, zorder=4)


def _guides(axes: Axes, lines: Sequence[Record]) -> None:
    """The slope that the paper's formula has in the end, under the curves."""
    for line in lines:
        squared = line["against"] == "d" and line["metric"] == "rbpm"
        if line["metric"] == "rbpm" and not squared:
            continue
        end, cost = line["values"][-1], line["milliseconds"]["total"][-1]
        power = 2 if squared else 1
        begin = end / (2.2 if squared else 4.0)
        shift = 1.0 / 0.7 if squared else 0.7
        sizes = np.array([begin, end])
        axes.plot(sizes, shift * cost * (sizes / end) ** power, color=SOFT, lw=0.9, ls=(0, (4, 3)), zorder=2)
        middle = np.sqrt(begin * end)
        axes.annotate(
            f"slope {power}",
            (middle, shift * cost * (middle / end) ** power),
            xytext=(4, -4) if not squared else (-4, 4),
            textcoords="offset points",
            ha="left" if not squared else "right",
            va="top" if not squared else "bottom",
            fontsize=8.5,
            color=SOFT,
        )


def _named(axes: Axes, lines: Sequence[Record], law: bool = False) -> None:
    for place, line in enumerate(lines):
        title, colour = METRICS[line["metric"]]
        fit = line["fit"]
        fixed = f"{fit['fixed_ms']:.2g} + " if fit["fixed_ms"] else ""
        text = f"{title}: {fixed}{_scientific(fit['scale_ms'])} {line['against']}$^{{{fit['exponent']:.2f}}}$"
        if law:
            text = f"{title}: {described(line['against'], fit['polynomial_ms'])}"
        axes.annotate(text, (0.03, 0.96 - 0.075 * place), xycoords="axes fraction", va="top", color=colour,
                      weight="bold", fontsize=9.5)  # fmt: skip


def _scientific(value: float) -> str:
    if value >= 0.01:
        return f"{value:.2g}"
    power = int(np.floor(np.log10(value)))
    return f"{value / 10**power:.1f}·10$^{{{power}}}$"


def draw_peers(lines: Sequence[Record], folder: Path = FIGURES) -> list[Path]:
    """The best validation regret so far against CPU time; the tuned peers strong, the rest of their grid thin."""
    from benchmarks.peers import best_of_grid

    names = [name for name in TITLES if any(line["source"] == name for line in lines)]
    with styled():
        figure, panels = plt.subplots(
            1, len(names), figsize=(4.3 * len(names), 4.4), layout="constrained", squeeze=False
        )
        for name, axes in zip(names, panels[0], strict=True):
            ends = []
            shown = [line for line in lines if line["source"] == name]
            for model, colour in reversed(MODELS.items()):
                best = best_of_grid(lines, name, model)
                for line in shown:
                    if line["model"] == model and line is not best:
                        axes.step(*_curve(line), where="post", color=colour, lw=0.7, alpha=0.45, zorder=2)
                if best is not None:
                    axes.step(*_curve(best), where="post", color=colour, lw=2.2, zorder=3 + (model == "GLNN"))
                    ends.append((best["valid_regret"], model, colour))
            axes.set(xscale="log", yscale="log")
            low = min(end[0] for end in ends)
            axes.set_ylim(0.7 * low, 30 * low)
            axes.set_xlim(0.1, shown[0]["budget"])
            _log_ticks(axes)
            named_at_the_right(axes, [(value, f"{model} {value:,.0f}", colour) for value, model, colour in ends])
            _titled(axes, TITLES[name], "CPU seconds")
        figure.suptitle(
            "Regret on validation, bits above the true model: best so far",
            x=0.01,
            ha="left",
            weight="bold",
            fontsize=12.5,
        )
        return saved(figure, folder / "speed_peers")


def _curve(line: Record) -> tuple[list[float], list[float]]:
    """Seconds and regret, held to the end of the budget."""
    points = [*line["curve"], [line["budget"], line["curve"][-1][1]]]
    return [seconds for seconds, _ in points], [regret for _, regret in points]


def _titled(axes: Axes, title: str, note: str) -> None:
    axes.set_title(title, loc="left", weight="bold", fontsize=11, pad=8)
    axes.set_xlabel(note, color=SOFT, fontsize=9)


def _log_ticks(axes: Axes) -> None:
    """Plain numbers at 1, 2 and 5 (at powers of ten only where the range is wide)."""
    for axis, (low, high) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        plain_ticks(axis, (low, high), "{:,.6g}", (1, 2, 5) if high / low < 300 else (1,))
    without_clutter(axes)
