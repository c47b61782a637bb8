"""The paper's validation score (Section 4, "Regularization"): π_t ← (1 − 1/(t+2)) π_t + 1/(t+2) · uniform.

A network trained on one sequence may give probability 0 to another's first symbols; the mixture forgives that at the
beginning and vanishes later.
"""

from __future__ import annotations

import numpy as np


def regularise(log_likelihoods: np.ndarray, alphabet_size: int, times: np.ndarray | None = None) -> np.ndarray:
    """log of the mixed probabilities of the symbols that came, from their log π_t(x_t).

    `times` are the positions t of the values, by default 0, 1, …; over several sequences t runs on.
    """
    t = np.arange(len(log_likelihoods)) if times is None else times
    share = 1.0 / (t + 2.0)
    return np.logaddexp(np.log1p(-share) + log_likelihoods, np.log(share / alphabet_size))
