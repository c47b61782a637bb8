"""Samples: seeds, prefixes, temperature, ends, and the distribution they are drawn from."""

from __future__ import annotations

import numpy as np
import pytest

from glnn.estimators import ContextTree, SequenceModel
from glnn.sequences import InputError

from .conftest import CASES, TEXT, make


def test_a_seed_repeats_a_sample(of_text: SequenceModel) -> None:
    first = of_text.sample(50, random_state=1)
    assert isinstance(first, str) and len(first) == 50
    assert of_text.sample(50, random_state=1) == first
    # A mixture knows this text by heart; at a high temperature every model varies.
    assert of_text.sample(50, random_state=2, temperature=5.0) != first
    assert len(of_text.sample(random_state=0)) == 200
    assert of_text.sample(0) == ""


def test_temperature_zero_takes_the_most_likely_symbol(of_text: SequenceModel) -> None:
    text = of_text.sample(8, prefix="the ", temperature=0.0)
    for t, symbol in enumerate(text):
        pi = of_text.predict_proba("the " + text[:t])
        assert symbol == of_text.alphabet_.symbols[int(np.argmax(pi))]


def test_samples_follow_the_distribution(of_text: SequenceModel) -> None:
    drawn = of_text.sample(1, prefix="the ", count=3000, random_state=0)
    share = np.array([drawn.count(symbol) for symbol in of_text.alphabet_.symbols]) / 3000
    np.testing.assert_allclose(share, of_text.predict_proba("the "), atol=0.035)


@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_temperature_is_a_power(temperature: float) -> None:
    model = ContextTree(depth=2, unknown="error", verbose=0).fit("aaabaaacabaa" * 10)
    drawn = model.sample(1, prefix="a", count=4000, random_state=0, temperature=temperature)
    expected = model.predict_proba("a") ** (1.0 / temperature)
    share = np.array([drawn.count(symbol) for symbol in model.alphabet_.symbols]) / 4000
    np.testing.assert_allclose(share, expected / expected.sum(), atol=0.03)


def test_samples_of_several_sequences_end_by_themselves(of_cases: SequenceModel) -> None:
    samples = of_cases.sample(count=300, random_state=0)
    assert len({len(sample) for sample in samples}) > 1
    assert all(set(sample) <= {"a", "b"} for sample in samples)
    empty = sum(not sample for sample in samples) / 300
    assert empty == pytest.approx(of_cases.predict_proba()[2], abs=0.1)
    assert all(len(sample) <= 3 for sample in of_cases.sample(3, count=20, random_state=0))


def test_an_escape_is_never_drawn() -> None:
    model = make("GLNN", unknown="escape").fit("abcdefgh")
    assert model.escape_probability_ > 0.5
    assert set(model.sample(300, random_state=0)) <= set("abcdefgh")


def test_kinds_come_back() -> None:
    assert isinstance(ContextTree(verbose=0).fit(b"abab" * 9).sample(5, random_state=0), bytes)
    array = ContextTree(verbose=0).fit(np.array([3, 5] * 20)).sample(5, random_state=0)
    assert isinstance(array, np.ndarray) and set(array.tolist()) <= {3, 5}
    words = ContextTree(verbose=0).fit(["yes", "no"] * 20).sample(5, random_state=0)
    assert isinstance(words, list) and set(words) <= {"yes", "no"}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"length": -1}, "^length is -1"),
        ({"temperature": -0.5}, "^temperature is -0.5"),
        ({"count": 0}, "^count is 0"),
        ({"prefix": "#"}, "symbol '#'"),
        ({"random_state": "x"}, "^random_state is 'x'"),
    ],
)
def test_wrong_arguments(arguments: dict[str, object], told: str) -> None:
    model = ContextTree(unknown="error", verbose=0).fit(TEXT)
    with pytest.raises(InputError, match=told):
        model.sample(**{"length": 3, **arguments})


def test_a_prefix_is_read_and_not_repeated(of_cases: SequenceModel) -> None:
    sample = of_cases.sample(1, prefix=list("ab"), temperature=0.0)
    pi = of_cases.predict_proba(list("ab"))
    best = of_cases.alphabet_.symbols[int(np.argmax(pi))]
    assert sample == ([best] if isinstance(best, str) else [])


def test_cases_are_lists_of_tokens(of_cases: SequenceModel) -> None:
    assert of_cases.alphabet_.kind == "tokens" and isinstance(CASES[0], list)
    assert isinstance(of_cases.sample(random_state=0), list)
