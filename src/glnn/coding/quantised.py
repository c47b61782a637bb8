"""Probabilities as integer counts out of 2^32, every count at least 1: what encoder and decoder agree on to the bit.

Weights p_y (any positive numbers) with the sums C_y = Σ_{k<y} p_k become the counts before each symbol,
n_y = ⌊C_y (M − A) / C_A⌋ + y, where M is 2^32 or what an escape leaves of it. The floor takes A / 2^32 of the
probability: with 24 bits, an alphabet of 256 and ten million predictable symbols it would add 200 bits to the stream.
"""

from __future__ import annotations

import numpy as np

from glnn.coding.range_coder import CODE, SPAN, TOTAL, decode, encode, part
from glnn.numeric.kernel import kernel

# Under it, M / C_A would overflow; a sum of probabilities is far from it.
_LEAST_SUM = 1e-250


def known_counts(escape: float | None) -> np.uint64:
    """M: what is left for the symbols of the alphabet when an escape has a probability of its own."""
    if escape is None:
        return TOTAL
    # However likely an escape is, the alphabet keeps enough for the counts to be fine.
    return np.uint64(int(TOTAL) - min(max(int(escape * float(TOTAL)), 1), int(TOTAL) - (1 << 24)))


@kernel()
def accumulate(p: np.ndarray, C: np.ndarray) -> None:
    """C from p, in the order of the symbols. What is not a positive number counts as 0; if all does, as uniform."""
    total = 0.0
    C[0] = 0.0
    for y in range(p.size):
        total += p[y] if p[y] > 0.0 else 0.0
        C[y + 1] = total
    if not _LEAST_SUM < total < np.inf:
        for y in range(C.size):
            C[y] = float(y)


@kernel()
def before(y: int, scale: float, C: np.ndarray, M: np.uint64) -> np.uint64:
    """n_y: the counts of all symbols before y; M at the end."""
    if y == C.size - 1:
        return M
    return np.uint64(np.int64(C[y] * scale)) + np.uint64(y)


@kernel()
def scale_of(C: np.ndarray, M: np.uint64) -> float:
    """(M − A) / C_A."""
    A = C.size - 1
    return float(np.int64(M) - A) / C[A]


@kernel()
def encode_symbol(y: int, p: np.ndarray, C: np.ndarray, M: np.uint64, coder: np.ndarray, out: np.ndarray) -> None:
    """Encode y, which has the weight p[y]; C is room for A + 1 numbers."""
    accumulate(p, C)
    scale = scale_of(C, M)
    encode(before(y, scale, C, M), before(y + 1, scale, C, M), coder, out)


@kernel()
def decode_symbol(p: np.ndarray, C: np.ndarray, M: np.uint64, coder: np.ndarray, source: np.ndarray) -> int:
    """The inverse of `encode_symbol`; the code A stands for an escape, the counts after M."""
    code, span = coder[CODE], coder[SPAN]
    A = p.size
    if M < TOTAL and part(span, M) <= code:
        decode(M, TOTAL, coder, source)
        return A
    accumulate(p, C)
    scale = scale_of(C, M)
    least, beyond = 0, A
    while beyond - least > 1:
        middle = (least + beyond) // 2
        if part(span, before(middle, scale, C, M)) <= code:
            least = middle
        else:
            beyond = middle
    decode(before(least, scale, C, M), before(least + 1, scale, C, M), coder, source)
    return least


@kernel()
def code_symbol(
    decoding: bool, y: int, p: np.ndarray, C: np.ndarray, M: np.uint64, coder: np.ndarray, buffer: np.ndarray
) -> int:
    """The symbol, on either side: decoded, or y itself once it is encoded. So one loop serves both."""
    if decoding:
        return decode_symbol(p, C, M, coder, buffer)
    encode_symbol(y, p, C, M, coder, buffer)
    return y
