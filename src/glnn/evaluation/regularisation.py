"""The paper's regularisation of a prediction before validation (Section 4, "Regularization").

π_t ← (1 − 1/(t+2)) π_t + 1/(t+2) · uniform: a symbol thought impossible costs a few bits instead of all, most
of all near the start, which a model of one sequence learns by heart. Only for validation.
"""

from __future__ import annotations

import numpy as np

from glnn.output import regularised


def regularise(log_likelihoods: np.ndarray, alphabet_size: int, start: int = 0) -> np.ndarray:
    """log of the regularised probabilities, from log π_t(x_t), t = start, start + 1, …: the formula of training."""
    if alphabet_size < 1 or start < 0:
        raise ValueError(f"alphabet size {alphabet_size}, start {start}: expected at least 1 and at least 0")
    return regularised.regularise(log_likelihoods, alphabet_size, start + np.arange(len(log_likelihoods)))
