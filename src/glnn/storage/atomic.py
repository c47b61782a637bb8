"""A file that exists whole or not at all: written next to its place, flushed to disk, then renamed.

A crash at any moment leaves the old file or the new one; a failure leaves the old one and nothing else.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A new file, open for writing and reading, that takes the place of `path` when the block ends well."""
    target = Path(path)
    unfinished = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with unfinished.open("x+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(target)
    except BaseException as error:
        unfinished.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename == str(unfinished):
            # What went wrong is told of the file that was asked for, not of the one next to it.
            raise type(error)(error.errno, error.strerror, str(target)) from None
        raise
    _bring_to_disk(target.parent)


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file so that `path` holds either what it held before or all of `content`."""
    with replacing(path) as file:
        file.write(content)


def _bring_to_disk(folder: Path) -> None:
    """Make a rename durable; systems that cannot open folders do so by themselves."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
