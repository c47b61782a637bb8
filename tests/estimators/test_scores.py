"""bits, score, surprise and predict_proba: one distribution, which sums to 1, ends and escapes included."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from glnn.estimators import SequenceModel
from glnn.estimators.network import Network
from glnn.predictors import Predictor
from glnn.sequences import InputError
from glnn.sequences.alphabet import END, ESCAPE

from .conftest import CASES, MODELS, TEXT, make


def test_bits_are_the_sum_of_surprise_and_score_their_mean(of_text: SequenceModel) -> None:
    surprise = of_text.surprise(TEXT)
    assert isinstance(surprise, np.ndarray) and surprise.shape == (len(TEXT),)
    assert of_text.bits(TEXT) == pytest.approx(surprise.sum(), rel=1e-12)
    assert of_text.score(TEXT) == pytest.approx(-surprise.mean(), rel=1e-12)


def test_surprise_is_what_predict_proba_says(of_text: SequenceModel) -> None:
    surprise = np.asarray(of_text.surprise(TEXT[:12]))
    for t in range(12):
        pi = of_text.predict_proba(TEXT[:t])
        assert pi.shape == (len(of_text.alphabet_),) and pi.sum() == pytest.approx(1.0, abs=1e-12)
        assert -math.log2(pi[of_text.alphabet_.symbols.index(TEXT[t])]) == pytest.approx(surprise[t], rel=1e-9)


def test_the_probabilities_of_all_sequences_sum_to_one(of_cases: SequenceModel) -> None:
    # Whole sequences of up to 3 symbols, and all that begin with 4 symbols.
    total = 0.0
    for length in range(4):
        for case in itertools.product("ab", repeat=length):
            total += 2.0 ** -of_cases.bits(list(case))
    for case in itertools.product("ab", repeat=4):
        total += 2.0 ** -float(np.asarray(of_cases.surprise(list(case)))[:4].sum())
    assert total == pytest.approx(1.0, abs=1e-9)


def test_ends_are_counted(of_cases: SequenceModel) -> None:
    parts = of_cases.surprise(CASES[:3])
    assert [len(part) for part in parts] == [5, 3, 7]
    assert of_cases.bits(CASES[:3]) == pytest.approx(sum(part.sum() for part in parts), rel=1e-12)
    assert of_cases.score(CASES[:3]) == pytest.approx(-of_cases.bits(CASES[:3]) / 15, rel=1e-12)
    assert of_cases.alphabet_.symbols == ("a", "b", END)
    ending = of_cases.predict_proba(list("ab"))[2]
    assert -math.log2(ending) == pytest.approx(parts[1][-1], rel=1e-9)


def test_sequences_are_scored_independently(of_cases: SequenceModel) -> None:
    alone = [of_cases.bits(case) for case in CASES[:3]]
    assert of_cases.bits(CASES[:3]) == pytest.approx(sum(alone), rel=1e-9)


def test_masks(of_text: SequenceModel) -> None:
    mask = np.arange(len(TEXT)) % 7 == 3
    surprise, masked = np.asarray(of_text.surprise(TEXT)), np.asarray(of_text.surprise(TEXT, mask))
    np.testing.assert_allclose(masked, np.where(mask, surprise, 0.0), rtol=1e-9)
    assert of_text.bits(TEXT, mask) == pytest.approx(masked.sum(), rel=1e-12)
    assert of_text.score(TEXT, mask) == pytest.approx(-masked.sum() / mask.sum(), rel=1e-12)


def test_the_regularised_score_is_the_papers(of_text: SequenceModel) -> None:
    p = 2.0 ** -np.asarray(of_text.surprise(TEXT))
    if isinstance(of_text, Network):
        # The paper's score has its own share of the uniform distribution in the place of the estimator's.
        p = (p - of_text.smoothing_ / len(of_text.alphabet_)) / (1.0 - of_text.smoothing_)
    share = 1.0 / (np.arange(len(TEXT)) + 2.0)
    expected = -np.log2((1.0 - share) * p + share / len(of_text.alphabet_))
    np.testing.assert_allclose(np.asarray(of_text.surprise(TEXT, regularised=True)), expected, rtol=1e-9)
    assert of_text.bits(TEXT, regularised=True) == pytest.approx(expected.sum(), rel=1e-9)


def test_nothing_costs_nothing(of_text: SequenceModel) -> None:
    assert of_text.bits("") == 0.0
    with pytest.raises(InputError, match="empty"):
        of_text.score("")


def test_an_empty_sequence_costs_its_end(of_cases: SequenceModel) -> None:
    assert of_cases.bits([]) == pytest.approx(-math.log2(of_cases.predict_proba()[2]))


def test_escapes_have_their_probability_and_leave_the_rest_alone(with_escape: SequenceModel) -> None:
    probability = with_escape.escape_probability_
    assert probability == pytest.approx(0.5 / (len(TEXT) + 1))
    assert with_escape.alphabet_.symbols[-1] is ESCAPE
    plain = make(type(with_escape).__name__).fit(TEXT)
    given = plain.predict_proba("the ")
    np.testing.assert_allclose(with_escape.predict_proba("the ")[:-1], (1 - probability) * given, rtol=1e-12)
    assert with_escape.predict_proba("the ")[-1] == probability
    # An unknown symbol costs its escape and its own code, and is then forgotten.
    surprise = np.asarray(with_escape.surprise("the Zoo"))
    assert surprise[4] == pytest.approx(-math.log2(probability) + math.log2(0x110000 - len(plain.alphabet_)))
    assert surprise[5] == pytest.approx(np.asarray(with_escape.surprise("the oo"))[4], rel=1e-9)


def test_bits_with_escapes_agree_with_distributions(with_escape: SequenceModel) -> None:
    text = "Zthe cat, the"
    data = with_escape._read(text).encoded
    rows = np.concatenate(list(with_escape.predictor_.distributions(data)))
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, rtol=1e-12)
    chosen = np.log(rows[np.arange(len(text)), data.codes])
    np.testing.assert_allclose(with_escape.predictor_.log_likelihoods(data), chosen, rtol=1e-9)


def test_only_unknown_symbols(with_escape: SequenceModel) -> None:
    each = -math.log2(with_escape.escape_probability_) + math.log2(0x110000 - len(with_escape.alphabet_) + 1)
    assert with_escape.bits("ZZZ") == pytest.approx(3 * each)


def is_a_predictor(model: SequenceModel) -> bool:
    return isinstance(model.predictor_, Predictor) and model.predictor_.alphabet == model.alphabet_


def test_the_predictor_of_one_sequence(of_text: SequenceModel) -> None:
    assert is_a_predictor(of_text)


def test_the_predictor_of_several_sequences(of_cases: SequenceModel) -> None:
    assert is_a_predictor(of_cases)


def test_the_predictor_with_an_escape(with_escape: SequenceModel) -> None:
    assert is_a_predictor(with_escape)


def test_states_and_blocks_agree(of_text: SequenceModel) -> None:
    data = of_text._read(TEXT[:60]).encoded
    rows = np.concatenate(list(of_text.predictor_.distributions(data, block=7)))
    state = of_text.predictor_.begin()
    for row, code in zip(rows, data.codes, strict=True):
        np.testing.assert_allclose(state.probabilities(), row, rtol=1e-9, atol=1e-15)
        copy = state.copy()
        copy.advance((int(code) + 1) % len(of_text.alphabet_))
        state.advance(int(code))


def test_several_prefixes_give_rows(of_cases: SequenceModel) -> None:
    rows = of_cases.predict_proba([["a"], ["a", "b"]])
    np.testing.assert_array_equal(rows[1], of_cases.predict_proba(["a", "b"]))
    assert rows.shape == (2, 3)


def test_predict_gives_the_likeliest_symbol_and_never_an_escape(
    of_cases: SequenceModel, with_escape: SequenceModel
) -> None:
    rows = of_cases.predict_proba([["a"], ["a", "b"]])
    assert of_cases.predict([["a"], ["a", "b"]]) == [of_cases.alphabet_.symbols[k] for k in rows.argmax(axis=1)]
    assert of_cases.predict(["a"]) == of_cases.alphabet_.symbols[rows[0].argmax()]
    assert with_escape.predict("the cat s") in set(TEXT)


@pytest.mark.parametrize("name", ["ContextTree", "NGram", "HMM", "Mixture", "GLNN"])
def test_symbols_first_met_later_have_a_price_by_default(name: str) -> None:
    more = {"recipe": "best", "members": 1, "training": "batch"} if name == "GLNN" else {}
    model = make(name, unknown="auto", **more).fit(TEXT)
    assert model.alphabet_.symbols[-1] is ESCAPE
    assert math.isfinite(model.bits("the Zebra")) and model.bits("the Zebra") > model.bits("the cat s")
    assert MODELS[name]().unknown == "auto"


def test_the_papers_recipe_keeps_its_bits() -> None:
    model = make("GLNN", unknown="auto").fit(TEXT)
    assert model.recipe == "paper" and ESCAPE not in model.alphabet_.symbols
    with pytest.raises(InputError, match="'Z'"):
        model.bits("the Zebra")
