"""Where data come from, and how they are to be read: what they are taken for, how they are cut, which columns count.

A source is a file, one packed with gzip, or standard input, as bytes, lines with their numbers, or a text. Options that
are not given are guessed; a run keeps the choices that were made, so that later files are read in the same way.

A packed file from a stranger may unpack to a thousand times its size; it is refused past a bound. Standard input and
other pipes are kept in a temporary file, since what they hold is looked at before it is read.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, Literal, get_args

from glnn.sequences.errors import InputError, one_line

if TYPE_CHECKING:
    from glnn.sequences.alphabet import Alphabet

Cut = Literal["chars", "bytes", "words", "lines"]
CUTS: tuple[str, ...] = get_args(Cut)
NUMBERS = "numbers"
EMPTY = ("error", "skip", "keep")
_CUT_OF_KIND = {"characters": "chars", "bytes": "bytes", "words": "words", "lines": "lines"}
_NAMES_OF_DELIMITERS = {"\\t": "\t", "tab": "\t", "comma": ",", "semicolon": ";", "space": " "}

_HEAD = 1 << 16
# What even the smallest packed file may hold; the rest is in proportion to its size.
_MOST_UNPACKED = 1 << 24
_TIMES_ITS_SIZE = 200
_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_GZIP = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
STANDARD_INPUT = "-"
STANDARD_INPUT_TITLE = "standard input"
_DELIMITERS = ",;\t|"
_NUMBERS = re.compile(r"\s*-?(0|[1-9]\d{0,8})([\s,;]+-?(0|[1-9]\d{0,8}))*[\s,;]*")
_BETWEEN = re.compile(r"[\s,;]+")


class Source:
    """Bytes that can be peeked at before they are read."""

    def __init__(self, path: str | Path) -> None:
        self._kept: IO[bytes] | None = None
        self.is_standard_input = str(path) == STANDARD_INPUT
        self.title = STANDARD_INPUT_TITLE if self.is_standard_input else str(path)
        if self.is_standard_input:
            self._keep(sys.stdin.buffer)
        elif Path(path).is_fifo():
            with Path(path).open("rb") as pipe:
                self._keep(pipe)
        self.path = Path(self._kept.name) if self._kept is not None else Path(path)
        with self.path.open("rb") as file:
            self.is_packed = file.read(2) == _GZIP

    def _keep(self, pipe: BinaryIO) -> None:
        """Copy what passes only once into a file that lives as long as this object does."""
        self._kept = tempfile.NamedTemporaryFile(prefix="glnn-")  # noqa: SIM115
        shutil.copyfileobj(pipe, self._kept)
        self._kept.flush()

    @property
    def suffix(self) -> str:
        """The end of the name that says what is inside, in lower case, such as `.csv` of `log.csv.gz`."""
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
        most = _MOST_UNPACKED + _TIMES_ITS_SIZE * self.path.stat().st_size
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
            # A character may be cut off at the end of the first bytes.
            return error.start > len(self.head) - 12
        return True

    @cached_property
    def first_lines(self) -> list[str]:
        """The first whole lines, without their ends; none if this is not text."""
        if not self.is_text:
            return []
        text = self.head.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
        lines = text.split("\n")
        # The last one is whole only if these are all the bytes.
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
    """A gzip stream that reports damage plainly and fails when it grows past `most` bytes."""

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
            raise InputError(f"{self._title} cannot be unpacked ({error}): it is damaged; use another copy") from None
        self._left -= len(found)
        if self._left < 0:
            raise InputError(f"{self._title} unpacks to far more than data would: unpack it yourself if it is yours")
        buffer[: len(found)] = found
        return len(found)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()


def only_numbers(source: Source) -> bool:
    """Whether the first lines are rows of numbers."""
    lines = [line for line in source.first_lines if line.strip()]
    if not lines or not all(_NUMBERS.fullmatch(line) for line in lines):
        return False
    return any(len(_BETWEEN.split(line.strip())) > 1 for line in lines)


def delimiter_of(source: Source) -> str | None:
    """The character that cuts the first lines into the most fields, as many in each."""
    best, most = None, (0.0, 1)
    for delimiter in _DELIMITERS:
        try:
            rows = [row for row in csv.reader(source.first_lines[:50], delimiter=delimiter) if row]
        except csv.Error:
            continue
        if not rows or len(rows[0]) < 2:
            continue
        agreeing = sum(len(row) == len(rows[0]) for row in rows) / len(rows)
        if (agreeing, len(rows[0])) > most:
            best, most = delimiter, (agreeing, len(rows[0]))
    return best if most[0] >= 0.8 else None


@dataclass(frozen=True)
class ReadOptions:
    """What was asked for; None means guess.

    `format` is one of `glnn.sequences.formats.FORMATS`, `tokens` how texts are cut, `case`, `activity`, `time`,
    `time_format` and `delimiter` speak of event logs, `empty` of cells that hold nothing: "error" names the line,
    "skip" leaves the event out, "keep" makes it an event of its own. `predict_after` is a symbol: only what follows it
    is to be predicted.
    """

    format: str | None = None
    tokens: str | None = None
    case: str | None = None
    activity: str | None = None
    time: str | None = None
    time_format: str | None = None
    delimiter: str | None = None
    empty: str = "error"
    predict_after: str | None = None

    def __post_init__(self) -> None:
        for name in ("format", "tokens", "case", "activity", "time", "time_format", "delimiter", "predict_after"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise InputError(f"{name} is {one_line(value)}: give a text")
        cuts = (*CUTS, NUMBERS)
        if self.tokens is not None and self.tokens not in cuts:
            raise InputError(
                f"tokens (--tokens) is {one_line(self.tokens)}: a file is cut into one of {', '.join(cuts)}"
            )
        if self.empty not in EMPTY:
            raise InputError(f"empty (--empty) is {one_line(self.empty)}: choose one of {', '.join(EMPTY)}")
        if self.delimiter is not None:
            known = _NAMES_OF_DELIMITERS.get(self.delimiter, self.delimiter)
            if len(known) != 1 or known in '\r\n"':
                raise InputError(
                    f"delimiter (--delimiter) is {one_line(self.delimiter)}: give one character that is no line end "
                    "and no quote"
                )
            object.__setattr__(self, "delimiter", known)

    @property
    def names_columns(self) -> bool:
        """Whether an option was given that only an event log has."""
        return any(value is not None for value in (self.case, self.activity, self.time, self.time_format))

    def time_in(self, header: Sequence[str]) -> str | None:
        """The column of the time that was asked for; None where events keep the order of the file, or to guess it."""
        return self.time or None

    @classmethod
    def of_alphabet(cls, alphabet: Alphabet) -> ReadOptions:
        """As a model's symbols suggest, when nothing is known of how its data were read."""
        cut = _CUT_OF_KIND.get(alphabet.kind)
        return cls() if cut is None else cls(format="text", tokens=cut)

    def found(self, **changes: str | None) -> ReadOptions:
        """The same with what was guessed."""
        return replace(self, **changes)  # type: ignore[arg-type]


class RememberedOptions(ReadOptions):
    """How an earlier file was read. A later one without its column of the time keeps its own order."""

    def time_in(self, header: Sequence[str]) -> str | None:
        """The column of the time, if this file has it too."""
        return self.time if self.time in header else None
