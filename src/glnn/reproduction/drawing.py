"""How figures look: colours, axes without clutter, names at the ends of lines, files that are the same each time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

INK, SOFT, FAINT = "#1f2430", "#6b7280", "#d7dae0"
RED, BLUE, AMBER = "#c0392b", "#1f77b4", "#e08e0b"
_STYLE: dict[Any, Any] = {
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


@contextmanager
def styled() -> Iterator[None]:
    """Figures made in the block look like all others."""
    with plt.rc_context(_STYLE):
        yield


def without_clutter(axes: Axes) -> None:
    """No frame but the axes, faint lines across, no ticks."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=FAINT, lw=0.6, zorder=0)
    axes.tick_params(length=0)


def plain_ticks(axis: Axis, limits: tuple[float, float], text: str, factors: Sequence[int] = (1, 2, 5)) -> None:
    """Ticks of a logarithmic axis at these factors of powers of ten, written by the format `text`."""
    low, high = sorted(limits)
    ticks = [factor * 10.0**power for power in range(-3, 8) for factor in factors]
    axis.set_major_locator(FixedLocator([tick for tick in ticks if low <= tick <= high]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: text.format(value)))
    axis.set_minor_locator(NullLocator())


def named_at_the_right(axes: Axes, ends: Sequence[tuple[float, str, str]]) -> None:
    """Names at the right ends of lines (value, name, colour), moved apart where they would lie on each other."""
    axes.figure.canvas.draw()
    height, apart = axes.bbox.height, 15.0 * axes.figure.dpi / 72.0
    places: list[list[Any]] = []
    for value, text, colour in ends:
        place = axes.transData.transform((1.0, value))[1] - axes.bbox.y0
        places.append([min(max(place, 0.0), height), text, colour])
    places.sort(key=lambda item: item[0])
    for lower, upper in pairwise(places):
        upper[0] = max(upper[0], lower[0] + apart)
    for upper, lower in pairwise(reversed(places)):
        upper[0] = min(upper[0], height + apart / 2)
        lower[0] = min(lower[0], upper[0] - apart)
    for place, text, colour in places:
        weight = "normal" if colour == SOFT else "bold"
        axes.annotate(text, (1.0, place / height), xycoords="axes fraction", xytext=(8, 0), textcoords="offset points",
                      va="center", color=colour, fontsize=9.5, weight=weight, annotation_clip=False)  # fmt: skip


def saved(figure: Figure, path: Path) -> list[Path]:
    """Write a figure as PNG and SVG, and close it; the two files."""
    path.parent.mkdir(parents=True, exist_ok=True)
    written = [path.with_suffix(".png"), path.with_suffix(".svg")]
    figure.savefig(written[0], dpi=160)
    # Without the date, equal results make equal files.
    figure.savefig(written[1], metadata={"Date": None})
    plt.close(figure)
    return written
