"""The hash of a model in a stream's header: another model, or other arithmetic, is refused before anything is decoded.

It covers the alphabet, every number that the probabilities depend on, and the state of the model after a fixed walk
over its symbols, which reveals a machine or a version that computes other bits.
"""

from __future__ import annotations

import hashlib
import io
import json
from typing import Any

import numpy as np

from glnn.codec.state_steps import escape_of, steps_of
from glnn.coding import range_coder
from glnn.sequences import Alphabet, InputError
from glnn.sequences.tokens import token_to_json

SIZE = 8
_WALK = 128


def fingerprint(predictor: Any) -> bytes:
    """Eight bytes that identify a model."""
    digest = hashlib.blake2b(digest_size=SIZE)
    digest.update(_alphabet(predictor.alphabet).encode("utf-8", "surrogatepass"))
    inner, escape = escape_of(predictor)
    digest.update(_bytes(escape))
    steps = steps_of(predictor)
    for item in steps.identity():
        digest.update(_bytes(item))
    coder, out = range_coder.encoder(), np.empty(_WALK * steps.margin + 64, np.uint8)
    steps.restart()
    steps.encode(_walk(len(inner.alphabet)), coder, out)
    digest.update(out[: int(coder[range_coder.PLACE])].tobytes())
    digest.update(_bytes(steps.place()))
    return digest.digest()


def _walk(alphabet_size: int) -> np.ndarray:
    """Symbols in a scattered order, the same everywhere: the upper bits of a linear congruential generator."""
    codes, number = np.empty(_WALK, np.int32), 1
    for place in range(_WALK):
        number = (6364136223846793005 * number + 1442695040888963407) % 2**64
        codes[place] = (number >> 33) % alphabet_size
    return codes


def _alphabet(alphabet: Alphabet) -> str:
    base = alphabet.base
    try:
        symbols = [token_to_json(symbol) for symbol in base.symbols]
    except InputError:
        symbols = [repr(symbol) for symbol in base.symbols]
    special = [symbol.value for symbol in alphabet.special]
    return json.dumps([base.kind, symbols, special])


def _bytes(item: Any) -> bytes:
    """Arrays with type and shape, little-endian; anything else by what it prints."""
    if not isinstance(item, np.ndarray):
        return f"{type(item).__name__} {item!r}\n".encode()
    little = np.ascontiguousarray(item).astype(item.dtype.newbyteorder("<"), copy=False)
    buffer = io.BytesIO()
    buffer.write(f"{little.dtype.str} {item.shape}\n".encode())
    buffer.write(little.tobytes())
    return buffer.getvalue()
