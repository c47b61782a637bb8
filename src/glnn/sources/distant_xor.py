"""Distant XOR (Section 4, `ex:xor`): the last bit of a line is the XOR of two marked bits far back.

A line has T' random bits, each after a space, or after an X at two places; then `=`, the XOR, a newline. T'
is uniform on the integers of [T, 1.1 T], the marks uniform in [0, T'/10) and [T'/10, T'/2). Only the XOR is
to be predicted. A beginning of a line fits several T', so the true model weighs them: P(marks so far | T') is
the number of ways to place the marks still to come, over the number of ways to place both.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, cast

import numpy as np

from glnn.sequences import InputError
from glnn.sources.automaton import Branches
from glnn.sources.base import Draws, Source, require_types

_LONGEST = 1_000_000
_ZERO, _SPACE, _MARK = ord("0"), ord(" "), ord("X")


@dataclass(frozen=True)
class DistantXor(Source):
    """Lines of `length` to `stretch` × `length` bits.

    The first mark lies before the share `first_end` of the line, the second from there to `second_end`.
    """

    length: int = 100
    stretch: float = 1.1
    first_end: float = 0.1
    second_end: float = 0.5

    name: ClassVar[str] = "xor"
    unit: ClassVar[str] = "lines"
    default_size: ClassVar[int] = 10_000
    predictable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_types(self)
        if self.length < 2 or self.stretch < 1.0 or not 0.0 < self.first_end < self.second_end <= 1.0:
            raise InputError(
                f"length {self.length}, stretch {self.stretch}, first_end {self.first_end}, second_end "
                f"{self.second_end}: expected length >= 2, stretch >= 1, 0 < first_end < second_end <= 1"
            )
        if self.length * self.stretch > _LONGEST:
            raise InputError(f"length {self.length} times stretch {self.stretch}: at most {_LONGEST:,} bits on a line")
        for length in self.lengths:
            first, second = self._ends[length]
            if first >= second:
                raise InputError(
                    f"a line of {length} bits has no place for the second mark: raise length or second_end"
                )

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """The possible numbers T' of bits on a line."""
        return tuple(range(self.length, math.floor(self.length * _decimal(self.stretch)) + 1))

    @property
    def start(self) -> Hashable:
        """A line begins: (what is next, bits written, marks seen, their XOR, lengths T' still possible)."""
        return ("separator", 0, 0, 0, self.lengths)

    @property
    def symbols(self) -> str:
        """The characters the source can write."""
        return "01 X=\n"

    def mask(self, text: str) -> np.ndarray:
        """Only what follows an `=` is to be predicted."""
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
        mask = np.zeros(len(points), bool)
        mask[1:] = points[:-1] == ord("=")
        return mask

    def branches(self, state: Hashable) -> Branches:
        """The symbols that may follow in a state."""
        kind, written, marks, xor, lengths = cast(tuple[str, int, int, int, tuple[int, ...]], state)
        if kind == "result":
            return {str(xor): (1.0, ("newline", 0, 0, 0, ()))}
        if kind == "newline":
            return {"\n": (1.0, self.start)}
        if kind == "plain bit":
            after = ("separator", written + 1, marks, xor, lengths)
            return {"0": (0.5, after), "1": (0.5, after)}
        if kind == "marked bit":
            return {str(b): (0.5, ("separator", written + 1, marks, xor ^ b, lengths)) for b in (0, 1)}
        total = sum(self._weight(length, written, marks) for length in lengths)
        branches: dict[str, tuple[float, Hashable]] = {}
        if written in lengths:
            ended = self._weight(written, written, marks)
            branches["="] = (ended / total, ("result", 0, 0, xor, ()))
        longer = [length for length in lengths if length > written]
        marked = [length for length in longer if self._may_mark(length, written, marks)]
        for symbol, kind, possible, seen in (
            (" ", "plain bit", longer, marks),
            ("X", "marked bit", marked, marks + 1),
        ):
            weights = {length: self._weight(length, written + 1, seen) for length in possible}
            left = tuple(length for length, weight in weights.items() if weight)
            branches[symbol] = (sum(weights.values()) / total, (kind, written, seen, xor, left))
        return branches

    def _write(self, size: int, draws: Draws) -> str:
        return "".join(self._line(draws) for _ in range(size))

    def _line(self, draws: Draws) -> str:
        length = self.lengths[draws.below(len(self.lengths))]
        first_end, second_end = self._ends[length]
        first = draws.below(first_end)
        second = first_end + draws.below(second_end - first_end)
        bits = draws.many_below(2, length)
        line = np.full(2 * length, _SPACE, np.uint8)
        line[1::2] = _ZERO + bits
        line[[2 * first, 2 * second]] = _MARK
        return line.tobytes().decode() + f"={bits[first] ^ bits[second]}\n"

    def _total_entropy(self, size: int) -> float:
        total = 0.0
        for length in self.lengths:
            first_end, second_end = self._ends[length]
            total += math.log2(first_end) + math.log2(second_end - first_end) + length
        return size * (math.log2(len(self.lengths)) + total / len(self.lengths))

    @cached_property
    def _ends(self) -> dict[int, tuple[int, int]]:
        """For each T', the ends (excluded) of the two marks' intervals; the second follows the first."""
        shares = _decimal(self.first_end), _decimal(self.second_end)
        return {length: (math.ceil(length * shares[0]), math.ceil(length * shares[1])) for length in self.lengths}

    def _may_mark(self, length: int, written: int, marks: int) -> bool:
        first_end, second_end = self._ends[length]
        if marks == 0:
            return written < first_end
        return marks == 1 and first_end <= written < second_end

    def _weight(self, length: int, written: int, marks: int) -> int:
        """P(marks so far | T' = length) × a constant: ways to place the marks to come × the share of one."""
        first_end, second_end = self._ends[length]
        ways = 1
        if marks == 0:
            ways = max(0, first_end - written) * (second_end - first_end)
        elif marks == 1:
            ways = max(0, second_end - max(written, first_end))
        return ways * self._shares[length]

    @cached_property
    def _shares(self) -> dict[int, int]:
        """The probability of one placement of both marks, given T', as integers over a common denominator."""
        placements = {}
        for length in self.lengths:
            first_end, second_end = self._ends[length]
            placements[length] = first_end * (second_end - first_end)
        common = math.lcm(*placements.values())
        return {length: common // count for length, count in placements.items()}


def _decimal(value: float) -> Fraction:
    """The number as written: 1.1 is 11/10, not the nearest binary fraction."""
    return Fraction(str(value))
