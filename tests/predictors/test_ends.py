"""Insurance against sequences that are cut short: a share of a predictor that always expects the end."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import glnn
from glnn.predictors.ends import Ends
from glnn.predictors.experts import best_shares
from glnn.sequences import Alphabet, Encoded
from glnn.sequences.alphabet import END
from glnn.storage.model_file import ModelFileError, read_model_file, write_model_file

CASES = [list("abcabcabd")] * 60


def test_half_of_it_is_the_end_and_all_ways_of_asking_agree() -> None:
    alphabet, codes = Alphabet("abc", special=(END,)), np.array([0, 1, 2, 3, 2, 0, 3])
    data = Encoded(codes, np.array([0, 4, 7]), np.ones(7, np.bool_), alphabet)
    ends = Ends(alphabet)
    row = ends.begin().probabilities()
    np.testing.assert_allclose(row, [0.125, 0.125, 0.125, 0.625])
    np.testing.assert_array_equal(np.concatenate(list(ends.distributions(data, 2))), np.tile(row, (7, 1)))
    np.testing.assert_array_equal(np.exp(ends.log_likelihoods(data)).round(12), row[data.codes])
    assert [ends.ask(code) for code in range(4)] == row.tolist()
    assert ends.pack() == b"" and ends.unpack(b"of others", 3) == 3


def test_an_end_that_nobody_foresaw_costs_no_more_than_its_share() -> None:
    sure = np.full(400, 0.999)
    sure[-1] = 1e-9
    ends = np.full(400, 0.1)
    ends[-1] = 0.6
    with_ends, bits = best_shares([sure, None, None], 1, 5, ends)
    without, more = best_shares([sure, None, None], 1, 5)
    assert with_ends.ends > 1.0 / 401 and without.ends == 0.0
    assert sum((*with_ends.weights, with_ends.ends)) == pytest.approx(1.0)
    assert bits[-1] < more[-1] - 0.5


def test_a_mixture_keeps_its_share_of_ends(tmp_path: Path) -> None:
    model = glnn.Mixture(networks=0, verbose=0).fit(glnn.Sequences(CASES))
    cut = glnn.Sequences([list("abca"), list("abcabcabd")])
    assert isinstance(model.predictor_.inner.networks[-1], Ends)
    model.save(tmp_path / "model")
    again = glnn.load(tmp_path / "model")
    assert again.shares_ == model.shares_ and again.bits(cut) == model.bits(cut)
    assert model.shares_["ends"] > 0.0 and sum(model.shares_.values()) == pytest.approx(1.0)
    assert again.decompress(model.compress(cut)) == [list("abca"), list("abcabcabd")]
    for learning, near in (("frozen", 1e-9), ("online", 0.02)):
        stream = model.stream(learning=learning)
        pushed = [stream.push(symbol).bits for symbol in "abca"]
        np.testing.assert_allclose(pushed, model.surprise(cut)[0][:4], rtol=near)
    # Streams that take turns are packed in between.
    first, second = model.stream(), model.stream()
    for symbol, bits in zip("abca", model.surprise(cut)[0][:4], strict=True):
        assert first.push(symbol).bits == second.push(symbol).bits == pytest.approx(bits, rel=1e-9)
    # Forged shares are refused.
    for forged in ({"float": "0x1.8p+0"}, {"float": "-0x1.0p-3"}, {"float": "0x1.0p-3"}, "much", None):
        arrays, header = read_model_file(tmp_path / "model")
        header.pop("format")
        header["fitted"]["ends"] = forged
        write_model_file(tmp_path / "forged", arrays, header)
        with pytest.raises(ModelFileError, match=r"ends|shares"):
            glnn.load(tmp_path / "forged")
