"""A bounded memory does not grow, changes nothing before it is full, and keeps what is met often and what came last."""

from __future__ import annotations

import numpy as np
import pytest

from glnn.contexts.mixing import ContextMixing, Reader, new_reader
from glnn.contexts.mixing_bounds import LARGEST, _better_half
from glnn.contexts.mixing_memory import CONTEXT, DECISION, MANY, PLACED, SINGLE, SYMBOLS, new_cursor
from glnn.contexts.mixing_plan import make_plan
from glnn.contexts.mixing_reading import NOTHING
from glnn.sequences import InputError

MOST = 1 << 12


def reader(most: int | None) -> Reader:
    found = new_reader(make_plan(np.full(16, 100)))
    found.most = most
    return found


def read(one: Reader, codes: np.ndarray) -> np.ndarray:
    return one.read(codes, np.zeros(codes.size, np.bool_))


def test_tables_and_history_stay_within_the_bound() -> None:
    one, random = reader(MOST), np.random.default_rng(0)
    sizes = []
    for _ in range(4):
        read(one, random.integers(0, 16, 3000))
        sizes.append([part.size for part in one.memory])
        for table, filled in zip(
            (one.memory.contexts, one.memory.decisions, one.memory.places), (1, 2, 3), strict=True
        ):
            assert np.count_nonzero(table["key"]) == one.memory.filled[filled] <= table.size // 4 * 3
    assert sizes[-1] == sizes[-2] and max(sizes[-1][:1] + sizes[-1][2:5]) == MOST
    assert one.memory.filled[SYMBOLS] == 12_000
    np.testing.assert_allclose(one.probabilities().sum(), 1.0)


def test_every_reading_is_bounded() -> None:
    """Ten million symbols would otherwise take gigabytes."""
    one = new_reader(make_plan(np.full(16, 100)))
    learned = ContextMixing(one.plan, one.memory, one.cursor, online=True)
    assert one.most == one.copy().most == learned.reader().most == LARGEST


def test_before_it_is_full_nothing_differs() -> None:
    codes = np.tile(np.random.default_rng(1).integers(0, 16, 150), 4)
    free, tight = reader(None), reader(1 << 15)
    assert read(free, codes).tolist() == read(tight, codes).tolist()


def test_what_comes_again_and_again_is_kept_and_repeats_are_still_found() -> None:
    random, motif = np.random.default_rng(2), np.arange(16)
    one = reader(MOST)
    for _ in range(150):
        read(one, np.concatenate([motif, random.integers(0, 16, 60)]))
    assert one.memory.filled[SYMBOLS] > 2 * MOST
    assert -np.log2(read(one, motif)[4:]).mean() < 0.5
    # A repeat of what is within the ring, far beyond its first end.
    fresh = random.integers(0, 16, 200)
    read(one, fresh)
    assert -np.log2(read(one, fresh)[20:]).mean() < 1.0


def test_a_place_in_what_was_forgotten_is_no_match() -> None:
    one, random = reader(MOST), np.random.default_rng(3)
    early = random.integers(0, 16, 100)
    read(one, early)
    beside = Reader(one.plan, one.memory, new_cursor(one.plan), NOTHING)
    read(beside, early[:50])
    assert beside.cursor.pointer.max() >= 0
    read(one, random.integers(0, 16, 2 * MOST))
    beside.memory = one.memory
    np.testing.assert_allclose(beside.probabilities().sum(), 1.0)
    beside.push(int(early[50]))
    oldest = one.memory.filled[SYMBOLS] - MOST
    assert all(at == -1 or at >= oldest for at in beside.cursor.pointer)


def entries(of: np.dtype, **columns: list[int]) -> np.ndarray:
    table = np.zeros(16, of)
    for name, values in columns.items():
        table[name][: len(values)] = values
    # In any slot: the table that comes out is a new one.
    table["key"][: len(values)] = (np.arange(len(values)) << 40) + 1
    return table


@pytest.mark.parametrize(
    ("table", "kept"),
    [
        (entries(CONTEXT, run=[1, 5, 1, 7, 1, 9, 1, 8, 1, 6], kind=[SINGLE] * 8 + [MANY] * 2), {1, 3, 5, 7, 8, 9}),
        (entries(DECISION, count=[3, 1, 4, 1, 5, 9, 2, 6, 5, 3]), {0, 2, 4, 5, 6, 7, 8, 9}),
        (entries(PLACED, at=[9, 8, 7, 6, 5, 4, 3, 2, 1, 0]), set(range(8))),
    ],
)
def test_the_better_half_is_kept(table: np.ndarray, kept: set[int]) -> None:
    better = _better_half(table, 1)
    found = {int(key) >> 40 for key in better["key"] if key}
    assert kept <= found and len(found) == 8
    for entry in better[better["key"] > 0]:
        assert entry == table[int(entry["key"]) >> 40]


def test_a_bound_below_what_a_symbol_takes_is_refused() -> None:
    # Huffman's tree of such counts is a chain of 59 decisions.
    one = new_reader(make_plan(2 ** np.arange(60)))
    one.most = MOST
    with pytest.raises(InputError, match="too small"):
        read(one, np.random.default_rng(4).integers(0, 60, 1000))
