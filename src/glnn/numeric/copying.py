"""Copying in compiled loops: `target[:] = source` there brings a message about sizes that takes 2 s to compile."""

from __future__ import annotations

import numpy as np

from glnn.numeric.kernel import kernel


@kernel()
def copy(source: np.ndarray, target: np.ndarray) -> None:
    """target[k] = source[k]; they are of one size."""
    for k in range(target.size):
        target[k] = source[k]
