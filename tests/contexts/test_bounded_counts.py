"""Trees and n-grams on a stream without end: memory stays flat, and what was kept makes the same bits again."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from glnn.contexts import ngram_learner, tree_learner
from glnn.contexts.ngram import fit_ngram
from glnn.contexts.read_again import younger_half
from glnn.contexts.tree import ContextTreeSettings, fit_context_tree
from glnn.sequences import Alphabet, Encoded, InputError

SIZE = 6


def sequence(seed: int, size: int) -> np.ndarray:
    """Longer contexts are always new, shorter ones are not."""
    return (np.cumsum(np.random.default_rng(seed).integers(1, 4, size)) % SIZE).astype(np.int32)


def encoded(codes: np.ndarray) -> Encoded:
    return Encoded(codes, np.array([0, codes.size], np.int64), np.ones(codes.size, bool), Alphabet(tuple("abcdef")))


def bounded(kind: str, symbols: int = 1 << 12, records: int = 3000) -> Any:
    data = encoded(sequence(0, 200))
    if kind == "tree":
        trees = fit_context_tree(data, ContextTreeSettings(depth=5))
        return tree_learner.TreeStreamLearner(trees, tree_learner.Most(records, symbols))
    if kind == "full tree":
        trees = fit_context_tree(data, ContextTreeSettings(depth=5, max_nodes=700))
        return tree_learner.TreeStreamLearner(trees, tree_learner.Most(records, symbols // 4))
    return ngram_learner.NGramStreamLearner(fit_ngram(data, 6), ngram_learner.Most(records, records, symbols))


def sizes(learner: Any) -> list[int]:
    reading = learner.counts if hasattr(learner, "counts") else learner.forest
    names = ("contexts", "events", "history", "context_slots", "event_slots", "nodes", "slots")
    return [getattr(reading, name).nbytes for name in names if hasattr(reading, name)]


KINDS = ("tree", "full tree", "ngrams")


@pytest.mark.parametrize("kind", KINDS)
def test_memory_stays_flat_and_what_is_kept_is_what_came_last(kind: str) -> None:
    learner = bounded(kind)
    state, codes, taken = learner.begin_learning(), sequence(1, 20_000), []
    for place, code in enumerate(codes.tolist()):
        state.push(code)
        if place % 1000 == 999:
            taken.append((sum(sizes(learner)), learner.memory()["history"].size))
    assert max(size for size, _ in taken[10:]) == max(size for size, _ in taken[:10])
    # It grew, and let go, many times.
    assert sum(later < before for (_, before), (_, later) in itertools.pairwise(taken)) >= 3
    history = learner.memory()["history"]
    assert history[0] == SIZE and history[1:].tolist() == codes[codes.size - history.size + 1 :].tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_kept_goes_on_to_the_same_bits(kind: str) -> None:
    """From a place just before the older half is forgotten, and from one just after, sequence after sequence."""
    learner, again, codes = bounded(kind), None, sequence(2, 7000)
    for begin in range(0, codes.size, 700):
        part, state = codes[begin : begin + 700].tolist(), learner.begin_learning()
        if again is not None:
            assert [again.push(code) for code in part] == [state.push(code) for code in part]
        else:
            learner.learn(np.array(part))
        other = bounded(kind)
        other.recall(learner.memory())
        again = other.begin_learning()
        assert (again.probabilities() == learner.begin().probabilities()).all()


@pytest.mark.parametrize("kind", KINDS)
def test_before_it_is_full_nothing_differs_and_later_little_is_lost(kind: str) -> None:
    tight, wide, codes = bounded(kind), bounded(kind, 1 << 20, 1 << 20), sequence(3, 12_000)
    first, second = (one.begin_learning() for one in (tight, wide))
    said, meant = (np.array([state.push(code) for code in codes.tolist()]) for state in (first, second))
    assert said[:300].tolist() == meant[:300].tolist()
    assert np.log2(meant[6000:]).mean() - np.log2(said[6000:]).mean() < 0.05


def test_the_younger_half_begins_where_a_sequence_does() -> None:
    history = np.array([6, 0, 1, 2, 6, 3, 4, 6, 1, 2, 5, 4], np.int32)
    assert younger_half(history, 6).tolist() == [6, 1, 2, 5, 4]
    assert younger_half(np.array([6, 0, 1, 2, 3], np.int32), 6).tolist() == [6, 1, 2, 3]
    # One that begins too late is no reason to forget almost everything.
    assert younger_half(np.array([6, *[0, 1, 2] * 3, 6, 5], np.int32), 6).tolist() == [6, 2, 0, 1, 2, 6, 5]


def test_a_bound_that_no_symbol_fits_in_is_said() -> None:
    trees = fit_context_tree(encoded(sequence(0, 50)), ContextTreeSettings(depth=5))
    learner = tree_learner.TreeStreamLearner(trees, tree_learner.Most(1, 1 << 12))
    learner._reader._most = tree_learner.Most(20, 1 << 12)
    with pytest.raises(InputError, match="too small"):
        learner._reader.forest = learner.forest.within(20, 1 << 12)
        learner._reader.make_room()
