"""Compression that stands alone: contexts learn the bytes while they are coded, and the decoder does the same.

Besides the code a stream holds only how frequent each byte is, as a power of 4: it shapes the tree of decisions and
says which bytes there are. Sequences of other symbols are coded as the bytes of their numbers, and the stream then
holds the symbols too (`alone_symbols.py`). Checksums and lengths are as with a model.
"""

from __future__ import annotations

import io
import os
import zlib
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from glnn.codec.alone_symbols import Numbered, numbered
from glnn.codec.alongside import Growing, decoded_alongside
from glnn.codec.container import Header, checksum, read_header, spooled, write_container
from glnn.codec.errors import DAMAGED, DamagedStream, StreamError, WrongModel
from glnn.codec.files import Blocks, Progress, beside, encode_bytes, restore
from glnn.codec.fingerprint import fingerprint
from glnn.codec.message import not_verified
from glnn.codec.streams import StreamDecoder
from glnn.contexts.mixing import ContextMixing
from glnn.contexts.mixing_memory import new_cursor, new_memory
from glnn.contexts.mixing_plan import NOW, VERSIONS, make_plan
from glnn.contexts.mixing_script import script_of
from glnn.predictors.mixture import MixturePredictor
from glnn.sequences import Alphabet, InputError

_BYTES = 256
# Classes of frequency: 0 for none, k for counts from 4^(k−1) on.
_MOST_FREQUENT = 31
_BLOCK = 1 << 20
# Symbols of a stream from strangers: more than this is not an alphabet.
_MOST_LAYOUT = 1 << 26


def compress(data: Any, *, verify: bool = True) -> bytes:
    """Bytes, a text, or sequences of any symbols as fewer bytes; `decompress` needs nothing else to get them back.

    A second thread decodes the result to be sure, which takes as much CPU time again; `verify=False` leaves that out.
    """
    whole = io.BytesIO()
    if isinstance(data, bytes | bytearray | memoryview | str):
        content = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else bytes(data)
        _write(io.BytesIO(content), whole, lambda done: None, verify, is_file=not isinstance(data, str))
    else:
        found = numbered(data)
        _write(io.BytesIO(found.content), whole, lambda done: None, verify, found, numbered=True)
    return whole.getvalue()


def decompress(blob: bytes | bytearray | memoryview, *, most_symbols: int | None = None) -> Any:
    """What `compress` was given. From a stranger it may be very long: `most_symbols` sets a limit."""
    if not isinstance(blob, bytes | bytearray | memoryview):
        raise InputError(f"decompress was given {type(blob).__name__}: give the bytes that compress() made")
    content = io.BytesIO()
    header, layout = _read(io.BytesIO(blob), content, most_symbols, lambda done: None)
    found = content.getvalue()
    if header.numbered:
        return Numbered.read(found, layout).data()
    return found if header.is_file else found.decode("utf-8", "surrogatepass")


def compress_file_alone(
    path: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    progress: Progress | None = None,
    verify: bool = True,
) -> int:
    """Compress a file into another; returns the number of bytes written."""
    source = Path(path)
    with source.open("rb") as file, beside(source, Path(target)) as output:
        return _write(file, output, progress or (lambda done: None), verify, is_file=True)


def decompress_file_alone(
    path: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    progress: Progress | None = None,
    most_symbols: int | None = None,
) -> int:
    """Write the file that was compressed into `path` to `target`; returns the number of bytes written."""
    source = Path(path)
    with source.open("rb") as file, beside(source, Path(target)) as output:
        if read_header(file).numbered:
            raise InputError(f"{path} holds sequences, not a file: read its bytes and give them to glnn.decompress()")
        _read(file, output, most_symbols, progress or (lambda done: None))
        return output.tell()


def stands_alone(path: str | os.PathLike[str]) -> bool:
    """Whether a compressed file needs no model."""
    with Path(path).open("rb") as file:
        return read_header(file).alone


def _write(
    source: BinaryIO, target: BinaryIO, progress: Progress, verify: bool, symbols: Numbered | None = None, **flags: bool
) -> int:
    counts, digest = np.zeros(_BYTES, np.int64), checksum()
    while block := source.read(_BLOCK):
        counts += np.bincount(np.frombuffer(block, np.uint8), minlength=_BYTES)
        digest.update(block)
    source.seek(0)
    classes, size = _classes(counts), int(counts.sum())
    predictor = _fresh(classes)
    layout_bytes = _packed(classes, b"" if symbols is None else symbols.layout)

    def encoded(code: BinaryIO | Growing, progress: Progress) -> Header:
        blocks = Blocks(source, lambda done: progress(done / max(size, 1)))
        return encode_bytes(predictor, blocks, code, alone=True, layout=len(layout_bytes), **flags)

    with spooled() as code, spooled() as layout:
        layout.write(layout_bytes)
        if not verify:
            return write_container(target, encoded(code, progress), [code, layout])
        try:
            check = partial(_check, _fresh(classes), size, digest.digest())
            with decoded_alongside(code, check, progress) as (growing, told):
                header = encoded(growing, told)
            count = write_container(target, header, [code, layout])
            _opened(target)
        except StreamError as error:
            raise not_verified(error) from error
    target.seek(0, 2)
    return count


def _check(predictor: MixturePredictor, size: int, expected: bytes, code: Growing, progress: Progress) -> None:
    """Decode what is being encoded, and compare."""
    decoder, digest, left = StreamDecoder(predictor, code, None), checksum(), size
    values = np.array(predictor.alphabet.symbols, np.uint8)
    decoder.begin()
    while left:
        codes = decoder.symbols(left)
        digest.update(values[codes].tobytes())
        left -= codes.size
        progress(1.0 - left / size)
    decoder.finish()
    if digest.digest() != expected:
        raise StreamError("it decodes to something else")


def _read(source: BinaryIO, target: BinaryIO, most_symbols: int | None, progress: Progress) -> tuple[Header, bytes]:
    """Decode into `target`; returns the header, and what the layout says besides the frequencies."""
    header, predictor, layout = _opened(source, most_symbols)
    restore(predictor, header, source, target, progress)
    return header, layout


def _opened(source: BinaryIO, most_symbols: int | None = None) -> tuple[Header, MixturePredictor, bytes]:
    """What a stream says, all checked, with `source` left where the code begins."""
    header = read_header(source)
    if not header.alone:
        raise WrongModel("the stream was compressed with a model: give the same model to decompress it")
    if most_symbols is not None and header.symbols > most_symbols:
        raise StreamError(f"the stream holds {header.symbols} bytes, and most_symbols allows {most_symbols}")
    begin = source.tell()
    source.seek(begin + header.code)
    classes, layout = _unpacked(source.read(header.layout), header.numbered)
    source.seek(begin)
    for version in reversed(VERSIONS):
        predictor = _fresh(classes, version)
        if fingerprint(predictor) == header.model:
            return header, predictor, layout
    raise WrongModel("another version of glnn made the stream, or one that computes differently: use that one")


def _fresh(classes: np.ndarray, version: int = NOW) -> MixturePredictor:
    """A mixture over the bytes that there are, at least two of them, that has read nothing."""
    used = np.flatnonzero(classes)
    if used.size < 2:
        used = np.union1d(used, np.arange(2))
    alphabet = Alphabet(used.tolist(), "bytes")
    frequencies = np.left_shift(np.int64(1), 2 * np.maximum(classes[used] - 1, 0))
    plan = make_plan(frequencies, script_of(alphabet.symbols, are_bytes=True), version=version)
    contexts = ContextMixing(plan, new_memory(plan), new_cursor(plan), online=True)
    return MixturePredictor(alphabet, contexts, identity=(used, frequencies))


def _classes(counts: np.ndarray) -> np.ndarray:
    """⌈bits of the count / 2⌉."""
    return np.array([(int(count).bit_length() + 1) // 2 for count in counts], np.int64)


def _packed(classes: np.ndarray, more: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(classes.astype(np.uint8).tobytes() + more) + packer.flush()


def _unpacked(layout: bytes, more: bool) -> tuple[np.ndarray, bytes]:
    unpacker = zlib.decompressobj(-15)
    try:
        found = unpacker.decompress(layout, _BYTES + (_MOST_LAYOUT if more else 1))
    except zlib.error as error:
        raise DamagedStream(f"the frequencies of the stream cannot be read ({error}): {DAMAGED}") from None
    right = unpacker.eof and (len(found) > _BYTES if more else len(found) == _BYTES)
    if not right or max(found[:_BYTES]) > _MOST_FREQUENT:
        raise DamagedStream(f"the stream has no frequencies of 256 bytes: {DAMAGED}")
    return np.frombuffer(found[:_BYTES], np.uint8).astype(np.int64), found[_BYTES:]
