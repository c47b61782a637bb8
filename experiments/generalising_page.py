"""Tables and figure of `docs/generalising.md`, and the tables of `generalising.md` here.

They are made from the raw lines of `generalising.py` and of `benchmarks/peers.py`:

python experiments/generalising_page.py
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from benchmarks.figures import MODELS, TITLES
from benchmarks.peers import KINDS
from benchmarks.records import RESULTS, Record, markdown, read
from glnn.reproduction.drawing import SOFT, named_at_the_right, plain_ticks, styled, without_clutter
from glnn.reproduction.tables import write_between
from glnn.training.sizes import SHORT

LINES = Path(__file__).parent / "results" / "generalising.jsonl"
TIMED = RESULTS / "time_to_quality.jsonl"
"""Runs of GLNN and of its peers on the same data and the same machine (`benchmarks/time_to_quality.py`); budgets under
15 s, within which everything counts since, are in the file above."""
PAGE = Path(__file__).resolve().parents[1] / "docs" / "generalising.md"
RECORD = Path(__file__).with_name("generalising.md")
"""For what a reader of the page does not need."""
HALF = "goals with half the members"
"""From before gated networks, whose steps got twice as fast, were twice as many."""
EARLIER_GOALS = {
    "goals before more rivals": "before small data had rivals at every budget",
    HALF: "with half as many members",
    "goals before medians": "weighed one by one instead of by their median",
    "goals before all data": "without step 8 and with two rivals",
}
PAPER = {"music": 1056.0, "insertions": 644.0, "anbn": 29.7}
"""The best of the paper's table, on validation data."""


def main() -> None:
    lines = read(LINES)
    timed = [line for line in read(TIMED) if line["model"] != "GLNN" or line["budget"] >= SHORT]
    timed += [{**line, "model": "GLNN"} for line in of(lines, "times")]
    write_between(PAGE, "goals", goals(lines, ["goals", "goals before more rivals"]))
    write_between(RECORD, "goals", goals(lines, ["goals", *EARLIER_GOALS]))
    for page in (PAGE, RECORD):
        write_between(page, "parts", parts(lines))
    write_between(RECORD, "times", times(timed))
    write_between(RECORD, "invariance", invariance(lines))
    write_between(RECORD, "costs", costs(lines))
    draw(timed, PAGE.with_suffix(".png"))


def of(lines: Sequence[Record], study: str) -> list[Record]:
    """The lines of one study."""
    return [line for line in lines if line["study"] == study]


def goals(lines: Sequence[Record], studies: Sequence[str]) -> str:
    """Regret on every fresh sample, sorted."""
    rows = []
    for (name, title), study in product(TITLES.items(), studies):
        mine = [line for line in of(lines, study) if line["data"] == name]
        if not mine:
            continue
        title = title if study == "goals" else f"{title}, {EARLIER_GOALS[study]}"
        values = sorted(line["value"] for line in mine)
        shown = ", ".join(number(value) for value in values)
        seconds = f"{mine[0]['budget']:.0f}"
        middle, worst = number(statistics.median(values)), number(values[-1])
        rows.append([title, seconds, shown, middle, worst, number(PAPER[name])])
    return markdown(["", "CPU s", "regret of each sample", "median", "worst", "the paper's best"], rows)


def parts(lines: Sequence[Record]) -> str:
    """One part left out at a time, on every sample, sorted."""
    found: dict[tuple[str, str], list[float]] = {}
    for line in of(lines, "parts"):
        found.setdefault((line["data"], line["part"]), []).append(line["value"])
    names = list(dict.fromkeys(name for name, _ in found))
    if not names:
        return "Not run yet (`python experiments/generalising.py parts`)."
    rows = []
    for part in dict.fromkeys(part for _, part in found):
        cells = [sorted(found.get((name, part), [])) for name in names]
        rows.append([part, *(", ".join(map(number, cell)) for cell in cells)])
    return markdown(["", *(TITLES.get(name, f"`{name}`, bits per character") for name in names)], rows)


def times(lines: Sequence[Record]) -> str:
    """Seconds until a regret is reached: that of the peers at their best, and some on the way there."""
    rows = []
    for name, title in TITLES.items():
        best = [line for kind in KINDS if (line := _peer(lines, name, kind)) is not None]
        if not best or not _ours(lines, name):
            continue
        lowest = min(line["curve"][-1][1] for line in best)
        for regret in (4.0 * lowest, 2.0 * lowest, lowest):
            own = _first([(line["budget"], line["value"]) for line in _ours(lines, name)], regret)
            theirs = [_first([tuple(point) for point in line["curve"]], regret) for line in best]
            quickest = min((seconds for seconds in theirs if seconds is not None), default=None)
            quotient = "" if own is None or quickest is None else f"{own / quickest:.2f}"
            least = "≤ " if own is not None and own == _ours(lines, name)[0]["budget"] else ""
            rows.append([title, number(regret), least + _seconds(own), *map(_seconds, theirs), least + quotient])
    return markdown(["", "regret", "GLNN", *KINDS, "GLNN / quickest"], rows)


def _ours(lines: Sequence[Record], name: str) -> list[Record]:
    """Budgets that were tried, the smallest first."""
    mine = [line for line in lines if (line["data"], line["model"]) == (name, "GLNN")]
    return sorted(mine, key=lambda line: line["budget"])


def _peer(lines: Sequence[Record], name: str, kind: str) -> Record | None:
    """A peer's run, with its best validation score so far as a curve."""
    return next((line for line in lines if (line["data"], line["model"]) == (name, kind)), None)


def _first(curve: Sequence[tuple[float, float]], regret: float) -> float | None:
    return next((seconds for seconds, value in curve if value <= regret), None)


def _seconds(value: float | None) -> str:
    return "not reached" if value is None else f"{value:.2g}"


def invariance(lines: Sequence[Record]) -> str:
    """Two coordinate systems, one way or two."""
    of_each = of(lines, "invariance")
    rows = [[line["part"], *(f"{line[key]:.3f}" for key in ("tanh", "logistic", "apart"))] for line in of_each]
    return markdown(["bits per symbol after 40 steps", "tanh", "logistic", "most apart on the way"], rows)


def costs(lines: Sequence[Record]) -> str:
    """Nanoseconds a symbol."""
    rows = []
    for line in of(lines, "costs"):
        cells = [line[key] for key in ("batch", "batch, noise", "chunks", "chunks, noise")]
        rows.append(
            [
                f"{TITLES[line['data']]}, {line['units']} units, degree {line['degree']}",
                *(f"{one:,.0f}" for one in cells),
            ]
        )
    return markdown(["ns a symbol", "all data", "with noise", "chunks", "with noise"], rows)


def draw(lines: Sequence[Record], path: Path) -> None:
    """Regret against CPU seconds: GLNN at each budget, the peers' best validation score so far."""
    names = [name for name in TITLES if _ours(lines, name)]
    if not names:
        return
    with styled():
        figure, panels = plt.subplots(1, len(names), figsize=(4.3 * len(names), 4.2), layout="constrained")
        for name, axes in zip(names, [panels] if len(names) == 1 else panels, strict=True):
            _panel(axes, name, lines)
        title = "Regret against CPU seconds"
        figure.suptitle(title, x=0.01, ha="left", weight="bold", fontsize=12.5)
        figure.savefig(path, dpi=150, metadata={"Software": None})
        plt.close(figure)


def _panel(axes: Axes, name: str, lines: Sequence[Record]) -> None:
    ends, ours = [], _ours(lines, name)
    longest = max(line["budget"] for line in ours)
    for kind in reversed(KINDS):
        best = _peer(lines, name, kind)
        if best is None:
            continue
        points = [*best["curve"], [best["budget"], best["curve"][-1][1]]]
        axes.step(*zip(*points, strict=True), where="post", color=MODELS[kind], lw=2.0, zorder=3)
        last = best["curve"][-1][1]
        ends.append((last, f"{kind} {number(last)}", MODELS[kind]))
        longest = max(longest, best["budget"])
    seconds, values = [line["budget"] for line in ours], [line["value"] for line in ours]
    axes.plot(seconds, values, "o-", color=MODELS["GLNN"], lw=2.2, ms=5, zorder=4)
    ends.append((values[-1], f"GLNN {number(values[-1])}", MODELS["GLNN"]))
    axes.set(xscale="log", yscale="log", xlim=(0.5, 1.1 * longest))
    axes.set_ylim(0.7 * min(end[0] for end in ends), 8 * max(end[0] for end in ends))
    plain_ticks(axes.xaxis, axes.get_xlim(), "{:,.6g}")
    plain_ticks(
        axes.yaxis, axes.get_ylim(), "{:,.6g}", (1,) if axes.get_ylim()[1] / axes.get_ylim()[0] > 300 else (1, 3)
    )
    without_clutter(axes)
    named_at_the_right(axes, ends)
    axes.set_title(TITLES[name], loc="left", weight="bold", fontsize=11, pad=8)
    axes.set_xlabel("CPU seconds", color=SOFT, fontsize=9)


def number(value: float) -> str:
    """Bits of regret, or bits per symbol."""
    if value >= 100.0:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10.0 else f"{value:.3g}"


if __name__ == "__main__":
    main()
