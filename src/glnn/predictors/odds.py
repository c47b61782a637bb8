"""Odds between predictors, learned from what each of them said of every symbol before it came.

p(y) = Σ_k w_k p_k(y) with w = Σ_r v_r W_r. Every row W_r learns in its own way: after a symbol of which part k said p_k
and the row p_r = Σ_k W_rk p_k,

    W_rk ← (1 − α_r) (1 − η_r + η_r p_k / p_r) W_rk + α_r W⁰_k,        v_r ← v_r p_r / p.

η = 1, α = 0 is Bayes' rule: all the data cost at most log2(1 / v_r W⁰_k) bits more than with part k alone, whichever is
the best. α > 0 lets the best one change, and a small η finds the mean that serves best. A single row never changes from
one sequence to the next. Inside a sequence it may follow the symbols and go back to its shares w at a rate α,

    W_k ← (1 − α) s W_k p_k / Σ_j W_j p_j + α w_k,        s = Σ_j w_j,

over all parts but those that insure, which come last and keep their shares. With every sequence it begins anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from glnn.numeric.kernel import kernel

RATES = np.array([[1.0, 0.0], [1.0, 1e-3], [0.2, 1e-4], [0.05, 1e-5], [0.002, 0.0]])
"""(η, α) of each row; the last hardly moves: it is for shares that are known to serve well."""
# The uniform distribution is the last part; the first odds on it, against 1 on every other.
_UNIFORM = 0.01
# No row is ever trusted less: the world may change.
_LEAST = 2.0**-40


class Odds(NamedTuple):
    """How far each row is trusted, (R,), and what it gives each part, (R, K), the uniform distribution last."""

    trust: np.ndarray
    rows: np.ndarray

    @property
    def weights(self) -> np.ndarray:
        """w."""
        found = np.empty(self.rows.shape[1])
        _weigh(self.trust, self.rows, found)
        return found

    def of(self, kept: np.ndarray) -> Odds:
        """The odds between some of the parts; a row that hardly knows them starts again."""
        first = _first(int(kept.sum()))
        rows = [row[kept] / row[kept].sum() if row[kept].sum() > _LEAST else first for row in self.rows]
        return Odds(self.trust.copy(), np.array(rows))

    def with_shares(self, shares: np.ndarray) -> Odds:
        """The same, its last row having these shares, and as much trust as an even part of it."""
        rows, trust = self.rows.copy(), self.trust.copy()
        rows[-1], trust[-1] = shares, 0.0
        trust *= (1.0 - 1.0 / trust.size) / trust.sum()
        trust[-1] = 1.0 / trust.size
        return Odds(trust, rows)

    @property
    def fine(self) -> bool:
        """Whether these are odds: what comes from a file may be anything."""
        arrays = (self.trust, self.rows)
        return (
            all(array.dtype == np.float64 and bool(np.isfinite(array).all() and (array >= 0).all()) for array in arrays)
            and self.trust.ndim == 1
            and self.rows.ndim == 2
            and self.trust.size == len(self.rows) in (1, len(RATES))
            and self.rows.shape[1] >= 2
            and bool(np.allclose(self.trust.sum(), 1.0) and np.allclose(self.rows.sum(1), 1.0))
        )


def even(parts: int) -> Odds:
    """Before anything was said by this many parts, the uniform distribution not counted."""
    return Odds(np.full(len(RATES), 1.0 / len(RATES)), np.tile(_first(parts + 1), (len(RATES), 1)))


def settled(weights: tuple[float, ...], uniform: float) -> Odds:
    """Shares that stay as they are."""
    return Odds(np.ones(1), np.array([[*weights, uniform]]))


@dataclass
class RunningOdds:
    """Odds of its own that learn, or not."""

    odds: Odds
    learns: bool
    inside: float = 0.0
    """α, at which a single row goes back to its shares inside a sequence; 0 where it stays as it is."""
    insured: int = 1
    """So many parts, the last ones, keep their shares inside a sequence."""

    def __post_init__(self) -> None:
        self.odds = Odds(self.odds.trust.copy(), self.odds.rows.copy())
        self.learns = self.learns and len(self.odds.rows) > 1
        self.inside = self.inside if len(self.odds.rows) == 1 else 0.0
        parts = self.odds.rows.shape[1]
        self._before, self._scratch = _first(parts), np.empty((1, parts))
        self._shares = self.odds.rows[0].copy()

    def restart(self) -> None:
        """The start of a sequence."""
        if self.inside > 0.0:
            self.odds.rows[0] = self._shares

    def begun(self) -> RunningOdds:
        """For a sequence that begins: one of its own if it follows the symbols of that sequence alone, else itself."""
        return RunningOdds(Odds(self.odds.trust, self._shares[None]), *self._how) if self.inside > 0.0 else self

    def along(self, chances: np.ndarray, first: np.ndarray | None = None) -> np.ndarray:
        """The weights before each symbol, (T, K), of which every part said its chances, (T, K).

        `first` says where sequences begin; None if none does.
        """
        weights = np.empty(chances.shape)
        if self.inside > 0.0:
            first = np.zeros(len(chances), np.bool_) if first is None else first
            _inside(chances, first, self.odds.rows[0], self._shares, self.inside, self.insured, weights)
        elif self.learns:
            rows = self.odds.rows
            _follow(chances, self.odds.trust, rows, _first(rows.shape[1]), RATES, weights)
        else:
            weights[:] = self.odds.weights
        return weights

    def of_one(self, chances: np.ndarray, size: int) -> float:
        """The probability of a symbol that every part gives its chance, (K,), added in the order of `combined`."""
        return _of_one(chances, self.odds.trust, self.odds.rows, size)

    def learn_one(self, chances: np.ndarray) -> None:
        """A symbol came that every part had given its chance; for odds that move."""
        if self.inside > 0.0:
            self.along(chances.reshape(1, -1))
            return
        trust, rows = self.odds
        _follow(chances.reshape(1, -1), trust, rows, self._before, RATES, self._scratch)

    def copy(self) -> RunningOdds:
        """An independent one."""
        other = RunningOdds(self.odds, *self._how)
        other._shares = self._shares.copy()
        return other

    @property
    def _how(self) -> tuple[bool, float, int]:
        return self.learns, self.inside, self.insured


def combined(parts: list[np.ndarray], weights: np.ndarray) -> np.ndarray:
    """Σ_k w_k p_k and the uniform distribution's part, of distributions (T, A) with weights (T, K), added in order."""
    total = weights[:, :1] * parts[0]
    for k in range(1, len(parts)):
        total = total + weights[:, k : k + 1] * parts[k]
    return total + weights[:, -1:] / parts[0].shape[1]


def chances_of(parts: list[np.ndarray], codes: np.ndarray) -> np.ndarray:
    """What all parts, of which these are the distributions (T, A), said of the symbols that came, (T, K)."""
    places = np.arange(codes.size)
    return with_uniform([part[places, codes] for part in parts], parts[0].shape[1])


def with_uniform(chances: list[np.ndarray], size: int) -> np.ndarray:
    """The same from the probabilities of the symbols that came."""
    return np.stack([*chances, np.full(chances[0].size, 1.0 / size)], axis=1)


def _first(parts: int) -> np.ndarray:
    first = np.ones(parts)
    first[-1] = _UNIFORM
    return first / first.sum()


@kernel(_nrt=False)
def _weigh(v: np.ndarray, W: np.ndarray, weights: np.ndarray) -> None:
    for k in range(weights.size):
        weights[k] = 0.0
        for r in range(v.size):
            weights[k] += v[r] * W[r, k]


@kernel(_nrt=False)
def _of_one(chances: np.ndarray, v: np.ndarray, W: np.ndarray, size: int) -> float:
    p, last = 0.0, chances.size - 1
    for k in range(chances.size):
        w = 0.0
        for r in range(v.size):
            w += v[r] * W[r, k]
        p += w * chances[k] if k < last else w / size
    return p


@kernel(_nrt=False)
def _follow(
    chances: np.ndarray, v: np.ndarray, W: np.ndarray, W0: np.ndarray, rates: np.ndarray, weights: np.ndarray
) -> None:
    for t in range(chances.shape[0]):
        p = 0.0
        for k in range(W.shape[1]):
            weights[t, k] = 0.0
            for r in range(v.size):
                weights[t, k] += v[r] * W[r, k]
            p += weights[t, k] * chances[t, k]
        if not p > 0.0:
            continue
        trusted = 0.0
        for r in range(v.size):
            p_r = 0.0
            for k in range(W.shape[1]):
                p_r += W[r, k] * chances[t, k]
            v[r] = max(v[r] * p_r / p, _LEAST)
            trusted += v[r]
            if p_r > 0.0:
                _learn(chances[t], p_r, rates[r, 0], rates[r, 1], W0, W[r])
        for r in range(v.size):
            v[r] /= trusted


@kernel(_nrt=False)
def _inside(
    chances: np.ndarray,
    first: np.ndarray,
    W: np.ndarray,
    w: np.ndarray,
    alpha: float,
    insured: int,
    weights: np.ndarray,
) -> None:
    follow = w.size - insured
    s = 0.0
    for k in range(follow):
        s += w[k]
    for t in range(chances.shape[0]):
        if first[t]:
            for k in range(w.size):
                W[k] = w[k]
        p = 0.0
        for k in range(w.size):
            weights[t, k] = W[k]
        for k in range(follow):
            p += W[k] * chances[t, k]
        for k in range(follow):
            # What none of them foresaw tells nothing about them.
            W[k] = (1.0 - alpha) * (s * W[k] * chances[t, k] / p) + alpha * w[k] if p > 0.0 else w[k]


@kernel(_nrt=False)
def _learn(chances: np.ndarray, p: float, eta: float, alpha: float, W0: np.ndarray, W: np.ndarray) -> None:
    """One row; its sum is kept at 1 against rounding."""
    total = 0.0
    for k in range(W.size):
        W[k] = (1.0 - alpha) * (1.0 - eta + eta * chances[k] / p) * W[k] + alpha * W0[k]
        total += W[k]
    for k in range(W.size):
        W[k] /= total
