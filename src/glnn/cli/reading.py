"""Files as the commands read them: one sequence cut into symbols, or an event log with one sequence a case.

How the training data were read is kept with the run, so that files given to it later are read in the same way.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from glnn.sequences import Alphabet

_CUT_OF_KIND = {"characters": "chars", "bytes": "bytes", "words": "words", "lines": "lines"}


@dataclass(frozen=True)
class Cutting:
    """How a file becomes sequences."""

    tokens: str = "chars"
    case: str | None = None
    activity: str | None = None
    time: str | None = None
    time_format: str | None = None
    delimiter: str = ","
    predict_after: str | None = None

    def __post_init__(self) -> None:
        from glnn.sequences import InputError
        from glnn.sequences.files import CUTS

        if self.tokens not in CUTS:
            raise InputError(f"--tokens {self.tokens}: a file is cut into one of {', '.join(CUTS)}")
        if (self.case is None) != (self.activity is None):
            given, missing = ("--case", "--activity") if self.activity is None else ("--activity", "--case")
            raise InputError(f"{given} was given without {missing}: an event log needs both columns")
        if self.case is None and (self.time is not None or self.time_format is not None):
            raise InputError("--time is for event logs: give --case and --activity too")
        if len(self.delimiter) != 1 or self.delimiter in '\r\n"':
            raise InputError(f"--delimiter {self.delimiter!r}: give one character that is no line end and no quote")

    @property
    def is_log(self) -> bool:
        """Whether files are event logs."""
        return self.case is not None

    @classmethod
    def of_alphabet(cls, alphabet: Alphabet) -> Cutting:
        """As a model's symbols suggest, when nothing is known of how its data were read."""
        return cls(tokens=_CUT_OF_KIND.get(alphabet.kind, "chars"))


@dataclass(frozen=True)
class Data:
    """What was read from a file."""

    content: Any
    """Text, bytes, words, lines, or the sequences of an event log."""
    mask: np.ndarray | None
    names: tuple[str, ...] | None
    """The cases of an event log."""
    path: Path


def read(path: Path, cutting: Cutting, mask_path: Path | None = None) -> Data:
    """Read a file; the mask is that of `mask_path`, or of what follows the cutting's symbol."""
    from glnn.sequences import InputError, mask_after, read_event_log, read_file, read_mask

    names = None
    content: Any
    if cutting.is_log:
        assert cutting.case is not None and cutting.activity is not None
        content = read_event_log(
            path, cutting.case, cutting.activity, cutting.time, cutting.time_format, cutting.delimiter
        )
        names = content.names
    else:
        content = read_file(path, cutting.tokens)  # type: ignore[arg-type]
    mask = None
    if mask_path is not None:
        if cutting.predict_after:
            raise InputError("--mask and --predict-after were both given: one of them says what is to be predicted")
        mask = read_mask(mask_path)
    elif cutting.predict_after:
        mask = mask_after(content, cutting.predict_after)
    return Data(content, mask, names, path)


def sha256(path: Path) -> str:
    """The checksum of a file, as `sha256sum` prints it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def prefix_of(texts: list[str] | None, alphabet: Alphabet) -> Any:
    """A prefix as the model reads it: events one by one, anything else as one text."""
    from glnn.sequences import InputError

    if not texts:
        return None
    if alphabet.kind == "tokens":
        return list(texts)
    if len(texts) > 1:
        raise InputError(f"--prefix was given {len(texts)} times: a model of {alphabet.kind} takes one text")
    return texts[0].encode() if alphabet.kind == "bytes" else texts[0]
