"""Data as models read them: ends, masks, escapes, encoded data."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glnn.sequences import Alphabet, Encoded, InputError, Sequences, encode
from glnn.sequences.alphabet import END, ESCAPE
from glnn.sequences.reader import Reader, escape_probability, read_training_data
from glnn.sequences.special import escaped_bits, spell, unspell

pytestmark = pytest.mark.small

AB = Alphabet("ab")


def reader(*special: Any, base: Alphabet = AB) -> Reader:
    return Reader(base.with_special(*special))


def test_one_sequence_has_no_end() -> None:
    found, reading = Reader.fitted("abba", None, None, end=True, unknown="error")
    assert found.alphabet == AB and found.alphabet.end is None and not reading.several
    assert reading.encoded.codes.tolist() == [0, 1, 1, 0]


def test_several_sequences_have_an_end_each() -> None:
    found, reading = Reader.fitted([list("ab"), list("b")], None, None, end=True, unknown="error")
    assert found.alphabet.symbols == ("a", "b", END) and reading.several
    assert reading.encoded.codes.tolist() == [0, 1, 2, 1, 2]
    assert reading.encoded.starts.tolist() == [0, 3, 5]
    assert reading.encoded.mask.all()
    assert [part.tolist() for part in reading.split(np.arange(5.0))] == [[0, 1, 2], [3, 4]]


def test_ends_can_be_left_out() -> None:
    found, reading = Reader.fitted([list("ab"), list("b")], None, None, end=False, unknown="error")
    assert found.alphabet == AB and reading.encoded.codes.tolist() == [0, 1, 1]


def test_a_mask_over_the_symbols_leaves_the_ends_out_and_then_none_is_learned() -> None:
    found, reading = Reader.fitted([list("ab"), list("b")], [1, 0, 1], None, end=True, unknown="error")
    assert found.alphabet.end is None
    assert reading.encoded.mask.tolist() == [True, False, True]


@pytest.mark.parametrize("mask", [[1, 0, 1, 1, 0], [[1, 0, 1], [1, 0]]])
def test_a_mask_may_include_the_ends(mask: Any) -> None:
    found, reading = Reader.fitted([list("ab"), list("b")], mask, None, end=True, unknown="error")
    assert found.alphabet.end == 2
    assert reading.encoded.mask.tolist() == [True, False, True, True, False]


def test_a_model_with_an_end_reads_one_sequence_as_a_whole_one() -> None:
    reading = reader(END).read("ab")
    assert reading.encoded.codes.tolist() == [0, 1, 2] and not reading.several
    assert reader(END).read("").encoded.codes.tolist() == [2]
    assert reader().read("").encoded.codes.size == 0


def test_prefixes_have_no_end() -> None:
    assert reader(END).prefix("ab").tolist() == [0, 1]
    assert reader(END).prefix(None).size == 0
    assert [codes.tolist() for codes in reader(END).prefixes([["a"], ["b", "a"]])] == [[0], [1, 0]]
    with pytest.raises(InputError, match="2 sequences were given as a prefix"):
        reader(END).prefix([["a"], ["b"]])


def test_unknown_symbols_are_errors_that_say_what_to_do() -> None:
    with pytest.raises(InputError, match=r"symbol 'c' at position 2 .*alphabet of 2 symbols.*unknown='escape'"):
        reader().read("abc")
    with pytest.raises(InputError, match="position 1 of sequence 1"):
        reader(END).read([list("ab"), list("ac")])
    with pytest.raises(InputError, match="'c' at position 1"):
        reader().read(encode("bcb"))


def test_escapes_stand_in_for_unknown_symbols() -> None:
    reading = reader(ESCAPE).read("acb")
    assert reading.encoded.codes.tolist() == [0, 2, 1]
    assert reading.escaped.tolist() == [0.0, math.log2(0x110000 - 2), 0.0]
    again = reader(ESCAPE).read(encode("acb"))
    assert again.encoded.codes.tolist() == [0, 2, 1]
    assert again.escaped.tolist() == reading.escaped.tolist()


def test_what_an_escaped_token_costs() -> None:
    assert escaped_bits(7, Alphabet(b"ab")) == math.log2(254)
    words = Alphabet(["yes", "no"])
    assert escaped_bits("né", words) == 8 * (3 + 1)
    assert escaped_bits(12, Alphabet(np.array([1, 2]))) == 8 * (2 + 1)
    with pytest.raises(InputError, match="not one character"):
        escaped_bits("ab", AB)
    with pytest.raises(InputError, match="not a byte"):
        escaped_bits(256, Alphabet(b"ab"))


@given(st.one_of(st.text(), st.integers(), st.tuples(st.text(), st.booleans()), st.binary()))
def test_spellings_come_back_and_have_no_byte_255(token: Any) -> None:
    spelled = spell(token)
    assert 255 not in spelled
    other = {str: "other", int: 0, bytes: b"other", tuple: ("other", True)}[type(token)]
    assert unspell(spelled, Alphabet({token, other})) == token


def test_encoded_data_keep_their_mask() -> None:
    data = encode([list("ab"), list("ba")], mask=[1, 0, 0, 1])
    assert reader().read(data).encoded.mask.tolist() == [True, False, False, True]
    assert reader(END).read(data).encoded.mask.tolist() == [True, False, False, False, True, False]
    own = reader(END).read([list("ab")]).encoded
    assert reader(END).read(own).encoded is own
    with pytest.raises(InputError, match="another model"):
        reader().read(own)


def test_texts_as_sequences() -> None:
    reading = reader(END).read(Sequences(["ab", "b"]))
    assert reading.encoded.codes.tolist() == [0, 1, 2, 1, 2]


def test_keeping_positions_drops_empty_sequences() -> None:
    data = Encoded(np.array([0, 1, 1, 0]), np.array([0, 1, 3, 4]), np.array([True, False, True, True]), AB)
    kept = data.kept(np.array([False, True, True, True]))
    assert kept.codes.tolist() == [1, 1, 0] and kept.starts.tolist() == [0, 2, 3]
    assert kept.mask.tolist() == [False, True, True]


def test_the_probability_of_an_escape() -> None:
    # Of 6 symbols two were met once; code 3 is the escape, read once.
    codes = np.array([0, 0, 0, 1, 2, 3])
    assert escape_probability(codes, 3) == (1 + 2 + 0.5) / 7
    assert escape_probability(np.zeros(99, int), 1) == 0.5 / 100


def test_joining_leaves_the_end_out() -> None:
    alphabet = AB.with_special(END)
    assert alphabet.join(alphabet.decode([0, 1, 2])) == "ab"
    assert "<end>" in repr(alphabet) and len(alphabet) == 3
    assert alphabet != AB and alphabet == AB.with_special(END)


def test_special_symbols_follow_the_datas_own() -> None:
    alphabet = AB.with_special(END, ESCAPE)
    assert alphabet.symbols == ("a", "b", END, ESCAPE) and (alphabet.end, alphabet.escape) == (2, 3)
    assert alphabet.base == AB and alphabet.known == AB.with_special(END)
    assert alphabet.with_special() == AB and alphabet.with_special(ESCAPE).escape == 2
    assert AB.base is AB and AB.known is AB and AB.end is None and AB.escape is None


def test_training_data_know_the_whole_alphabet_and_networks_no_escape() -> None:
    given = read_training_data([list("ab"), list("ba")])
    assert given.alphabet.symbols == ("a", "b", END, ESCAPE)
    assert given.train.alphabet.symbols == ("a", "b", END)
    assert read_training_data("abba", unknown="error").alphabet == AB


def test_where_sequences_begin() -> None:
    assert encode([list("ab"), list("b"), list("aab")]).first.tolist() == [True, False, True, True, False, False]


def test_weights_are_copies() -> None:
    data, weights = [list("ab"), list("az"), list("b")], [2, 0, 3]
    copies = [data[0]] * 2 + [data[2]] * 3
    one = read_training_data(data, alphabet="ab", sample_weight=weights)
    other = read_training_data(copies, alphabet="ab")
    assert one.train.codes.tolist() == other.train.codes.tolist()
    assert one.train.starts.tolist() == other.train.starts.tolist()
    assert one.escape == other.escape


@pytest.mark.parametrize(
    ("weights", "message"),
    [([1], "there are 2 sequences"), ([1, 0.5], "whole numbers"), ([0, 0], "nothing to learn"), ("ab", "one number")],
)
def test_wrong_weights(weights: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_training_data([list("ab"), list("ba")], sample_weight=weights)
