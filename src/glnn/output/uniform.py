"""A share δ of the uniform distribution beside any prediction: π'(y) = (1 − δ) π(y) + δ / A.

It bounds what one surprise can cost, −log2(δ / A) bits. With δ_t = 1/(t + 2) it is the paper's regularisation of
validation scores (Section 4): a network trained on one sequence may give probability 0 to another's first symbols; the
mixture forgives that at the beginning and vanishes later.
"""

from __future__ import annotations

import numpy as np

from glnn.numeric.kernel import kernel


def mixed(probabilities: np.ndarray, share: float | np.ndarray) -> np.ndarray:
    """Distributions, one or in rows, with a share of the uniform one; of rows each may have its own, (rows, 1)."""
    if np.ndim(share) == 0 and share == 0.0:
        return probabilities
    return (1.0 - share) * probabilities + share / probabilities.shape[-1]


@kernel(_nrt=False)
def mix_in(probabilities: np.ndarray, share: float) -> None:
    """The same for one distribution, in its place, for other kernels."""
    if share != 0.0:
        for y in range(probabilities.size):
            probabilities[y] = (1.0 - share) * probabilities[y] + share / probabilities.size


def log_mixed(log_likelihoods: np.ndarray, share: float | np.ndarray, alphabet_size: int) -> np.ndarray:
    """log of the mixed probabilities of the symbols that came, from their log π_t(x_t)."""
    if np.ndim(share) == 0 and share == 0.0:
        return log_likelihoods
    return np.logaddexp(np.log1p(-share) + log_likelihoods, np.log(share / alphabet_size))


def regularise(log_likelihoods: np.ndarray, alphabet_size: int, times: np.ndarray | None = None) -> np.ndarray:
    """log of the paper's regularised probabilities, from log π_t(x_t).

    `times` are the positions t of the values, by default 0, 1, …; over several sequences t runs on.
    """
    t = np.arange(len(log_likelihoods)) if times is None else times
    return log_mixed(log_likelihoods, 1.0 / (t + 2.0), alphabet_size)


def best_share(log_likelihoods: np.ndarray, alphabet_size: int, least: float) -> float:
    """The share δ ≥ `least` under which such symbols are most likely: the likelihood is concave in δ, by EM.

    A hundred symbols that the predictor foresaw are added in thought, so that a few alone decide little.
    """
    uniform, own = -np.log(alphabet_size), log_likelihoods[np.isfinite(log_likelihoods)]
    impossible = log_likelihoods.size - own.size
    share = 0.01
    for _ in range(200):
        odds = np.log1p(-share) + own - (np.log(share) + uniform)
        mean = (float(np.sum(1.0 / (1.0 + np.exp(np.minimum(odds, 700.0))))) + impossible) / (
            log_likelihoods.size + 100
        )
        if abs(mean - share) <= 1e-3 * share:
            break
        share = max(mean, 1e-12)
    return min(max(share, least), 0.5)
