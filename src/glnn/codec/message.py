"""Compress data in memory: any sequences that a model can read, one or several, and back to the same symbols.

Each sequence begins from the start state. Where the model has learned an end, it closes every sequence, as in its
scores; otherwise the length of each of several sequences is written in front of it.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import numpy as np

from glnn.codec.container import Header, read_header, spooled, write_container
from glnn.codec.errors import DAMAGED, DamagedStream, StreamError, WrongModel
from glnn.codec.fingerprint import fingerprint
from glnn.codec.streams import StreamDecoder, StreamEncoder
from glnn.codec.symbols import Collector, Run, SymbolDigest, sequences_of
from glnn.predictors import Predictor
from glnn.sequences import InputError, Sequences

Part = tuple[np.ndarray, tuple[Any] | None]
"""Codes, and the escaped token after them if there is one (in a tuple, since any token may be meant)."""


def compress(model: Any, data: Any, *, verify: bool = True) -> bytes:
    """Data of any kind that the model reads, as bytes that `decompress` turns back into the same symbols.

    `model` is a fitted estimator or any predictor. The result is decoded once as a check before it is returned,
    which takes as long again; `verify=False` leaves that out.
    """
    predictor = predictor_of(model)
    alphabet = predictor.alphabet
    runs, several, as_they_are = sequences_of(data, alphabet)
    end = alphabet.end
    ends = end is not None and not as_they_are
    with spooled() as code:
        encoder, digest = StreamEncoder(predictor, code), SymbolDigest()
        for run in runs:
            if several and not ends:
                encoder.length(run[0].size)
            write_sequence(encoder, [run], digest, end if ends else None)
        written = encoder.finish()
        header = Header(
            model=fingerprint(predictor),
            data=digest.digest(),
            symbols=digest.symbols,
            sequences=len(runs),
            code=written,
            several=several,
            ends=ends,
            portable=encoder.portable,
        )
        if verify:
            check(predictor, header, code)
        whole = io.BytesIO()
        write_container(whole, header, [code])
    return whole.getvalue()


def decompress(model: Any, blob: bytes, *, most_symbols: int | None = None) -> Any:
    """The data that `compress` was given, as the alphabet's natural kind; a compressed file gives its bytes.

    Several sequences come as a list, or as `glnn.Sequences` where a list of texts would be taken for one sequence. A
    stream from a stranger can hold very many symbols in a few bytes: `most_symbols` sets a limit.
    """
    if not isinstance(blob, bytes | bytearray | memoryview):
        raise InputError(f"decompress was given {type(blob).__name__}: give the bytes that compress() made")
    source = io.BytesIO(blob)
    predictor = predictor_of(model)
    header = open_stream(predictor, source, most_symbols)
    if header.is_file:
        from glnn.codec.files import restore

        content = io.BytesIO()
        restore(predictor, header, source, content)
        return content.getvalue()
    digest, found = SymbolDigest(), []
    for parts in read_sequences(predictor, header, source):
        collector = Collector(predictor.alphabet)
        digest.begin()
        for codes, token in parts:
            digest.codes(codes)
            collector.codes(codes)
            if token is not None:
                digest.token(*token)
                collector.token(*token)
        found.append(collector.joined())
    check_data(header, digest.digest())
    if not header.several:
        return found[0]
    return Sequences(found) if found and isinstance(found[0], str | bytes) else found


def predictor_of(model: Any) -> Predictor:
    """The predictor of a fitted model, or the model if it is one."""
    predictor = getattr(model, "predictor_", model)
    if not (hasattr(predictor, "begin") and hasattr(predictor, "alphabet")) or isinstance(predictor, type):
        raise InputError(f"{type(model).__name__} cannot predict: give a fitted model, or a predictor")
    return predictor  # type: ignore[no-any-return]


def open_stream(predictor: Predictor, source: BinaryIO, most_symbols: int | None = None) -> Header:
    """Check all that can be checked before decoding; `source` is left where the code begins."""
    header = read_header(source)
    if most_symbols is not None and header.symbols > most_symbols:
        raise StreamError(f"the stream holds {header.symbols} symbols, and most_symbols allows {most_symbols}")
    if header.alone:
        raise WrongModel("the stream needs no model: give it to glnn.decompress, or to glnn decompress without one")
    own = fingerprint(predictor)
    if own != header.model:
        hint = "" if header.portable else "; this model's probabilities may also differ from machine to machine"
        raise WrongModel(
            f"the stream was made with the model {header.model.hex()}, this model is {own.hex()}: decompress with "
            f"the model that compressed it{hint}"
        )
    if header.ends and predictor.alphabet.end is None:
        raise DamagedStream(f"the stream has end symbols, the model has none: {DAMAGED}")
    return header


def write_sequence(encoder: StreamEncoder, runs: Iterable[Run], digest: SymbolDigest, end: int | None) -> None:
    """Encode one sequence, with its end if there is one."""
    encoder.begin()
    digest.begin()
    for codes, token in runs:
        begin = 0
        for place in np.flatnonzero(codes < 0).tolist():
            digest.codes(codes[begin:place])
            encoder.symbols(codes[begin:place])
            digest.token(token(place))
            encoder.escape(token(place))
            begin = place + 1
        digest.codes(codes[begin:])
        encoder.symbols(codes[begin:])
    if end is not None:
        last = np.array([end], np.int32)
        digest.codes(last)
        encoder.symbols(last)


def read_sequences(predictor: Predictor, header: Header, source: BinaryIO) -> Iterator[Iterator[Part]]:
    """Each sequence as an iterator over its parts; it must be exhausted before the next."""
    decoder = StreamDecoder(predictor, source, header.code)
    end = predictor.alphabet.end if header.ends else None
    left = header.symbols
    for _ in range(header.sequences):
        length = left
        if header.several and end is None:
            length = decoder.length()
            if length > left:
                raise DamagedStream(f"a sequence is longer than all symbols together: {DAMAGED}")
        decoder.begin()
        counted = _Counted(_read_sequence(decoder, length, end))
        yield counted
        for _ in counted:
            raise RuntimeError("a sequence was not read to its end")
        left -= counted.symbols
    if left:
        raise DamagedStream(f"the stream holds {header.symbols - left} symbols, not {header.symbols}: {DAMAGED}")
    decoder.finish()


class _Counted:
    """Parts, with the number of symbols that were in them."""

    def __init__(self, parts: Iterator[Part]) -> None:
        self._parts, self.symbols = parts, 0

    def __iter__(self) -> Iterator[Part]:
        return self

    def __next__(self) -> Part:
        codes, token = next(self._parts)
        self.symbols += codes.size + (token is not None)
        return codes, token


def _read_sequence(decoder: StreamDecoder, length: int, end: int | None) -> Iterator[Part]:
    while length > 0:
        codes = decoder.symbols(length, -1 if end is None else end)
        length -= codes.size
        if decoder.is_escape(int(codes[-1])):
            yield codes[:-1], (decoder.escaped(),)
            continue
        yield codes, None
        if codes[-1] == end:
            return
    if end is not None:
        raise DamagedStream(f"the stream ends inside a sequence: {DAMAGED}")


def check_data(header: Header, found: bytes) -> None:
    """Compare checksums of what was encoded and decoded."""
    if found != header.data:
        hint = "it is damaged" if header.portable else "it is damaged, or this machine computes other probabilities"
        raise DamagedStream(f"what the stream decodes to is not what was compressed: {hint}; use another copy")


def check(predictor: Predictor, header: Header, code: BinaryIO) -> None:
    """Decode what was just encoded, without keeping it."""
    code.seek(0)
    digest = SymbolDigest()
    try:
        for parts in read_sequences(predictor, header, code):
            digest.begin()
            for codes, token in parts:
                digest.codes(codes)
                if token is not None:
                    digest.token(*token)
        check_data(header, digest.digest())
    except StreamError as error:
        raise not_verified(error) from error


def not_verified(error: Exception) -> StreamError:
    """The error of an encoder whose stream does not decode to the data."""
    return StreamError(f"the compressed stream could not be decoded again, and nothing was written ({error})")


def encoded_bits(blob: bytes) -> int:
    """The bits of coded symbols in a stream: what to compare with the model's `bits`; the rest is header."""
    return 8 * read_header(io.BytesIO(blob)).code
