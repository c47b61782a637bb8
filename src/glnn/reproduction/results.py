"""The file of results: one line of JSON for each finished run, appended at once by one process.

A line that a crash cut short is not read, and what is appended after it begins a line of its own.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from glnn.reproduction.settings import Setting, from_json

Line = dict[str, Any]


def read_lines(path: Path) -> list[Line]:
    """The lines of a file in their order, none if there is no file; of equal settings the first counts."""
    if not path.exists():
        return []
    found: dict[Setting, Line] = {}
    for text in path.read_bytes().split(b"\n"):
        try:
            line = json.loads(text)
            setting = from_json(line["setting"])
        except (ValueError, KeyError, TypeError):
            continue
        found.setdefault(setting, line)
    return list(found.values())


def settings_of(lines: list[Line]) -> set[Setting]:
    """The settings that have a line."""
    return {from_json(line["setting"]) for line in lines}


class Appending:
    """Appends lines to an open file, each at once and as a whole."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def append(self, line: Line) -> None:
        """Write a line and flush it to disk."""
        self._file.write(json.dumps(line, allow_nan=False).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())


@contextmanager
def appending(path: Path) -> Iterator[Appending]:
    """Open a file of results for appending; another process that has it open is an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        _alone(file, path)
        if file.tell() and not _ends_with_newline(path):
            file.write(b"\n")
        try:
            yield Appending(file)
        finally:
            # A sweep that failed before its first line leaves nothing behind.
            if not file.tell():
                path.unlink(missing_ok=True)


def _alone(file: BinaryIO, path: Path) -> None:
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise ValueError(
            f"another process is writing to {path}: wait for it, or give another folder with --out"
        ) from None


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
