"""The end of its training data as it was to a model before it read it: what a mixture has read, it knows by heart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glnn.cli.inputs import Data
    from glnn.sequences import Reading


def unread_end(model: Any, data: Data) -> tuple[Any, Reading, Reading] | None:
    """A model that has read all but the end of the training data, that end, and all of them; None if there is none."""
    from glnn.sequences import Reader

    whole = Reader(model.alphabet_).read(data.content, data.mask)
    found = None if whole.outside else model.before_the_end(whole.encoded)
    if found is None:
        return None
    judge, symbols = found
    end = whole.last(symbols)
    return (judge, end, whole) if end.encoded.mask.any() else None
