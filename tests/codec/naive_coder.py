"""The range coder as arithmetic on whole numbers of any size: no carries, no bytes held back."""

from __future__ import annotations

from collections.abc import Iterable


def naive_encode(intervals: Iterable[tuple[int, int]]) -> bytes:
    """The bytes for symbols with the counts begin … end out of 2^32."""
    low, span, shifts = 0, 2**64 - 1, 0
    for begin, end in intervals:
        bottom, top = span * begin // 2**32, span * end // 2**32
        low, span = low + bottom, top - bottom
        while span < 2**56:
            low, span, shifts = low << 8, span << 8, shifts + 1
    value = -(-low >> 56)
    return value.to_bytes(shifts + 1, "big")
