"""A share of the uniform distribution in every prediction of a network: chosen on validation data, in all scores."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glnn
from glnn import GLNN, LSTM
from glnn.output.uniform import best_share, log_mixed

TEXT = "abcabdabc" * 40


def make(kind: Any = GLNN, **options: Any) -> Any:
    return kind(recipe="paper", units=5, degree=2, budget="25 steps", random_state=0, verbose=0, **options)


@pytest.mark.parametrize("kind", [GLNN, LSTM])
@pytest.mark.parametrize("unknown", ["error", "escape"])
def test_all_scores_speak_of_the_smoothed_distribution(kind: Any, unknown: str) -> None:
    network = make(kind, smoothing=0.0, unknown=unknown).fit(TEXT)
    model = make(kind, smoothing=0.2, unknown=unknown).fit(TEXT)
    known = 4
    pi, own = model.predict_proba("abca"), network.predict_proba("abca")
    rest = 1.0 - own[known:].sum()
    np.testing.assert_allclose(pi[:known], 0.8 * own[:known] + 0.2 * rest / known, rtol=1e-12)
    bits = -math.log2(pi[model.alphabet_.encode("b")[0]])
    assert np.asarray(model.surprise("abcab"))[4] == pytest.approx(bits, rel=1e-9)
    assert model.bits(TEXT) == pytest.approx(sum(model.surprise(TEXT)), rel=1e-9)
    assert 8 * len(model.compress(TEXT)) < 1.001 * model.bits(TEXT) + 64 + 8 * 64
    assert model.decompress(model.compress(TEXT)) == TEXT
    # The paper's own score, and samples, are of the network alone.
    assert model.bits(TEXT, regularised=True) == pytest.approx(network.bits(TEXT, regularised=True), rel=1e-12)
    assert model.sample(50, random_state=1) == network.sample(50, random_state=1)


def test_one_surprise_costs_no_more_than_its_share() -> None:
    model = make(smoothing=0.01).fit(TEXT)
    assert max(model.surprise("dddddddcba")) <= math.log2(4 / 0.01)
    assert max(make(smoothing=0.0).fit(TEXT).surprise("dddddddcba")) > math.log2(4 / 0.01)


def test_by_itself_it_suits_the_validation_data() -> None:
    foreseen, strange = make().fit(TEXT, TEXT), make().fit(TEXT, TEXT[:90] + "ddacbbdcad" * 4)
    assert foreseen.smoothing_ == pytest.approx(1.0 / (len(TEXT) + 2))
    assert strange.smoothing_ > 0.02
    assert make(validation_fraction=0).fit(TEXT).smoothing_ == pytest.approx(1.0 / (len(TEXT) + 2))
    # Behind the training data, where a held-out tail goes on.
    assert 0.0 < make().fit(TEXT).smoothing_ < 0.02


@pytest.mark.parametrize("strange", [0.0, 0.01, 0.3])
def test_the_best_share_is_that_of_a_search(strange: float) -> None:
    generator = np.random.default_rng(0)
    logs = np.where(generator.random(4000) < strange, -50.0, np.log(generator.uniform(0.3, 1.0, 4000)))
    # Imagined symbols were foreseen: they lose log(1 − δ) each, and nothing else.
    shares = np.geomspace(1e-6, 0.9, 4000)
    values = [log_mixed(logs, d, 8).sum() + 100 * np.log1p(-d) for d in shares]
    expected = max(shares[int(np.argmax(values))], 1e-4)
    assert best_share(logs, 8, 1e-4) == pytest.approx(expected, rel=0.02)


def test_what_the_network_thinks_impossible_counts_as_strange() -> None:
    logs = np.full(900, np.log(0.9))
    logs[:90] = -np.inf
    assert 0.05 < best_share(logs, 4, 1e-6) < 0.2


def test_it_is_saved_and_files_from_before_have_none(tmp_path: Path) -> None:
    model = make(smoothing=0.05).fit(TEXT)
    model.save(tmp_path / "model")
    again = glnn.load(tmp_path / "model")
    assert again.smoothing_ == 0.05 and again.bits(TEXT) == model.bits(TEXT)
    arrays, fitted = model._arrays()
    del fitted["smoothing_"]
    old = make()
    old.alphabet_ = model.alphabet_
    assert old._restore(arrays, fitted, None).smoothing_ == 0.0


@pytest.mark.parametrize("share", [-0.1, 1.0, "much", None, float("nan")])
def test_a_share_outside_0_and_1_is_refused(share: Any) -> None:
    with pytest.raises(glnn.InputError, match="smoothing"):
        make(smoothing=share).fit(TEXT)
