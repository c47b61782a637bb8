"""What stands next to a mixture of contexts: a context tree, n-grams, networks, the uniform distribution.

They read the same symbols. What goes on learning learns the odds between them too (`glnn.predictors.odds`). What is
frozen has the shares w under which what was not yet read would have cost least, Σ_t −log Σ_k w_k p_k(x_t), found by
expectation–maximisation. Whoever has hardly any is left out. The uniform distribution always keeps a little: it bounds
what a thing never seen before can cost.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from glnn.contexts.decomposition import huffman
from glnn.contexts.ngram import NGramModel, NGramReader
from glnn.contexts.ngram import blank_reader as blank_ngrams
from glnn.contexts.tree import ContextTreeSettings, ContextTreeWeighting
from glnn.contexts.tree import blank_reader as blank_trees
from glnn.contexts.tree_reader import Reader as TreeReader
from glnn.predictors.odds import Odds, RunningOdds, even, with_uniform
from glnn.sequences import Alphabet, Encoded

# A smaller share counts as 0.
_LEAST_SHARE, _LEAST_ODDS = 0.02, 0.005
_STEPS, _SETTLED = 300, 1e-6
# How many symbols each is thought to have predicted before any was seen. Beside what is frozen the unforeseen costs as
# much again and again; most often it is an end that comes early.
_BEFORE, _BEFORE_UNIFORM, _BEFORE_ENDS, _BEFORE_UNIFORM_ALONE = 0.25, 0.5, 1.0, 2.0
_BEFORE_LEARNS, _BEFORE_UNIFORM_LEARNS = 1.0, 0.5


@dataclass(frozen=True)
class Beside:
    """The shares of the mixture itself, the tree, the n-grams (of an order; 0: not chosen), the uniform, networks."""

    own: float = 1.0
    tree: float = 0.0
    ngrams: float = 0.0
    uniform: float = 0.0
    networks: tuple[float, ...] = ()
    order: int = 0
    odds: Odds | None = None
    """Between those that have a share, in their order, the uniform distribution last; None where shares stay."""
    ends: float = 0.0
    """The share of `glnn.predictors.ends`, where shares stay."""
    inside: float = 0.0
    """How fast shares that follow the symbols inside a sequence go back to these; 0 where they do not."""

    @property
    def weights(self) -> tuple[float, ...]:
        """All of them but that of ends, with which they sum to 1."""
        return (self.own, self.tree, self.ngrams, self.uniform, *self.networks)

    def without_networks(self) -> Beside:
        """The others alone, with the same shares relative to each other."""
        rest = self.own + self.tree + self.ngrams + self.uniform + self.ends
        if self.tree == self.ngrams == self.ends == 0.0:
            return ALONE
        own, tree, ngrams, uniform, ends = (
            share / rest for share in (self.own, self.tree, self.ngrams, self.uniform, self.ends)
        )
        return Beside(own, tree, ngrams, uniform, (), self.order, ends=ends)

    @property
    def named(self) -> dict[str, float]:
        """For people."""
        weights = np.array(self.weights)
        if self.odds is not None:
            weights[self.places] = self.odds.weights
        found = dict(zip(("mixture", "tree", "ngram", "uniform"), weights.tolist(), strict=False))
        found |= {"ends": self.ends} if self.ends > 0.0 else {}
        return found | {f"network{k}": share for k, share in enumerate(weights[4:].tolist())}

    @property
    def places(self) -> list[int]:
        """Where in `weights` those stand that predict, in the order of the odds."""
        others = [k for k, share in enumerate(self.weights) if share > 0.0 and k not in (0, 3)]
        return [0, *others, 3]


ALONE = Beside()


@dataclass
class Experts:
    """The tree and the n-grams while they read, those of them that have a share."""

    alphabet: Alphabet
    counts: np.ndarray
    beside: Beside
    readers: list[TreeReader | NGramReader] = field(init=False)

    def __post_init__(self) -> None:
        self.readers = []
        if self.beside.tree > 0.0:
            self.readers.append(blank_trees(self.alphabet, ContextTreeSettings(), huffman(self.counts)))
        if self.beside.ngrams > 0.0:
            self.readers.append(blank_ngrams(self.alphabet, self.beside.order))

    def read(self, codes: np.ndarray, first: np.ndarray, learn: bool = True) -> list[np.ndarray]:
        """What each of them would have said of each symbol, before learning it."""
        codes = np.ascontiguousarray(codes, np.int32)
        return [np.exp(reader.read(codes, first, learn)[0]) for reader in self.readers]

    def learned(self, online: bool, beside: Beside) -> tuple[ContextTreeWeighting | NGramModel, ...]:
        """Those that have a share, as predictors."""
        found: list[ContextTreeWeighting | NGramModel] = []
        for reader in self.readers:
            if isinstance(reader, NGramReader):
                if beside.ngrams > 0.0:
                    found.append(replace(reader.model, counts=reader.counts))
            elif beside.tree > 0.0:
                found.append(replace(reader.model, forest=reader.forest, tail=reader.context))
        return tuple(model.with_learning("online" if online else "frozen") for model in found)


def counts_of(data: Encoded) -> np.ndarray:
    """How often each symbol occurs."""
    return np.bincount(data.codes, minlength=len(data.alphabet))


def best_shares(
    chances: list[np.ndarray | None], order: int, alphabet_size: int, ends: np.ndarray | None = None
) -> tuple[Beside, np.ndarray]:
    """The shares in what each said of symbols it had not read, and the bits of each symbol.

    `chances` are those of the mixture, the tree, the n-grams, and the networks, if any; None for what is not there.
    `ends` are those of `glnn.predictors.ends`, where sequences have ends.
    """
    own = chances[0]
    assert own is not None
    columns = [*chances[:3], np.full(own.size, 1.0 / alphabet_size), ends, *chances[3:]]
    there = np.array([column is not None for column in columns])
    given = np.stack([np.zeros(own.size) if column is None else column for column in columns], axis=1)
    before = np.full(there.size, _BEFORE)
    before[3:5] = (_BEFORE_UNIFORM_ALONE if ends is None else _BEFORE_UNIFORM), _BEFORE_ENDS
    weights = np.zeros(there.size)
    weights[there] = _maximised(given[:, there], before[there])
    kept = there & (weights >= _LEAST_SHARE)
    kept[[0, 3]], kept[4] = True, there[4]
    weights[~kept] = 0.0
    weights[kept] = _maximised(given[:, kept], before[kept])
    own_share, of_tree, of_ngrams, of_uniform, of_ends, *of_networks = weights.tolist()
    beside = Beside(own_share, of_tree, of_ngrams, of_uniform, tuple(of_networks), order, ends=of_ends)
    return beside, -np.log2(given @ weights)


def learned_odds(chances: list[np.ndarray | None], order: int, alphabet_size: int) -> tuple[Beside, np.ndarray]:
    """The same with odds that learn, the best shares among them: as they are after these symbols, the bits of each."""
    there = [k for k, column in enumerate(chances) if column is not None]
    running = RunningOdds(even(len(there)), learns=True)
    given = with_uniform([column for column in chances if column is not None], alphabet_size)
    bits = -np.log2((running.along(given) * given).sum(1))
    before = np.full(given.shape[1], _BEFORE_LEARNS)
    before[-1] = _BEFORE_UNIFORM_LEARNS
    odds = running.odds.with_shares(_maximised(given, before))
    kept = odds.weights >= _LEAST_ODDS
    kept[[0, -1]] = True
    odds = odds.of(kept)
    # What predicts has a share, however small.
    shares = np.maximum(odds.weights, 1e-12)
    shares /= shares.sum()
    own, *others, uniform = shares.tolist()
    found = dict(zip([k for k, stays in zip(there, kept[:-1], strict=True) if stays][1:], others, strict=True))
    networks = tuple(found.get(k, 0.0) for k in range(3, len(chances)))
    return Beside(own, found.get(1, 0.0), found.get(2, 0.0), uniform, networks, order, odds), bits


def _maximised(given: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Expectation–maximisation from even shares."""
    weights = np.full(before.size, 1.0 / before.size)
    for _ in range(_STEPS):
        parts = given * weights
        better = (parts / parts.sum(1, keepdims=True)).sum(0) + before
        better /= better.sum()
        moved = float(np.abs(better - weights).max())
        weights = better
        if moved < _SETTLED:
            break
    return weights
