"""aⁿbⁿ (Section 4, `ex:anbn`): a line of n letters a, a line of n letters b, and so on with new n.

n is uniform on [1024, 2048), so a block costs 10 bits: after k letters a, the line ends with probability
1 / (lengths still possible), and the length of the line of b comes for free.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar, cast

from glnn.sequences import InputError
from glnn.sources.automaton import Branches
from glnn.sources.base import Draws, Source, require_types


@dataclass(frozen=True)
class AnBn(Source):
    """Pairs of lines of equal length, `shortest` to `longest` (included)."""

    shortest: int = 1024
    longest: int = 2047

    name: ClassVar[str] = "anbn"
    unit: ClassVar[str] = "blocks"
    default_size: ClassVar[int] = 10
    lines_of_a_piece: ClassVar[int | None] = 2

    def __post_init__(self) -> None:
        require_types(self)
        if not 1 <= self.shortest <= self.longest:
            raise InputError(f"lengths from {self.shortest} to {self.longest}: expected 1 <= shortest <= longest")

    @property
    def start(self) -> Hashable:
        """The start of a block: ("a", letters a written); later ("b", letters b still to write)."""
        return ("a", 0)

    @property
    def symbols(self) -> str:
        """The characters the source can write."""
        return "ab\n"

    def branches(self, state: Hashable) -> Branches:
        """The symbols that may follow in a state."""
        line, count = cast(tuple[str, int], state)
        if line == "b":
            return {"b": (1.0, ("b", count - 1))} if count else {"\n": (1.0, self.start)}
        if count < self.shortest:
            return {"a": (1.0, ("a", count + 1))}
        possible = self.longest - count + 1
        return {"\n": (1.0 / possible, ("b", count)), "a": ((possible - 1) / possible, ("a", count + 1))}

    def _write(self, size: int, draws: Draws) -> str:
        lengths = self.shortest + draws.many_below(self.longest - self.shortest + 1, size)
        return "".join("a" * n + "\n" + "b" * n + "\n" for n in lengths.tolist())

    def _total_entropy(self, size: int) -> float:
        return size * math.log2(self.longest - self.shortest + 1)
