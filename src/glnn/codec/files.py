"""Compress a file into a file that decompresses byte for byte: cut as the model was trained, in bounded memory.

The result is written next to its place, decoded once to compare, and only then renamed: a failure leaves nothing
behind.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from glnn.codec.alongside import Growing
from glnn.codec.container import Header, checksum, spooled, write_container
from glnn.codec.errors import StreamError
from glnn.codec.fingerprint import fingerprint
from glnn.codec.message import check_data, not_verified, open_stream, predictor_of, read_sequences, write_sequence
from glnn.codec.streams import StreamEncoder
from glnn.codec.symbols import Collector, Run, SymbolDigest, runs_of_tokens
from glnn.codec.text_layout import BLOCK, CUT_LIKE_THIS, restored_texts, tokens_and_layout, unpacked_layout
from glnn.predictors import Predictor
from glnn.sequences import InputError
from glnn.storage.atomic import replacing

Progress = Callable[[float], None]
"""Called now and then with the part of the work that is done, 0 to 1."""


def compress_file(
    model: Any,
    path: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    progress: Progress | None = None,
    verify: bool = True,
) -> int:
    """Compress the file at `path` into `target`, for `decompress_file` with the same model; returns the number of bytes
    written.

    The file is one sequence, cut into bytes, characters, words or lines like the data that the model learned from.
    It is decoded once as a check, which takes as long again; `verify=False` leaves that out.
    """
    predictor = predictor_of(model)
    _check_kind(predictor)
    source = Path(path)
    size = max(source.stat().st_size, 1)
    told, part = progress or (lambda done: None), 0.5 if verify else 1.0
    with beside(source, Path(target)) as output:
        with source.open("rb") as file, spooled() as code, spooled() as layout:
            header = _encode(predictor, Blocks(file, lambda done: told(part * done / size)), code, layout)
            count = write_container(output, header, [code, layout])
        if not verify:
            return count
        try:
            restore(predictor, open_stream(predictor, output), output, Nowhere(), lambda done: told(0.5 + 0.5 * done))
        except StreamError as error:
            raise not_verified(error) from error
    return count


def decompress_file(
    model: Any,
    path: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    progress: Progress | None = None,
    most_symbols: int | None = None,
) -> int:
    """Write the file that was compressed into `path` to `target`; returns the number of bytes written.

    Another model, or a stream that is damaged, is refused, and `target` stays as it was. A stream from a stranger can
    hold very many symbols in a few bytes: `most_symbols` sets a limit.
    """
    predictor = predictor_of(model)
    source = Path(path)
    with source.open("rb") as file:
        header = open_stream(predictor, file, most_symbols)
        if not header.is_file:
            raise InputError(f"{path} holds sequences, not a file: read its bytes and give them to decompress()")
        with beside(source, Path(target)) as output:
            restore(predictor, header, file, output, progress)
            return output.tell()


def restore(
    predictor: Predictor, header: Header, source: BinaryIO, target: Any, progress: Progress | None = None
) -> None:
    """Decode a file from `source`, which is at the code, and check that it is the one that was compressed."""
    begin = source.tell()
    digest = checksum()
    for block in _decoded(predictor, header, source, begin, progress or (lambda done: None)):
        digest.update(block)
        target.write(block)
    check_data(header, digest.digest())


def _encode(predictor: Predictor, blocks: Blocks, code: BinaryIO, layout: BinaryIO) -> Header:
    """Encode all blocks; returns the header."""
    packer, laid_out = zlib.compressobj(9), 0
    encoder, symbols = StreamEncoder(predictor, code), SymbolDigest()
    end = predictor.alphabet.end

    def runs() -> Iterable[Run]:
        nonlocal laid_out
        for tokens, between in tokens_and_layout(predictor.alphabet.kind, blocks):
            yield from runs_of_tokens(tokens, predictor.alphabet, before=symbols.symbols)
            laid_out += layout.write(packer.compress(between.encode()))

    write_sequence(encoder, runs(), symbols, end)
    if predictor.alphabet.kind in ("words", "lines"):
        laid_out += layout.write(packer.flush())
    coded = encoder.finish()
    return Header(
        model=fingerprint(predictor),
        data=blocks.digest.digest(),
        symbols=symbols.symbols,
        sequences=1,
        code=coded,
        layout=laid_out,
        is_file=True,
        ends=end is not None,
        portable=encoder.portable,
    )


def encode_bytes(predictor: Predictor, blocks: Blocks, code: BinaryIO | Growing, **others: Any) -> Header:
    """Encode all blocks with a predictor of bytes; returns the header, which is passed to `others`."""
    encoder, symbols = StreamEncoder(predictor, code), SymbolDigest()
    all_tokens = tokens_and_layout("bytes", blocks)
    runs = (run for tokens, _ in all_tokens for run in runs_of_tokens(tokens, predictor.alphabet))
    write_sequence(encoder, runs, symbols, None)
    # The checksum and the length are known only once all blocks are read.
    coded = encoder.finish()
    digest = blocks.digest.digest()
    return Header(fingerprint(predictor), digest, symbols.symbols, 1, coded, portable=encoder.portable, **others)


def _decoded(predictor: Predictor, header: Header, source: BinaryIO, begin: int, progress: Progress) -> Iterator[bytes]:
    """The bytes of the file, block after block."""
    collector = Collector(predictor.alphabet)
    pieces = _pieces(collector, read_sequences(predictor, header, source), max(header.symbols, 1), progress)
    kind = predictor.alphabet.kind
    if kind == "bytes":
        yield from pieces
    elif kind == "characters":
        yield from (piece.encode("utf-8", "surrogatepass") for piece in pieces)
    else:
        _check_kind(predictor)
        # The layout comes after the code; each is read where the other left off.
        between = unpacked_layout(_Window(source, begin + header.code), header.layout)
        yield from (text.encode("utf-8", "surrogatepass") for text in restored_texts(between, pieces))


def _pieces(collector: Collector, sequences: Iterator[Any], total: int, progress: Progress) -> Iterator[Any]:
    done = 0
    for parts in sequences:
        for codes, token in parts:
            collector.codes(codes)
            if token is not None:
                collector.token(*token)
            done += codes.size + (token is not None)
            progress(min(done / total, 1.0))
            yield from collector.take()


class Blocks:
    """The blocks of a file, with their checksum."""

    def __init__(self, file: BinaryIO, progress: Progress) -> None:
        self._file, self._progress = file, progress
        self.digest = checksum()

    def __iter__(self) -> Iterator[bytes]:
        done = 0
        while block := self._file.read(BLOCK):
            self.digest.update(block)
            done += len(block)
            self._progress(done)
            yield block


class _Window:
    """Reads a file from a place of its own, and puts the position back."""

    def __init__(self, file: BinaryIO, place: int) -> None:
        self._file, self._place = file, place

    def read(self, count: int) -> bytes:
        """The next bytes."""
        before = self._file.tell()
        self._file.seek(self._place)
        found = self._file.read(count)
        self._place += len(found)
        self._file.seek(before)
        return found


class Nowhere:
    """Swallows data that are only checked."""

    def write(self, block: bytes) -> None:
        """Forget it."""


@contextmanager
def beside(source: Path, target: Path) -> Iterator[BinaryIO]:
    """A new file in the place of `target` if all goes well, otherwise none."""
    if target.exists() and target.samefile(source):
        raise InputError(f"{target} is the input file: give another name for the result")
    if target.is_dir():
        raise InputError(f"{target} is a folder: give the name of a file")
    if not target.parent.is_dir():
        raise InputError(f"the folder {target.parent} does not exist: make it first")
    with replacing(target) as file:
        yield file


def _check_kind(predictor: Predictor) -> None:
    kind = predictor.alphabet.kind
    if kind not in CUT_LIKE_THIS:
        raise InputError(
            f"the model's symbols are {kind}, not the bytes, characters, words or lines of a file: give the data to "
            "compress() instead"
        )
