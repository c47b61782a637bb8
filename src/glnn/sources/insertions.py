"""Alphabet with insertions (Section 4, `ex:insert`): a line is interrupted, and resumes where it was.

Each line is a … z; after each letter, with probability 1/26, a sub-block (0 … 9); after each digit of a
sub-block, with probability 1/5, a sub-sub-block of nine random capitals [HSATXUEUZ]. The text costs every
decision to insert or not, and log2 26 for each capital.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase, digits
from typing import ClassVar, cast

from glnn.sequences import InputError
from glnn.sources.automaton import Branches
from glnn.sources.base import Draws, Source, binary_entropy, require_probability, require_types

_PUNCTUATION = "()[]\n"


@dataclass(frozen=True)
class Insertions(Source):
    """Nested insertions, a simple context-free grammar.

    The paper's text lets a sub-block follow every letter, z included, and a sub-sub-block every digit, 9
    included; its figure for the true model fits no insertion after 9. `after_last_letter` and
    `after_last_digit` choose.
    """

    letters: str = ascii_lowercase
    digits: str = digits
    capitals: str = ascii_uppercase
    capitals_per_block: int = 9
    block_probability: float = 1 / 26
    inner_block_probability: float = 1 / 5
    after_last_letter: bool = True
    after_last_digit: bool = True

    name: ClassVar[str] = "insertions"
    unit: ClassVar[str] = "lines"
    default_size: ClassVar[int] = 1000

    def __post_init__(self) -> None:
        require_types(self)
        require_probability("block_probability", self.block_probability)
        require_probability("inner_block_probability", self.inner_block_probability)
        for field in ("letters", "digits", "capitals"):
            characters = getattr(self, field)
            if not characters or set(characters) & set(_PUNCTUATION):
                raise InputError(f"{field} is {characters!r}: give at least 1 character, none of ( ) [ ] newline")
        if len(set(self.capitals)) < len(self.capitals):
            raise InputError(f"capitals is {self.capitals!r}: each character once, they are drawn uniformly")
        if self.capitals_per_block < 1:
            raise InputError(f"capitals_per_block is {self.capitals_per_block}: at least 1")

    @property
    def start(self) -> Hashable:
        """The start of a line: (letters, digits, capitals written, whether a block may open here).

        Digits and capitals are None outside the blocks they belong to.
        """
        return (0, None, None, False)

    @property
    def symbols(self) -> str:
        """The characters the source can write."""
        return self.letters + self.digits + self.capitals + _PUNCTUATION

    def branches(self, state: Hashable) -> Branches:
        """The symbols that may follow in a state."""
        letters, digits, capitals, choice = cast(tuple[int, int | None, int | None, bool], state)
        if capitals is not None and digits is not None:
            return self._inside_inner_block(letters, digits, capitals)
        if digits is not None:
            return self._inside_block(letters, digits, choice)
        insert = self.block_probability if choice else 0.0
        opened = {"(": (insert, (letters, 0, None, False))}
        if letters == len(self.letters):
            return opened | {"\n": (1.0 - insert, self.start)}
        after = (letters + 1, None, None, letters < self._open_letters)
        return opened | {self.letters[letters]: (1.0 - insert, after)}

    def _inside_block(self, letters: int, digits: int, choice: bool) -> Branches:
        insert = self.inner_block_probability if choice else 0.0
        opened = {"[": (insert, (letters, digits, 0, False))}
        if digits == len(self.digits):
            return opened | {")": (1.0 - insert, (letters, None, None, False))}
        after = (letters, digits + 1, None, digits < self._open_digits)
        return opened | {self.digits[digits]: (1.0 - insert, after)}

    def _inside_inner_block(self, letters: int, digits: int, capitals: int) -> Branches:
        if capitals == self.capitals_per_block:
            return {"]": (1.0, (letters, digits, None, False))}
        after = (letters, digits, capitals + 1, False)
        return {capital: (1.0 / len(self.capitals), after) for capital in self.capitals}

    def _write(self, size: int, draws: Draws) -> str:
        return "".join(self._line(draws) for _ in range(size))

    def _line(self, draws: Draws) -> str:
        line = ""
        for letter in self.letters[: self._open_letters]:
            line += letter + (self._block(draws) if draws.happens(self.block_probability) else "")
        return line + self.letters[self._open_letters :] + "\n"

    def _block(self, draws: Draws) -> str:
        block = "("
        for digit in self.digits[: self._open_digits]:
            block += digit + (self._inner_block(draws) if draws.happens(self.inner_block_probability) else "")
        return block + self.digits[self._open_digits :] + ")"

    def _inner_block(self, draws: Draws) -> str:
        drawn = draws.many_below(len(self.capitals), self.capitals_per_block)
        return "[" + "".join(self.capitals[k] for k in drawn) + "]"

    def _total_entropy(self, size: int) -> float:
        inner_block = self.capitals_per_block * math.log2(len(self.capitals))
        digit = binary_entropy(self.inner_block_probability) + self.inner_block_probability * inner_block
        block = self._open_digits * digit
        letter = binary_entropy(self.block_probability) + self.block_probability * block
        return size * self._open_letters * letter

    @property
    def _open_letters(self) -> int:
        """How many letters of a line a sub-block may follow."""
        return len(self.letters) if self.after_last_letter else len(self.letters) - 1

    @property
    def _open_digits(self) -> int:
        """How many digits of a sub-block a sub-sub-block may follow."""
        return len(self.digits) if self.after_last_digit else len(self.digits) - 1
