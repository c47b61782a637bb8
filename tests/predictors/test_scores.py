"""Every score against the formula of the paper, term by term, on a predictor with random distributions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from glnn.predictors import (
    Predictor,
    StepwisePredictor,
    bits,
    error_rate,
    regret,
    regret_so_far,
    regularise,
    surprise,
)
from glnn.sequences import Alphabet, Sequences, encode
from glnn.sources import AnBn, DistantXor

TEXT = "abacabadabacaba"


class Table(StepwisePredictor):
    """Row t of a table of probabilities at time t of every sequence."""

    def __init__(self, symbols, rows):
        self.alphabet = Alphabet(symbols)
        self.rows = np.asarray(rows, float)

    def begin(self):
        return TableState(self.rows, 0)


class TableState:
    def __init__(self, rows, time):
        self.rows, self.time = rows, time

    def probabilities(self):
        return self.rows[self.time]

    def advance(self, code):
        self.time += 1

    def copy(self):
        return TableState(self.rows, self.time)


@pytest.fixture
def table() -> Table:
    rows = np.random.default_rng(0).dirichlet(np.ones(4) * 0.5, size=40)
    rows[3] = [1, 0, 0, 0]  # the c of the text is impossible there
    return Table("abcd", rows)


@pytest.fixture
def possible(table) -> Table:
    return Table("abcd", 0.9 * table.rows + 0.025)


def given(table, text=TEXT):
    return np.array([table.rows[t]["abcd".index(symbol)] for t, symbol in enumerate(text)])


def test_a_table_and_a_source_are_predictors(table):
    assert isinstance(table, Predictor)
    assert isinstance(AnBn(), Predictor)


def test_surprise_and_bits(possible):
    data = encode(TEXT)
    np.testing.assert_allclose(surprise(possible, data), -np.log2(given(possible)))
    assert bits(possible, data) == pytest.approx(-np.log2(given(possible)).sum())


def test_an_impossible_symbol_costs_infinitely_many_bits_unless_regularised(table):
    data = encode(TEXT)
    assert surprise(table, data)[3] == math.inf
    assert bits(table, data) == math.inf
    assert bits(table, data, regularised=True) < 60


def test_only_what_is_to_be_predicted_counts(possible):
    mask = np.arange(len(TEXT)) % 3 == 1
    data = encode(TEXT, mask=mask)
    expected = np.where(mask, -np.log2(given(possible)), 0)
    np.testing.assert_allclose(surprise(possible, data), expected)
    assert bits(possible, data) == pytest.approx(expected.sum())


def test_an_impossible_symbol_outside_the_mask_costs_nothing(table):
    mask = np.arange(len(TEXT)) != 3
    assert math.isfinite(bits(table, encode(TEXT, mask=mask)))


def test_regularised_score_is_the_formula_of_the_paper(table):
    mask = np.arange(len(TEXT)) % 2 == 1
    total = 0.0
    for t, probability in enumerate(given(table)):
        mixed = (1 - 1 / (t + 2)) * probability + 1 / (t + 2) / 4
        total -= math.log2(mixed) * mask[t]
    assert bits(table, encode(TEXT, mask=mask), regularised=True) == pytest.approx(total)


def test_the_first_symbol_is_mixed_half_and_half():
    sure = Table("ab", [[1.0, 0.0]] * 2)
    assert surprise(sure, encode("ba"), regularised=True)[0] == pytest.approx(2)
    assert surprise(sure, encode("bb", alphabet="ab"), regularised=True)[1] == pytest.approx(math.log2(6))


def test_time_runs_on_over_several_sequences(table):
    data = encode(Sequences(["dba", "cc"]), alphabet="abcd")
    probabilities = [table.rows[t]["abcd".index(s)] for t, s in ((0, "d"), (1, "b"), (2, "a"), (0, "c"), (1, "c"))]
    expected = [-math.log2((1 - 1 / (t + 2)) * p + 1 / (t + 2) / 4) for t, p in enumerate(probabilities)]
    np.testing.assert_allclose(surprise(table, data, regularised=True), expected)


def test_time_can_begin_later(possible):
    data = encode(TEXT)
    t = np.arange(len(TEXT)) + 100
    expected = -np.log2((1 - 1 / (t + 2)) * given(possible) + 1 / (t + 2) / 4)
    np.testing.assert_allclose(surprise(possible, data, regularised=True, start=100), expected)
    with pytest.raises(ValueError, match="start -1"):
        bits(possible, data, regularised=True, start=-1)


def test_regularisation_is_stable_where_probabilities_underflow():
    log_likelihoods = np.array([-1e6, -np.inf, -800.0, 0.0, -1e-300])
    t = np.arange(5)
    comp = regularise(log_likelihoods, 10)
    np.testing.assert_allclose(comp[:3], -np.log((t[:3] + 2) * 10))
    np.testing.assert_allclose(comp[3:], np.log(1 - 0.9 / (t[3:] + 2)), rtol=1e-14)


def test_uniform_over_the_symbols_the_predictor_knows():
    """The uniform part spreads over the predictor's alphabet, also when the data use less of it."""
    sure = Table("abcd", [[1.0, 0.0, 0.0, 0.0]])
    assert bits(sure, encode("b", alphabet="ab"), regularised=True) == pytest.approx(3)


def test_data_over_another_alphabet_are_read_by_symbol(possible):
    data = encode(TEXT, alphabet="dcba")
    assert bits(possible, data) == pytest.approx(-np.log2(given(possible)).sum())
    with pytest.raises(ValueError, match="'q' at position 1"):
        bits(possible, encode("aqa"))


def test_regret_is_the_difference_of_bits():
    truth = AnBn(2, 5)
    data = truth.encode(truth.sample(6, seed=1).text)
    guess = Table(truth.alphabet.symbols, [[0.2, 0.4, 0.4]] * 100)
    for regularised in (False, True):
        expected = bits(guess, data, regularised=regularised) - 12
        assert regret(guess, truth, data, regularised=regularised) == pytest.approx(expected)
        curve = regret_so_far(guess, truth, data, regularised=regularised)
        assert curve.shape == data.codes.shape
        assert curve[-1] == pytest.approx(expected)
    costs = surprise(guess, data) - surprise(truth, data)
    np.testing.assert_allclose(np.diff(regret_so_far(guess, truth, data)), costs[1:], atol=1e-9)
    assert regret(truth, truth, data) == 0


def test_regret_respects_the_mask_of_distant_xor():
    truth = DistantXor(length=10)
    data = truth.encode(truth.sample(8, seed=2).text)
    undecided = Table(truth.alphabet.symbols, [[0, 0, 0.5, 0.5, 0, 0]] * 1000)
    assert truth.alphabet.symbols[2:4] == ("0", "1")
    assert regret(undecided, truth, data) == pytest.approx(8)
    assert regret(undecided, truth, data.with_mask(None)) == math.inf


def test_no_regret_against_a_source_that_cannot_have_written_the_data():
    truth = DistantXor(length=10)
    text = truth.sample(2, seed=2).text.replace("X", " ", 1)
    with pytest.raises(ValueError, match="probability 0 under the true model"):
        regret(truth, truth, truth.encode(text))


def test_error_rate_counts_one_half_as_an_error():
    rows = [[0.6, 0.4], [0.5, 0.5], [0.4, 0.6], [0.51, 0.49]]
    assert error_rate(Table("ab", rows), encode("aaaa", alphabet="ab")) == 0.5
    assert error_rate(Table("ab", rows), encode("abbb", alphabet="ab")) == 0.5
    assert error_rate(Table("ab", rows), encode("aaaa", alphabet="ab", mask=[1, 0, 0, 1])) == 0
    assert error_rate(Table("ab", rows), encode("aaaa", alphabet="ab", mask=[0, 1, 0, 1])) == 0.5


def test_one_half_with_a_rounding_error_is_still_an_error():
    class AlmostHalf(Table):
        def log_likelihoods(self, data):
            return np.nextafter(np.full(len(data.codes), math.log(0.5)), 0)

    assert error_rate(AlmostHalf("ab", np.zeros((2, 2))), encode("ab")) == 1


def test_the_true_model_makes_no_error_on_distant_xor():
    truth = DistantXor(length=20)
    data = truth.encode(truth.sample(50, seed=0).text)
    assert error_rate(truth, data) == 0
    assert error_rate(truth, data.with_mask(None)) > 0.3


def test_not_a_number_is_refused_where_it_counts():
    class Broken(Table):
        def log_likelihoods(self, data):
            return np.where(np.arange(len(data.codes)) == 2, np.nan, -1.0)

    broken = Broken("ab", np.zeros((4, 2)))
    with pytest.raises(ValueError, match="NaN at position 2"):
        bits(broken, encode("abab"))
    assert bits(broken, encode("abab", mask=[1, 1, 0, 1])) == pytest.approx(3 / math.log(2))


def test_log_likelihoods_of_the_wrong_shape_are_refused():
    class Short(Table):
        def log_likelihoods(self, data):
            return np.zeros(len(data.codes) - 1)

    with pytest.raises(ValueError, match=r"shape \(3,\) for 4 symbols"):
        bits(Short("ab", np.zeros((4, 2))), encode("abab"))


def test_a_certain_symbol_costs_a_positive_zero():
    sure = Table("ab", [[1.0, 0.0]] * 3)
    costs = surprise(sure, encode("aaa", alphabet="ab"))
    assert not np.signbit(costs).any()
    assert str(bits(sure, encode("aaa", alphabet="ab"))) == "0.0"
