"""What the user gave, as runs of tokens: the one place that looks at the kind of data before symbols become codes.

`encode`, the reader of a fitted model, the codec and the page all begin here, so they accept the same data.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from glnn.sequences.errors import InputError
from glnn.sequences.foreign import unwrapped
from glnn.sequences.several import Sequences
from glnn.sequences.tokens import Kind, Tokens, is_several, tokens_of


class Parts(NamedTuple):
    """The tokens of every sequence."""

    tokens: list[Tokens]
    several: bool
    """Whether they were given as several sequences."""
    names: tuple[str, ...] | None
    """What each sequence is called."""


def parts_of(data: Any, kind: Kind | None = None) -> Parts:
    """One or several sequences of any accepted kind; `kind` says how a text is cut when the alphabet is of words."""
    data = unwrapped(data)
    if not is_several(data):
        return Parts([tokens_of(data, kind)], False, None)
    if not len(data):
        raise InputError("the data hold no sequence: give at least one")
    names = data.names if isinstance(data, Sequences) else None
    return Parts([_part(item, which, kind) for which, item in enumerate(data)], True, names)


def _part(item: Any, which: int, kind: Kind | None) -> Tokens:
    try:
        return tokens_of(item, kind)
    except InputError as error:
        raise InputError(f"sequence {which}: {error}") from None
