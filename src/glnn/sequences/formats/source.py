"""Where data come from: a file, one packed with gzip, or standard input, as bytes, lines with their numbers, or a text.

A packed file from a stranger may unpack to a thousand times its size; it is refused past a bound. Standard input is
kept in a temporary file, since what it holds is looked at before it is read.
"""

from __future__ import annotations

import gzip
import io
import re
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import IO, BinaryIO

from glnn.sequences.errors import InputError

_HEAD = 1 << 16
# What a packed file of no size may hold; the rest in proportion to its size.
_MOST_UNPACKED = 1 << 26
_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_GZIP = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
STANDARD_INPUT = "-"


class Source:
    """Bytes that are looked at first and read afterwards."""

    def __init__(self, path: str | Path) -> None:
        self._kept: IO[bytes] | None = None
        self.is_standard_input = str(path) == STANDARD_INPUT
        self.title = "standard input" if self.is_standard_input else str(path)
        if self.is_standard_input:
            # The file lives as long as this object does.
            self._kept = tempfile.NamedTemporaryFile(prefix="glnn-")  # noqa: SIM115
            shutil.copyfileobj(sys.stdin.buffer, self._kept)
            self._kept.flush()
        self.path = Path(self._kept.name) if self._kept is not None else Path(path)
        with self.path.open("rb") as file:
            self.is_packed = file.read(2) == _GZIP

    @property
    def suffix(self) -> str:
        """The end of the name that tells what is inside, in lower case, such as `.csv` of `log.csv.gz`."""
        if self.is_standard_input:
            return ""
        suffixes = [suffix.lower() for suffix in self.path.suffixes]
        if suffixes and suffixes[-1] in (".gz", ".gzip"):
            suffixes.pop()
        return suffixes[-1] if suffixes else ""

    def open(self) -> BinaryIO:
        """The bytes, unpacked."""
        if not self.is_packed:
            return self.path.open("rb")
        most = _MOST_UNPACKED + 500 * self.path.stat().st_size
        return io.BufferedReader(_Unpacked(gzip.open(self.path), most, self.title), _HEAD)

    @cached_property
    def head(self) -> bytes:
        """The first bytes."""
        with self.open() as file:
            return file.read(_HEAD).removeprefix(_BYTE_ORDER_MARK)

    @cached_property
    def is_text(self) -> bool:
        """Whether the first bytes are UTF-8 text."""
        if b"\0" in self.head:
            return False
        try:
            self.head[:-4].decode("utf-8")
        except UnicodeDecodeError as error:
            # A character may be cut at the end of what was looked at.
            return error.start > len(self.head) - 12
        return True

    @cached_property
    def first_lines(self) -> list[str]:
        """The first whole lines, without their ends; none where this is no text."""
        if not self.is_text:
            return []
        text = self.head.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
        lines = text.split("\n")
        # The last one is whole only where everything was looked at.
        return lines[:-1] if len(self.head) >= _HEAD or lines[-1] == "" else lines

    def lines(self, ends: bool = False) -> Iterator[tuple[int, str]]:
        """Every line with its number, counted from 1, with or without the end of the line."""
        with self.open() as file:
            for number, raw in enumerate(_lines(file), start=1):
                if number == 1:
                    raw = raw.removeprefix(_BYTE_ORDER_MARK)
                try:
                    line = raw.decode("utf-8")
                except UnicodeDecodeError as error:
                    raise InputError(
                        f"line {number} of {self.title} is not UTF-8 text: byte 0x{raw[error.start]:02x}; convert it, "
                        "or read it with tokens='bytes' (--tokens bytes)"
                    ) from None
                yield number, line if ends else line.rstrip("\r\n")


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Lines with their ends, among which a carriage return alone counts too."""
    for raw in file:
        if b"\r" in raw[:-2] or raw.endswith(b"\r"):
            yield from _LINE.findall(raw)
        else:
            yield raw


class _Unpacked(io.RawIOBase):
    """A gzip stream that tells damage plainly and ends with an error when it grows past `most` bytes."""

    def __init__(self, file: gzip.GzipFile, most: int, title: str) -> None:
        self._file, self._left, self._title = file, most, title

    def readable(self) -> bool:
        """It can be read."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Fill the buffer with what comes next."""
        try:
            found = self._file.read(len(buffer))
        except (EOFError, zlib.error, OSError) as error:
            raise InputError(f"{self._title} cannot be unpacked ({error}): it is damaged; take another copy") from None
        self._left -= len(found)
        if self._left < 0:
            raise InputError(f"{self._title} unpacks to far more than data would: unpack it yourself if it is yours")
        buffer[: len(found)] = found
        return len(found)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()
