"""Puts the committed results into benchmarks/speed.md, between its markers, and draws its figures.

python benchmarks/page.py
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import growth, memory, peers, restarts, roofline, run, starting
from benchmarks.figures import draw_growth, draw_peers
from benchmarks.records import RESULTS, Record, read

PAGE = Path(__file__).resolve().parent / "speed.md"


def tables() -> dict[str, Callable[[], str]]:
    """The table of each marker."""

    def found(name: str) -> Record:
        return dict(json.loads((RESULTS / f"{name}.json").read_text()))

    return {
        "yardstick": lambda: run.table(found("yardstick")),
        "roofline": lambda: roofline.table(found("roofline")),
        "roofs": lambda: roofline.summary(found("roofline"), found("yardstick")),
        "growth": lambda: growth.table(found("growth")),
        "memory": lambda: memory.table(found("memory")),
        "restarts": lambda: restarts.table(read(restarts.RESULT)),
        "peers": lambda: peers.table(read(RESULTS / "peers.jsonl")),
        "starting": lambda: starting.table(found("starting")["found"]),
    }


def filled(page: str, name: str, table: str) -> str:
    """The page with the table between `<!-- name: begin -->` and `<!-- name: end -->`."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    if page.count(begin) != 1 or page.count(end) != 1:
        raise ValueError(f"the page has no single pair of markers {begin} {end}: put them where the table goes")
    return re.sub(f"{begin}.*?{end}", lambda _: f"{begin}\n\n{table}\n\n{end}", page, flags=re.DOTALL)


def main() -> None:
    text = PAGE.read_text()
    for name, table in tables().items():
        text = filled(text, name, table())
    PAGE.write_text(text)
    draw_growth(json.loads((RESULTS / "growth.json").read_text()))
    draw_peers(read(RESULTS / "peers.jsonl"))


if __name__ == "__main__":
    main()
