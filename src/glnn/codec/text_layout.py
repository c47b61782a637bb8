"""Files as tokens and what lies between them, and back, block after block.

The layout is the text with every token replaced by a mark: white space between words, the ends of lines. With it, a
file that is cut into words or lines comes back byte for byte; one of bytes or characters has none.
"""

from __future__ import annotations

import codecs
import re
import zlib
from collections.abc import Iterable, Iterator
from typing import Protocol

import numpy as np

from glnn.codec.errors import DAMAGED, DamagedStream
from glnn.sequences import InputError
from glnn.sequences.tokens import Kind, Tokens, tokens_of

BLOCK = 1 << 18
MARK = "."
_BYTE_ORDER_MARK = "\ufeff"
_WORD = re.compile(r"\S+")
CUT_LIKE_THIS = ("bytes", "characters", "words", "lines")


class Readable(Protocol):
    """What bytes can be read from."""

    def read(self, count: int, /) -> bytes:
        """At most this many bytes."""
        ...


def tokens_and_layout(kind: Kind, source: Iterable[bytes]) -> Iterator[tuple[Tokens, str]]:
    """The tokens of a file, block after block, each with its layout."""
    if kind == "bytes":
        yield from ((Tokens(np.frombuffer(block, np.uint8), kind), "") for block in source)
        return
    pieces = _texts(source)
    if kind == "characters":
        yield from ((tokens_of(piece), "") for piece in pieces)
        return
    rest, first = "", True
    for piece in pieces:
        text, bom = rest + piece, ""
        if first:
            first, bom = False, _BYTE_ORDER_MARK * text.startswith(_BYTE_ORDER_MARK)
            text = text.removeprefix(_BYTE_ORDER_MARK)
        whole, rest = _split(kind, text)
        tokens, layout = _cut(kind, whole)
        yield Tokens(list(tokens), kind), bom + layout
    if rest:
        yield Tokens([rest], kind), MARK


def restored_texts(layout: Iterator[str], tokens: Iterator[list[str]]) -> Iterator[str]:
    """Layout with each mark replaced by the next token."""
    waiting: list[str] = []
    for piece in layout:
        gaps = piece.split(MARK)
        while len(waiting) < len(gaps) - 1:
            more = next(tokens, None)
            if more is None:
                raise DamagedStream(f"the stream has fewer tokens than places for them: {DAMAGED}")
            waiting += more
        now, waiting = waiting[: len(gaps) - 1], waiting[len(gaps) - 1 :]
        yield gaps[0] + "".join(token + gap for token, gap in zip(now, gaps[1:], strict=True))
    if waiting or any(tokens):
        raise DamagedStream(f"the stream has more tokens than places for them: {DAMAGED}")


def unpacked_layout(source: Readable, length: int) -> Iterator[str]:
    """The text that was packed with zlib, in pieces of bounded size."""
    unpacker, decoder = zlib.decompressobj(), codecs.getincrementaldecoder("utf-8")()
    try:
        while length and not unpacker.eof:
            packed = source.read(min(BLOCK, length))
            length -= len(packed)
            if not packed:
                break
            while packed:
                yield decoder.decode(unpacker.decompress(packed, BLOCK))
                packed = unpacker.unconsumed_tail
        while tail := unpacker.decompress(unpacker.unconsumed_tail, BLOCK):
            yield decoder.decode(tail)
        yield decoder.decode(b"", final=True)
    except (zlib.error, UnicodeDecodeError) as error:
        raise DamagedStream(f"the stream's layout cannot be read ({error}): {DAMAGED}") from None
    if not unpacker.eof or length or unpacker.unused_data:
        raise DamagedStream(f"the stream's layout does not end where it should: {DAMAGED}")


def _texts(source: Iterable[bytes]) -> Iterator[str]:
    decoder, before = codecs.getincrementaldecoder("utf-8")(), 0
    try:
        for block in source:
            kept = len(decoder.getstate()[0])
            yield decoder.decode(block)
            before += len(block)
        kept = len(decoder.getstate()[0])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise InputError(
            f"the file is not UTF-8 text: byte 0x{error.object[error.start]:02x} at offset "
            f"{before - kept + error.start}; only a model of bytes can compress it"
        ) from None


def _split(kind: Kind, text: str) -> tuple[str, str]:
    """What can be cut now, and the token that may continue in the next block."""
    if kind == "lines":
        place = text.rfind("\n") + 1
    else:
        place = len(text) if not text or text[-1].isspace() else len(text) - len(text.rsplit(None, 1)[-1])
    return text[:place], text[place:]


def _cut(kind: Kind, text: str) -> tuple[list[str], str]:
    if kind == "words":
        return text.split(), _WORD.sub(MARK, text)
    lines = text.split("\n")[:-1]
    layout = "".join(f"{MARK}\r\n" if line.endswith("\r") else f"{MARK}\n" for line in lines)
    return [line.removesuffix("\r") for line in lines], layout
