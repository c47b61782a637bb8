"""What surrounds the coded symbols: version, model, lengths, checksums. All of it is checked before decoding.

magic 4 | version 1 | flags 1 | model 8 | checksum of the data 8
symbols, sequences, bytes of code, bytes of layout: numbers in 7-bit pieces, least first, 128 added to all but the last
code | layout | checksum of all before it 8
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, NoReturn, cast

from glnn.codec.errors import DAMAGED, DamagedStream, StreamError

MAGIC = b"\x97GLN"
VERSION = 1
CHECKSUM = 8
_BLOCK = 1 << 20
_IN_MEMORY = 1 << 24
_LARGEST = 1 << 62
_FILE, _SEVERAL, _ENDS, _PORTABLE, _ALONE, _NUMBERED = 1, 2, 4, 8, 16, 32


@dataclass(frozen=True)
class Header:
    """What a stream says about itself."""

    model: bytes
    data: bytes
    symbols: int
    sequences: int
    code: int = 0
    layout: int = 0
    is_file: bool = False
    """Whether it gives back a file, byte for byte."""
    several: bool = False
    """Whether the data were given as several sequences."""
    ends: bool = False
    """Whether every sequence ends with the end symbol, and has it nowhere else."""
    portable: bool = True
    """Whether every machine computes this model's probabilities to the same bit."""
    alone: bool = False
    """Whether nothing but the stream is needed: its layout then says how frequent each byte is."""
    numbered: bool = False
    """Whether the bytes are numbers of symbols, which the layout names too."""

    def packed(self) -> bytes:
        """The header as bytes."""
        flags = _FILE * self.is_file | _SEVERAL * self.several | _ENDS * self.ends | _PORTABLE * self.portable
        flags |= _ALONE * self.alone | _NUMBERED * self.numbered
        numbers = b"".join(map(_packed, (self.symbols, self.sequences, self.code, self.layout)))
        return MAGIC + bytes([VERSION, flags]) + self.model + self.data + numbers


def write_container(target: BinaryIO, header: Header, parts: list[BinaryIO]) -> int:
    """Write header, parts (each from its beginning) and checksum; returns the number of bytes."""
    digest, count = checksum(), 0
    for block in _all_blocks(header.packed(), parts):
        digest.update(block)
        target.write(block)
        count += len(block)
    target.write(digest.digest())
    return count + CHECKSUM


def read_header(source: BinaryIO) -> Header:
    """Check the whole stream from its beginning, and leave `source` where the code begins."""
    source.seek(0, 2)
    size = source.tell()
    source.seek(0)
    opening = source.read(len(MAGIC) + 2)
    if opening[: len(MAGIC)] != MAGIC:
        raise DamagedStream("this is not a stream that glnn compressed: give one, unaltered, from its first byte")
    if len(opening) < len(MAGIC) + 2:
        _cut_off(size)
    version, flags = opening[len(MAGIC) :]
    if version != VERSION:
        raise StreamError(f"the stream has format version {version}, this glnn reads {VERSION}: install a newer glnn")
    model, data = _exactly(source, CHECKSUM, size), _exactly(source, CHECKSUM, size)
    symbols, sequences, code, layout = (_unpacked(source, size) for _ in range(4))
    begin = source.tell()
    expected = begin + code + layout + CHECKSUM
    if size < expected:
        _cut_off(size, expected)
    if size > expected:
        raise DamagedStream(f"the stream is {expected} bytes long and {size - expected} more follow: {DAMAGED}")
    _check_sum(source, size)
    header = Header(
        model,
        data,
        symbols,
        sequences,
        code,
        layout,
        is_file=bool(flags & _FILE),
        several=bool(flags & _SEVERAL),
        ends=bool(flags & _ENDS),
        portable=bool(flags & _PORTABLE),
        alone=bool(flags & _ALONE),
        numbered=bool(flags & _NUMBERED),
    )
    _check_sense(header)
    source.seek(begin)
    return header


def spooled() -> BinaryIO:
    """A temporary file, in memory while it is small."""
    return cast(BinaryIO, tempfile.SpooledTemporaryFile(_IN_MEMORY))


def checksum() -> hashlib.blake2b:
    """A running checksum."""
    return hashlib.blake2b(digest_size=CHECKSUM)


def _check_sum(source: BinaryIO, size: int) -> None:
    digest, left = checksum(), size - CHECKSUM
    source.seek(0)
    while left:
        block = source.read(min(_BLOCK, left))
        if not block:
            _cut_off(size)
        digest.update(block)
        left -= len(block)
    if source.read(CHECKSUM) != digest.digest():
        raise DamagedStream(f"the stream has a wrong checksum: {DAMAGED}")


def _check_sense(header: Header) -> None:
    """Refuse numbers that no encoder writes: every symbol costs something, and so does every sequence."""
    bits = 8 * header.code + 64
    most_sequences = header.symbols if header.ends else bits
    if header.symbols > bits << 32 or (header.several and header.sequences > most_sequences):
        raise DamagedStream(
            f"the stream claims {header.symbols} symbols in {header.sequences} sequences, more than its {header.code} "
            f"bytes can hold: {DAMAGED}"
        )
    if not header.several and header.sequences != 1:
        raise DamagedStream(f"the stream claims {header.sequences} sequences and a single one: {DAMAGED}")


def _all_blocks(opening: bytes, parts: list[BinaryIO]) -> Iterator[bytes]:
    yield opening
    for part in parts:
        part.seek(0)
        while block := part.read(_BLOCK):
            yield block


def _packed(number: int) -> bytes:
    pieces = bytearray()
    while number >= 128:
        pieces.append(number & 127 | 128)
        number >>= 7
    pieces.append(number)
    return bytes(pieces)


def _unpacked(source: BinaryIO, size: int) -> int:
    number = shift = 0
    while True:
        (piece,) = _exactly(source, 1, size)
        number |= (piece & 127) << shift
        shift += 7
        if number >= _LARGEST:
            raise DamagedStream(f"the stream's header holds a number above 2^62: {DAMAGED}")
        if piece < 128:
            return number
        if shift > 63:
            raise DamagedStream(f"the stream's header holds a number of too many bytes: {DAMAGED}")


def _exactly(source: BinaryIO, count: int, size: int) -> bytes:
    found = source.read(count)
    if len(found) < count:
        _cut_off(size)
    return found


def _cut_off(size: int, expected: int | None = None) -> NoReturn:
    should = "longer" if expected is None else f"{expected}"
    raise DamagedStream(f"the stream is {size} bytes long and should be {should}: it was cut off; use another copy")
