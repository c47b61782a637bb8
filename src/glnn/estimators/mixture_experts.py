"""What stands beside a mixture of contexts for several sequences: a context tree and n-grams, each with a share.

They read the same symbols. The shares w are those under which what was not yet read would have cost least,
Σ_t −log Σ_k w_k p_k(x_t), found by expectation–maximisation; whoever has hardly any is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from glnn.contexts.decomposition import huffman
from glnn.contexts.mixing import firsts
from glnn.contexts.ngram import NGramModel, NGramReader
from glnn.contexts.ngram import blank_reader as blank_ngrams
from glnn.contexts.tree import ContextTreeSettings, ContextTreeWeighting
from glnn.contexts.tree import blank_reader as blank_trees
from glnn.contexts.tree_reader import Reader as TreeReader
from glnn.sequences import Alphabet, Encoded

# A share below this is none.
_LEAST_SHARE = 0.02
_STEPS = 300


@dataclass(frozen=True)
class Beside:
    """The shares of the mixture itself, of the tree and of the n-grams, and the order of these (0: not chosen)."""

    weights: tuple[float, float, float] = (1.0, 0.0, 0.0)
    order: int = 0


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
        if self.beside.weights[1] > 0.0:
            self.readers.append(blank_trees(self.alphabet, ContextTreeSettings(), huffman(self.counts)))
        if self.beside.weights[2] > 0.0:
            self.readers.append(blank_ngrams(self.alphabet, self.beside.order))

    def read(self, codes: np.ndarray, first: np.ndarray, learn: bool = True) -> list[np.ndarray]:
        """What each of them would have said of each symbol, before learning it."""
        codes = np.ascontiguousarray(codes, np.int32)
        return [np.exp(reader.read(codes, first, learn)[0]) for reader in self.readers]

    def learned(self, online: bool) -> tuple[ContextTreeWeighting | NGramModel, ...]:
        """As predictors."""
        found: list[ContextTreeWeighting | NGramModel] = []
        for reader in self.readers:
            if isinstance(reader, NGramReader):
                found.append(replace(reader.model, counts=reader.counts))
            else:
                found.append(replace(reader.model, forest=reader.forest, tail=reader.context))
        return tuple(model.with_learning("online" if online else "frozen") for model in found)


def frozen_experts(train: Encoded, held: Encoded, order: int) -> list[np.ndarray]:
    """What tree and n-grams of the one say of the other."""
    experts = Experts(train.alphabet, counts_of(train), Beside((0.0, 1.0, 1.0), order))
    experts.read(train.codes, firsts(train.starts))
    return experts.read(held.codes, firsts(held.starts), learn=False)


def counts_of(data: Encoded) -> np.ndarray:
    """How often each symbol occurs."""
    return np.bincount(data.codes, minlength=len(data.alphabet))


def best_shares(chances: list[np.ndarray], order: int) -> tuple[Beside, float]:
    """The shares of the mixture, the tree and the n-grams in what each said of symbols it had not read; their bits."""
    given = np.stack(chances, axis=1)
    weights = _maximised(given)
    weights = np.where(weights >= _LEAST_SHARE, weights, 0.0)
    weights[0] = max(weights[0], _LEAST_SHARE)
    kept = np.flatnonzero(weights)
    weights[kept] = _maximised(given[:, kept])
    bits = float(-np.log2(given @ weights).sum())
    if kept.size == 1:
        return ALONE, bits
    own, tree, ngrams = weights.tolist()
    return Beside((own, tree, ngrams), order), bits


def _maximised(given: np.ndarray) -> np.ndarray:
    """Expectation–maximisation from even shares, with one symbol for each thought to be seen before."""
    count, models = given.shape
    weights = np.full(models, 1.0 / models)
    for _ in range(_STEPS):
        parts = given * weights
        weights = ((parts / parts.sum(1, keepdims=True)).sum(0) + 1.0) / (count + models)
    return weights
