"""Figures of the speed page: growth of an update's cost, and regret against CPU time beside PyTorch networks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from benchmarks.growth import described
from benchmarks.records import FIGURES, Record

INK, SOFT, FAINT = "#1f2430", "#6b7280", "#d7dae0"
STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "text.color": INK,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "svg.hashsalt": "glnn",
    "svg.fonttype": "path",
}
METRICS = {"rbpm": ("RBPM", "#c0392b"), "qdrbpm": ("QDRBPM", "#1f77b4")}
MODELS = {"GLNN": "#c0392b", "LSTM": "#1f77b4", "GRU": "#e08e0b"}
SUBJECTS = {"T": "T, symbols", "N": "N, units", "d": "d, edges from each unit", "A": "A, letters"}
TITLES = {"insertions": "Insertions", "music": "Music", "anbn": "aⁿbⁿ"}


def draw_growth(record: Record, folder: Path = FIGURES) -> list[Path]:
    """Cost against T, N, d and A on logarithmic axes, and against d on plain ones."""
    with plt.rc_context(STYLE):
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
        written = _saved(figure, folder / "speed_growth")
        figure, axes = plt.subplots(figsize=(7.6, 4.2), layout="constrained")
        lines = [line for line in record["sweeps"] if line["against"] == "d"]
        for line in lines:
            _growth(axes, line, law=True)
        _named(axes, lines, law=True)
        axes.set(xlim=(0, None), ylim=(0, None))
        _plain(axes)
        axes.set_xlabel(f"{SUBJECTS['d']}; {_others(lines)}", color=SOFT, fontsize=9)
        axes.set_title("Milliseconds for one update of w and one of τ", loc="left", weight="bold", fontsize=12)
        return written + _saved(figure, folder / "speed_degree")


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
    with plt.rc_context(STYLE):
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
            _labelled(axes, ends)
            _titled(axes, TITLES[name], "CPU seconds")
        figure.suptitle(
            "Regret on validation, bits above the true model: best so far",
            x=0.01,
            ha="left",
            weight="bold",
            fontsize=12.5,
        )
        return _saved(figure, folder / "speed_peers")


def _curve(line: Record) -> tuple[list[float], list[float]]:
    """Seconds and regret, held to the end of the budget."""
    points = [*line["curve"], [line["budget"], line["curve"][-1][1]]]
    return [seconds for seconds, _ in points], [regret for _, regret in points]


def _labelled(axes: Axes, ends: Sequence[tuple[float, str, str]]) -> None:
    """Names at the right ends, moved apart where they would lie on each other."""
    axes.figure.canvas.draw()
    height, apart, last = axes.bbox.height, 15.0 * axes.figure.dpi / 72.0, -np.inf
    for value, text, colour in sorted(ends):
        place = max(axes.transData.transform((1.0, value))[1] - axes.bbox.y0, last + apart)
        last = place
        axes.annotate(f"{text} {value:,.0f}", (1.0, place / height), xycoords="axes fraction", xytext=(5, 0),
                      textcoords="offset points", va="center", color=colour, fontsize=9.5, weight="bold",
                      annotation_clip=False)  # fmt: skip


def _titled(axes: Axes, title: str, note: str) -> None:
    axes.set_title(title, loc="left", weight="bold", fontsize=11, pad=8)
    axes.set_xlabel(note, color=SOFT, fontsize=9)


def _log_ticks(axes: Axes) -> None:
    """Plain numbers at 1, 2 and 5 (1 and 10 where the range is wide)."""
    for axis, (low, high) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        factors = (1, 2, 5) if high / low < 300 else (1,)
        ticks = [factor * 10.0**power for power in range(-3, 8) for factor in factors]
        axis.set_major_locator(FixedLocator([tick for tick in ticks if low <= tick <= high]))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}"))
        axis.set_minor_locator(NullLocator())
    _plain(axes)


def _plain(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=FAINT, lw=0.6, zorder=0)
    axes.tick_params(length=0)


def _saved(figure: Figure, path: Path) -> list[Path]:
    path.parent.mkdir(parents=True, exist_ok=True)
    written = [path.with_suffix(".png"), path.with_suffix(".svg")]
    figure.savefig(written[0], dpi=160)
    # Without the date, equal results make equal files.
    figure.savefig(written[1], metadata={"Date": None})
    plt.close(figure)
    return written
