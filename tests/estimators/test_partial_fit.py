"""`partial_fit` fits at first and goes on afterwards; new symbols join the alphabet where that is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glnn
from glnn import InputError, sources
from glnn.sequences.alphabet import END

TEXT, MORE = "abcabc" * 40, "acbacb" * 40
CASES = [["in", "work", "out"], ["in", "out"]] * 20
READERS: dict[str, dict[str, Any]] = {"ContextTree": {}, "NGram": {"order": 3}, "Mixture": {"networks": 0}}
TRAINED: dict[str, dict[str, Any]] = {
    name: {"units": 4, "degree": 2, "budget": "6 steps", "random_state": 0}
    for name in ("GLNN", "GNN", "RNN", "LSTM", "HMM")
}


def made(name: str, **more: Any) -> Any:
    return getattr(glnn, name)(**{"verbose": 0, **{**READERS, **TRAINED}[name], **more})


@pytest.mark.parametrize("name", [*READERS, *TRAINED])
def test_the_first_call_fits_and_later_ones_go_on(name: str, tmp_path: Path) -> None:
    model = made(name).partial_fit(TEXT)
    assert model.bits(MORE) == made(name).fit(TEXT).bits(MORE)
    before = model.bits(MORE)
    assert model.partial_fit(MORE) is model
    assert model.bits(MORE) < before
    model.save(tmp_path / "model")
    again = glnn.load(tmp_path / "model")
    assert again.bits(MORE) == model.bits(MORE)
    # Also what came from a file goes on.
    assert again.partial_fit(MORE).bits(MORE) == model.partial_fit(MORE).bits(MORE)


def test_the_metric_and_the_rates_are_kept_in_a_file_unless_they_are_not_wanted(tmp_path: Path) -> None:
    # More of what cannot be foreseen is learned by steps, as on a stream: training on it would not help.
    text = "".join(np.random.default_rng(0).choice(list("abc"), 1200, p=[0.6, 0.3, 0.1]))
    model = made("GLNN").partial_fit(text).partial_fit(text)
    assert model.networks_[0].running
    model.save(tmp_path / "whole")
    model.save(tmp_path / "small", metric=False)
    whole, small = glnn.load(tmp_path / "whole"), glnn.load(tmp_path / "small")
    assert {name: part.tolist() for name, part in whole.networks_[0].running.items()} == {
        name: part.tolist() for name, part in model.networks_[0].running.items()
    }
    assert not small.networks_[0].running and small.bits(MORE) == model.bits(MORE)
    assert (tmp_path / "small").stat().st_size < (tmp_path / "whole").stat().st_size
    assert small.partial_fit(TEXT).bits(TEXT) > 0.0


@pytest.mark.parametrize("name", READERS)
def test_readers_read_on_as_if_they_had_never_stopped(name: str) -> None:
    if name == "Mixture":
        pytest.skip("what it looks at is planned by the first data")
    # The chance of an escape follows from the first data alone.
    more = {"unknown": "error"} | ({"decomposition": "balanced"} if name == "ContextTree" else {})
    parts = made(name, **more).partial_fit(glnn.Sequences(CASES[:10])).partial_fit(glnn.Sequences(CASES[10:]))
    whole = made(name, **more).fit(glnn.Sequences(CASES))
    np.testing.assert_allclose(parts.bits(glnn.Sequences(CASES)), whole.bits(glnn.Sequences(CASES)), rtol=1e-12)


@pytest.mark.parametrize("name", [*READERS, *TRAINED])
def test_new_symbols_join_the_alphabet(name: str, tmp_path: Path) -> None:
    model = made(name, unknown="grow").partial_fit(glnn.Sequences(CASES))
    new = glnn.Sequences([["in", "wait", "work", "out"], ["in", "pack", "out"]] * 20)
    with pytest.raises(InputError, match="wait"):
        model.bits(new)
    model.partial_fit(new)
    assert model.alphabet_.symbols == ("in", "out", "work", "wait", "pack", END)
    assert model.bits(new) < 0.75 * 180 * np.log2(6)
    if name in (*READERS, "HMM"):
        # What was known is not lost: 140 symbols and ends of 6 kinds. These networks have hardly learned anything.
        assert model.bits(glnn.Sequences(CASES)) < 0.75 * 140 * np.log2(6)
    model.save(tmp_path / "model")
    assert glnn.load(tmp_path / "model").bits(new) == model.bits(new)


@pytest.mark.parametrize("name", ["GLNN", "RNN", "LSTM"])
def test_known_symbols_lead_a_network_on_as_before(name: str) -> None:
    from glnn.sequences.alphabet import grown

    model = made(name, unknown="grow", smoothing=0.0).fit(glnn.Sequences(CASES))
    before = model.predict_proba(["in", "work"])
    model._take_symbols(grown(model.alphabet_, ["wait"]), 1)
    after = model.predict_proba(["in", "work"])
    kept = np.delete(after, 3)
    np.testing.assert_allclose(kept / kept.sum(), before, rtol=1e-9)
    # The new one has the geometric mean of the others.
    assert after[3] == pytest.approx(float(np.exp(np.log(kept).mean())), rel=1e-9)


@pytest.mark.parametrize("name", ["GLNN", "HMM"])
def test_a_little_more_of_the_same_does_no_harm(name: str) -> None:
    source = sources.get("music")
    text, more, other = (source.sample(seed=seed).text for seed in range(3))
    model = made(name, units=8, degree=4, budget="60 steps").fit(text[:12000])
    before = model.bits(other[:4000])
    # Few enough for a network to know them by heart in so many steps.
    model.partial_fit(more[:300])
    assert model.bits(other[:4000]) < 1.005 * before


def test_networks_are_trained_anew_where_everything_has_changed() -> None:
    model = made("GLNN", budget="60 steps").fit("abcd" * 300)
    changed = "adcb" * 400
    before = model.bits(changed)
    assert model.partial_fit(changed).bits(changed) < 0.5 * before


def test_hidden_markov_models_count_what_they_saw_before(tmp_path: Path) -> None:
    first, second = "ab" * 300, "ac" * 30
    model = glnn.HMM(units=3, degree=3, alphabet="abc", budget="60 steps", random_state=1, verbose=0).fit(first)
    assert model.visits_.sum() == pytest.approx(len(first) + 1)
    model.save(tmp_path / "model")
    for one in (model, glnn.load(tmp_path / "model")):
        one.partial_fit(second)
        assert one.visits_.sum() == pytest.approx(len(first) + len(second) + 2)
        # One c for ten b: both are expected after a, b far more.
        after = one.predict_proba("aba")
        assert after[1] > 0.5
        assert 0.005 < after[2] < 0.4


def test_hidden_markov_models_hold_out_what_they_take_for_impossible() -> None:
    model = glnn.HMM(units=2, degree=2, budget="5 steps", random_state=0, verbose=0).fit("ab" * 40 + "c")
    assert model.visits_.sum() == pytest.approx(82)
    before = model.bits("abc")
    assert model.partial_fit("abc" * 20).bits("abc") < before


def test_a_mixture_with_networks_takes_symbols() -> None:
    cases = glnn.Sequences(CASES * 4)
    model = glnn.Mixture(networks=1, learning="online", budget="4 steps", unknown="grow", random_state=0, verbose=0)
    model.fit(cases)
    before = model.networks_[0].predict_proba([0, 2])
    new = glnn.Sequences([["in", "wait", "work", "out"]] * 20)
    model.partial_fit(new)
    assert model.alphabet_.symbols == ("in", "out", "work", "wait", END)
    after = model.networks_[0].predict_proba([0, 2])
    # The end, which was the fourth, is the fifth now.
    np.testing.assert_allclose(after[[0, 1, 2, 4]] / after[[0, 1, 2, 4]].sum(), before, rtol=1e-3)
    assert model.bits(new) < 100 * np.log2(5) * 0.5


def test_symbols_that_are_not_to_join_are_refused() -> None:
    with pytest.raises(InputError, match="'x'"):
        made("NGram", unknown="error").fit(TEXT).partial_fit("abx")
