"""A range coder: a message is a number in [0, 1), and each symbol narrows the interval [low, low + span) it lies in.

A symbol with the counts begin … end out of 2^32 takes the part ⌊span · begin / 2^32⌋ … ⌊span · end / 2^32⌋, in exact
integers, with span in [2^56, 2^64): so a symbol costs log2(2^32 / counts) bits to within 2^-24 even for a single count.
Unlike an ANS coder it writes in the order it reads: memory is bounded, and a stream is one piece.
"""

from __future__ import annotations

import numpy as np

from glnn.numeric.kernel import kernel

PRECISION = 32
TOTAL = np.uint64(1 << PRECISION)
# One symbol moves the interval by 4 bytes at most, and one more may be held back.
MARGIN = 8
# What is read past the end of the bytes: the decoder holds 8 bytes, the encoder ends with 1.
OVERHANG = 7

# The encoder's numbers. A byte is held back while a carry can still reach it, with the 0xFF that follow it.
LOW, SPAN, HELD, PENDING, PLACE = range(5)
# The decoder's; CODE is what was read, minus low.
CODE = LOW

_HALF = np.uint64(32)
_LOWER_HALF = np.uint64(0xFFFFFFFF)
_LARGEST = np.uint64(0xFFFFFFFFFFFFFFFF)
_LEAST_SPAN = np.uint64(1 << 56)
_BELOW_TOP_BYTE = np.uint64((1 << 56) - 1)
_TOP = np.uint64(56)
_BYTE = np.uint64(8)
_FULL = np.uint64(0xFF)
_NOTHING_HELD = np.uint64(256)
_ZERO = np.uint64(0)
_ONE = np.uint64(1)


def encoder() -> np.ndarray:
    """The numbers of an encoder that has written nothing."""
    return np.array([0, _LARGEST, _NOTHING_HELD, 0, 0], np.uint64)


def decoder() -> np.ndarray:
    """The numbers of a decoder that has read nothing; then comes `start`."""
    return np.array([0, _LARGEST, 0, 0, 0], np.uint64)


@kernel()
def part(span: np.uint64, count: np.uint64) -> np.uint64:
    """⌊span · count / 2^32⌋ for a count up to 2^32."""
    if count == TOTAL:
        return span
    return (span >> _HALF) * count + (((span & _LOWER_HALF) * count) >> _HALF)


@kernel()
def has_room(coder: np.ndarray, out: np.ndarray, margin: int) -> bool:
    """Whether `out` has room for `margin` more bytes, whatever they are."""
    return coder[PLACE] + coder[PENDING] + np.uint64(margin) <= np.uint64(out.size)


@kernel()
def has_bytes(coder: np.ndarray, source: np.ndarray, margin: int) -> bool:
    """Whether `source` holds `margin` more bytes."""
    return coder[PLACE] + np.uint64(margin) <= np.uint64(source.size)


@kernel()
def fits(decoding: bool, coder: np.ndarray, buffer: np.ndarray, margin: int) -> bool:
    """Whether a symbol of at most `margin` bytes can be read from the buffer, or written to it."""
    return has_bytes(coder, buffer, margin) if decoding else has_room(coder, buffer, margin)


@kernel()
def encode(begin: np.uint64, end: np.uint64, coder: np.ndarray, out: np.ndarray) -> None:
    """Narrow the interval to the counts begin … end, and write the bytes that are settled."""
    low, span = coder[LOW], coder[SPAN]
    bottom = part(span, begin)
    span = part(span, end) - bottom
    if low > _LARGEST - bottom:
        _release(_ONE, coder, out)
        low = bottom - (_LARGEST - low) - _ONE
    else:
        low = low + bottom
    while span < _LEAST_SPAN:
        _shift(low >> _TOP, coder, out)
        low = (low & _BELOW_TOP_BYTE) << _BYTE
        span = span << _BYTE
    coder[LOW], coder[SPAN] = low, span


@kernel()
def finish(coder: np.ndarray, out: np.ndarray) -> None:
    """Write the byte that puts the number inside the interval, whatever follows it being 0."""
    low = coder[LOW]
    if low > _LARGEST - _BELOW_TOP_BYTE:
        _release(_ONE, coder, out)
        _shift(_ZERO, coder, out)
    else:
        _shift((low + _BELOW_TOP_BYTE) >> _TOP, coder, out)
    _release(_ZERO, coder, out)


@kernel()
def _shift(byte: np.uint64, coder: np.ndarray, out: np.ndarray) -> None:
    """The byte leaves the interval; one that a carry could still change waits."""
    if byte == _FULL:
        coder[PENDING] += _ONE
        return
    _release(_ZERO, coder, out)
    coder[HELD] = byte


@kernel()
def _release(carry: np.uint64, coder: np.ndarray, out: np.ndarray) -> None:
    """Write the bytes held back, after a carry or when none can reach them any more."""
    place = coder[PLACE]
    if coder[HELD] != _NOTHING_HELD:
        out[place] = coder[HELD] + carry
        place += _ONE
        coder[HELD] = _NOTHING_HELD
    while coder[PENDING] > _ZERO:
        out[place] = _ZERO if carry == _ONE else _FULL
        place += _ONE
        coder[PENDING] -= _ONE
    coder[PLACE] = place


@kernel()
def start(coder: np.ndarray, source: np.ndarray) -> bool:
    """Read the first bytes; false for a number that no encoder writes."""
    code = _ZERO
    for place in range(8):
        code = (code << _BYTE) | np.uint64(source[place])
    coder[CODE], coder[SPAN], coder[PLACE] = code, _LARGEST, np.uint64(8)
    return bool(code < _LARGEST)


@kernel()
def decode(begin: np.uint64, end: np.uint64, coder: np.ndarray, source: np.ndarray) -> None:
    """Narrow the interval to the counts begin … end, which hold the code, and read on."""
    code, span, place = coder[CODE], coder[SPAN], coder[PLACE]
    bottom = part(span, begin)
    code = code - bottom
    span = part(span, end) - bottom
    while span < _LEAST_SPAN:
        code = (code << _BYTE) | np.uint64(source[place])
        span = span << _BYTE
        place += _ONE
    coder[CODE], coder[SPAN], coder[PLACE] = code, span, place


@kernel()
def code(decoding: bool, begin: np.uint64, end: np.uint64, coder: np.ndarray, buffer: np.ndarray) -> None:
    """Encode or decode these counts."""
    if decoding:
        decode(begin, end, coder, buffer)
    else:
        encode(begin, end, coder, buffer)


@kernel()
def encode_number(value: int, total: int, coder: np.ndarray, out: np.ndarray) -> None:
    """One of `total` ≤ 2^31 equally likely values."""
    encode(_share(value, total), _share(value + 1, total), coder, out)


@kernel()
def decode_number(total: int, coder: np.ndarray, source: np.ndarray) -> int:
    """The inverse of `encode_number`."""
    least, beyond = 0, total
    while beyond - least > 1:
        middle = (least + beyond) // 2
        if part(coder[SPAN], _share(middle, total)) <= coder[CODE]:
            least = middle
        else:
            beyond = middle
    decode(_share(least, total), _share(least + 1, total), coder, source)
    return least


@kernel()
def _share(value: int, total: int) -> np.uint64:
    """The counts before one of `total` values."""
    return (np.uint64(value) << _HALF) // np.uint64(total)
