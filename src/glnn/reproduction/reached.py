"""Which cells of the table are at or below the paper's, and what the best run of every other cell shows.

A best score at the very end says that time was short, or that the run stood still; one long before it, that the
network had begun to learn its training sequence by heart.
"""

from __future__ import annotations

from typing import Any

from glnn.reproduction.settings import SOURCES
from glnn.reproduction.tables import TITLES, number

# From this part of its steps on, a run whose best score comes so late was still getting better.
STILL = 0.95
# A run that gains less than this part of its regret in the second half of its steps stands still.
STANDING = 0.01


def reached(document: dict[str, Any]) -> tuple[int, int]:
    """How many cells are at or under the paper's, and how many there are."""
    cells = [row[source] for row in document["rows"] for source in SOURCES]
    return sum("best" in found and found["best"] <= found["paper"] for found in cells), len(cells)


def told_reached(document: dict[str, Any], other: dict[str, Any]) -> str:
    """The count, and a line for each cell that is not reached; `other` is the table by the other reading."""
    count, cells = reached(document)
    lines = [f"**{count} of {cells} cells are at or under the paper's.** The others:", ""]
    for row, elsewhere in zip(document["rows"], other["rows"], strict=True):
        for source in SOURCES:
            found = row[source]
            if "best" not in found or found["best"] > found["paper"]:
                lines.append(f"- {row['row']} on {TITLES[source]}: {_reason(found, elsewhere[source])}")
    return "\n".join(lines)


def _reason(found: dict[str, Any], elsewhere: dict[str, Any]) -> str:
    if "best" not in found:
        there = f"; by the other reading {number(elsewhere['best'])}" if "best" in elsewhere else ""
        return f"no run yet (paper: {number(found['paper'])}{there})."
    told = f"{number(found['best'])} against {number(found['paper'])}"
    size = f" with {found['units']} units, d = {found['degree']} and {found['budget']}" if found["units"] else ""
    runs = f"best of {found['runs']} run{'s' if found['runs'] > 1 else ''}"
    if not found["steps"]:
        return f"{told}, {runs}."
    place = f"step {found['best_step']:,} of {found['steps']:,}"
    late = found["late"]
    if late is not None and found["best_step"] >= found["steps"] / 2 and late < STANDING * found["best"]:
        return f"{told}{size}, {runs}; it stood still, with {late:.1f} bits gained in the second half of its steps."
    if found["best_step"] >= STILL * found["steps"]:
        return f"{told}{size}, {runs}; it was still getting better when its time ended ({place})."
    return f"{told}{size}, {runs}; validation turned at {place}, while training went on getting better."
