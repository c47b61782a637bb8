"""What a context tree or n-grams learned from, given back to them: the symbols, one padding before each sequence.

On a stream without end only the younger half is, whenever there is no room for more: so memory is bounded, and what was
learned always follows from the symbols that are kept.
"""

from __future__ import annotations

import numpy as np

from glnn.sequences import InputError


def checked_history(memory: dict[str, np.ndarray], size: int) -> np.ndarray:
    """The history of a learner over `size` symbols, whose padding is the code `size`."""
    history = memory.get("history", np.zeros(0))
    fits = history.ndim == 1 and history.dtype.kind in "iu" and history.size > 1
    if not fits or history.min() < 0 or history.max() > size or history[0] != size or history[-1] == size:
        raise InputError("what a stream learned does not fit its model (history): use the file of the same model")
    return history.astype(np.int32)


def younger_half(history: np.ndarray, padding: int) -> np.ndarray:
    """The later half of a history, from the start of a sequence on, or from the middle of a long one."""
    half = history[history.size // 2 :]
    starts = np.flatnonzero(half == padding)
    if starts.size and 2 * starts[0] < half.size:
        return half[starts[0] :]
    young = np.concatenate([np.array([padding], history.dtype), half])
    if young.size >= history.size:
        raise InputError("the memory of a stream is too small for a single symbol: allow more")
    return young
