"""scikit-learn's conventions: its own checks where they make sense for sequences, cloning, searching, pickling."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator

import glnn
from glnn.estimators import GLNN, ContextTree, SequenceModel

from .conftest import CASES, MODELS, TEXT, make

MATRICES = "gives a matrix of real numbers to fit; a sequence has one dimension and its symbols are no reals"
TARGETS = "fits with a target y; a sequence is its own target, and the second argument is the validation data"
NOT_FOR_SEQUENCES = {
    "check_fit_score_takes_y": TARGETS,
    "check_estimators_overwrite_params": MATRICES,
    "check_dont_overwrite_parameters": MATRICES,
    "check_estimators_fit_returns_self": MATRICES,
    "check_readonly_memmap_input": MATRICES,
    "check_estimators_unfitted": MATRICES,
    "check_n_features_in_after_fitting": MATRICES,
    "check_positive_only_tag_during_fit": MATRICES,
    "check_estimators_dtypes": MATRICES,
    "check_complex_data": MATRICES,
    "check_dtype_object": MATRICES,
    "check_estimators_empty_data_messages": MATRICES,
    "check_pipeline_consistency": MATRICES,
    "check_estimators_nan_inf": MATRICES,
    "check_estimator_sparse_tag": MATRICES,
    "check_estimator_sparse_array": MATRICES,
    "check_estimator_sparse_matrix": MATRICES,
    "check_estimators_pickle": MATRICES,
    "check_array_api_input": MATRICES,
    "check_f_contiguous_array_estimator": MATRICES,
    "check_methods_sample_order_invariance": MATRICES,
    "check_methods_subset_invariance": MATRICES,
    "check_fit2d_1sample": MATRICES,
    "check_fit2d_1feature": MATRICES,
    "check_dict_unchanged": MATRICES,
    "check_fit_idempotent": MATRICES,
    "check_fit_check_is_fitted": MATRICES,
    "check_n_features_in": MATRICES,
    "check_fit1d": "wants one-dimensional input refused; here that is what a sequence is",
    "check_fit2d_predict1d": MATRICES,
}


class Ordinary(BaseEstimator):
    """Says nothing of its input, so scikit-learn lists all its checks for it."""

    def fit(self, X: Any, y: Any = None) -> Ordinary:
        return self


def names_of_checks() -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        listed = (check for _, check in estimator_checks_generator(Ordinary()))
        return sorted({getattr(check, "func", check).__name__ for check in listed})


CHECKS = [name for name in names_of_checks() if name not in NOT_FOR_SEQUENCES]


def test_every_exception_is_a_check_that_exists() -> None:
    assert set(NOT_FOR_SEQUENCES) <= set(names_of_checks())
    wanted = {"check_no_attributes_set_in_init", "check_get_params_invariance", "check_set_params"}
    assert wanted <= set(CHECKS)


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", MODELS)
def test_the_checks_of_scikit_learn(name: str, check: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        getattr(estimator_checks, check)(name, make(name))


@pytest.mark.small
@pytest.mark.parametrize("name", MODELS)
def test_init_stores_what_it_is_given_and_nothing_else(name: str) -> None:
    given = object()
    model = MODELS[name](**{key: given for key in MODELS[name]().get_params()})
    assert all(value is given for value in model.get_params().values())
    assert set(vars(model)) == set(model.get_params())


def test_fit_returns_the_model_and_leaves_its_parameters(of_text: SequenceModel) -> None:
    fresh = make(type(of_text).__name__)
    before = {key: value for key, value in vars(fresh).items()}
    assert fresh.fit(TEXT) is fresh
    assert {key: getattr(fresh, key) for key in before} == before
    assert all(key.endswith("_") for key in set(vars(fresh)) - set(before))


def test_a_clone_is_unfitted_and_fits_to_the_same(of_text: SequenceModel) -> None:
    copy = clone(of_text)
    with pytest.raises(NotFittedError):
        copy.bits(TEXT)
    assert copy.fit(TEXT).bits(TEXT) == of_text.bits(TEXT)


@pytest.mark.parametrize("call", ["bits", "score", "surprise", "predict_proba", "sample", "save"])
def test_nothing_works_before_fit(call: str) -> None:
    arguments: dict[str, tuple[Any, ...]] = {"sample": (), "save": ("nowhere",)}
    with pytest.raises(NotFittedError):
        getattr(make("GLNN"), call)(*arguments.get(call, (TEXT,)))


def test_pickling(of_text: SequenceModel) -> None:
    again = pickle.loads(pickle.dumps(of_text))
    assert again.bits(TEXT) == of_text.bits(TEXT)
    assert again.sample(40, random_state=3) == of_text.sample(40, random_state=3)


def test_grid_search_over_sequences() -> None:
    search = GridSearchCV(make("GLNN", degree=2), {"units": [2, 6]}, cv=KFold(3), n_jobs=2, error_score="raise")
    search.fit(CASES)
    scores = search.cv_results_["mean_test_score"]
    # By hand: the mean over the folds of log2-likelihood per symbol.
    by_hand = []
    for units in (2, 6):
        values = []
        for train, test in KFold(3).split(CASES):
            model = make("GLNN", units=units, degree=2).fit([CASES[k] for k in train])
            held = [CASES[k] for k in test]
            values.append(-model.bits(held) / sum(len(case) + 1 for case in held))
        by_hand.append(np.mean(values))
    np.testing.assert_allclose(scores, by_hand, rtol=1e-12)
    assert search.best_params_["units"] == (2, 6)[int(np.argmax(by_hand))]
    assert search.best_estimator_.bits(CASES) > 0


def test_cross_validation_of_arrays() -> None:
    cases = [np.array([0, 1, 2] * k) for k in range(1, 9)]
    scores = cross_val_score(ContextTree(depth=3, verbose=0), cases, cv=4, error_score="raise")
    assert scores.shape == (4,) and (scores < 0).all()


@pytest.mark.filterwarnings("error")
def test_folds_with_symbols_that_others_do_not_have() -> None:
    cases = [["in", f"only {which}", "out"] if which % 3 else ["in", "out"] for which in range(12)]
    assert np.isfinite(cross_val_score(ContextTree(verbose=0), glnn.Sequences(cases), cv=4, error_score="raise")).all()
    search = GridSearchCV(ContextTree(verbose=0), {"depth": [1, 3]}, cv=KFold(3), error_score="raise")
    assert np.isfinite(search.fit(cases).cv_results_["mean_test_score"]).all()


def test_a_pipeline_scores_like_its_model() -> None:
    pipeline = make_pipeline("passthrough", ContextTree(depth=3, verbose=0))
    pipeline.set_params(contexttree__depth=2).fit(CASES)
    assert pipeline.score(CASES) == ContextTree(depth=2, verbose=0).fit(CASES).score(CASES)


@pytest.mark.small
def test_a_model_is_shown_by_what_differs_from_its_defaults() -> None:
    assert repr(GLNN()) == "GLNN()"
    assert repr(GLNN(units=4, budget="2 steps")) == "GLNN(budget='2 steps', units=4)"
    shown = GLNN(units=4)._repr_html_()
    assert "GLNN" in shown and "units" in shown


@pytest.mark.small
@pytest.mark.parametrize("name", MODELS)
def test_tags_say_that_data_are_sequences_of_symbols(name: str) -> None:
    tags = get_tags(make(name))
    assert (tags.input_tags.one_d_array, tags.input_tags.two_d_array, tags.input_tags.string) == (True, False, True)
    assert tags.non_deterministic and not tags.target_tags.required and tags.estimator_type is None


@pytest.mark.small
def test_an_unknown_parameter_changes_nothing() -> None:
    model = GLNN(units=4)
    with pytest.raises(ValueError, match=r"GLNN has no parameter 'unit': its parameters are .*units"):
        model.set_params(units=5, unit=6)
    assert model.units == 4


def test_parameters_can_be_numpy_numbers() -> None:
    given = GLNN(units=np.int64(4), degree=np.int64(2), budget="2 steps", damping=np.float64(1.0), verbose=0)
    same = GLNN(units=4, degree=2, budget="2 steps", verbose=0)
    given.set_params(random_state=1)
    same.set_params(random_state=1)
    assert given.fit(TEXT).bits(TEXT) == same.fit(TEXT).bits(TEXT)
