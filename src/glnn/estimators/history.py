"""What the file of a model that learns by reading holds: the symbols read. Looked at before they are read again."""

from __future__ import annotations

import numpy as np

from glnn.storage.model_file import ModelFileError


def check_history(history: np.ndarray, alphabet_size: int) -> None:
    """The symbols read, with the code A before each sequence."""
    if history.dtype.kind != "u" or history.ndim != 1 or history.size < 2:
        raise ModelFileError(f"the history has type {history.dtype} and shape {history.shape}: no list of codes")
    if history.max() > alphabet_size or history[0] != alphabet_size or history[-1] == alphabet_size:
        raise ModelFileError(f"the history does not fit an alphabet of {alphabet_size} symbols")
    padding = history == alphabet_size
    if (padding[1:] & padding[:-1]).any():
        raise ModelFileError("the history holds empty sequences")
