"""The mixture of contexts against its plain transcription, and what any predictor must be."""

from __future__ import annotations

import math

import numpy as np
import pytest

from glnn.contexts import mixing_memory
from glnn.contexts.mixing import ContextMixing, Reader, firsts, fit_mixing, new_reader
from glnn.contexts.mixing_logistic import squash, stretch
from glnn.contexts.mixing_plan import FIRST, NOW, WITH_LINES, Plan, contexts_for, make_plan
from glnn.contexts.mixing_reading import COUNTS, MIXING, NOTHING
from glnn.contexts.mixing_script import letters_of, script_of
from glnn.contexts.mixing_states import NEXT_STATE
from tests.contexts.naive_mixing import NaiveMixing

TEXT = "The cat sat on the mat. THE CAT ate the rat; a rat is not a Cat, is it? The mat sat on the cat. " * 2
LINES = f"""a = 1, b = 20\n    a = 2\n\n  a line that is longer than all others: {"xy" * 70}\na = 30, b = 4
    If the cat, then the mat:\n        sat - the cat\n    if the Cat, then the mat:\n        sat = the cat\n{TEXT}"""


def text_codes(text: str = TEXT) -> tuple[np.ndarray, list[str]]:
    symbols = sorted(set(text))
    return np.array([symbols.index(letter) for letter in text], np.int64), symbols


def lines(size: int, count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Sequences that repeat each other in part, each with an end."""
    generator = np.random.default_rng(seed)
    stem = generator.integers(0, size - 1, 30)
    parts = []
    for _ in range(count):
        begin, length = generator.integers(0, 10), generator.integers(1, 20)
        part = stem[begin : begin + length].copy()
        part[generator.random(part.size) < 0.1] = generator.integers(0, size - 1)
        parts.append(np.append(part, size - 1))
    return np.concatenate(parts), np.concatenate([[0], np.cumsum([part.size for part in parts])])


TEXTS = ["text", "text of lines", "first text", "earlier text", "earlier text of lines"]


def problem(name: str) -> tuple[Plan, np.ndarray, np.ndarray]:
    """A plan, codes, and which of them begin sequences."""
    if "text" in name:
        codes, symbols = text_codes(LINES if "lines" in name else TEXT)
        version = {"first": FIRST, "earlier": WITH_LINES}.get(name.split()[0], NOW)
        plan = make_plan(np.bincount(codes), script_of(symbols), version=version)
        return plan, codes, firsts(np.array([0, codes.size]))
    if name == "few symbols":
        codes = np.tile(np.random.default_rng(1).integers(0, 3, 70), 3)
        return make_plan(np.bincount(codes)), codes, firsts(np.array([0, codes.size]))
    codes, starts = lines(6, 20)
    stationary = name == "stationary lines"
    return make_plan(np.bincount(codes), several=True, stationary=stationary), codes, firsts(starts)


@pytest.mark.parametrize("name", [*TEXTS, "few symbols", "lines", "stationary lines"])
def test_as_the_plain_transcription(name: str) -> None:
    plan, codes, first = problem(name)
    naive = NaiveMixing(plan)
    expected = []
    for symbol, begins in zip(codes.tolist(), first, strict=True):
        if begins:
            naive.restart()
        expected.append(naive.read(symbol))
    reader = new_reader(plan)
    np.testing.assert_allclose(reader.read(codes, first), expected, rtol=2e-5)
    assert reader.memory.filled[mixing_memory.CONTEXTS] == len(naive.contexts)
    assert reader.memory.filled[mixing_memory.DECISIONS] == len(naive.decisions)
    assert reader.memory.filled[mixing_memory.PLACES] == len(naive.places)


@pytest.mark.parametrize("name", ["text", "stationary lines"])
def test_rows_sum_to_one_and_hold_what_the_path_says(name: str) -> None:
    plan, codes, first = problem(name)
    rows, chance = new_reader(plan).read_rows(codes, first)
    np.testing.assert_allclose(rows.sum(1), 1.0, rtol=0, atol=1e-12)
    assert (rows > 0).all()
    assert np.array_equal(rows[np.arange(codes.size), codes], chance)


def test_step_by_step_is_bit_for_bit_one_run() -> None:
    plan, codes, first = problem("lines")
    whole = new_reader(plan).read(codes, first)
    reader, rows = new_reader(plan), []
    for place in range(codes.size):
        if not first[place]:
            rows.append(reader.probabilities()[codes[place]])
        step = reader.read(codes[place : place + 1], first[place : place + 1])[0]
        assert step == whole[place]
    assert np.array_equal(rows, whole[~first])


def test_tables_that_grow_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    codes, symbols = text_codes(TEXT * 3)
    plan, first = make_plan(np.bincount(codes), script_of(symbols)), firsts(np.array([0, codes.size]))
    monkeypatch.setattr(mixing_memory, "_FIRST_SIZE", 64)
    small = new_reader(plan)
    monkeypatch.setattr(mixing_memory, "_FIRST_SIZE", 1 << 14)
    large = new_reader(plan)
    assert np.array_equal(small.read(codes, first), large.read(codes, first))
    assert 64 < small.memory.contexts.size < large.memory.contexts.size
    for table, counter in (("contexts", 1), ("decisions", 2), ("places", 3)):
        keys = getattr(small.memory, table)["key"]
        assert np.array_equal(
            np.sort(keys[keys > 0]), np.sort(getattr(large.memory, table)["key"])[-small.memory.filled[counter] :]
        )


def state_of(model: ContextMixing | Reader) -> list[bytes]:
    return [array.tobytes() for array in model.memory]


def test_frozen_changes_nothing_and_scores_each_sequence_alike() -> None:
    codes, starts = lines(6, 30)
    model = fit_mixing(codes, starts, 6, online=False)
    before = state_of(model)
    once = model.reader().read(codes[: starts[3]], firsts(starts[:4]))
    twice = model.reader().read(np.tile(codes[: starts[3]], 2), np.tile(firsts(starts[:4]), 2))
    assert np.array_equal(twice, np.tile(once, 2))
    assert state_of(model) == before


def test_online_scoring_learns_in_a_copy() -> None:
    codes, starts = lines(6, 30)
    model = fit_mixing(codes, starts, 6)
    before = state_of(model)
    new, first = np.array([4, 0, 4, 0, 4, 0, 5] * 6), np.tile(np.arange(7) == 0, 6)
    reader = model.reader()
    chance = reader.read(new, first)
    assert chance[-7:].prod() > 20 * chance[:7].prod()
    assert state_of(model) == before
    other = reader.copy()
    there = reader.probabilities()
    other.read(new, first)
    assert np.array_equal(reader.probabilities(), there)
    assert state_of(other) != state_of(reader)


@pytest.mark.parametrize("several", [True, False])
def test_what_a_reading_changes_is_what_it_was_told(several: bool) -> None:
    codes, starts = lines(9, 30)
    begins = starts if several else starts[[0, -1]]
    model = fit_mixing(codes, begins, 9)
    counted = {"history", "filled", "contexts", "decisions", "places", "followed"}
    there = {name for name, array in model.memory._asdict().items() if array.size}
    assert ("followed" in there) != several
    for changes, names in ((NOTHING, set()), (MIXING, there - counted), (COUNTS, there & counted)):
        reader = model.reader()
        reader.changes = changes
        reader.read(codes[: starts[5]], firsts(starts[:6]))
        changed = {
            name for name in there if getattr(model.memory, name).tobytes() != getattr(reader.memory, name).tobytes()
        }
        assert changed == names


def test_the_text_after_the_data_is_its_continuation() -> None:
    codes, symbols = text_codes()
    model = fit_mixing(codes, np.array([0, codes.size]), len(symbols), script_of(symbols))
    part, first = codes[:20], np.zeros(20, np.bool_)
    whole = new_reader(model.plan).read(np.concatenate([codes, part]), firsts(np.array([0, codes.size + 20])))
    assert np.array_equal(model.reader(continuing=True).read(part, first), whole[-20:])


def test_a_predictor_from_outside_that_knows_is_believed() -> None:
    generator = np.random.default_rng(0)
    codes = generator.integers(0, 8, 3000)
    plan = make_plan(np.bincount(codes), outside=2)
    outside = np.full((codes.size, 2, 8), 0.125)
    outside[:, 1] = 0.01 / 7
    outside[np.arange(codes.size), 1, codes] = 0.99
    chance = new_reader(plan).read(codes, firsts(np.array([0, codes.size])), outside)
    assert -np.log2(chance[1000:]).mean() < 0.05
    # One that leaves no room at all for what happens must not cost without bound.
    wrong = np.roll(outside, 1, axis=2)
    wrong[wrong < 0.5] = 0.0
    chance = new_reader(plan).read(codes, firsts(np.array([0, codes.size])), wrong)
    assert -np.log2(chance[1000:]).mean() < 3.3


def test_what_can_be_foreseen_becomes_free() -> None:
    codes = np.tile(np.arange(7), 6000)
    chance = new_reader(make_plan(np.bincount(codes))).read(codes, firsts(np.array([0, codes.size])))
    assert -np.log2(chance[-7000:]).mean() < 1e-5
    assert -np.log2(chance[:70]).sum() < 70.0


def test_noise_costs_little_more_than_its_entropy() -> None:
    codes = np.random.default_rng(0).integers(0, 4, 20_000)
    chance = new_reader(make_plan(np.bincount(codes))).read(codes, firsts(np.array([0, codes.size])))
    assert -np.log2(chance).mean() < 2.03


def test_a_symbol_never_met_costs_no_absurd_price() -> None:
    codes = np.append(np.tile(np.arange(5), 2000), 6)
    chance = new_reader(make_plan(np.bincount(codes[:-1], minlength=8))).read(codes, firsts(np.array([0, codes.size])))
    assert 5 < -math.log2(chance[-1]) < 40


@pytest.mark.parametrize("size", [2, 3, 300, 5000])
def test_alphabets_of_any_size(size: int) -> None:
    generator = np.random.default_rng(size)
    codes = np.minimum(generator.geometric(8.0 / size if size > 16 else 0.5, 400) - 1, size - 1)
    plan = make_plan(np.bincount(codes, minlength=size))
    reader = new_reader(plan)
    chance = reader.read(codes, firsts(np.array([0, codes.size])))
    assert ((chance > 0) & (chance < 1)).all()
    assert reader.probabilities().sum() == pytest.approx(1.0, abs=1e-12)


def test_log_odds_and_back() -> None:
    for p in (1e-8, 1e-4, 0.1, 0.5, 0.7, 0.999, 1.0 - 1e-8):
        assert stretch(p) == pytest.approx(math.log(p / (1.0 - p)), abs=1e-5)
        assert squash(stretch(p)) == pytest.approx(p, rel=1e-5)


def test_states_forget_the_other_bit_and_stay_inside_the_table() -> None:
    assert NEXT_STATE.min() >= 0
    assert NEXT_STATE.max() == len(NEXT_STATE) - 1
    state = 0
    for _ in range(100):
        state = int(NEXT_STATE[state, 1])
    assert NEXT_STATE[state, 1] == state
    assert NEXT_STATE[state, 0] != state


def test_words_only_where_there_are_letters_and_others() -> None:
    assert letters_of("abcdefghij .").sum() == 10
    assert not letters_of("abcdefghij").any()
    assert not letters_of(range(20)).any()
    assert not letters_of(["ab", "cd", "."]).any()
    assert len(contexts_for(40, True, False)) > len(contexts_for(40, False, False))


def test_letters_are_the_same_but_for_their_case_where_there_are_both() -> None:
    symbols = "ABXabcdefgh\u00c4\u00e4\u0130 ."
    lower = "abXabcdefgh\u00e4\u00e4\u0130 ."
    assert "".join(symbols[code] for code in script_of(symbols).folded) == lower
    octets = [*b"ABXabcdefgh\xc4\xe4 ."]
    assert bytes(octets[code] for code in script_of(octets, are_bytes=True).folded) == b"abXabcdefgh\xc4\xe4 ."
    assert script_of(range(40)).folded.size == 0


def test_lines_end_where_there_is_a_symbol_for_it() -> None:
    assert script_of("ab\ncdefghijk").newline == 2 == script_of([97, 98, 10], are_bytes=True).newline
    assert script_of("abcdefghijk").newline == -1 == script_of(range(40)).newline == script_of([97, 98], True).newline
