"""Encode and decode with a mixture of contexts: a symbol is coded as its decisions, with the probabilities of `read`.

All decisions of a symbol are coded before any of them is learned, as in the scores. An escape is one more decision, in
front. Learning online goes on from sequence to sequence.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from glnn.coding.quantised import known_counts
from glnn.coding.range_coder import CODE, SPAN, TOTAL, decode, encode, has_bytes, has_room, part
from glnn.contexts.mixing import Reader
from glnn.contexts.mixing_memory import Cursor, Memory, Work
from glnn.contexts.mixing_plan import Plan
from glnn.contexts.mixing_predicting import predict
from glnn.contexts.mixing_reading import COUNTS, conclude, prepare
from glnn.contexts.mixing_reading import has_room as tables_have_room
from glnn.numeric.kernel import kernel


class MixingSteps:
    """A reader that codes what it reads; `identity` says all that its probabilities depend on."""

    portable = True

    def __init__(self, reader: Reader, escape: float | None, identity: tuple[Any, ...] = ()) -> None:
        self._reader, self._M, self._identity = reader, known_counts(escape), identity
        self._outside = np.empty((0, 0))
        self.margin = 8 * (reader.plan.branchings.shape[1] + 1)
        if reader.changes:
            reader.own()

    def restart(self) -> None:
        """The start of a sequence; what was learned stays."""
        self._reader.restart()

    def encode(self, codes: np.ndarray, coder: np.ndarray, out: np.ndarray) -> int:
        """Encode symbols; returns how many `out` had room for."""
        done = 0
        while done < codes.size:
            self._reader.make_room()
            now = encode_decisions(codes[done:], *self._arguments(coder, out))
            done += now
            if now == 0 or not has_room(coder, out, self.margin):
                break
        return done

    def encode_escape(self, coder: np.ndarray, out: np.ndarray) -> None:
        """An escape leaves memory and place as they are."""
        encode(self._M, TOTAL, coder, out)

    def decode(self, codes: np.ndarray, end: int, coder: np.ndarray, source: np.ndarray) -> int:
        """Decode symbols; returns how many."""
        done = 0
        while done < codes.size:
            self._reader.make_room()
            now = decode_decisions(codes[done:], end, *self._arguments(coder, source))
            done += now
            stopped = done > 0 and codes[done - 1] in (end, self._reader.plan.lengths.size)
            if now == 0 or stopped or not has_bytes(coder, source, self.margin):
                break
        return done

    def identity(self) -> Iterator[Any]:
        """What was given, and the probability of an escape."""
        yield from self._identity
        yield self._M

    def place(self) -> np.ndarray:
        """The weights and the last symbols."""
        return np.concatenate([self._reader.memory.final_weights.ravel(), self._reader.cursor.recent])

    def _arguments(self, coder: np.ndarray, code: np.ndarray) -> tuple[Any, ...]:
        reader = self._reader
        read = (self._outside, reader.changes, reader.room, reader.plan, reader.memory, reader.cursor, reader.work)
        return (*read, self._M, self.margin, coder, code)


@kernel(_nrt=False, forceinline=True)
def _zero_counts(one: float) -> np.uint64:
    """The counts of a 0 where a 1 has this probability."""
    zeros = np.int64((1.0 - one) * 4294967296.0)
    return np.uint64(min(max(zeros, np.int64(1)), np.int64(4294967295)))


@kernel(_nrt=False)
def encode_decisions(
    codes: np.ndarray,
    outside: np.ndarray,
    changes: int,
    room: np.ndarray,
    plan: Plan,
    memory: Memory,
    cursor: Cursor,
    work: Work,
    M: np.uint64,
    margin: int,
    coder: np.ndarray,
    out: np.ndarray,
) -> int:
    """Encode symbols; returns how many there was room for, in `out` and in the tables."""
    for t in range(codes.size):
        if (changes & COUNTS and not tables_have_room(room, memory)) or not has_room(coder, out, margin):
            return t
        symbol: int = np.int64(codes[t])  # type: ignore[assignment]
        if M < TOTAL:
            encode(np.uint64(0), M, coder, out)
        prepare(outside, changes, plan, memory, cursor, work)
        for depth in range(plan.lengths[symbol]):
            zeros = _zero_counts(predict(plan.branchings[symbol, depth], plan, memory, cursor, work))
            if plan.bits[symbol, depth]:
                encode(zeros, TOTAL, coder, out)
            else:
                encode(np.uint64(0), zeros, coder, out)
        conclude(symbol, changes, plan, memory, cursor, work)
    return codes.size


@kernel(_nrt=False)
def decode_decisions(
    codes: np.ndarray,
    end: int,
    outside: np.ndarray,
    changes: int,
    room: np.ndarray,
    plan: Plan,
    memory: Memory,
    cursor: Cursor,
    work: Work,
    M: np.uint64,
    margin: int,
    coder: np.ndarray,
    source: np.ndarray,
) -> int:
    """Fill `codes` until `end`, an escape (the code A), or the end of `source` or of the tables; returns how many."""
    for t in range(codes.size):
        if (changes & COUNTS and not tables_have_room(room, memory)) or not has_bytes(coder, source, margin):
            return t
        if M < TOTAL:
            if part(coder[SPAN], M) <= coder[CODE]:
                decode(M, TOTAL, coder, source)
                codes[t] = plan.lengths.size
                return t + 1
            decode(np.uint64(0), M, coder, source)
        prepare(outside, changes, plan, memory, cursor, work)
        child: int = np.int64(0)  # type: ignore[assignment]
        while child >= 0:
            zeros = _zero_counts(predict(child, plan, memory, cursor, work))
            if part(coder[SPAN], zeros) <= coder[CODE]:
                decode(zeros, TOTAL, coder, source)
                child = plan.children[child, 1]
            else:
                decode(np.uint64(0), zeros, coder, source)
                child = plan.children[child, 0]
        symbol = -1 - child
        codes[t] = symbol
        conclude(symbol, changes, plan, memory, cursor, work)
        if symbol == end:
            return t + 1
    return codes.size
