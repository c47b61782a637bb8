"""Samples: their shape as the paper prints them, their bits, and their mean bits against the closed form."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from glnn import sources
from glnn.sources import AnBn, DistantXor, Insertions, Music

# Distant XOR has two million symbols at the paper's size; a tenth says as much.
SIZES = {"insertions": 1000, "music": 2700, "xor": 1000, "anbn": 10}
READINGS = [
    {"after_last_letter": letter, "after_last_digit": digit} for letter in (True, False) for digit in (True, False)
]


@pytest.mark.parametrize("name", sources.NAMES)
@pytest.mark.parametrize("seed", [0, 1])
def test_bits_counted_while_generating_are_those_of_the_text(name, seed):
    source = sources.get(name)
    sample = source.sample(SIZES[name], seed)
    assert source.bits(sample.text, masked=False) == pytest.approx(sample.total_bits, rel=1e-9)
    assert source.bits(sample.text) == pytest.approx(sample.bits, rel=1e-9, abs=1e-9)
    encoded = source.encode(sample.text)
    assert source.bits(encoded) == pytest.approx(sample.bits, rel=1e-9, abs=1e-9)
    assert np.array_equal(encoded.mask, sample.mask)


@pytest.mark.parametrize("reading", READINGS)
def test_bits_of_each_reading_of_insertions(reading):
    source = Insertions(**reading)
    sample = source.sample(300, seed=5)
    assert source.bits(sample.text) == pytest.approx(sample.bits, rel=1e-9)
    assert ("z(" in sample.text) == reading["after_last_letter"]
    assert ("9[" in sample.text) == reading["after_last_digit"]


@pytest.mark.parametrize(
    "source, size",
    [(Insertions(**reading), 20) for reading in READINGS]
    + [(Music(), 20), (Music(("ceg", "cf", "g")), 20), (DistantXor(), 5), (DistantXor(30, 1.3), 5)],
)
def test_mean_bits_are_the_entropy(source, size):
    """The mean over 400 samples lies within 4 standard errors of the closed form."""
    generator = np.random.default_rng(11)
    bits = np.array([source.sample(size, generator).total_bits for _ in range(400)])
    standard_error = bits.std() / math.sqrt(len(bits))
    assert 0 < standard_error < 0.03 * bits.mean()
    assert abs(bits.mean() - source.entropy_bits(size, masked=False)) < 4 * standard_error


def test_entropy_at_the_sizes_of_the_paper():
    assert AnBn().entropy_bits() == 100
    assert DistantXor().entropy_bits() == 0
    assert Music().entropy_bits() == pytest.approx(2700 * (math.log2(5) + 13 / 5 * math.log2(3)))
    # h(1/26) + (1/26) · digits · (h(1/5) + (1/5) · 9 log2 26), for each of 26 letters and 1000 lines
    letter, digit = 0.2351934, 0.7219281
    for digits, source in ((10, Insertions()), (9, Insertions(after_last_digit=False))):
        block = digits * (digit + 0.2 * 9 * math.log2(26))
        assert source.entropy_bits() == pytest.approx(1000 * (26 * letter + block), rel=1e-6)


def test_insertions_look_as_in_the_paper():
    lines = Insertions().sample(seed=0).text.splitlines()
    block = r"\(" + "".join(rf"{digit}(\[[A-Z]{{9}}\])?" for digit in range(10)) + r"\)"
    line_form = re.compile("".join(f"{chr(ord('a') + k)}({block})?" for k in range(26)))
    assert len(lines) == 1000
    assert all(line_form.fullmatch(line) for line in lines)


def test_music_looks_as_in_the_paper():
    bars = Music().sample(seed=0).text.splitlines()
    assert len(bars) == 2700
    chords = {"I": "ceg", "IV": "cfa", "V": "gbd"}
    rhythms = ("4-4-4", "2-4", "4.-8-4", "2.", "4-4-8-8")
    for bar, harmony in zip(bars, ["I", "IV", "I", "V", "I", "IV", "V", "I"] * 338, strict=False):
        *notes, end = bar.split(" ")
        assert end == "|"
        assert {note[0] for note in notes} <= set(chords[harmony])
        assert "-".join(note[1:] for note in notes) in rhythms


def test_xor_looks_as_in_the_paper():
    sample = DistantXor().sample(300, seed=0)
    lengths = set()
    for line in sample.text.splitlines():
        separators, bits = line[:-2:2], line[1:-2:2]
        length = len(bits)
        lengths.add(length)
        assert line[-2] == "="
        assert set(bits) <= {"0", "1"} and set(separators) == {" ", "X"}
        first, second = (place for place, separator in enumerate(separators) if separator == "X")
        assert 0 <= first < length / 10 <= second < length / 2
        assert int(line[-1]) == int(bits[first]) ^ int(bits[second])
    assert lengths == set(range(100, 111))


def test_xor_predicts_only_what_follows_the_equals_sign():
    sample = DistantXor().sample(20, seed=0)
    assert [sample.text[k - 1] for k in np.flatnonzero(sample.mask)] == ["="] * 20
    assert sample.bits == 0
    assert sample.total_bits > 20 * 100


def test_anbn_looks_as_in_the_paper():
    lines = AnBn().sample(200, seed=0).text.splitlines()
    assert len(lines) == 400
    for a, b in zip(lines[::2], lines[1::2], strict=True):
        assert set(a) == {"a"} and set(b) == {"b"} and len(a) == len(b)
        assert 1024 <= len(a) < 2048


@pytest.mark.parametrize("name", sources.NAMES)
def test_the_seed_decides(name):
    source = sources.get(name)
    assert source.sample(5, seed=4).text == source.sample(5, seed=4).text
    assert source.sample(5, seed=4).text != source.sample(5, seed=5).text


@pytest.mark.parametrize("name", sources.NAMES)
def test_size_counts_units_and_defaults_to_the_paper(name):
    source = sources.get(name)
    lines = 2 if name == "anbn" else 1
    assert source.sample(3).text.count("\n") == 3 * lines
    assert source.default_size == {"insertions": 1000, "music": 2700, "xor": 10_000, "anbn": 10}[name]
    if name != "xor":
        assert source.sample().text.count("\n") == source.default_size * lines
    with pytest.raises(ValueError, match="size is 0"):
        source.sample(0)


@pytest.mark.parametrize(("name", "pieces"), [("insertions", 5), ("xor", 5), ("anbn", 5), ("music", 1)])
def test_pieces_that_are_independent_can_be_taken_apart(name, pieces):
    source = sources.get(name)
    sample = source.sample(5, 3)
    apart = source.apart(source.encode(sample.text))
    assert len(apart) == pieces and apart.codes.size == len(sample.text)
    # The true model says the same of the pieces as of the whole, where nothing connects them.
    assert source.bits(apart) == pytest.approx(sample.bits, rel=1e-12)
    # A last line that is broken off is a piece too.
    cut = source.apart(source.encode(sample.text[:-1]))
    assert len(cut) == pieces and cut.starts[-1] == len(sample.text) - 1
