"""File compressors: the difference of two lengths, and what of each kind of data they are given."""

from __future__ import annotations

import bz2
import lzma

import numpy as np
import pyppmd
import pytest

from glnn.baselines.compressors import NAMES, added_bits, as_bytes
from glnn.sequences import Sequences, Words, encode
from glnn.sources import AnBn, Music


def test_bits_are_the_difference_of_two_compressed_lengths():
    # More than the 100 kB after which the levels of bzip2 differ.
    train, valid = Music().sample(12_000, seed=0).text, Music().sample(300, seed=1).text
    assert len(train) > 110_000
    both = (train + valid).encode()
    assert added_bits(train, valid) == 8 * (len(bz2.compress(both)) - len(bz2.compress(train.encode())))
    xz = [len(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME)) for data in (both, train.encode())]
    assert added_bits(train, valid, "xz") == 8 * (xz[0] - xz[1])


@pytest.mark.parametrize("compressor", NAMES)
def test_no_compressor_beats_the_true_model(compressor):
    """And each gains from having read the training text."""
    source = Music()
    train, valid = source.sample(1500, seed=0), source.sample(1500, seed=1)
    cost = added_bits(train.text, valid.text, compressor)
    assert valid.bits < cost < 3 * valid.bits
    assert cost < added_bits("", valid.text, compressor)


def test_bzip2_regret_on_anbn_is_near_the_paper():
    """244.0 in the paper, from one pair; pairs spread by 42, so the mean of 40 has a standard error of 6.6."""
    source = AnBn()
    texts = [source.sample(seed=seed).text for seed in range(80)]
    regrets = [added_bits(train, valid) - 100 for train, valid in zip(texts[::2], texts[1::2], strict=True)]
    assert 0.9 * 244 < np.mean(regrets) < 1.1 * 244


def test_text_is_compressed_as_utf8():
    assert as_bytes("aé", "b") == ("aé".encode(), b"b")
    assert as_bytes(encode("aé"), encode("éb")) == ("aé".encode(), "éb".encode())
    assert as_bytes("aé", encode("éb")) == ("aé".encode(), "éb".encode())


def test_bytes_are_compressed_as_they_are():
    assert as_bytes(b"\xff\x00", b"ab") == (b"\xff\x00", b"ab")
    assert as_bytes(encode(b"\xff\x00"), b"ab") == (b"\xff\x00", b"ab")


def test_other_tokens_are_packed_codes_over_one_alphabet():
    assert as_bytes(["the", "cat", "the"], ["cat", "mat"]) == (b"\x01\x00\x01", b"\x00\x02")
    assert as_bytes(Words(["b", "a"]), Words(["a", "b"])) == (b"\x01\x00", b"\x00\x01")
    assert as_bytes(np.array([5, 900, 5]), np.array([900, 7])) == (b"\x00\x01\x00", b"\x01\x02")


def test_larger_alphabets_take_more_bytes_a_token():
    assert as_bytes(np.arange(256), np.arange(2)) == (bytes(range(256)), b"\x00\x01")
    train, valid = as_bytes(np.arange(257), np.array([256, 1]))
    assert len(train) == 2 * 257
    assert valid == b"\x00\x01\x01\x00"
    assert as_bytes(np.arange(2**16 + 1), np.array([2**16, 1]))[1] == b"\x00\x00\x01\x00\x01\x00\x00\x00"


def test_several_sequences_follow_each_other():
    assert as_bytes(Sequences(["ab", "ba"]), Sequences(["b", "a"])) == (b"abba", b"ba")


def test_mixed_kinds_are_refused():
    with pytest.raises(ValueError, match="train is of characters, valid of bytes"):
        as_bytes("ab", b"ab")


def test_unknown_compressors_are_answered_with_the_nearest():
    with pytest.raises(ValueError, match=r"'bzip' \(did you mean 'bzip2'\?\); there are bzip2, xz, ppmd"):
        added_bits("ab", "ab", "bzip")


def test_ppmd_counts_with_its_best_order(monkeypatch):
    sizes = {4: (30, 10), 6: (28, 10), 8: (40, 25), 12: (31, 10), 16: (50, 10)}
    data = {b"abcd": 0, b"ab": 1}
    monkeypatch.setattr(pyppmd, "compress", lambda given, max_order, **_: bytes(sizes[max_order][data[given]]))
    assert added_bits("ab", "cd", "ppmd") == 8 * 15


def test_ppmd_compresses():
    repeated = "to be or not to be " * 40
    assert 0 < added_bits(repeated, repeated, "ppmd") < 200
