"""Parameters that cannot be used: the error names the parameter, what was given and what is allowed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from glnn.contexts.tree import ContextTreeSettings
from glnn.estimators import GLNN, HMM, LSTM, ContextTree, SequenceModel
from glnn.estimators.parameters import choice, flag, integer, number, seed
from glnn.sequences import InputError

from .conftest import CASES, MODELS, TEXT, make

WRONG = [
    (GLNN, "metric", "rbpn", "'rbpm'"),
    (GLNN, "metric", "sgd", "'rbpm'"),
    (GLNN, "recipe", "Best", "did you mean 'best'"),
    (GLNN, "training", "chunks", "'stochastic'"),
    (GLNN, "noise", -0.1, "0 or more and below 100, or 'auto'"),
    (GLNN, "averaging", "some", "'auto'"),
    (GLNN, "metric", 3, "one of"),
    (GLNN, "output_metric", "QDH", "did you mean 'qdh'"),
    (GLNN, "activation", "tan", "did you mean 'tanh'"),
    (LSTM, "activation", "linear", "'logistic'"),
    (GLNN, "units", 0, "1 or more, or 'auto'"),
    (GLNN, "units", 2.5, "whole number"),
    (GLNN, "units", True, "whole number"),
    (GLNN, "units", "Auto", "'auto'"),
    (GLNN, "degree", -1, "1 or more"),
    (GLNN, "restarts", 0, "1 or more"),
    (GLNN, "damping", -1.0, "0 or more"),
    (GLNN, "damping", float("nan"), "0 or more"),
    (GLNN, "budget", "soon", "'60s'"),
    (GLNN, "budget", -3, "positive"),
    (GLNN, "batch_size", 0, "None"),
    (GLNN, "sequence_weights", "both", "'equal'"),
    (GLNN, "patience", 0, "whole number of steps"),
    (GLNN, "patience", 1.5, "between 0 and 1"),
    (GLNN, "validation_fraction", 1.0, "below 1"),
    (GLNN, "end", "yes", "True or False"),
    (GLNN, "unknown", "ignore", "'escape'"),
    (GLNN, "alphabet", "a", "fewer than 2"),
    (GLNN, "n_jobs", 0, "1 or more"),
    (GLNN, "random_state", -1, "0 or more"),
    (GLNN, "verbose", -1, "0 or more"),
    (GLNN, "alpha", 0.0, "above 0"),
    (GLNN, "time_scales", [0.1, 0.2], "units is 5"),
    (HMM, "tolerance", -1.0, "0 or more"),
    (HMM, "smoothing", 1.0, "below 1"),
    (ContextTree, "depth", -1, "0 or more"),
    (ContextTree, "learning", "offline", "did you mean 'online'"),
    (ContextTree, "estimator", "laplace", "'kt'"),
]


@pytest.mark.small
@pytest.mark.parametrize(("kind", "name", "value", "told"), WRONG)
def test_wrong_parameters(kind: type[SequenceModel], name: str, value: Any, told: str) -> None:
    model = make(kind.__name__)
    model.set_params(**{name: value})
    with pytest.raises(ValueError, match=rf"^(the )?{name} ") as caught:
        model.fit(TEXT)
    assert told in str(caught.value)
    if name not in ("alphabet", "time_scales"):
        assert repr(value) in str(caught.value)
    assert not hasattr(model, "predictor_")


@pytest.mark.small
def test_a_validation_mask_needs_validation_data() -> None:
    with pytest.raises(InputError, match="validation_mask"):
        make("GLNN").fit(TEXT, validation_mask=np.ones(len(TEXT), bool))


@pytest.mark.small
def test_choice_suggests_only_what_is_near() -> None:
    assert choice("x", "plain", ("plain", "fb")) == "plain"
    with pytest.raises(InputError, match="did you mean 'plain'"):
        choice("x", "Plian", ("plain", "fb"))
    with pytest.raises(InputError) as caught:
        choice("x", "zzz", ("plain", "fb"))
    assert "did you mean" not in str(caught.value)


@pytest.mark.small
def test_numbers_and_flags() -> None:
    assert integer("x", np.int32(3), 1) == 3 and integer("x", None, 1, none=True) is None
    assert number("x", 2, 0.0) == 2.0 and flag("x", np.True_) is True
    for wrong in (float("inf"), "1", True, None, 5.0):
        with pytest.raises(InputError, match=r"^x is"):
            number("x", wrong, 0.0, 5.0)
    with pytest.raises(InputError, match="above 0"):
        number("x", 0.0, 0.0, open_low=True)


@pytest.mark.small
def test_seeds() -> None:
    assert seed("x", 7) == 7
    assert seed("x", None) != seed("x", None)
    assert seed("x", np.random.default_rng(1)) == seed("x", np.random.default_rng(1))
    assert seed("x", np.random.RandomState(1)) == seed("x", np.random.RandomState(1))


@pytest.mark.parametrize("name", MODELS)
def test_every_model_looks_at_end_and_unknown(name: str) -> None:
    for parameter in ("end", "unknown"):
        with pytest.raises(InputError, match=f"^{parameter} is 'perhaps'"):
            make(name, **{parameter: "perhaps"}).fit(CASES)


def test_a_context_tree_has_the_defaults_of_the_baseline() -> None:
    ours, baseline = ContextTree(), ContextTreeSettings()
    assert ours._settings() == baseline
    assert baseline.depth == 24
