"""The error of wrong input: what was given, what was expected, what to do.

The command line turns it into one line on standard error; in Python it is an ordinary `ValueError`.
"""

from __future__ import annotations


class InputError(ValueError):
    """Data, a mask, a file or an option that cannot be used as given."""
