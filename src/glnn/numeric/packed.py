"""Arrays kept as bare bytes, where one of many takes less room than an array object does."""

from __future__ import annotations

from typing import Any

import numpy as np


def unpack_array(array: np.ndarray, given: bytes, at: int, kind: Any = None) -> int:
    """Fill an array from its bytes, or from those of its numbers as a smaller kind; returns where they end."""
    found = np.frombuffer(given, kind or array.dtype, array.size, at)
    array[:] = found
    return at + found.nbytes
