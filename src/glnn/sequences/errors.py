"""The error of wrong input: what was given, what was expected, what to do.

The command line turns it into one line on standard error; in Python it is an ordinary `ValueError`.
"""

from __future__ import annotations

from collections.abc import Iterable


class InputError(ValueError):
    """Data, a mask, a file or an option that cannot be used as given."""


class UnknownSymbolWarning(UserWarning):
    """A prefix holds a symbol that the model has never met: the prediction ignores it."""


def listed(names: Iterable[str], most: int = 300) -> str:
    """Names separated by commas, for a message of one line; shortened if there are many or long ones."""
    text = " ".join(", ".join(names).split())
    return text if len(text) <= most else f"{text[: most - 2]} …"


def one_line(value: object, most: int = 100) -> str:
    """What was given, for a message of one line."""
    text = " ".join(repr(value).split())
    return text if len(text) <= most else f"{text[: most - 2]} …"
