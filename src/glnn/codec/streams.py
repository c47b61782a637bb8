"""The bytes of a range coder, to and from a file, with bounded memory: runs of symbols, escapes and plain numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from glnn.codec.errors import DAMAGED, DamagedStream
from glnn.codec.escapes import EscapeCoder
from glnn.codec.state_steps import escape_of, steps_of
from glnn.coding import range_coder

if TYPE_CHECKING:
    from _typeshed import SupportsRead, SupportsWrite

BLOCK = 1 << 16
# Written as soon as there are so many bytes: whoever decodes alongside need not wait.
_WRITTEN_AT_ONCE = 1 << 12
_PIECE = 16
_BITS_OF_A_LENGTH = 64


class StreamEncoder:
    """Writes symbols with the probabilities of a predictor."""

    def __init__(self, predictor: Any, sink: SupportsWrite[bytes]) -> None:
        self._steps, self._sink = steps_of(predictor), sink
        self._escapes = EscapeCoder(predictor.alphabet)
        self._coder, self._out = range_coder.encoder(), np.empty(_WRITTEN_AT_ONCE + self._steps.margin, np.uint8)
        self.portable = self._steps.portable
        self.written = 0

    def begin(self) -> None:
        """A sequence begins."""
        self._steps.restart()

    def symbols(self, codes: np.ndarray) -> None:
        """Symbols of the alphabet, no escapes."""
        done = 0
        while done < codes.size:
            self._flush()
            # In pieces: steps may copy what they are given.
            done += self._steps.encode(codes[done : done + BLOCK], self._coder, self._out)

    def escape(self, token: Any) -> None:
        """A token outside the alphabet: an escape, and which token it is."""
        self._flush()
        self._steps.encode_escape(self._coder, self._out)
        for value, total in self._escapes.numbers(token):
            self.number(value, total)

    def number(self, value: int, total: int) -> None:
        """One of `total` equally likely values."""
        self._flush()
        range_coder.encode_number(value, total, self._coder, self._out)

    def length(self, value: int) -> None:
        """A whole number: how many bits it has, then those after the first."""
        bits = value.bit_length()
        self.number(bits, _BITS_OF_A_LENGTH)
        for shift in range(0, bits - 1, _PIECE):
            width = min(_PIECE, bits - 1 - shift)
            self.number((value >> shift) & ((1 << width) - 1), 1 << width)

    def finish(self) -> int:
        """Write what is left; returns the number of bytes in all. What was learned on the way is no longer needed."""
        self._flush()
        range_coder.finish(self._coder, self._out)
        self._write()
        del self._steps
        return self.written

    def _flush(self) -> None:
        """Make room for the next symbol."""
        if range_coder.has_room(self._coder, self._out, self._steps.margin):
            return
        self._write()
        if not range_coder.has_room(self._coder, self._out, self._steps.margin):
            self._out = np.empty(2 * int(self._coder[range_coder.PENDING]) + BLOCK, np.uint8)

    def _write(self) -> None:
        count = int(self._coder[range_coder.PLACE])
        self._sink.write(self._out[:count].tobytes())
        self.written += count
        self._coder[range_coder.PLACE] = 0


class StreamDecoder:
    """Reads back what `StreamEncoder` wrote: the same calls in the same order.

    `length` None is the length of a source that ends with the code.
    """

    def __init__(self, predictor: Any, source: SupportsRead[bytes], length: int | None) -> None:
        self._steps, self._source, self._left = steps_of(predictor), source, length
        self._escapes = EscapeCoder(predictor.alphabet)
        self._escape = len(escape_of(predictor)[0].alphabet)
        self._coder, self._bytes = range_coder.decoder(), np.empty(0, np.uint8)
        self._spare = self._steps.margin + 8 * range_coder.MARGIN
        self._before = self._read = 0
        self._buffer = np.empty(BLOCK, np.int32)
        self._fill(range_coder.MARGIN)
        if not range_coder.start(self._coder, self._bytes):
            raise DamagedStream(f"the stream begins with a number that no encoder writes: {DAMAGED}")

    def begin(self) -> None:
        """A sequence begins."""
        self._steps.restart()

    def symbols(self, most: int, end: int = -1) -> np.ndarray:
        """The next symbols, from one to `most`: up to `end` or an escape, which is then the last of them."""
        wanted = self._buffer[: min(most, BLOCK)]
        while True:
            done = self._steps.decode(wanted, end, self._coder, self._bytes)
            if done:
                return wanted[:done].copy()
            self._refill()

    def is_escape(self, code: int) -> bool:
        """Whether a code stands for a token outside the alphabet; then `escaped` returns it."""
        return bool(code == self._escape)

    def escaped(self) -> Any:
        """The token of the escape that was just read."""
        return self._escapes.token(self.number)

    def number(self, total: int) -> int:
        """One of `total` equally likely values."""
        self._fill(range_coder.MARGIN)
        return int(range_coder.decode_number(total, self._coder, self._bytes))

    def length(self) -> int:
        """A whole number."""
        bits = self.number(_BITS_OF_A_LENGTH)
        value = 1 << (bits - 1) if bits else 0
        for shift in range(0, bits - 1, _PIECE):
            value |= self.number(1 << min(_PIECE, bits - 1 - shift)) << shift
        return value

    def finish(self) -> None:
        """Check that the stream ends here."""
        left = len(self._source.read(1)) if self._left is None else self._left
        if left or self._before + int(self._coder[range_coder.PLACE]) != self._read + range_coder.OVERHANG:
            raise DamagedStream(f"the stream does not end with its last symbol: {DAMAGED}")

    def _fill(self, margin: int) -> None:
        while not range_coder.has_bytes(self._coder, self._bytes, margin):
            self._refill()

    def _refill(self) -> None:
        """More bytes after those not yet read; after the last ones come zeros, once."""
        place = int(self._coder[range_coder.PLACE])
        more = self._source.read(BLOCK if self._left is None else min(BLOCK, self._left))
        self._read += len(more)
        if self._left is not None:
            self._left -= len(more)
        if not more:
            if not self._spare or self._left:
                raise DamagedStream(f"the stream ends before its last symbol: {DAMAGED}")
            more, self._spare = bytes(self._spare), 0
        self._bytes = np.concatenate([self._bytes[place:], np.frombuffer(more, np.uint8)])
        self._before += place
        self._coder[range_coder.PLACE] = 0
