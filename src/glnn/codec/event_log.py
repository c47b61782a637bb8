"""An event log as the activities of its cases and the rest of the file, so that it comes back byte for byte.

The rest is the log with every activity taken out; rows that hold one in quotes keep an empty pair of them. Which
activity belongs in which row follows from the log itself: it is read again with the row numbers as activities.
"""

from __future__ import annotations

import lzma
import re
import struct
import tempfile
from pathlib import Path
from typing import Any

from glnn.sequences.errors import InputError, listed
from glnn.sequences.formats import ReadOptions, Source, read_with
from glnn.storage.atomic import write_whole

_MAGIC = b"glnnlog1"
_MOST_MEMORY = 1 << 28
_LENGTH = struct.Struct("<Q")
_DAMAGED = "it is damaged or was altered; use another copy"


def compress_log(model: Any, reading: ReadOptions, path: Path, out: Path, *, verify: bool = True) -> None:
    """Compress the activities with the model and the rest with xz."""
    from glnn.sequences.formats.text import read_text

    content = path.read_bytes()
    rest, activities = taken_apart(read_text(path), reading)
    sequences = _read(path, reading)
    if put_together(rest, reading, [list(case) for case in sequences]).encode() != content:
        raise InputError(
            f"{path} is written in a way that would not come back exactly ({len(activities)} activities were found): "
            "train a model with --tokens chars to compress it"
        )
    packed = lzma.compress(rest.encode(), preset=9)
    if len(rest.encode()) > _most_unpacked(len(packed)):
        raise InputError(
            f"{path} repeats itself so much that decompressing it would look like an attack: use xz for it"
        )
    write_whole(out, _MAGIC + _LENGTH.pack(len(packed)) + packed + model.compress(sequences, verify=verify))


def decompress_log(model: Any, reading: ReadOptions, path: Path, out: Path) -> None:
    """The log that `compress_log` was given."""
    content = path.read_bytes()
    head = len(_MAGIC) + _LENGTH.size
    if content[: len(_MAGIC)] != _MAGIC:
        raise InputError(f"{path} is not a compressed event log: give a file that glnn compress wrote with this model")
    try:
        (length,) = _LENGTH.unpack(content[len(_MAGIC) : head])
        # A few bytes of xz can unpack to gigabytes, or ask for as much memory to do so.
        unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MOST_MEMORY)
        rest = unpacker.decompress(content[head : head + length], _most_unpacked(length)).decode()
    except (struct.error, lzma.LZMAError, UnicodeDecodeError, EOFError, OverflowError):
        raise InputError(f"{path} cannot be unpacked: {_DAMAGED}") from None
    if not unpacker.eof:
        raise InputError(f"{path} unpacks to more than a log would, or is cut off: {_DAMAGED}")
    activities = model.decompress(content[head + length :])
    several = hasattr(activities, "items") or (len(activities) > 0 and not isinstance(activities[0], str))
    cases = [list(case) for case in activities] if several else [list(activities)]
    try:
        whole = put_together(rest, reading, cases)
    except (IndexError, KeyError, ValueError):
        raise InputError(f"{path} does not fit together: {_DAMAGED}") from None
    write_whole(out, whole.encode())


def _most_unpacked(packed: int) -> int:
    """How much xz data may unpack to: more than any real log, less than fills the memory."""
    return 16_000_000 + 1000 * packed


def taken_apart(text: str, reading: ReadOptions) -> tuple[str, list[str]]:
    """The log without its activities, and what was in their places, row by row."""
    pieces, found = [], []
    done = 0
    for begin, end in _places(text, reading):
        field = text[begin:end]
        found.append(field)
        pieces.append(text[done:begin] + ('""' if field.startswith('"') else ""))
        done = end
    return "".join(pieces) + text[done:], found


def put_together(rest: str, reading: ReadOptions, cases: list[list[str]]) -> str:
    """The log with the activities of the cases back in their places."""
    places = list(_places(rest, reading))
    pieces, done = [], 0
    for number, (begin, end) in enumerate(places):
        pieces.append(f"{rest[done:begin]}{number}")
        done = end
    with tempfile.TemporaryDirectory() as folder:
        numbered = Path(folder) / "log.csv"
        numbered.write_bytes(("".join(pieces) + rest[done:]).encode())
        order = _read(numbered, reading)
    if [len(case) for case in order] != [len(case) for case in cases]:
        raise InputError(f"the activities do not fit the cases of the log: {_DAMAGED}")
    flat = [token for case in cases for token in case]
    activity = dict(zip((int(row) for case in order for row in case), flat, strict=True))
    pieces, done = [], 0
    for number, (begin, end) in enumerate(places):
        token = activity[number]
        quoted = f'"{token.replace(chr(34), chr(34) * 2)}"'
        pieces.append(rest[done:begin] + (quoted if end > begin else token))
        done = end
    return "".join(pieces) + rest[done:]


def _read(path: Path, reading: ReadOptions) -> Any:
    return read_with(Source(path), reading)


def _places(text: str, reading: ReadOptions) -> list[tuple[int, int]]:
    """Where the field of the activity begins and ends in every row under the header."""
    rows = _rows(text, reading.delimiter or ",")
    if not rows:
        raise InputError("the event log is empty: its first line names the columns")
    names = [_content(text[begin:end]) for begin, end in rows[0]]
    # A byte order mark belongs to the file, not to the first name.
    names[0] = names[0].removeprefix("\ufeff")
    if reading.activity not in names:
        raise InputError(f"the event log has no column {reading.activity!r}: its columns are {listed(names)}")
    column = names.index(reading.activity)
    return [row[column] for row in rows[1:] if len(row) > column]


def _rows(text: str, delimiter: str) -> list[list[tuple[int, int]]]:
    """The fields of every row that is not empty, as places in the text; fields may be quoted, as CSV has it."""
    mark = re.escape(delimiter)
    pattern = re.compile(rf'((?:"(?:[^"]|"")*"?)?[^{mark}\r\n]*)({mark}|\r\n|\n|\r|\Z)')
    rows: list[list[tuple[int, int]]] = []
    row: list[tuple[int, int]] = []
    place = 0
    while place < len(text):
        match = pattern.match(text, place)
        assert match is not None
        row.append(match.span(1))
        place = match.end()
        if match[2] == delimiter:
            if place < len(text):
                continue
            row.append((place, place))
        if len(row) > 1 or row[0][1] > row[0][0]:
            rows.append(row)
        row = []
    return rows


def _content(field: str) -> str:
    if field.startswith('"') and field.endswith('"') and len(field) > 1:
        return field[1:-1].replace('""', '"')
    return field
