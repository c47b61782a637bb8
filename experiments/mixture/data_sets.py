"""The data sets of the mixture's experiments: arrays of codes, cut into what is fitted and what is scored.

Texts: the first 4/5 and the last 1/5. Event logs: cases by the time of their first event, cut the same way. FASTA:
every fifth sequence is scored. Sequences end with an end symbol of their own, which is counted.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

SHARED = Path("../shared/data")


@dataclass(frozen=True)
class Split:
    """Two parts of a data set as lists of sequences of codes below `size`; `symbols` says what the codes stand for."""

    name: str
    train: list[np.ndarray]
    test: list[np.ndarray]
    symbols: list[Any]

    @property
    def size(self) -> int:
        return len(self.symbols)


def text(path: Path, name: str = "") -> Split:
    """A text as one sequence of its characters."""
    content = path.read_text(encoding="utf-8", errors="replace")
    symbols = sorted(set(content))
    number = {symbol: code for code, symbol in enumerate(symbols)}
    codes = np.array([number[symbol] for symbol in content], np.int64)
    cut = len(codes) * 4 // 5
    return Split(name or path.name, [codes[:cut]], [codes[cut:]], symbols)


def several(name: str, train: list[list[Any]], test: list[list[Any]]) -> Split:
    """Several sequences, each with its end."""
    symbols = [
        *sorted({symbol for part in (train, test) for sequence in part for symbol in sequence}, key=str),
        "<end>",
    ]
    number = {symbol: code for code, symbol in enumerate(symbols)}
    end = len(symbols) - 1

    def coded(part: list[list[Any]]) -> list[np.ndarray]:
        return [np.array([*(number[symbol] for symbol in sequence), end], np.int64) for sequence in part]

    return Split(name, coded(train), coded(test), symbols)


def log(path: Path) -> Split:
    """An event log: one sequence a case."""
    cases: dict[str, list[tuple[datetime, str]]] = {}
    with path.open() as file:
        for row in csv.DictReader(file):
            when = datetime.fromisoformat(row["CompleteTimestamp"])
            cases.setdefault(row["CaseID"], []).append((when, row["ActivityID"]))
    ordered = sorted(cases.values(), key=lambda events: min(when for when, _ in events))
    sequences = [[activity for _, activity in sorted(events, key=lambda event: event[0])] for events in ordered]
    cut = len(sequences) * 4 // 5
    return several(path.name, sequences[:cut], sequences[cut:])


def fasta(path: Path) -> Split:
    """Sequences of a FASTA file; every fifth is scored."""
    sequences: list[list[str]] = []
    for line in path.read_text().splitlines():
        if line.startswith(">"):
            sequences.append([])
        elif sequences:
            sequences[-1] += line.strip()
    train = [sequence for which, sequence in enumerate(sequences) if which % 5 != 4]
    return several(path.name, train, sequences[4::5])


def words(path: Path) -> Split:
    """A text as one sequence of its words: an alphabet of thousands."""
    content = path.read_text(encoding="utf-8", errors="replace").split()
    symbols = sorted(set(content))
    number = {symbol: code for code, symbol in enumerate(symbols)}
    codes = np.array([number[symbol] for symbol in content], np.int64)
    cut = len(codes) * 4 // 5
    return Split(path.name + " words", [codes[:cut]], [codes[cut:]], symbols)


def counting(name: str = "anbn", pairs: int = 2000) -> Split:
    """aⁿbⁿ lines with n geometric."""
    generator = np.random.default_rng(0)
    sequence = [code for n in generator.geometric(0.1, pairs) for code in [0] * n + [1] * n + [2]]
    codes = np.array(sequence, np.int64)
    cut = len(codes) * 4 // 5
    return Split(name, [codes[:cut]], [codes[cut:]], ["a", "b", "\n"])


def constant() -> Split:
    """A stream that is fully predictable: it must become nearly free."""
    codes = np.tile(np.arange(7), 20000)
    return Split("cycle", [codes[:100000]], [codes[100000:]], list("abcdefg"))


def _python(name: str) -> Path:
    import argparse

    return Path(argparse.__file__).parent / name


DEVELOP: dict[str, Callable[[], Split]] = {
    "paper1": lambda: text(SHARED / "paper1.txt"),
    "progc": lambda: text(SHARED / "progc.txt"),
    "jigs": lambda: text(SHARED / "jigs.abc"),
    "gpl3": lambda: text(Path("/usr/share/common-licenses/GPL-3")),
    "argparse": lambda: text(_python("argparse.py")),
    "typing": lambda: text(_python("typing.py")),
    "bpi": lambda: log(SHARED / "bpi_12_w.csv"),
    "permit": lambda: log(SHARED / "env_permit.csv"),
    "orchid": lambda: fasta(SHARED / "orchid.fasta"),
    "protein": lambda: fasta(SHARED / "chloroplast.faa"),
    "words": lambda: words(SHARED / "paper1.txt"),
    "anbn": counting,
    "cycle": constant,
}
HELD_OUT: dict[str, Callable[[], Split]] = {
    "gfdl": lambda: text(Path("/usr/share/common-licenses/GFDL-1.3")),
    "artistic": lambda: text(Path("/usr/share/common-licenses/Artistic")),
    "mpl": lambda: text(Path("/usr/share/common-licenses/MPL-2.0")),
    "inspect": lambda: text(_python("inspect.py")),
    "pydecimal": lambda: text(_python("_pydecimal.py")),
    "heapq": lambda: text(_python("heapq.py")),
    "tunes": lambda: several(
        "tunes",
        *(lambda parts: (parts[: len(parts) * 4 // 5], parts[len(parts) * 4 // 5 :]))(
            [list("X:" + part) for part in (SHARED / "jigs.abc").read_text(errors="replace").split("X:")[1:]]
        ),
    ),
}
ALL = {**DEVELOP, **HELD_OUT}
