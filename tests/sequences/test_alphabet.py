"""The alphabet: stable codes, the way back, and errors that say what and where."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glnn.sequences import Alphabet, InputError, Lines, Words, encode

pytestmark = pytest.mark.small


@pytest.mark.parametrize(
    ("data", "symbols", "kind"),
    [
        ("abracadabra", ("a", "b", "c", "d", "r"), "characters"),
        ("é€𝄞 é", (" ", "é", "€", "𝄞"), "characters"),
        (b"\xff\x00\xff", (0, 255), "bytes"),
        (bytearray(b"ba"), (97, 98), "bytes"),
        (memoryview(b"ba"), (97, 98), "bytes"),
        (["cd", "ab", "cd"], ("ab", "cd"), "tokens"),
        (("b", "a", "b"), ("a", "b"), "tokens"),
        ([("b", 1), ("a", 2)], (("a", 2), ("b", 1)), "tokens"),
        ([2.5, -1.0], (-1.0, 2.5), "tokens"),
        ([np.int64(3), np.int64(1)], (1, 3), "tokens"),
        (np.array([7, -3, 7], np.int8), (-3, 7), "integers"),
        (np.array([100, -100], np.int8), (-100, 100), "integers"),
        (np.array([5, 2], np.uint16), (2, 5), "integers"),
        (np.array([10**15, -(10**15), 4]), (-(10**15), 4, 10**15), "integers"),
        (np.array([2**62 + 1, 2**62, 0], np.uint64), (0, 2**62, 2**62 + 1), "integers"),
        (np.array(["b", "a"]), ("a", "b"), "tokens"),
        (range(3), (0, 1, 2), "tokens"),
        (Words(["to", "be"]), ("be", "to"), "words"),
        (Lines(["x", ""]), ("", "x"), "lines"),
    ],
)
def test_symbols_are_sorted_and_of_python_types(data: object, symbols: tuple, kind: str) -> None:
    alphabet = encode(data).alphabet
    assert alphabet.symbols == symbols
    assert [type(symbol) for symbol in alphabet.symbols] == [type(symbol) for symbol in symbols]
    assert alphabet.kind == kind
    codes = encode(data).codes
    assert alphabet.decode(codes) == list(np.asarray(data).tolist() if kind == "integers" else data)


def test_symbols_without_an_order_come_as_they_first_occur() -> None:
    tokens = [3j, 1j, 3j, 2j]
    assert encode(tokens).alphabet.symbols == (3j, 1j, 2j)
    sets = [frozenset("b"), frozenset("ab"), frozenset("a"), frozenset("b")]
    assert encode(sets).alphabet.symbols == (frozenset("b"), frozenset("ab"), frozenset("a"))


def test_an_explicit_alphabet_keeps_its_order() -> None:
    data = encode("abba", alphabet="zba")
    assert data.alphabet.symbols == ("z", "b", "a")
    assert data.codes.tolist() == [2, 1, 1, 2]
    assert encode("abba", alphabet={"b", "z", "a"}).alphabet.symbols == ("a", "b", "z")
    assert encode(np.array([4, 9]), alphabet=np.arange(9, -1, -1)).codes.tolist() == [5, 0]


@given(st.text(min_size=1))
def test_text_round_trip(text: str) -> None:
    alphabet = Alphabet(sorted(set(text)))
    codes = alphabet.encode(text)
    assert codes.dtype == np.int32
    assert [alphabet.symbols[code] for code in codes] == list(text)
    assert alphabet.join(alphabet.decode(codes)) == text


@given(st.binary(min_size=1))
def test_bytes_round_trip(data: bytes) -> None:
    alphabet = Alphabet(bytes(sorted(set(data))))
    assert alphabet.join(alphabet.decode(alphabet.encode(data))) == data


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2).filter(lambda values: len(set(values)) > 1))
def test_integers_round_trip_whatever_their_range(values: list[int]) -> None:
    array = np.array(values, np.int64)
    data = encode(array)
    assert list(data.alphabet.symbols) == sorted(set(values))
    joined = data.alphabet.join(data.alphabet.decode(data.codes))
    np.testing.assert_array_equal(joined, array)


def test_join_gives_each_kind_back() -> None:
    words, lines = Words(["to", "be", "to"]), Lines(["x", "", "x"])
    tokens = ["to", "be"]
    for data, joined in ((words, "to be to"), (lines, "x\n\nx\n"), (tokens, tokens)):
        encoded = encode(data)
        assert encoded.alphabet.join(encoded.alphabet.decode(encoded.codes)) == joined


def test_a_text_meets_an_alphabet_of_words_or_lines_cut_in_the_same_way() -> None:
    assert encode(Words(["be", "to"])).alphabet.encode(" to be\nto").tolist() == [1, 0, 1]
    assert encode(Lines(["x", "y z"])).alphabet.encode("y z\r\nx\n").tolist() == [1, 0]


def test_kinds_that_agree_on_symbols_agree_on_codes() -> None:
    tokens, text = encode(["b", "a"]).alphabet, encode("ab").alphabet
    assert tokens == text
    assert hash(tokens) == hash(text)
    assert tokens.encode("ab").tolist() == text.encode(["a", "b"]).tolist() == [0, 1]
    mixed_lengths = Alphabet(["<start>", "a", "b"])
    assert mixed_lengths.encode("ba").tolist() == [2, 1]
    assert Alphabet("ab") != Alphabet("ba")


def test_an_empty_prefix_is_no_codes() -> None:
    alphabet = Alphabet("ab")
    for empty in ("", [], b""):
        codes = alphabet.encode(empty)
        assert codes.dtype == np.int32
        assert codes.size == 0
    assert alphabet.decode([]) == []


def test_unknown_symbols_are_named_with_their_place() -> None:
    with pytest.raises(InputError, match=r"symbol 'q' at position 2 .* alphabet of 2 symbols \('a', 'b'\)"):
        Alphabet("ab").encode("abq")
    with pytest.raises(InputError, match=r"'x' at position 1 .*2 positions hold"):
        Alphabet("ab").encode("axay")
    with pytest.raises(InputError, match="symbol -1 at position 0"):
        Alphabet(np.arange(3)).encode(np.array([-1, 0]))
    with pytest.raises(InputError, match=f"symbol {10**15} at position 1"):
        Alphabet(np.arange(3)).encode(np.array([0, 10**15]))
    with pytest.raises(InputError, match="'the' at position 0"):
        Alphabet(["cat", "sat"]).encode(["the", "cat"])


def test_symbols_of_another_type_are_refused() -> None:
    with pytest.raises(InputError, match=r"symbols are str \('a' first\), the alphabet's are int"):
        Alphabet(b"ab").encode("ab")
    with pytest.raises(InputError, match=r"symbols are bool"):
        Alphabet([0, 1]).encode([True, False])


def test_codes_outside_the_alphabet_are_refused() -> None:
    for wrong in (-1, 2):
        with pytest.raises(InputError, match=f"code {wrong} is outside 0 … 1"):
            Alphabet("ab").decode([0, wrong])


def test_wrong_alphabets_are_refused() -> None:
    with pytest.raises(InputError, match="holds 'a' twice"):
        Alphabet("aba")
    with pytest.raises(InputError, match="mixed types"):
        Alphabet(["a", 1])
    with pytest.raises(InputError, match="kind is 'letters'"):
        Alphabet("ab", kind="letters")  # type: ignore[arg-type]


def test_membership_and_copies() -> None:
    alphabet = Alphabet(["to", "be"])
    assert "to" in alphabet
    assert "or" not in alphabet
    alphabet.encode(["be"])
    assert pickle.loads(pickle.dumps(alphabet)) == alphabet
    with pytest.raises(AttributeError):
        alphabet.symbols = ("x",)  # type: ignore[misc]
