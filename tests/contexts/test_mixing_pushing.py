"""Pushing one symbol at a time tells what reading tells, to the bit, and finds the likeliest without the rest."""

from __future__ import annotations

import numpy as np
import pytest

from glnn.contexts.mixing import Reader, fit_mixing, new_reader
from glnn.contexts.mixing_memory import new_cursor
from glnn.contexts.mixing_plan import make_plan
from glnn.contexts.mixing_reading import ALL, MIXING, NOTHING

SIZE = 11


def chain(seed: int, size: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    return np.cumsum(random.integers(1, 4, size) ** 2) % SIZE


@pytest.fixture(scope="module")
def reader() -> Reader:
    return fit_mixing(chain(0, 1000), np.array([0, 1000]), SIZE).reader()


def changing(reader: Reader, changes: int) -> Reader:
    return Reader(reader.plan, reader.memory, new_cursor(reader.plan), changes)


@pytest.mark.parametrize("changes", [NOTHING, MIXING, ALL])
def test_pushing_is_reading_to_the_bit(reader: Reader, changes: int) -> None:
    codes = chain(1, 3000)
    pushing, reading = changing(reader, changes), changing(reader, changes)
    chances = reading.read(codes, np.zeros(codes.size, np.bool_))
    assert [pushing.push(code) for code in codes.tolist()] == chances.tolist()
    # The tables grew on the way, and hold the same.
    for pushed, read in zip(pushing.memory, reading.memory, strict=True):
        assert pushed.tobytes() == read.tobytes()


def test_the_likeliest_are_those_of_the_distribution(reader: Reader) -> None:
    pushing = changing(reader, ALL)
    for code in chain(2, 300).tolist():
        before = pushing.cursor.copy()
        pi = pushing.probabilities()
        # To look changes nothing.
        assert all((a == b).all() for a, b in zip(before, pushing.cursor, strict=True))
        probability, likeliest = pushing.ask(code), pushing.likeliest(4)
        # To look again, in the middle, changes nothing either.
        assert (pushing.probabilities() == pi).all()
        pushing.advance(code)
        order = np.argsort(-pi, kind="stable")[:4]
        assert probability == pi[code]
        assert likeliest[:, 0].tolist() == order.tolist()
        assert likeliest[:, 1].tolist() == pi[order].tolist()


def test_of_equals_the_lower_code_comes_first() -> None:
    # Of symbols that were never seen all branchings say one half.
    pushing = changing(new_reader(make_plan(np.zeros(8, np.int64))), NOTHING)
    assert pushing.likeliest(8).tolist() == [[code, 0.125] for code in range(8)]


def test_rows_that_are_too_many_name_no_symbol(reader: Reader) -> None:
    likeliest = changing(reader, NOTHING).likeliest(SIZE + 2)
    assert sorted(likeliest[:, 0].tolist()) == [-1.0, -1.0, *range(SIZE)]
    assert likeliest[:SIZE, 1].sum() == pytest.approx(1.0)


def test_a_change_of_memory_is_seen(reader: Reader) -> None:
    pushing, other = changing(reader, NOTHING), changing(reader, ALL)
    pushing.push(0)
    other.read(np.full(200, 3), np.zeros(200, np.bool_))
    fresh = Reader(reader.plan, other.memory, pushing.cursor.copy(), NOTHING)
    before = pushing.probabilities()
    pushing.memory = other.memory
    assert (pushing.probabilities() == fresh.probabilities()).all()
    assert not (pushing.probabilities() == before).all()
