"""What can be wrong with a compressed stream, each with what to do about it."""

from __future__ import annotations

from glnn.sequences import InputError


class StreamError(InputError):
    """A stream that cannot be decoded."""


class DamagedStream(StreamError):  # noqa: N818
    """A stream that is cut off or altered, or not a stream at all."""


class WrongModel(StreamError):  # noqa: N818
    """A stream that another model made."""


DAMAGED = "it is damaged or was altered; use another copy"
