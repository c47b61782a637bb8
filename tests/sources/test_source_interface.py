"""A source as a predictor, its constants, and texts it cannot write."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from glnn import sources
from glnn.predictors.protocol import Predictor, StepwisePredictor
from glnn.sequences import Alphabet, Sequences, encode
from glnn.sources import AnBn, DistantXor, Insertions, Music

XOR_LINE = "X1 0X1 0 1 1=0\n"
XOR = DistantXor(length=6, stretch=1.2, first_end=0.2, second_end=0.5)


class Slowly(StepwisePredictor):
    """The same predictor, symbol by symbol through its state."""

    def __init__(self, source):
        self.alphabet = source.alphabet
        self.begin = source.begin


@pytest.mark.parametrize("name", sources.NAMES)
def test_the_three_ways_to_ask_agree(name):
    source = sources.get(name)
    assert isinstance(source, Predictor)
    texts = [source.sample(3, seed).text for seed in (0, 1)]
    data = encode(Sequences([texts[0], texts[1][:1500]]), alphabet=source.alphabet)
    rows = np.concatenate(list(source.distributions(data, block=700)))
    slow_rows = np.concatenate(list(Slowly(source).distributions(data)))
    assert [len(block) for block in source.distributions(data, block=700)][:-1] == [700] * (
        (len(data.codes) - 1) // 700
    )
    np.testing.assert_array_equal(rows, slow_rows)
    np.testing.assert_allclose(rows.sum(1), 1, atol=1e-12)
    np.testing.assert_allclose(source.log_likelihoods(data), Slowly(source).log_likelihoods(data))


@pytest.mark.parametrize("name", sources.NAMES)
def test_a_text_that_stops_inside_a_line_has_the_probability_of_its_beginning(name):
    source = sources.get(name)
    text = source.sample(2, seed=0).text
    costs = -source.log_likelihoods(text) / math.log(2)
    for end in range(0, len(text), 97):
        assert source.bits(text[:end], masked=False) == pytest.approx(costs[:end].sum(), abs=1e-9)


def test_several_sequences_each_begin_anew():
    source = AnBn(2, 5)
    data = encode(Sequences(["aab"[:2] + "\nbb\n", "aaa\nbbb\naa\n"]), alphabet=source.alphabet)
    assert source.bits(data) == pytest.approx(2 + 4)
    joined = encode(Sequences(["aa", "aaaaa\n"]), alphabet=source.alphabet)
    assert source.bits(joined) == pytest.approx(2)


def test_data_over_another_alphabet():
    source = AnBn(2, 5)
    assert source.bits(encode("aaa\nbbb\n", alphabet=["b", "a", "q", "\n"])) == pytest.approx(2)
    assert source.bits(encode("aaq\nbbb\n", alphabet=["b", "a", "q", "\n"])) == math.inf
    assert source.bits(encode(b"aaa\nbbb\n")) == pytest.approx(2)
    with pytest.raises(ValueError, match="a source reads a str or encoded data, not list"):
        source.bits(["a", "a"])


# The last symbol of each text is the first that cannot be.
IMPOSSIBLE = {
    "insertions": (
        Insertions(),
        ["b", "abd", "A", "a(1", "a(0123456789)(", "a(0[A]", "a(0[ABCDEFGHIJ", "a(0[ABCDEFGHI][", "a)", "å"],
    ),
    "insertions, not after 9": (Insertions(after_last_digit=False), ["a(0123456789["]),
    "insertions, not after z": (Insertions(after_last_letter=False), ["abcdefghijklmnopqrstuvwxyz("]),
    "music": (
        Music(),
        ["f", "c8", "c4 c2", "c2. c", "c4 |", "c2. |\nb", "c2.|", "c2. | ", "c2. |\nc2. |\ne2. |\nc"],
    ),
    "xor": (
        XOR,
        ["0", "X1X", " 1 ", "X1 0X1X", "X1 0X1 0 1=", "X1 0X1 0 1 1=1", "X1 0X1 0 1 1=0 ", "X1 0X1 0 1 1 0 "],
    ),
    "anbn": (AnBn(2, 5), ["b", "a\n", "aaaaaa", "aa\nb\n", "aa\nbbb", "aa\na", "aa\nbb\nb"]),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_impossible_texts_cost_infinitely_many_bits(name):
    source, texts = IMPOSSIBLE[name]
    for text in texts:
        assert source.bits(text, masked=False) == math.inf, text
        assert math.isfinite(source.bits(text[:-1], masked=False)), text


def test_after_an_impossible_symbol_nothing_is_known():
    source = AnBn(2, 5)
    log_likelihoods = source.log_likelihoods("aaba\n")
    assert np.isneginf(log_likelihoods[2])
    np.testing.assert_allclose(log_likelihoods[3:], math.log(1 / 3))
    state = source.begin()
    state.advance(source.alphabet.symbols.index("b"))
    np.testing.assert_allclose(state.probabilities(), 1 / 3)


def test_xor_costs_only_its_results():
    assert XOR.bits(XOR_LINE) == 0
    # T' is 6 or 7; ⌈0.2 T'⌉ = 2 places for the first mark, then 1 or 2 places for the second.
    assert XOR.bits(XOR_LINE, masked=False) == pytest.approx(1 + 1 + 0 + 6)
    wrong = XOR_LINE.replace("=0", "=1")
    assert XOR.bits(wrong) == math.inf
    assert XOR.bits(XOR_LINE.replace("X", " ")) == math.inf
    data = encode(XOR_LINE, alphabet=XOR.alphabet)
    assert XOR.bits(data) == pytest.approx(8)
    assert XOR.bits(data.with_mask(XOR.mask(XOR_LINE))) == 0
    assert XOR.bits("") == 0


def test_a_state_and_its_copy_are_independent():
    state = AnBn(1, 2).begin()
    state.advance(1)
    copy = state.copy()
    copy.advance(0)
    np.testing.assert_allclose(state.probabilities(), [0.5, 0.5, 0])
    np.testing.assert_allclose(copy.probabilities(), [0, 0, 1])
    with pytest.raises(ValueError, match="code 3 is outside"):
        state.advance(3)


def test_alphabets():
    assert {name: len(sources.get(name).alphabet) for name in sources.NAMES} == {
        "insertions": 67,
        "music": 14,
        "xor": 6,
        "anbn": 3,
    }
    assert AnBn().alphabet == Alphabet(["\n", "a", "b"])


def test_sources_are_values():
    source = sources.get("xor", length=50)
    assert source == DistantXor(length=50) and hash(source) == hash(DistantXor(length=50))
    before = len(pickle.dumps(source))
    text = source.sample(20).text
    bits = source.bits(text, masked=False)
    again = pickle.loads(pickle.dumps(source))
    assert again == source and again.bits(text, masked=False) == bits
    assert len(pickle.dumps(source)) < 2 * before


@pytest.mark.parametrize(
    "name, meant",
    [("insertion", "insertions"), ("Music", "music"), ("distant_xor", "xor"), ("a^nb^n", "anbn")],
)
def test_unknown_names_are_answered_with_the_nearest(name, meant):
    with pytest.raises(ValueError, match=f"did you mean '{meant}'.*there are insertions, music, xor, anbn"):
        sources.get(name)


def test_unknown_constants_are_answered_with_the_nearest():
    with pytest.raises(ValueError, match=r"insertions has no constant 'after_last_leter'.*'after_last_letter'"):
        sources.get("insertions", after_last_leter=False)


@pytest.mark.parametrize(
    "name, constants, said",
    [
        ("insertions", {"block_probability": 1.5}, "block_probability is 1.5"),
        ("insertions", {"letters": "a(b"}, "letters is 'a\\(b'"),
        ("insertions", {"digits": ""}, "digits is ''"),
        ("insertions", {"capitals": "AA"}, "each character once"),
        ("insertions", {"capitals_per_block": 0}, "capitals_per_block is 0"),
        ("music", {"progression": ()}, "progression is"),
        ("music", {"progression": ("cc",)}, "each pitch in it once"),
        ("music", {"rhythms": (("4",), ("4",))}, "all different"),
        ("music", {"rhythms": ((),)}, "each needs a note"),
        ("music", {"rhythms": (("c4",),)}, "two meanings"),
        ("xor", {"length": 1}, "length >= 2"),
        ("xor", {"first_end": 0.5}, "first_end < second_end"),
        ("xor", {"length": 2, "first_end": 0.4, "second_end": 0.5}, "no place for the second mark"),
        ("anbn", {"shortest": 5, "longest": 4}, "lengths from 5 to 4"),
    ],
)
def test_constants_that_make_no_source(name, constants, said):
    with pytest.raises(ValueError, match=said):
        sources.get(name, **constants)
