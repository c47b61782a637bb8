"""Names of files that a command writes: refused when taken, or chosen so that nothing is replaced unasked."""

from __future__ import annotations

from pathlib import Path

from glnn.sequences.errors import InputError


def check_free(path: Path, force: bool) -> None:
    """Refuse a path that is taken, before any work is done for it."""
    if path.is_dir():
        raise InputError(f"{path} is a folder: give the name of a file")
    if not path.parent.is_dir():
        raise InputError(f"the folder {path.parent} does not exist: make it first")
    if path.exists() and not force:
        raise InputError(f"the file {path} exists already: choose another name, or --force to replace it")


def free_name(stem: str, suffix: str) -> Path:
    """A name in the current folder that is not taken, for what nobody named: nothing is replaced unasked."""
    number = 1
    while True:
        path = Path(f"{stem}{suffix}" if number == 1 else f"{stem}-{number}{suffix}")
        if not path.exists():
            return path
        number += 1
