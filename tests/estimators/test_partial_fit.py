"""`partial_fit` fits at first and goes on afterwards; new symbols join the alphabet where that is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glnn
from glnn import InputError
from glnn.sequences.special import END

TEXT, MORE = "abcabc" * 40, "acbacb" * 40
CASES = [["in", "work", "out"], ["in", "out"]] * 20
READERS: dict[str, dict[str, Any]] = {"ContextTree": {}, "NGram": {"order": 3}, "Mixture": {"networks": 0}}
TRAINED: dict[str, dict[str, Any]] = {
    name: {"units": 4, "degree": 2, "budget": "6 steps", "random_state": 0} for name in ("GLNN", "RNN", "LSTM", "HMM")
}


def made(name: str, **more: Any) -> Any:
    return getattr(glnn, name)(verbose=0, **{**READERS, **TRAINED}[name], **more)


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


@pytest.mark.parametrize("name", READERS)
def test_readers_read_on_as_if_they_had_never_stopped(name: str) -> None:
    if name == "Mixture":
        pytest.skip("what it looks at is planned by the first data")
    # The chance of an escape follows from the first data alone.
    more = {"unknown": "error"} | ({"decomposition": "balanced"} if name == "ContextTree" else {})
    parts = made(name, **more).partial_fit(glnn.Sequences(CASES[:10])).partial_fit(glnn.Sequences(CASES[10:]))
    whole = made(name, **more).fit(glnn.Sequences(CASES))
    np.testing.assert_allclose(parts.bits(glnn.Sequences(CASES)), whole.bits(glnn.Sequences(CASES)), rtol=1e-12)


@pytest.mark.parametrize("name", [*READERS, "GLNN", "RNN", "LSTM"])
def test_new_symbols_join_the_alphabet(name: str, tmp_path: Path) -> None:
    model = made(name, unknown="grow").partial_fit(glnn.Sequences(CASES))
    new = glnn.Sequences([["in", "wait", "work", "out"], ["in", "pack", "out"]] * 20)
    with pytest.raises(InputError, match="wait"):
        model.bits(new)
    model.partial_fit(new)
    assert model.alphabet_.symbols == ("in", "out", "work", "wait", "pack", END)
    assert model.bits(new) < 0.75 * 180 * np.log2(6)
    if name in READERS:
        # What was known is not lost: 140 symbols and ends of 6 kinds. Networks follow the new data alone.
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


def test_models_that_cannot_grow_say_so() -> None:
    with pytest.raises(InputError, match="HMM cannot take new symbols"):
        made("HMM", unknown="grow").fit(TEXT).partial_fit("abcd")
    with pytest.raises(InputError, match="'x'"):
        made("NGram", unknown="error").fit(TEXT).partial_fit("abx")
