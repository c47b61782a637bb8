"""File compressors as sanity checks: bits of train + valid minus bits of train, what valid costs after train.

They give a cost only, no probabilities, and pay for every symbol whatever the mask. Text is compressed as UTF-8,
bytes as they are, any other tokens as their codes, packed into 1, 2 or 4 bytes each as the alphabet requires.
"""

from __future__ import annotations

import bz2
import lzma
from collections.abc import Callable
from difflib import get_close_matches
from functools import partial
from typing import Any

import numpy as np

from glnn.sequences import Alphabet, Encoded, InputError, encode


def added_bits(train: Any, valid: Any, compressor: str = "bzip2") -> int:
    """How many more bits `train` and `valid` take together than `train` alone, by the compressor's best setting."""
    first, second = as_bytes(train, valid)
    return min(8 * (len(compress(first + second)) - len(compress(first))) for compress in _settings_of(compressor))


def as_bytes(train: Any, valid: Any) -> tuple[bytes, bytes]:
    """Both data as bytes, over one alphabet; several sequences one after the other."""
    if isinstance(train, str) and isinstance(valid, str):
        return _utf8(train), _utf8(valid)
    if isinstance(train, bytes) and isinstance(valid, bytes):
        return train, valid
    first, second = encode(train), encode(valid)
    if first.alphabet.kind != second.alphabet.kind:
        raise InputError(f"train is of {first.alphabet.kind}, valid of {second.alphabet.kind}: give both of one kind")
    if first.alphabet.kind == "characters":
        return _utf8(_joined(first)), _utf8(_joined(second))
    if first.alphabet.kind == "bytes":
        return _joined(first), _joined(second)
    return _packed(first, second)


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _joined(data: Encoded) -> Any:
    return data.alphabet.join(data.alphabet.decode(data.codes))


def _packed(train: Encoded, valid: Encoded) -> tuple[bytes, bytes]:
    new = [symbol for symbol in valid.alphabet.symbols if symbol not in train.alphabet]
    alphabet = Alphabet([*train.alphabet.symbols, *new], train.alphabet.kind)
    # Little-endian whatever the machine, so that the bits are the same everywhere.
    width = next(width for width in ("<u1", "<u2", "<u4") if len(alphabet) <= 2 ** (8 * int(width[-1])))
    codes = [encode(data, alphabet=alphabet).codes for data in (train, valid)]
    return codes[0].astype(np.dtype(width)).tobytes(), codes[1].astype(np.dtype(width)).tobytes()


def _bzip2(data: bytes) -> bytes:
    return bz2.compress(data, 9)


def _xz(data: bytes) -> bytes:
    return lzma.compress(data, preset=9 | lzma.PRESET_EXTREME)


def _ppmd(data: bytes, order: int) -> bytes:
    """Variant I (PPMd8) with 64 MB and contexts of up to this many symbols."""
    import pyppmd

    return bytes(pyppmd.compress(data, max_order=order, mem_size=64 << 20, variant="I"))


_COMPRESSORS: dict[str, tuple[Callable[[bytes], bytes], ...]] = {
    "bzip2": (_bzip2,),
    "xz": (_xz,),
    "ppmd": tuple(partial(_ppmd, order=order) for order in (4, 6, 8, 12, 16)),
}
NAMES = tuple(_COMPRESSORS)


def _settings_of(name: str) -> tuple[Callable[[bytes], bytes], ...]:
    if name not in _COMPRESSORS:
        close = get_close_matches(name, NAMES, n=1, cutoff=0.3)
        meant = f" (did you mean {close[0]!r}?)" if close else ""
        raise InputError(f"no compressor is called {name!r}{meant}; there are {', '.join(NAMES)}")
    return _COMPRESSORS[name]
