"""What a context tree or n-grams learned from, given back to them: the symbols, one padding before each sequence."""

from __future__ import annotations

import numpy as np

from glnn.sequences import InputError


def checked_history(memory: dict[str, np.ndarray], size: int) -> np.ndarray:
    """The history of a learner over `size` symbols, whose padding is the code `size`."""
    history = memory.get("history", np.zeros(0))
    fits = history.ndim == 1 and history.dtype.kind in "iu" and history.size > 1
    if not fits or history.min() < 0 or history.max() > size or history[0] != size or history[-1] == size:
        raise InputError("what a stream learned does not fit its model (history): take the file of the same model")
    return history.astype(np.int32)
