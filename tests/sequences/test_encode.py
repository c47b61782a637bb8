"""From any accepted data to codes, and every way in which data can be wrong."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from glnn.sequences import Alphabet, InputError, Sequences, encode, mask_after

pytestmark = pytest.mark.small


def test_one_sequence() -> None:
    data = encode("abcab")
    assert data.codes.dtype == np.int32
    assert data.starts.dtype == np.int64
    assert data.mask.dtype == bool
    assert data.codes.tolist() == [0, 1, 2, 0, 1]
    assert data.starts.tolist() == [0, 5]
    assert data.mask.all()
    assert len(data) == 1


def test_a_list_of_strings_is_one_sequence_of_tokens() -> None:
    assert encode(["ab", "cd", "ab"]).starts.tolist() == [0, 3]
    assert encode([b"ab", b"cd"]).starts.tolist() == [0, 2]


@pytest.mark.parametrize(
    "data",
    [
        [["a", "b", "a"], ["b"]],
        (["a", "b", "a"], ["b"]),
        [np.array([0, 1, 0]), np.array([1])],
        Sequences(["aba", "b"]),
        Sequences([b"aba", b"b"]),
        Sequences([["a", "b", "a"], ["b"]]),
        Sequences([("a", "b", "a"), ("b",)]),
    ],
)
def test_several_sequences(data: object) -> None:
    encoded = encode(data)
    assert len(encoded) == 2
    assert encoded.starts.tolist() == [0, 3, 4]
    assert [codes.tolist() for codes in encoded] == [[0, 1, 0], [1]]


def test_a_list_of_tuples_is_one_sequence() -> None:
    assert encode([("a", 1), ("b", 2)]).starts.tolist() == [0, 2]


def test_the_alphabet_is_that_of_all_sequences() -> None:
    assert encode(Sequences(["aa", "bb"])).alphabet.symbols == ("a", "b")


def test_encoded_data_pass_through_and_change_alphabet() -> None:
    data = encode(Sequences(["aba", "b"]), mask=[1, 0, 0, 1])
    assert encode(data) is data
    assert encode(data, alphabet="ab") is data
    wider = encode(data, alphabet="bca")
    assert wider.codes.tolist() == [2, 0, 2, 0]
    assert wider.mask.tolist() == [True, False, False, True]
    assert encode(data, mask=[0, 1, 0, 0]).mask.tolist() == [False, True, False, False]
    with pytest.raises(InputError, match="'b' at position 1 of sequence 0"):
        encode(data, alphabet="ac")
    with pytest.raises(InputError, match=r"symbols are str .* alphabet's are int"):
        encode(data, alphabet=b"ab")


def test_some_of_the_sequences() -> None:
    data = encode(Sequences(["aba", "b", "cc"]), mask=[1, 0, 0, 1, 0, 1])
    chosen = data.select(np.array([2, 0]))
    assert [codes.tolist() for codes in chosen] == [[2, 2], [0, 1, 0]]
    assert chosen.starts.tolist() == [0, 2, 5]
    assert chosen.starts.dtype == np.int64
    assert chosen.mask.tolist() == [False, True, True, False, False]
    assert chosen.alphabet is data.alphabet
    for wrong in ([3], [-1], []):
        with pytest.raises(InputError, match="of 3 were asked for"):
            data.select(wrong)


def test_one_symbol_is_enough_when_the_alphabet_knows_more() -> None:
    assert encode("aaa", alphabet="ab").codes.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "the data are empty"),
        (b"", "the data are empty"),
        ([], "the data are empty"),
        (np.array([], int), "the data are empty"),
        (Sequences([]), "no sequence"),
        (Sequences(["ab", ""]), "sequence 1 is empty"),
        ([["a", "b"], []], "sequence 1 is empty"),
        ("aaa", "one symbol only, 'a'"),
        (np.array([4, 4]), "one symbol only, 4"),
        (["a", 1], r"mixed types: 'a' at position 0 is a str, 1 at position 1 a int"),
        ([1, 2, True], "mixed types: 1 at position 0 is a int, True at position 2 a bool"),
        ([1, 1.0], "mixed types"),
        ([["a"], ["b", 3]], "sequence 1: the tokens are of mixed types"),
        ([["a"], [1]], r"mixed types: sequence 0 is of tokens \('a' …\), sequence 1 of tokens \(1 …\)"),
        (Sequences(["ab", b"ab"]), "mixed types: sequence 0 is of characters .* sequence 1 of bytes"),
        (Sequences(["ab", ["a", "b"]]), "mixed types: .* sequence 1 of tokens"),
        ([["a"], "b"], "mixes sequences and tokens: item 0 is a list, item 1 a str"),
        ([1.0, float("nan")], "position 1 is NaN"),
        ([{}, {}], "tokens of type dict are not hashable"),
        (np.array([0.5, 1.0]), r"dtype float64.*astype\(int\)"),
        (np.array([True, False]), "dtype bool"),
        (np.array([[1, 2], [3, 4]]), r"shape \(2, 2\).*list of arrays"),
        (np.array([1, 2**63], np.uint64), "above 2\\^63 - 1"),
        ({"a": 1}, "type dict: one sequence is a str"),
        ({"a", "b"}, "type set"),
        (3, "type int"),
        (None, "type NoneType"),
    ],
)
def test_wrong_data(data: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        encode(data)


def test_sequences_refuses_one_text_and_names_that_do_not_fit() -> None:
    with pytest.raises(InputError, match="given one str"):
        Sequences("abc")
    with pytest.raises(InputError, match="2 sequences and 1 names"):
        Sequences(["a", "b"], names=["x"])
    named = Sequences(["a", "b"], names=["x", "y"])
    assert named.names == ("x", "y")
    assert (len(named), named[1], list(named)) == (2, "b", ["a", "b"])


def test_symbols_outside_the_alphabet_say_which_and_where() -> None:
    with pytest.raises(InputError, match=r"symbol 'q' at position 3 is not in the alphabet of 3"):
        encode("abcq", alphabet="abc")
    with pytest.raises(InputError, match=r"symbol 'q' at position 1 of sequence 2 .*3 positions hold"):
        encode(Sequences(["ab", "c", "aqq", "q"]), alphabet="abc")
    with pytest.raises(InputError, match="symbol 'q' at position 0 of sequence 1"):
        encode(Sequences(["ab", "qa"]), alphabet="abc")


@pytest.mark.parametrize("alphabet", ["", "a", []])
def test_an_alphabet_that_leaves_nothing_to_predict(alphabet: object) -> None:
    with pytest.raises(InputError, match="fewer than 2 there is nothing to predict"):
        encode("aaa", alphabet=alphabet)


def test_masks_flat_and_per_sequence() -> None:
    data = Sequences(["abc", "ab"])
    expected = [True, False, True, False, True]
    for mask in (
        [1, 0, 1, 0, 1],
        np.array(expected),
        np.array([1.0, 0.0, 1.0, 0.0, 1.0]),
        [[1, 0, 1], [0, 1]],
        [np.array([True, False, True]), np.array([0, 1])],
    ):
        assert encode(data, mask=mask).mask.tolist() == expected
    assert encode("ab", mask=[[0, 1]]).mask.tolist() == [False, True]


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        ([1, 0], r"mask has length 2, the data 5 symbols.*list of 2 masks"),
        ([1] * 6, "mask has length 6"),
        ([], "mask has length 0"),
        ([[1, 0, 1]], "1 masks were given for 2 sequences"),
        ([[1, 0, 1], [0, 1, 1]], "mask of sequence 1 has length 3, the sequence 2 symbols"),
        ([0] * 5, "predicts nothing"),
        ([[0, 0, 0], [0, 0]], "predicts nothing"),
        ([0, 1, 2, 0, 0], "something other than 0 and 1"),
        (["a", "b", "c", "d", "e"], "something other than 0 and 1"),
        ([0, 1, float("nan"), 0, 0], "something other than 0 and 1"),
        ([1, [0, 1]], "mixes numbers and lists"),
        (np.ones((5, 1)), r"shape \(5, 1\)"),
        (1, r"shape \(\)"),
    ],
)
def test_wrong_masks(mask: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        encode(Sequences(["abc", "ab"]), mask=mask)


def test_mask_after() -> None:
    assert mask_after("10=1\n=0", "=").tolist() == [False, False, False, True, False, False, True]
    # What ends one sequence is not followed by the beginning of the next.
    assert mask_after(Sequences(["a=", "b=a"]), "=").tolist() == [False, False, False, False, True]
    assert mask_after(["is", "it", "is"], "is").tolist() == [False, True, False]
    assert mask_after(encode("a=b"), "=").tolist() == [False, False, True]
    assert mask_after("==a", "=").tolist() == [False, True, True]
    for symbol in ("=", b"=", ord("=")):
        assert mask_after(b"a=b", symbol).tolist() == [False, False, True]


def test_wrong_mask_after() -> None:
    with pytest.raises(InputError, match="'=' at position 0 is not in the alphabet"):
        mask_after("abc", "=")
    with pytest.raises(InputError, match="nothing follows '='"):
        mask_after("abc=", "=")
    with pytest.raises(InputError, match="2 bytes"):
        mask_after("aéb".encode(), "é")


def test_a_long_text_makes_no_object_per_character() -> None:
    text = "the quick brown fox é" * 50_000
    alphabet = Alphabet(sorted(set(text)))
    tracemalloc.start()
    try:
        data = encode(text)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert data.alphabet == alphabet
    # Code points (4 bytes), codes (4) and the mask (1) and a small table; a list of characters takes 8 more.
    assert peak < 14 * len(text)
    assert alphabet.join(alphabet.decode(data.codes)) == text
