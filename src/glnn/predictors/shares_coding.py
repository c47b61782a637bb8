"""Encode and decode with shares: whole distributions, summed from those of contexts, tree and n-grams.

Encoding reads stretches in one go, decoding symbol by symbol, with the same bits in both. What is learned online stays
from sequence to sequence, as in the scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from glnn.coding.quantised import decode_symbol, encode_symbol, known_counts
from glnn.coding.range_coder import MARGIN, PENDING, PLACE, TOTAL, encode, has_bytes
from glnn.contexts.mixing import ContextMixing
from glnn.contexts.ngram import NGramModel, NGramReader
from glnn.contexts.tree import ContextTreeWeighting
from glnn.contexts.tree_reader import Reader as TreeReader

_STRETCH = 1024


class SharesSteps:
    """Readers side by side; `identity` says all that the probabilities of the first depend on."""

    portable = True
    margin = MARGIN

    def __init__(
        self,
        contexts: ContextMixing,
        beside: tuple[ContextTreeWeighting | NGramModel, ...],
        weights: tuple[float, ...],
        escape: float | None,
        identity: tuple[Any, ...],
    ) -> None:
        self._contexts, self._learn = contexts.reader(), contexts.online
        self._beside = [_reader(model, self._learn) for model in beside]
        self._weights, self._M, self._identity = weights, known_counts(escape), identity
        self._size = contexts.plan.lengths.size
        self._C = np.empty(self._size + 1)
        self._first = True

    def restart(self) -> None:
        """The start of a sequence; what was learned stays."""
        self._first = True

    def encode(self, codes: np.ndarray, coder: np.ndarray, out: np.ndarray) -> int:
        """Encode symbols; gives how many `out` had room for."""
        done = 0
        while done < codes.size:
            room = (out.size - int(coder[PLACE]) - int(coder[PENDING])) // MARGIN
            stretch = codes[done : done + min(room, _STRETCH)]
            if not stretch.size:
                break
            for code, row in zip(stretch.tolist(), self._read(stretch), strict=True):
                encode_symbol(code, row, self._C, self._M, coder, out)
            done += stretch.size
        return done

    def encode_escape(self, coder: np.ndarray, out: np.ndarray) -> None:
        """An escape leaves everything as it is."""
        encode(self._M, TOTAL, coder, out)

    def decode(self, codes: np.ndarray, end: int, coder: np.ndarray, source: np.ndarray) -> int:
        """Symbol after symbol."""
        for done in range(codes.size):
            if not has_bytes(coder, source, MARGIN):
                return done
            code = int(decode_symbol(self._next(), self._C, self._M, coder, source))
            codes[done] = code
            if code == self._size:
                return done + 1
            self._read(codes[done : done + 1])
            if code == end:
                return done + 1
        return int(codes.size)

    def identity(self) -> Iterator[Any]:
        """What was given, the shares, and the probability of an escape."""
        yield from self._identity
        yield np.array(self._weights)
        yield from (f"n-grams {reader.model.order}" for reader in self._beside if isinstance(reader, NGramReader))
        yield self._M

    def place(self) -> np.ndarray:
        """What it predicts here."""
        return self._next()

    def _next(self) -> np.ndarray:
        """The distribution of the next symbol; all stay where they are."""
        if self._first:
            self._contexts.restart()
        rows = [self._contexts.probabilities()]
        code, first = np.zeros(1, np.int32), np.array([self._first])
        for reader in self._beside:
            context = reader.context.copy()
            rows.append(reader.read(code, first, False, True)[1][0])
            reader.context[:] = context
        return weighted(rows, self._weights)

    def _read(self, codes: np.ndarray) -> np.ndarray:
        """The distributions before symbols that are read, and learned if anything is."""
        first = np.zeros(codes.size, np.bool_)
        first[0], self._first = self._first, False
        rows = [self._contexts.read_rows(codes, first)[0]]
        small = np.ascontiguousarray(codes, np.int32)
        rows += [reader.read(small, first, self._learn, True)[1] for reader in self._beside]
        return weighted(rows, self._weights)


def _reader(model: ContextTreeWeighting | NGramModel, learn: bool) -> TreeReader | NGramReader:
    if isinstance(model, NGramModel):
        return NGramReader(model, model.counts.copy() if learn else model.counts, model.padding())
    return TreeReader(model, model.forest.copy() if learn else model.forest, model.first_context())


def weighted(parts: Sequence[np.ndarray], weights: Sequence[float]) -> np.ndarray:
    """Σ_k w_k p_k, added up in their order."""
    total = weights[0] * parts[0]
    for weight, part in zip(weights[1:], parts[1:], strict=True):
        total = total + weight * part
    return total
