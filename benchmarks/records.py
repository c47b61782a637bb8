"""Raw results as JSON: what every benchmark writes, with the processor's name and the command that made it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from glnn.reproduction.running import versions

RESULTS = Path(__file__).parent / "results"
FIGURES = Path(__file__).resolve().parent / "results" / "figures"
Record = dict[str, Any]


def about() -> Record:
    """What the numbers may depend on: command, processor, versions, commit."""
    command = " ".join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]])
    return {"command": command, **versions()}


def append(path: Path, record: Record) -> None:
    """Add one line at once, so that an interruption loses only the run under way."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps(record) + "\n")


def read(path: Path) -> list[Record]:
    """All lines, none if there is no file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def write(path: Path, record: Record) -> None:
    """One document, lists of numbers on one line each."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1) + "\n")


def markdown(columns: Iterable[str], rows: Iterable[Iterable[str]], left: int = 1) -> str:
    """A table for a page; its first `left` columns are words, the others numbers."""
    names = list(columns)
    rule = ["---" if place < left else "---:" for place in range(len(names))]
    return "\n".join("| " + " | ".join(row) + " |" for row in [names, rule, *map(list, rows)])
