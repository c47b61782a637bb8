"""Calibration, members and start states of the networks: one distribution in every method, and in the model file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glnn
from glnn import sources
from glnn.predictors.combination import LATER
from glnn.predictors.members import Members
from glnn.predictors.network import NetworkPredictor
from glnn.sequences import InputError
from tests.storage.test_saved_models import forged

TEXT = sources.get("music").sample(seed=0).text
TRAIN, TEST = TEXT[:4000], TEXT[4000:6000]


def fitted(**given: Any) -> Any:
    parameters = {
        "recipe": "paper",
        "units": 6,
        "degree": 2,
        "budget": "12 steps",
        "restarts": 1,
        "random_state": 3,
        "verbose": 0,
    }
    return glnn.GLNN(**{**parameters, **given}).fit(TRAIN)


@pytest.fixture(scope="module")
def plain() -> Any:
    return fitted()


@pytest.fixture(scope="module")
def together() -> Any:
    return fitted(calibration=True, members=2, start="typical", budget="24 steps")


def test_without_them_a_network_predicts_as_the_paper_has_it(plain: Any) -> None:
    assert type(plain.predictor_) is NetworkPredictor
    assert plain.weights_ is None and plain.starts_ == (None,) and len(plain.members_) == 1
    same = fitted(calibration=False, members=1, start="trained")
    assert same.bits(TEST) == plain.bits(TEST) and np.array_equal(same.params_.w, plain.params_.w)


def test_calibration_changes_the_prediction_and_not_the_network(plain: Any) -> None:
    valid = TEXT[6000:8000]
    model, alone = (glnn.GLNN(**{**plain.get_params(), "calibration": on}).fit(TRAIN, valid) for on in (True, False))
    assert np.array_equal(model.params_.w, alone.params_.w) and model.seed_ == alone.seed_
    own, evenly, weighed = model.combined_bits_
    assert own == pytest.approx(evenly, rel=1e-9) and weighed < own
    assert model.bits(TEST) < alone.bits(TEST)


def test_held_out_ends_of_the_data_make_nothing_surer(together: Any) -> None:
    assert (together.weights_.weights.sum(axis=1) <= LATER + 1e-12).all()
    given = glnn.GLNN(**{**together.get_params(), "start": "trained"}).fit(TRAIN, TEST)
    assert (given.weights_.weights.sum(axis=1) > 1.0).any()


def test_what_is_foreseen_on_held_out_data_may_yet_surprise() -> None:
    """A file of nothing but abab has no surprise in it: one is added in thought, unless validation data are given."""
    text = "ab" * 2000
    parameters = {"recipe": "paper", "units": 4, "degree": 2, "budget": "40 steps", "restarts": 1, "verbose": 0}
    model = glnn.GLNN(**parameters, calibration=True).fit(text)
    assert model.smoothing_ == pytest.approx(1.0 / (model.held_out_ + 100))
    given = glnn.GLNN(**parameters, calibration=True).fit(text, text)
    assert given.smoothing_ == pytest.approx(1.0 / (len(text) + 2))


def test_every_method_speaks_of_one_distribution(together: Any) -> None:
    assert isinstance(together.predictor_, Members)
    text = TEST[:60]
    stepwise = -sum(
        np.log2(together.predict_proba(text[:k])[together.alphabet_.encode(text[k])[0]]) for k in range(len(text))
    )
    assert together.bits(text) == pytest.approx(stepwise, rel=1e-9)
    assert together.surprise(text).sum() == pytest.approx(stepwise, rel=1e-9)
    blob = together.compress(TEST)
    assert together.decompress(blob) == TEST
    assert 8 * len(blob) == pytest.approx(together.bits(TEST), abs=400)
    assert together.bits(TEST, regularised=True) != together.bits(TEST)


def test_samples_are_drawn_from_the_members_without_the_share(together: Any) -> None:
    start = together.predictor_.without_share().begin().probabilities()
    drawn = "".join(together.sample(1, count=2000, random_state=0))
    found = np.bincount(together.alphabet_.encode(drawn), minlength=start.size) / 2000
    np.testing.assert_allclose(found, start, atol=0.05)


def test_a_file_brings_all_of_it_back(together: Any, tmp_path: Path) -> None:
    together.save(tmp_path / "model")
    again: Any = glnn.load(tmp_path / "model")
    assert again.bits(TEST) == together.bits(TEST)
    assert again.sample(80, random_state=1) == together.sample(80, random_state=1)
    assert again.decompress(together.compress(TEST)) == TEST
    assert again.members_ == together.members_ and again.combined_bits_ == together.combined_bits_
    assert again.get_params() == together.get_params() and again.n_parameters_ == together.n_parameters_
    for one, other in zip(again.starts_, together.starts_, strict=True):
        assert np.array_equal(one, other)
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_three_that_were_trained_on_all_data_at_once_predict_by_their_median(tmp_path: Path) -> None:
    model = fitted(calibration=True, members=3, budget="30 steps")
    assert len(model.networks_) == 3 and model.weights_.members == 1
    model.save(tmp_path / "model")
    again: Any = glnn.load(tmp_path / "model")
    assert again.weights_.members == 1 and again.bits(TEST) == model.bits(TEST)
    assert again.decompress(model.compress(TEST)) == TEST


def test_members_share_the_budget_and_are_told_one_by_one(together: Any) -> None:
    assert [member["steps"] for member in together.members_] == [12, 12]
    assert sum(run["steps"] for run in together.restarts_) == 24
    assert together.members_[0]["score"] >= together.members_[1]["score"]
    assert len({member["seed"] for member in together.members_}) == 2
    assert together.n_parameters_ == 2 * fitted(budget="1 steps").n_parameters_
    assert len(together.combined_bits_) == 4


def test_more_starts_than_members_are_given_up_on_the_way() -> None:
    model = fitted(restarts=5, members=2, budget="30 steps", calibration=True)
    steps = sorted(run["steps"] for run in model.restarts_)
    assert len(steps) == 5 and steps[0] < steps[-1] and len(model.members_) == 2
    kept = sorted((run["score"] for run in model.restarts_), reverse=True)[:2]
    assert [member["score"] for member in model.members_] == kept


def test_members_side_by_side_are_those_trained_one_after_the_other(together: Any) -> None:
    seen: list[int] = []
    model = glnn.GLNN(**{**together.get_params(), "n_jobs": 2}).fit(
        TRAIN, callbacks=[lambda info, _: seen.append(info.step)]
    )
    assert len(seen) == 24
    assert model.bits(TEST) == together.bits(TEST)


def test_a_callback_ends_all_members() -> None:
    model = fitted(members=3, n_jobs=2, budget="30 steps")
    assert model.stopped_ == "budget"
    parameters = {**model.get_params(), "budget": "60000 steps"}
    stopped = glnn.GLNN(**parameters).fit(TRAIN, callbacks=[lambda info, _: info.step == 3])
    assert stopped.stopped_ == "callback" and stopped.bits(TEST) > 0


def test_nothing_validates_and_members_are_mixed_evenly() -> None:
    model = fitted(members=2, calibration=True, validation_fraction=0.0)
    assert np.array_equal(model.weights_.weights, [[0.5, 0.5]]) and model.combined_bits_ is None


@pytest.mark.parametrize(("name", "value"), [("calibration", "yes"), ("members", 0), ("start", "mean")])
def test_what_is_not_understood(name: str, value: object) -> None:
    with pytest.raises(InputError, match=f"{name} is"):
        fitted(**{name: value})


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("entropy_weights", lambda array: array[:, :1]),
        ("entropy_weights", lambda array: array * np.nan),
        ("entropy_nodes", lambda array: array[::-1]),
        ("member1.w", lambda array: array[:-1]),
        ("member1.start", lambda array: array[:-1]),
        ("start", lambda array: array * np.inf),
        ("member1.edge_sources", lambda array: array + 99),
    ],
)
def test_files_of_members_that_do_not_fit_together_are_refused(
    together: Any, tmp_path: Path, name: str, change: Any
) -> None:
    together.save(tmp_path / "model")

    def altered(arrays: dict[str, np.ndarray], header: Any) -> None:
        with np.errstate(invalid="ignore"):
            arrays[name] = np.ascontiguousarray(change(arrays[name]))

    forged(tmp_path / "model", altered)
    with pytest.raises(glnn.ModelFileError):
        glnn.load(tmp_path / "model")
