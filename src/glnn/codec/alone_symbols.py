"""Sequences of any symbols as bytes, for compression that stands alone: the number of each symbol in 1, 2 or 4 bytes.

The layout says what the numbers stand for: {"kind", "several", "symbols"} as JSON. Each of several sequences is closed
by one number more than there are symbols, so that their ends are learned like everything else.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from glnn.codec.errors import DAMAGED, DamagedStream
from glnn.sequences import InputError, Sequences
from glnn.sequences.foreign import unwrapped
from glnn.sequences.tokens import in_stable_order, is_several, token_from_json, token_to_json, tokens_of

_KINDS = ("characters", "bytes", "integers", "tokens")
_WIDTHS = (1, 2, 4)


@dataclass(frozen=True)
class Numbered:
    """Sequences whose symbols are numbers, and what the numbers stand for."""

    content: bytes
    kind: str
    """What a sequence is returned as: a text, bytes, an array of integers or a list."""
    symbols: list[Any]
    several: bool

    @property
    def width(self) -> int:
        """Bytes per number."""
        return next(width for width in _WIDTHS if len(self.symbols) + self.several <= 256**width)

    @property
    def layout(self) -> bytes:
        """Everything but the numbers."""
        symbols = [token_to_json(symbol) for symbol in self.symbols]
        said = {"kind": self.kind, "several": self.several, "symbols": symbols}
        return json.dumps(said, separators=(",", ":")).encode()

    @classmethod
    def read(cls, content: bytes, layout: bytes) -> Numbered:
        """From the bytes of a stream."""
        try:
            said = json.loads(layout)
            symbols = [token_from_json(symbol) for symbol in said["symbols"]]
            found = cls(content, said["kind"], symbols, said["several"])
            fine = found.kind in _KINDS and type(found.several) is bool
        except (ValueError, TypeError, KeyError, RecursionError):
            fine = False
        if not fine:
            raise DamagedStream(f"the stream does not say what its symbols are: {DAMAGED}")
        return found

    def data(self) -> Any:
        """The sequences as they were given; several as a list, or as `glnn.Sequences` where they are texts."""
        if len(self.content) % self.width:
            raise DamagedStream(f"the stream ends inside a symbol: {DAMAGED}")
        codes = np.frombuffer(self.content, f"<u{self.width}").astype(np.int64)
        if codes.size and int(codes.max()) >= len(self.symbols) + self.several:
            raise DamagedStream(f"the stream holds numbers that stand for no symbol: {DAMAGED}")
        if not self.several:
            return self._joined(codes)
        ends = np.flatnonzero(codes == len(self.symbols))
        if codes.size and (not ends.size or ends[-1] != codes.size - 1):
            raise DamagedStream(f"the stream ends inside a sequence: {DAMAGED}")
        begins = np.concatenate([[0], ends[:-1] + 1]) if ends.size else ends
        found = [self._joined(codes[begin:end]) for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)]
        return Sequences(found) if self.kind in ("characters", "bytes") else found

    def _joined(self, codes: np.ndarray) -> Any:
        tokens = [self.symbols[code] for code in codes.tolist()]
        try:
            if self.kind == "integers":
                return np.array(tokens, np.int64)
            if self.kind == "bytes":
                return bytes(tokens)
            return "".join(tokens) if self.kind == "characters" else tokens
        except (TypeError, ValueError, OverflowError):
            raise DamagedStream(f"the symbols of the stream are no {self.kind}: {DAMAGED}") from None


def numbered(data: Any) -> Numbered:
    """One or several sequences of any kind that a model takes."""
    given = unwrapped(data)
    several = isinstance(given, Sequences) or is_several(given)
    items = list(given) if several else [given]
    parts = []
    for item in items:
        try:
            parts.append(tokens_of(item).as_list())
        except InputError as error:
            raise InputError(f"compress was not given a sequence of symbols: {error}") from None
    # A dictionary keeps the order of symbols that cannot be sorted.
    symbols = in_stable_order(dict.fromkeys(token for part in parts for token in part))
    code = {symbol: number for number, symbol in enumerate(symbols)}
    empty = Numbered(b"", _kind(items), list(symbols), several)
    end = [len(symbols)] if several else []
    numbers = [number for part in parts for number in [*map(code.__getitem__, part), *end]]
    return Numbered(np.array(numbers, f"<u{empty.width}").tobytes(), empty.kind, empty.symbols, several)


def _kind(items: list[Any]) -> str:
    kinds = {_kind_of(item) for item in items}
    return kinds.pop() if len(kinds) == 1 else "tokens"


def _kind_of(item: Any) -> str:
    if isinstance(item, str):
        return "characters"
    if isinstance(item, bytes | bytearray | memoryview):
        return "bytes"
    return "integers" if getattr(getattr(item, "dtype", None), "kind", "") in ("i", "u") else "tokens"
