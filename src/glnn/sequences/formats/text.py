"""Plain text: one sequence, cut into characters, bytes, words or lines.

Files are mapped into memory, not read: bytes cost only their codes, even of a file larger than memory, and text is held
once, as a str. Text is UTF-8 and kept as it is, line ends included, when its characters are the symbols. What is not
UTF-8 is an error that names the place: bytes must be asked for, since they are rarely what was meant.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from glnn.sequences.errors import InputError, one_line
from glnn.sequences.formats.source import CUTS, NUMBERS, STANDARD_INPUT_TITLE, Cut, ReadOptions, Source
from glnn.sequences.several import Sequences
from glnn.sequences.tokens import Lines, Words, split_lines

_TITLES = {"chars": "characters", "bytes": "bytes", "words": "words", "lines": "lines"}
_ENOUGH_LINES = 20


class Text:
    """One sequence."""

    name = "text"
    title = "one text"

    def read(self, source: Source, options: ReadOptions) -> Sequences:
        """The whole file as one sequence."""
        cut = options.tokens or "chars"
        if cut == NUMBERS:
            raise InputError("tokens is 'numbers', which is for one sequence per line: give format='lines' too")
        content: Any = _unpacked(source, cut) if source.is_packed else _read(source.path, cut, source.title)
        several = cut == "chars" and options.tokens is None and options.format is None and _one_a_line(source)
        return Sequences(
            [content],
            source=source.title,
            title=f"one sequence of {_TITLES[cut]}",
            note="if each line is a sequence of its own, say format='lines' (--format lines)" if several else "",
            options=options.found(format=self.name, tokens=cut),
        )

    def write(self, samples: list[Any], options: ReadOptions) -> bytes:
        """One after the other: bytes as they are, texts each with a line end."""
        return b"".join(map(_with_line_end, samples))


def _with_line_end(sample: str | bytes) -> bytes:
    if isinstance(sample, bytes):
        return sample
    return (sample if sample.endswith("\n") else f"{sample}\n").encode("utf-8", "surrogatepass")


def _unpacked(source: Source, cut: str) -> Any:
    """As `read_file` does it, from a packed file."""
    if cut == "bytes":
        with source.open() as file:
            content = file.read()
    else:
        content = "".join(line for _, line in source.lines(ends=True))  # type: ignore[assignment]
    if not content:
        raise InputError(f"{source.title} is empty: there is nothing to read")
    if cut == "words":
        return Words(content.split())  # type: ignore[arg-type]
    return Lines(split_lines(content)) if cut == "lines" else content  # type: ignore[arg-type]


def _one_a_line(source: Source) -> bool:
    """Whether the lines look like sequences: many, all of one word, and not of one width, as wrapped text is."""
    lines = [line for line in source.first_lines if line]
    if len(lines) < _ENOUGH_LINES or any(len(line.split()) != 1 for line in lines):
        return False
    return len({len(line) for line in lines[:-1]}) > 2


def read_file(path: str | Path, tokens: Cut = "chars") -> str | memoryview | Words | Lines:
    """One sequence from a file: a str, a view of its bytes, its words (cut at white space) or its lines."""
    if not isinstance(tokens, str) or tokens not in CUTS:
        raise InputError(f"tokens is {one_line(tokens)}: a file is cut into one of {', '.join(CUTS)}")
    return _read(Path(path), tokens, str(path))


def _read(path: Path, tokens: str, title: str) -> str | memoryview | Words | Lines:
    """A file as one sequence; `title` is what messages call it."""
    if not path.stat().st_size:
        raise InputError(f"{_called(title)} is empty: there is nothing to read")
    if tokens == "bytes":
        return np.memmap(path, dtype=np.uint8, mode="r").data
    text = read_text(path, title)
    if tokens == "chars":
        return text
    # A byte order mark is not part of the first word.
    text = text.removeprefix("\ufeff")
    found = Words(text.split()) if tokens == "words" else Lines(split_lines(text))
    if not found:
        raise InputError(f"{_called(title)} holds no {tokens}: there is nothing to read")
    return found


def _called(title: str) -> str:
    return title if title == STANDARD_INPUT_TITLE else f"the file {title}"


def read_mask(path: str | Path) -> np.ndarray:
    """A mask from a file of 0 and 1, one per symbol; white space is skipped."""
    raw = np.frombuffer(Path(path).read_bytes(), dtype=np.uint8)
    digits = raw[~np.isin(raw, np.frombuffer(b" \t\r\n", dtype=np.uint8))]
    wrong = digits[(digits != ord("0")) & (digits != ord("1"))]
    if wrong.size:
        raise InputError(
            f"the mask file {path} holds {chr(wrong[0])!r}: it is made of 0 and 1, one per symbol of the data"
        )
    return digits == ord("1")


def read_text(path: Path, title: str | None = None) -> str:
    """A whole file as UTF-8; what is not UTF-8 is named with its place. `title` is what messages call the file."""
    # A file without a size, such as a pipe, cannot be mapped.
    raw = np.memmap(path, dtype=np.uint8, mode="r").data if path.stat().st_size else path.read_bytes()
    try:
        return str(raw, "utf-8")
    except UnicodeDecodeError as error:
        line = bytes(raw[: error.start]).count(b"\n") + 1
        raise InputError(
            f"{_called(title or str(path))} is not UTF-8 text: byte 0x{raw[error.start]:02x} at offset {error.start} "
            f"(line {line}); convert it, or read it with tokens='bytes' (--tokens bytes)"
        ) from None
