"""Symbols as a person can see them."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glnn.report.labels import label, labels, symbols_of, visible
from glnn.sequences import Alphabet
from glnn.sequences.alphabet import END

pytestmark = pytest.mark.small


@pytest.mark.parametrize(
    ("symbol", "kind", "seen"),
    [
        ("\n", "characters", "⏎"),
        (" ", "characters", "·"),
        ("\t", "characters", "⇥"),
        ("\r", "characters", "␍"),
        ("·", "characters", "U+00B7"),
        ("⏎", "characters", "U+23CE"),
        ("\x00", "characters", "U+0000"),
        ("\u202e", "characters", "U+202E"),
        ("\ud800", "characters", "U+D800"),
        ("\u0301", "characters", "◌\u0301"),
        ("ä", "characters", "ä"),
        (10, "bytes", "⏎"),
        (0x61, "bytes", "a"),
        (0x00, "bytes", "\\x00"),
        (0xFF, "bytes", "\\xff"),
        (255, "integers", "255"),
        (END, "characters", "⟨end⟩"),
        ("", "tokens", "∅"),
        ("check ticket", "tokens", "check ticket"),
        (" check", "tokens", "·check"),
        ("a  b", "tokens", "a··b"),
        (("a", 1), "tokens", "('a', 1)"),
    ],
)
def test_symbols_that_would_stay_unseen_are_seen(symbol: object, kind: str, seen: str) -> None:
    assert label(symbol, kind) == seen


def test_long_names_keep_both_ends() -> None:
    short = label("begin" + "x" * 100 + "end")
    assert len(short) == 32 and short.startswith("begin") and short.endswith("end") and "…" in short


@given(st.text(st.characters(codec=None), max_size=20))
def test_nothing_invisible_is_left(text: str) -> None:
    for character in visible(text):
        assert unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"}


@given(st.characters(codec=None), st.characters(codec=None))
def test_no_two_characters_look_the_same(one: str, other: str) -> None:
    assert (label(one, "characters") == label(other, "characters")) == (one == other)


@pytest.mark.parametrize(
    ("sample", "alphabet", "seen"),
    [
        ("a b\n", Alphabet("ab \n"), ["a", "·", "b", "⏎"]),
        (b"a\x00", Alphabet(b"a\x00"), ["a", "\\x00"]),
        (np.array([3, 1]), Alphabet(np.arange(4)), ["3", "1"]),
        (["x y", "z"], Alphabet(["x y", "z"]), ["x y", "z"]),
        ("the cat", Alphabet(["cat", "the"], "words"), ["the", "cat"]),
        ("one line\nanother\n", Alphabet(["another", "one line"], "lines"), ["one line", "another"]),
    ],
)
def test_samples_come_apart_into_their_symbols(sample: object, alphabet: Alphabet, seen: list[str]) -> None:
    assert symbols_of(sample, alphabet) == seen


def test_labels_are_in_the_order_of_the_symbols() -> None:
    assert labels(("b", "a", END)) == ("b", "a", "⟨end⟩")
