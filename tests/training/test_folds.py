"""Members that hold out different parts of the data: together they learn from all of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import glnn
from glnn.predictors.calibration import EntropyWeights
from glnn.sequences import Encoded, TrainingData, encode
from glnn.training import folds
from glnn.training.folds import elsewhere
from glnn.training.validation import split

OLD, NEW = list("abab"), list("cdcdcd")


def one_text() -> Encoded:
    return encode(np.arange(1000) % 7 + np.arange(1000) // 250)


def sequences() -> Encoded:
    return encode([[k % 3, k % 5, 7] for k in range(60)])


@pytest.mark.parametrize("data", [one_text(), sequences()], ids=["one", "several"])
def test_every_part_is_held_out_once_and_nothing_is_lost(data: Encoded) -> None:
    parts = split(TrainingData(data), 0.1)
    others = elsewhere(parts)
    assert len(others) == 9
    held = [one.validation for one in (parts, *others) if one.validation is not None]
    assert sorted(np.concatenate([one.codes for one in held])) == sorted(data.codes)
    for one in others:
        assert one.validation is not None and not one.continues
        assert one.train.codes.size + one.validation.codes.size == data.codes.size
        assert sorted([*one.train.codes, *one.validation.codes]) == sorted(data.codes)
        # It is known where they were.
        if len(data) > 1:
            assert one.inside is not None
            assert list(data.codes[data.starts[one.inside] :][: one.held_out]) == list(one.validation.codes)
        else:
            assert one.inside is None


def test_the_rest_of_one_text_is_two_sequences_in_their_order() -> None:
    data = one_text()
    for one in elsewhere(split(TrainingData(data), 0.1)):
        assert one.validation is not None
        *before, after = (list(part) for part in one.train)
        assert list(data.codes) == [*(before[0] if before else []), *one.validation.codes, *after]


def test_data_that_were_given_are_what_validates() -> None:
    assert elsewhere(split(TrainingData(one_text(), one_text()), "auto")) == []
    # The tail of the last of a few sequences is held out: there is no such part elsewhere.
    assert elsewhere(split(TrainingData(encode([[0, 1] * 50] * 3)), 0.1)) == []


def test_long_data_are_not_copied_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folds, "MOST_COPIED", 2500)
    assert len(elsewhere(split(TrainingData(one_text()), 0.1))) == 2
    monkeypatch.setattr(folds, "MOST_COPIED", 999)
    assert elsewhere(split(TrainingData(one_text()), 0.1)) == []


def test_weights_are_shared_evenly_and_keep_their_sum() -> None:
    known = EntropyWeights(np.array([0.0, 1.0]), np.array([[0.5, 0.3], [0.2, 0.4]]))
    shared = known.shared_with(2)
    np.testing.assert_allclose(shared.weights, [[0.25, 0.15, 0.2, 0.2], [0.1, 0.2, 0.15, 0.15]])


def drifting() -> glnn.Sequences:
    """Cases of one kind, and of another in the last tenth."""
    return glnn.Sequences([OLD] * 90 + [NEW] * 10)


def fitted(**given: object) -> glnn.LSTM:
    chosen = {"units": 8, "members": 3, "budget": 2.4, "validation_fraction": 0.1, "random_state": 0, **given}
    return glnn.LSTM(verbose=0, **chosen).fit(drifting())


def test_what_came_last_is_learned_too(tmp_path: Path) -> None:
    model, without = fitted(), fitted(folds=False)
    cases = glnn.Sequences([NEW] * 5)
    assert model.bits(cases) < 0.75 * without.bits(cases)
    assert ["held_out" in member for member in model.members_] == [False, True, True]
    assert not any("held_out" in member for member in without.members_)
    assert len(model.combined_bits_ or ()) == 5
    # One of them fitted the weights, and all have some: no median.
    assert model.weights_ is not None and model.weights_.members == 3
    # Who never saw the end is as surprised by it as a model that held it out.
    apart = model.that_held_out()
    assert len(apart.networks_) == 1 and apart.bits(cases) > 1.3 * model.bits(cases)
    assert without.that_held_out() is without
    # The others by what they held out: of nine other tenths the first two in golden steps.
    inside = model.that_held_out_inside()
    assert sorted(member["first_held_out"] for member in model.members_[1:]) == list(inside) and len(inside) == 2
    assert all(len(member.networks_) == 1 for member in inside.values())
    assert without.that_held_out_inside() == {}
    model.save(tmp_path / "model")
    again = glnn.load(tmp_path / "model")
    assert again.bits(cases) == model.bits(cases)
    assert again.that_held_out().bits(cases) == apart.bits(cases)
