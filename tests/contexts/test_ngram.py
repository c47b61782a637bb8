"""Kneser-Ney n-grams against the formula with dictionaries, as predictors, in files and in streams."""

from __future__ import annotations

import numpy as np
import pytest
from naive import ngram as naive

import glnn
from glnn.codec import compress, decompress, encoded_bits
from glnn.contexts import ngram_counts
from glnn.contexts.ngram import NGramModel, choose_order, fit_ngram
from glnn.predictors import Predictor, bits
from glnn.sequences import Sequences, encode


def random_text(length: int, seed: int, symbols: str = "abc") -> str:
    """Symbols that depend on the two before, so that contexts are worth something."""
    generator = np.random.default_rng(seed)
    text = symbols[:2]
    while len(text) < length:
        following = symbols[(symbols.index(text[-1]) + symbols.index(text[-2])) % len(symbols)]
        text += following if generator.random() < 0.7 else str(generator.choice(list(symbols)))
    return text[:length]


@pytest.mark.small
@pytest.mark.parametrize("order", [1, 2, 3, 5])
@pytest.mark.parametrize("symbols", ["abc", "abcdefgh"])
def test_the_formula(order, symbols):
    texts = [random_text(90, 0, symbols), random_text(30, 1, symbols), "b"]
    data, size = encode(Sequences(texts), symbols), len(symbols)
    model, codes = fit_ngram(data, order), [list(text) for text in data]
    state, prefix = model.with_learning("frozen").begin(), []
    for code in encode(random_text(12, 5, symbols), symbols).codes:
        np.testing.assert_allclose(state.probabilities(), naive.distribution(codes, prefix, size, order), rtol=1e-12)
        state.advance(int(code))
        prefix.append(int(code))
    online, prefix = model.begin(), []
    for code in encode(random_text(12, 5, symbols), symbols).codes:
        expected = naive.distribution([*codes, prefix], prefix, size, order)
        np.testing.assert_allclose(online.probabilities(), expected, rtol=1e-12)
        online.advance(int(code))
        prefix.append(int(code))


@pytest.mark.small
@pytest.mark.parametrize("learning", ["online", "frozen"])
def test_all_ways_to_predict_agree(learning, monkeypatch):
    monkeypatch.setattr(ngram_counts, "_LEAST_ROOM", 8)
    model = fit_ngram(encode(random_text(200, 0, "abcde"), "abcde"), 3).with_learning(learning)
    assert isinstance(model, Predictor)
    data = encode(Sequences([random_text(40, 1, "abcde"), "a", "eee"]), "abcde")
    rows = np.concatenate(list(model.distributions(data, block=7)))
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, atol=1e-12)
    assert rows.min() > 0
    given = rows[np.arange(len(rows)), data.codes]
    np.testing.assert_allclose(model.log_likelihoods(data), np.log(given), rtol=1e-12)
    state = model.begin()
    for row, code in zip(rows, data.codes[:40], strict=False):
        np.testing.assert_array_equal(state.probabilities(), row)
        elsewhere = state.copy()
        state.advance(int(code))
        elsewhere.advance(4)
    again = NGramModel.from_arrays(model.alphabet, 3, model.arrays()).with_learning(learning)
    np.testing.assert_array_equal(again.log_likelihoods(data), model.log_likelihoods(data))


@pytest.mark.parametrize("learning", ["online", "frozen"])
def test_streams(learning):
    text = random_text(1500, 3, "abcdefgh")
    model = fit_ngram(encode(text[:300], "abcdefgh"), 4).with_learning(learning)
    blob = compress(model, text)
    assert decompress(model, blob) == text
    own = bits(model, encode(text, "abcdefgh"))
    assert abs(encoded_bits(blob) - own) <= 0.001 * own + 16


def test_the_order_that_predicts_best_is_chosen():
    assert choose_order(encode("".join(np.random.default_rng(0).choice(list("abc"), 3000)), "abc")) == 1
    assert choose_order(encode(random_text(3000, 0), "abc")) == 3


def test_an_estimator_like_the_others(tmp_path):
    cases = [list(random_text(6 + k % 5, k)) for k in range(60)]
    model = glnn.NGram(verbose=0, unknown="escape").fit(cases)
    assert model.learning_ == "frozen"
    model.save(tmp_path / "model")
    again = glnn.load(tmp_path / "model")
    assert again.bits(cases) == model.bits(cases)
    assert again.order_ == model.order_ > 1
    assert model.decompress(model.compress([["a", "z"], ["b"]])) == [["a", "z"], ["b"]]
    assert sum(model.predict_proba(["a"])) == pytest.approx(1.0)
    assert len(model.sample(count=3, random_state=0)) == 3
    assert model.trace(cases).activities.shape[1] == model.order_
    validated = glnn.NGram(verbose=0).fit(cases[:40], validation=cases[40:])
    assert validated.validation_bits_ < glnn.NGram(1, verbose=0).fit(cases[:40]).bits(cases[40:])
    with pytest.raises(glnn.InputError, match="order is 65: give at most 64"):
        glnn.NGram(65, verbose=0).fit("abab")


def test_thousands_of_words():
    generator = np.random.default_rng(0)
    words = [f"w{number}" for number in np.minimum(generator.zipf(1.3, 20_000), 5000)]
    model = glnn.NGram(verbose=0).fit(words)
    assert model.order_ == 1
    assert model.predict_proba(["w1"]).argmax() == model.alphabet_.symbols.index("w1")
