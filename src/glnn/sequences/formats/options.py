"""How a file is to be read: what it is taken for, how it is cut, which columns mean what.

What nobody says is found out. A run keeps the choices that were made, so that later files are read in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from glnn.sequences.errors import InputError, one_line
from glnn.sequences.files import CUTS

if TYPE_CHECKING:
    from glnn.sequences.alphabet import Alphabet

NUMBERS = "numbers"
EMPTY = ("error", "skip", "keep")
_CUT_OF_KIND = {"characters": "chars", "bytes": "bytes", "words": "words", "lines": "lines"}
_NAMES_OF_DELIMITERS = {"\\t": "\t", "tab": "\t", "comma": ",", "semicolon": ";", "space": " "}


@dataclass(frozen=True)
class ReadOptions:
    """What was asked for; None is found out.

    `format` is one of `glnn.sequences.formats.FORMATS`, `tokens` how texts are cut, `case`, `activity`, `time`,
    `time_format` and `delimiter` speak of event logs, `empty` of cells that hold nothing: "error" tells the line,
    "skip" leaves the event out, "keep" makes it an event of its own. `predict_after` is a symbol: only what follows it
    is to be predicted.
    """

    format: str | None = None
    tokens: str | None = None
    case: str | None = None
    activity: str | None = None
    time: str | None = None
    time_format: str | None = None
    delimiter: str | None = None
    empty: str = "error"
    predict_after: str | None = None

    def __post_init__(self) -> None:
        for name in ("format", "tokens", "case", "activity", "time", "time_format", "delimiter", "predict_after"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise InputError(f"{name} is {one_line(value)}: give a text")
        cuts = (*CUTS, NUMBERS)
        if self.tokens is not None and self.tokens not in cuts:
            raise InputError(
                f"tokens (--tokens) is {one_line(self.tokens)}: a file is cut into one of {', '.join(cuts)}"
            )
        if self.empty not in EMPTY:
            raise InputError(f"empty (--empty) is {one_line(self.empty)}: choose one of {', '.join(EMPTY)}")
        if self.delimiter is not None:
            known = _NAMES_OF_DELIMITERS.get(self.delimiter, self.delimiter)
            if len(known) != 1 or known in '\r\n"':
                raise InputError(
                    f"delimiter (--delimiter) is {one_line(self.delimiter)}: give one character that is no line end "
                    "and no quote"
                )
            object.__setattr__(self, "delimiter", known)

    @property
    def names_columns(self) -> bool:
        """Whether something was said that only an event log has."""
        return any(value is not None for value in (self.case, self.activity, self.time, self.time_format))

    @classmethod
    def of_alphabet(cls, alphabet: Alphabet) -> ReadOptions:
        """As a model's symbols suggest, when nothing is known of how its data were read."""
        cut = _CUT_OF_KIND.get(alphabet.kind)
        return cls() if cut is None else cls(format="text", tokens=cut)

    def found(self, **changes: str | None) -> ReadOptions:
        """The same with what was found out."""
        return replace(self, **changes)  # type: ignore[arg-type]
